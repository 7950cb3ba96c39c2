"""The hidden tests of `checkpoint`.

Each test's docstring is what a student reads when it fails: it never says which answer is right.
Letters count in either case, numbers in any form and to three digits. Engines that a student's
backward pass, or test, is tried on are in the helper module `engines`.
"""

from __future__ import annotations

from functools import partial

import pytest

from autograder.testing import broad, close, exercise, plain
from graphs import kinds, leaf, ran_in_order, random_graphs
from remote import functions
from verdicts import assert_distinguishes

LETTERS = {
    "q1": "c", "q3": "b", "q4": "d", "q5": "a", "q7": "c", "q9": "d", "q12": "a", "q14": "b",
    "q15": "d", "q16": "b", "q17": "a",
}  # fmt: skip
NUMBERS = {"q2": 2.0, "q6": 9.0, "q8": 2.5, "q10": -1.0, "q11": 10.0, "q13": 0.5}


def each(answers):
    return [pytest.param(*item, marks=exercise(item[0])) for item in answers.items()]


def to_letter(answer):
    return answer.strip().lower() if isinstance(answer, str) else None


@pytest.mark.parametrize(("question", "right"), each(LETTERS))
def test_letter(student, question, right):
    """The answer is the letter of the option that is right."""
    assert plain(student[question], to_letter) == right


@pytest.mark.parametrize(("question", "right"), each(NUMBERS))
def test_number(student, question, right):
    """The answer is the right number, to three digits."""
    assert student[question] == close(right, 1e-3)


def sum_of_products(weights, inputs):
    return sum(w * x for w, x in zip(weights, inputs, strict=True))


@exercise("q18")
class TestWeightedSum:
    def test_adds_up(self, student, numbers):
        """The result holds the sum of weight times input, and a gradient of 0."""
        weights, inputs = numbers(4), numbers(4)
        total = student.weighted_sum([leaf(student, w, 1.5) for w in weights], inputs)
        assert [total.data, total.grad] == close([sum_of_products(weights, inputs), 0.0])

    def test_every_weight_learns(self, student, number, numbers):
        """Each weight's gradient is its own input, times the gradient of the result; also where
        there is only one weight."""
        for n in (4, 1):
            weights, inputs, scale = [leaf(student, w) for w in numbers(n)], numbers(n), number()
            (student.weighted_sum(weights, inputs) * scale).backward()
            assert [w.grad for w in weights] == close([scale * x for x in inputs])

    def test_adds_to_what_is_there(self, student, number, numbers):
        """A weight that is used twice, or has a gradient already, collects everything, at each
        pass."""
        for held in (number(), number()):
            weight, inputs, upstream = leaf(student, number(), held), numbers(2), number()
            total = student.weighted_sum([weight, weight], inputs)
            for times in (1, 2):
                _, found = student.remote.graphs.differentiate(total, [weight], upstream * times)
                held += times * upstream * sum(inputs)
                assert found == close([held])

    def test_weights_with_a_history(self, student, number, numbers):
        """Where a weight was itself computed, the gradient goes on to what it came from."""
        a, b, factor, inputs = number(), number(), number(), numbers(2)
        x, y = leaf(student, a), leaf(student, b)
        student.weighted_sum([x * factor, y * x], inputs).backward()
        assert [x.grad, y.grad] == close([inputs[0] * factor + inputs[1] * b, inputs[1] * a])

    @broad()
    def test_any_numbers(self, student, rng):
        """Weights, inputs and gradients may be of any kind: 0, tiny, huge, whole, equal ones. Each
        sum keeps to its own weights."""
        numbers = kinds(rng, smallest=1e-4, largest=500)
        tried = [([2.0] * 9, [2.0] * 9, 5e-4), ([1.5] * 9, [-3] * 9, -2.5), ([2.5], [1.0], 0.4)]
        tried += [(numbers[:9], numbers[-9:], -80.0), (numbers[-9:], numbers[:9], 1.0)]
        made = [[leaf(student, w) for w in weights] for weights, _, _ in tried]
        sums = [student.weighted_sum(m, x) for m, (_, x, _) in zip(made, tried, strict=True)]
        for total, nodes, (*_, upstream) in zip(sums, made, tried, strict=True):
            student.remote.graphs.differentiate(total, nodes, upstream)
        for total, nodes, (weights, inputs, upstream) in zip(sums, made, tried, strict=True):
            right = [sum_of_products(weights, inputs), *(upstream * x for x in inputs)]
            assert [total.data, *(node.grad for node in nodes)] == close(right)


