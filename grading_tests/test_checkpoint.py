"""The hidden tests of `checkpoint`.

Each test's docstring is what a student reads when it fails: it never says which answer is right.
Letters count in either case, numbers in any form and to three digits. Engines that a student's
backward pass, or test, is tried on are in the helper module `engines`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import cycle

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


def to_number(answer):
    if not isinstance(answer, (int, float, Fraction, Decimal)) or answer is True:
        return None
    try:
        return float(answer)
    except (OverflowError, ValueError):
        return None


@pytest.mark.parametrize(("question", "right"), each(LETTERS))
def test_letter(student, question, right):
    """The answer is the letter of the option that is right."""
    assert plain(student[question], to_letter) == right


@pytest.mark.parametrize(("question", "right"), each(NUMBERS))
def test_number(student, question, right):
    """The answer is the right number, to three digits."""
    assert plain(student[question], to_number) == close(right, 1e-3)


def sum_of_products(weights, inputs):
    return sum(w * x for w, x in zip(weights, inputs, strict=True))


@exercise("q18")
class TestWeightedSum:
    def test_adds_up(self, student, numbers):
        """The result holds the sum of weight times input, and a gradient of 0."""
        weights, inputs = numbers(4), numbers(4)
        total = student.weighted_sum([leaf(student, w, 1.5) for w in weights], inputs)
        assert [total.data, total.grad] == close([sum_of_products(weights, inputs), 0.0])

    def test_every_weight_learns(self, student, numbers):
        """Each weight's gradient is its own input, also where there is only one."""
        for n in (4, 1):
            weights, inputs = [leaf(student, w) for w in numbers(n)], numbers(n)
            student.weighted_sum(weights, inputs).backward()
            assert [w.grad for w in weights] == close(inputs)

    def test_within_a_larger_formula(self, student, number, numbers):
        """The gradient of the result is passed on, as the chain rule asks."""
        weights, inputs, scale = [leaf(student, w) for w in numbers(3)], numbers(3), number()
        (student.weighted_sum(weights, inputs) * scale).backward()
        assert [w.grad for w in weights] == close([scale * x for x in inputs])

    def test_adds_to_what_is_there(self, student, number, numbers):
        """A weight that is used twice, or has a gradient already, collects everything, at each
        pass."""
        g, upstream, pair = number(), number(), numbers(2)
        for held, inputs in ((g, pair), (-g, pair), (g, [1.0])):
            weight = leaf(student, number(), held)
            total = student.weighted_sum([weight] * len(inputs), inputs)
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
    def test_any_numbers(self, student, reference, rng):
        """Many weights, inputs and gradients of any kind: 0, tiny, huge, whole, equal ones."""
        numbers = kinds(rng, smallest=1e-4, largest=500)
        tried = [([2.0] * 9, [2.0] * 9), ([1.5] * 9, [-3] * 9), (numbers[:5], [0, -3, 10, 0.0, 7])]
        for n in (1, 2, 9):
            for i in range(0, len(numbers) - n, max(1, n // 2)):
                tried.append((numbers[i : i + n], numbers[-n - i :][:n]))
        upstreams = cycle([1.0, -2.5, 5e-4, 0.4, -80.0, 0.0, 8e4])
        made, right = [], []
        # All are made first, and gradients read last: no sum has a part in another's weights.
        for weights, inputs in [*tried, *tried[-3:]]:
            nodes, upstream = [leaf(student, w) for w in weights], next(upstreams)
            made.append((student.weighted_sum(nodes, inputs), nodes, upstream))
            right.append((sum_of_products(weights, inputs), [upstream * x for x in inputs]))
        sums = [student.remote.graphs.differentiate(*each)[0] for each in made]
        grads = [student.remote.graphs.held(nodes) for _, nodes, _ in made]
        assert list(zip(sums, grads, strict=True)) == close(right)

    def test_leaves_its_lists_alone(self, student, numbers):
        """The lists and the weights stay as they are."""
        nodes, inputs = [leaf(student, w) for w in numbers(3)], numbers(3)
        given = student.remote.builtins.list(nodes)
        before = plain(student.remote.graphs.untouched(nodes))
        student.weighted_sum(given, inputs)
        assert list(given) == nodes
        assert student.remote.graphs.untouched(nodes) == before


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

    @pytest.fixture
    def run(self, student, engine, go_back, number):
        """Builds an expression of two leaves with these numbers and runs the backward pass.

        Gives the root's gradient and the leaves' gradients.
        """

        def run_it(build, inputs, held=(0.0, 0.0)):
            x, y = student.remote.graphs.leaves(engine, inputs, held)
            root = build(x, y)
            root.grad = number()
            go_back(root)
            return root.grad, [x.grad, y.grad]

        return run_it

    def test_the_seed(self, run, numbers):
        """The root's gradient is set to 1.0, whatever it held before, also if it is a leaf."""
        for build in (lambda x, y: x * 2 + y * 3, lambda x, y: y):
            seed, _ = run(build, numbers(2))
            assert seed == close(1.0)

    def test_a_chain(self, run, numbers):
        """Through a chain of steps the local derivatives are multiplied."""
        _, grads = run(lambda x, y: (x * 3 - y) * 2, numbers(2))
        assert grads == close([6.0, -2.0])

    def test_reused_steps(self, run, numbers):
        """A step that feeds two others takes its turn after both of them, and once."""
        x, y = inputs = numbers(2)
        for build in (
            lambda x, y: (s := x * y) + s * s,
            lambda x, y: (s := x * y) * s + s,
            lambda x, y: (s := x * y) * 1.0 + s * s,
            lambda x, y: (s := x * y) * s + s * 1.0,
        ):
            _, grads = run(build, inputs)
            assert grads == close([y + 2 * x * y**2, x + 2 * x**2 * y])

    def test_shared_by_several(self, run, numbers):
        """Where paths part and meet again, every path counts once."""
        x, y = inputs = numbers(2)
        _, grads = run(lambda x, y: (q := (p := x * y) * p) * p + (q + p), inputs)
        slope = 3 * (x * y) ** 2 + 2 * x * y + 1
        assert grads == close([slope * y, slope * x])

    def test_equal_numbers(self, go_back, engine, number):
        """Two nodes with equal numbers are still two nodes."""
        a = number()
        x, y = engine(a), engine(a)
        go_back(x * 3 + y * 3 * 5)
        assert [x.grad, y.grad] == close([3.0, 15.0])

    def test_a_second_pass(self, go_back, engine, number):
        """A later pass runs the steps behind its own root alone, shared ones once more."""
        a, b = number(), number()
        x, y = engine(a), engine(b)
        both = x * y
        for root in (both * 2, both * 3):
            go_back(root)
        assert [both.grad, x.grad, y.grad] == close([5.0, 7 * b, 7 * a])

    def test_adds_to_what_is_there(self, run, numbers):
        """Gradients that other nodes hold already are added to, and never set back."""
        held = numbers(2)
        _, grads = run(lambda x, y: x * 2 + y * 3, numbers(2), held)
        assert grads == close([held[0] + 2, held[1] + 3])

    @broad()
    def test_any_numbers(self, student, engine, run, number):
        """Numbers and gradients of any size pass: 0, tiny, huge, negative."""
        for a, scale in ((0.0, 1.0), (1.5, 1e-7), (-2.0, 1e6), (1.0, -1.0)):
            _, grads = run(lambda x, y, k=scale: (x * y) * k * (x - x + 1) + x * k * 0.5, [a, 3.0])
            assert grads == close([scale * 3.5 + 0.0, scale * a])

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

    def test_many_levels(self, run, number):
        """Six levels, in each of which a node is used directly and by a longer way, all count."""

        def build(t, x):
            for level in range(6):
                t = t * x + t if level % 2 else t + t * x
            return t

        a, b = number(), number()
        _, grads = run(build, [a, b])
        assert grads == close([(b + 1) ** 6, 6 * a * (b + 1) ** 5])

    def test_the_same_root_twice(self, go_back, engine, number):
        """A second pass from the same root runs every step once more."""
        x = engine(a := number())
        root = x * x
        for _ in range(2):
            go_back(root)
        assert [root.grad, x.grad] == close([1.0, 4 * a])


@exercise("q20")
class TestDescend:
    @pytest.fixture
    def walk(self, student, number, numbers, rng):
        """Walks down a bowl with old gradients lying about: what came out, what should have."""
        start, lr, steps = numbers(2), rng.uniform(0.02, 0.08), rng.randint(3, 5)
        target, slope = number(), number()
        w, b = (leaf(student, data, number()) for data in start)

        loss_of = student.remote.functions.bowl(slope, target)
        found = list(student.descend(loss_of, [w, b], lr, steps))
        losses, (here, there) = [], start
        for _ in range(steps):
            error = here * slope + there - target
            losses.append(error**2 + there**2)
            here, there = here - lr * 2 * error * slope, there - lr * (2 * error + 2 * there)
        return found, [w.data, b.data], losses, [here, there]

    def test_moves_the_parameters(self, walk):
        """Each step takes all gradients anew, then moves the Values themselves against them."""
        _, data, _, expected = walk
        assert data == close(expected)

    def test_returns_the_losses(self, walk):
        """It returns the loss before each step, as plain numbers in a list."""
        found, _, losses, _ = walk
        assert found == close(losses)

    def test_makes_every_step(self, student, number):
        """It makes every step in full, at each call, also where the rate is too large and the loss
        grows."""
        start = number()
        expected = [start**2 * 121.0**n for n in range(3)]
        for _ in range(2):
            w = leaf(student, start)
            losses = list(student.descend(student.remote.functions.square, [w], 6.0, 3))
            assert [*losses, w.data] == close([*expected, start * -1331.0])

    def test_no_steps(self, student, number):
        """No steps: no losses, and the parameter stays where it is."""
        w = leaf(student, start := number())
        losses = student.descend(student.remote.functions.square, [w], 0.1, 0)
        assert list(losses) == [] and w.data == start
        student.descend(student.remote.functions.square, [w], 0.1, 1)
        assert w.data == close(0.8 * start)

    @broad()
    def test_any_numbers(self, student, rng):
        """Many parameters, equal ones too, many steps, slow and wild ones, and the lowest point."""
        hollow = student.remote.functions.hollow
        a = rng.uniform(1.2, 3.0)
        for start, lr, steps in (
            ([a, a, -a, 0.0], 0.1, 12),
            ([1e-5 - 1, 2e-5 - 1], 0.01, 3),
            ([0.0, 0.0], 0.1, 4),
            ([-1.0, -1.0], 0.1, 4),
            ([40.0 * a, -a], 0.3, 3),
            ([a, 1e-6], 15.0, 6),
        ):
            nodes = [leaf(student, each, i % 2) for i, each in enumerate(start)]
            found = list(student.descend(hollow, nodes, lr, steps))
            losses, here = [], start
            for _ in range(steps):
                losses.append(functions.hollow(*here))
                here = [w - lr * (2 * (0.5 + i // 2) * w + 1) for i, w in enumerate(here)]
            assert [found, [node.data for node in nodes]] == close([losses, here])


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