@exercise("q19")
class TestBackward:
    @pytest.fixture
    def engine(self, student):
        """A class of nodes that have no method `backward`."""
        return student.remote.engines.make_engine(order=None)

    @pytest.fixture
    def go_back(self, student):
        """The student's function, without the help of the given engine's own pass."""
        given = student.remote.given
        return given.alone(student.backward, given.given_backward(student.Value, student.backward))

    def test_the_seed(self, go_back, engine, number):
        """The root's gradient is set to 1.0, whatever it held before, also if it is a leaf."""
        for root in (engine(number()) * 2, engine(number())):
            root.grad = number()
            go_back(root)
            assert root.grad == 1.0

    def test_reused_steps(self, go_back, engine, number):
        """A step that feeds two others takes its turn after both of them, and once."""
        a, b = number(), number()
        for build in (lambda x, y: (s := x * y) + s * s, lambda x, y: (s := x * y) * s + s):
            x, y = engine(a), engine(b)
            go_back(build(x, y))
            assert [x.grad, y.grad] == close([b + 2 * a * b**2, a + 2 * a**2 * b])

    def test_a_second_pass(self, go_back, engine, number):
        """A later pass runs the steps behind its own root alone, shared ones once more."""
        a, b = number(), number()
        x, y = engine(a), engine(b)
        both = x * y
        first, second = both * 2, both * 3
        for root in (first, second, first):
            go_back(root)
        assert [both.grad, x.grad, y.grad] == close([7.0, 14 * b, 14 * a])

    def test_adds_to_what_is_there(self, go_back, engine, number):
        """Gradients that other nodes hold already are added to, and never set back; two nodes with
        equal numbers are still two nodes."""
        a, g, h = number(), number(), number()
        x, y = engine(a), engine(a)
        x.grad, y.grad = g, h
        go_back(x * 3 + y * 3 * 5)
        assert [x.grad, y.grad] == close([g + 3, h + 15])

    @broad()
    def test_random_graphs(self, student, go_back, engine, number):
        """In graphs without any pattern, each step runs once, after those of all that it feeds."""
        for operands in random_graphs():
            nodes = [engine(number()) for _ in operands]
            for node, places in zip(nodes, operands, strict=True):
                node._prev = [nodes[place] for place in places]
            calls = student.remote.graphs.recorded(nodes[2:])
            go_back(nodes[-1])
            assert ran_in_order(plain(calls), operands)


def descent(start, lr, steps):
    """The losses of a walk down `functions.hollow`, and where it ends."""
    losses, here = [], start
    for _ in range(steps):
        losses.append(functions.hollow(*here))
        here = [w - lr * (2 * (0.5 + i // 2) * w + 1) for i, w in enumerate(here)]
    return losses, here


@exercise("q20")
class TestDescend:
    @pytest.fixture
    def walk(self, student):
        """Walks down the hollow from here, with old gradients lying about."""

        def walk_it(start, lr, steps):
            nodes = [leaf(student, data, i % 2) for i, data in enumerate(start)]
            losses = list(student.descend(student.remote.functions.hollow, nodes, lr, steps))
            return losses, [node.data for node in nodes]

        return walk_it

    def test_moves_the_parameters(self, walk, numbers, rng):
        """Each step takes all gradients anew, then moves the Values themselves against them."""
        walked = numbers(3), rng.uniform(0.02, 0.08), 4
        assert walk(*walked)[1] == close(descent(*walked)[1])

    def test_returns_the_losses(self, walk, numbers, rng):
        """It returns the loss before each step, as plain numbers in a list."""
        walked = numbers(3), rng.uniform(0.02, 0.08), 4
        assert walk(*walked)[0] == close(descent(*walked)[0])

    @broad()
    def test_any_numbers(self, walk, positive):
        """It makes every step in full, at each call: where the rate is small, where it is so large
        that the loss grows, and at the lowest point."""
        a = positive()
        for walked in (
            ([a, a, -a, 0.0], 0.1, 12),
            ([1e-5 - 1, 2e-5 - 1], 0.01, 3),
            ([-1.0, -1.0], 0.1, 4),
            ([a, 1e-6], 15.0, 6),
        ):
            assert walk(*walked) == close(descent(*walked))


@exercise("q21")
@pytest.mark.parametrize(
    ("promise", "right", "wrong"),
    [
        ("A right engine passes however it is built; one that sends nothing back does not.",
         {"rules": {"tanh": "by exponentials", "/": "as a product"}},
         [{"cuts": ["+", "-", "*", "/", "**", "neg", "tanh", "relu"]}]),
        ("Wrong local derivatives are caught: of a product, a quotient, a power, a difference.", {},
         [{"rules": {"*": "not crossed over"}}, {"rules": {"/": "without the minus sign"}},
          {"rules": {"**": "exponent not lowered"}}, {"rules": {"**": "as if squared"}},
          {"rules": {"-": "as in a sum"}}]),
        ("Engines in which a single operation, of any kind, forgets the chain rule are caught.", {},
         [{"forgets": [op]} for op in ["+", "-", "*", "/", "**", "neg", "tanh", "relu"]]),
        ("Engines in which a sum, or tanh, assigns gradients instead of adding are caught.", {},
         [{"overwrites": ["+"]}, {"overwrites": ["tanh"]}]),
        ("An engine that takes `5 - x` for `x - 5` is caught, one that does so with `/`, and one "
         "whose `5 + x` or `5 * x` sends nothing back.", {},
         [{"turns_round": ["-"]}, {"turns_round": ["/"]}, {"cuts": ["__radd__"]},
          {"cuts": ["__rmul__"]}]),
        ("An engine whose relu has no mask is caught, and one whose minus sign cuts the graph.", {},
         [{"rules": {"relu": "without a mask"}}, {"cuts": ["neg"]}]),
        ("An engine whose backward pass runs a node too early is caught.", {},
         [{"order": "breadth first"}]),
    ],
    ids=["right", "rules", "chain_rule", "accumulation", "numbers_on_the_left", "relu_and_minus",
         "order"],
)  # fmt: skip
def test_engines(student, rng, promise, right, wrong):
    """{promise}"""
    engines = [partial(student.remote.engines.make_engine, **each) for each in [right, *wrong]]
    assert_distinguishes(rng, student.test_engine, engines[:1], engines[1:])
