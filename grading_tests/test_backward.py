"""The hidden tests of `backward`.

Each test's docstring is what a student reads when it fails. Functions of one operand are tried
inside larger expressions, with an upstream gradient other than 1, and their backward steps are
run by the tests themselves, so that no exercise leans on another one's `backward`.
"""

from __future__ import annotations

import math
from itertools import pairwise, product
from operator import methodcaller

import pytest

from autograder.testing import broad, close, essential, exercise, plain
from course.dot import DotError, read_dot
from graphs import (
    ERRORS,
    alone,
    assert_gradients,
    assert_right,
    behind,
    gradients,
    kinds,
    leaf,
    push,
    raised,
    ran_in_order,
    random_graphs,
)
from remote import functions
from remote.operations import LETTERS
from rows import table
from verdicts import assert_distinguishes

PARTS = 5
"""The number of small graphs that have as many nodes together as the large one."""

TOO_LONG = 2.5
"""The times that a walk over the large one may take as long as over these. It takes about as long
with a set of those that were met, and four to five times as long with a list."""


def grows_evenly(student, walk, small, large):
    """Return whether the time of a walk grows with the number of nodes alone.

    It is measured against itself, so that slow nodes hide nothing. Three small graphs and the
    large one are walked by turns, and the least time of each counts: a busy machine adds to all.
    """

    def seconds(root):
        return student.seconds(lambda: walk(root))

    times = [(seconds(root), seconds(large)) for root in small[:3]]
    one_small, one_large = map(min, zip(*times, strict=True))
    return one_large < TOO_LONG * PARTS * one_small


def graph(student, number, *operands):
    """The nodes of a graph, each made of the earlier ones at these places; the root is the last."""
    nodes = []
    for places in operands:
        made_of = tuple(nodes[place] for place in places)
        nodes.append(student.Value(number(), made_of, "?" if made_of else ""))
    return nodes


def sigmoid(a):
    return 1 / (1 + math.exp(-a))


FUNCTIONS = [
    # The exercise and the function, its formula and its derivative, and both in words.
    ("exp", "exp", math.exp, math.exp, "e to the power of x", "e to the power of x"),
    ("log", "log", math.log, lambda a: 1 / a, "the natural logarithm of x", "1 / x"),
    ("tanh", "tanh", math.tanh, lambda a: 1 - math.tanh(a) ** 2,
     "the hyperbolic tangent of x", "1 - t², where t is the result"),
    ("relu", "relu", lambda a: max(a, 0.0), lambda a: float(a > 0),
     "x where x is positive and 0 where it is not", "1 where x is positive and 0 where it is not"),
    ("sigmoid", "sigmoid", sigmoid, lambda a: sigmoid(a) * sigmoid(-a),
     "1 / (1 + e to the power of -x)", "s (1 - s), where s is the result"),
    ("extra_ops", "sin", math.sin, math.cos, "the sine of x", "the cosine of x"),
    ("extra_ops", "cos", math.cos, lambda a: -math.sin(a), "the cosine of x", "minus its sine"),
    ("extra_ops", "sqrt", math.sqrt, lambda a: 0.5 / math.sqrt(a),
     "the square root of x", "1 / (2 s), where s is the result"),
]  # fmt: skip

LIMITS = {"exp": (0, 500), "tanh": (1e-4, 1e9), "sin": (0, 500), "cos": (0, 500), "sqrt": (0, 500)}
"""The sizes of the numbers that a function is tried with, where right forms of it agree."""


@table(FUNCTIONS, "name value slope holds times")
class TestFunctions:
    @pytest.fixture(autouse=True)
    def function(self, name, value, slope, holds, times):
        self.name, self.value, self.slope = name, value, slope
        self.of = methodcaller(name)

    def defined(self, numbers):
        """Those of the numbers that the function is defined at."""
        return [a for a in numbers if a > 0 or self.name not in ("log", "sqrt")]

    @pytest.fixture
    def numbers(self, rng):
        """A small number and a larger one, with either sign where the function has both."""
        a, b = rng.uniform(0.3, 0.9), rng.uniform(1.2, 3.0)
        return [a, -b] if self.defined([-b]) else [a, b]

    def test_value(self, student, numbers):
        """`x.{name}()` holds {holds}, each time anew; x keeps its number."""
        x, found = leaf(student, 0.0), []
        for a in numbers:
            x.data = a
            found.append([self.of(x).data, x.data])
        assert found == close([[self.value(a), a] for a in numbers])

    def test_is_part_of_the_graph(self, student, numbers):
        """`x.{name}()` is a new node, its gradient 0, that knows its operand: x can be reached
        from it."""
        x, y = (leaf(student, a, 1.5) for a in numbers)
        both = [self.of(x), self.of(y)]
        found = behind(student, both[0] + both[1])
        assert x in found and y in found and x not in both and y not in both
        assert [node.grad for node in both] == [0.0, 0.0]

    def test_gradient(self, student, numbers, positive):
        """x gets the result's gradient times {times}."""
        x, tried = leaf(student, 0.0), [(numbers[0], -positive()), (numbers[1], positive())]
        found = []
        for a, upstream in tried:
            x.data, x.grad = a, 0.0
            found += student.remote.graphs.differentiate(self.of(x), [x], upstream)[1]
        # Closer than a slope by nudging comes.
        expected = [self.slope(a) * upstream for a, upstream in tried]
        assert found == close(expected, relative=2e-12)

    def test_gradient_is_added(self, student, reference, numbers, positive):
        """Where x has other uses as well, before or after `x.{name}()`, every use counts."""
        builds = (lambda x: 2 * x - 3 * self.of(x), lambda x: self.of(x) * x + x)
        for a, build in zip(numbers, builds, strict=True):
            assert_gradients(student, reference, build, [a], positive())

    def test_a_neuron(self, student, reference, positive):
        """In a neuron, `(w * x + b).{name}()`, the gradients come out right."""

        def build(w, x, b):
            return self.of(w * x + b)

        for sign in self.defined([1, -1]):
            # Their sum is between 0 and 1, or between -1 and 0.
            inputs = [sign * positive() / 2, positive() / 5, sign * positive() / 30]
            assert_gradients(student, reference, build, inputs, positive())

    @broad()
    def test_any_numbers(self, student, reference, rng):
        """Number and slope are right near 0 and far out, with any gradient, at each pass."""
        low, high = LIMITS.get(self.name, (0, 1e9))
        far = [3e-12, 3e12] if self.name == "log" else [4e-5, -4e-5]
        numbers = [*kinds(rng, low, high), 0.5, *far]
        numbers = numbers if self.defined([-1.0]) else self.defined(numbers) * 2
        # A slope by nudging is a mistake of another test: here it passes, whatever the numbers are.
        assert_right(student, reference, rng, [(self.of, [a]) for a in numbers], 1e-7)


@table([row for row in FUNCTIONS if row[0] != "extra_ops"], "name")
def test_records_the_operation(student, positive, name):
    """The `_op` of `x.{name}()` is "{name}", if it is a single node."""
    node = methodcaller(name)(x := leaf(student, positive()))
    assert list(node._prev) != [x] or node._op == name


@exercise("exp")
def test_too_large(student, rng):
    """Above about 709 `x.exp()` is too large for a float: that is an error, and never a number; far
    below 0 it is tiny."""
    assert student.error_of(lambda: leaf(student, rng.uniform(1, 600)).exp().data) is None
    x, found = leaf(student, rng.uniform(720, 1000)), []
    error = student.error_of(lambda: found.append(x.exp().data))
    assert error == "OverflowError" or found == [math.inf]  # what NumPy gives
    for a in (rng.uniform(18, 22), rng.uniform(36, 40)):
        assert leaf(student, -a).exp().data * math.exp(a) == close(1.0)


@pytest.mark.parametrize(
    ("name", "what", "a"),
    [
        pytest.param("log", "logarithm of 0", 0.0, marks=exercise("log")),
        pytest.param("log", "logarithm of a negative number", -1.5, marks=exercise("log")),
        pytest.param("sqrt", "square root of a negative number", -1.5, marks=exercise("extra_ops")),
    ],
    ids=["zero", "negative", "root"],
)
def test_no_result(student, positive, name, what, a):
    """The {what} raises ValueError."""
    b = positive()
    assert methodcaller(name)(leaf(student, b)).data == close(getattr(math, name)(b))
    with student.raises(ValueError):
        float(methodcaller(name)(leaf(student, a * b)).data)


@table([("tanh", "tanh", -1.0), ("sigmoid", "sigmoid", 0.0)], "name low")
def test_far_out(student, rng, number, name, low):
    """Far out, as at 1000 and at -1000, nothing overflows: it is 1 or {low}, and the slope 0."""
    for sign, expected in ((1, 1.0), (-1, low)):
        a, upstream = sign * rng.uniform(900, 1100), number()
        found = gradients(student, methodcaller(name), [a], upstream)
        assert found == close((expected, [0.0]))


@exercise("relu")
def test_at_zero(student, number):
    """At exactly 0 no gradient passes `x.relu()`: that is the course's convention."""
    for upstream in (1.0, -1.0):
        found = gradients(student, methodcaller("relu"), [0.0], upstream * abs(number()))
        assert found == close((0.0, [0.0]))


@exercise("topological_order")
class TestTopologicalOrder:
    @pytest.fixture
    def order_of(self, student):
        return alone(student, "topological_order")

    @pytest.mark.parametrize(
        ("promise", "graphs"),
        [
            ("For a leaf, the order holds the leaf alone.", [[[]]]),
            ("In a chain there is only one order: leaf first, root last.", [[[], [0], [1]]]),
            ("`b = a + a; c = b + b` gives a, b, c, each once.", [[[], [0, 0], [1, 1]]]),
            ("A node that is reached by a short and by a long way comes before both its results.",
             [[[], [0], [1], [1, 2]], [[], [0], [1], [2, 1]]]),
        ],
        ids=["leaf", "chain", "twice", "shortcut"],
    )  # fmt: skip
    def test_a_single_order(self, student, order_of, number, promise, graphs):
        """{promise} So it is at each call."""
        for operands in graphs:
            nodes = graph(student, number, *operands)
            for _ in range(2):
                order = list(order_of(nodes[-1]))
                assert [node.data for node in order] == [node.data for node in nodes]
                assert order == nodes

    def test_shared_nodes(self, student, order_of, rng, number):
        """In a random graph with shared nodes, each is listed once and after its operands."""
        pairs = [rng.sample(range(max(0, n - 6), n), 2) for n in range(4, 16)]
        operands = [*[[]] * 4, *pairs, range(16)]
        nodes = graph(student, number, *operands)
        order = list(order_of(nodes[-1]))
        place = {node: index for index, node in enumerate(order)}
        assert len(order) == 17 and set(place) == set(nodes)
        for node, places in zip(nodes, operands, strict=True):
            assert all([place[nodes[operand]] < place[node] for operand in places])

    def test_uses_side_by_side(self, student, order_of, number):
        """A node that is used twice by one result, and once by another, comes before both."""
        for results in ([1, 2], [2, 1]):
            x, once, twice, root = graph(student, number, [], [0], [0, 0], results)
            assert list(order_of(root)) in ([x, once, twice, root], [x, twice, once, root])

    def test_equal_numbers_are_different_nodes(self, student, order_of, number):
        """Nodes that hold the same number, made alike or not, are still different nodes."""
        a = number()
        nodes = graph(student, lambda: a, [], [], [0, 1], [0, 1], [2, 3])
        x, y, one, twin, root = nodes
        for node in (one, twin):
            assert list(order_of(node)) in ([x, y, node], [y, x, node])
        order = list(order_of(root))
        assert [len(order), {*order[:2]}, {*order}] == [5, {x, y}, {*nodes}] and order[4] == root
        assert [list(order_of(node)) for node in (x, y)] == [[x], [y]]

    def test_only_looks(self, student, order_of, number):
        """No backward step is run, and no number, gradient, label or operand changes; nor does an
        earlier order."""
        nodes = graph(student, number, [], [0])
        nodes[0].grad = number()
        before = plain(student.remote.graphs.untouched(nodes))
        calls = student.remote.graphs.recorded(nodes)
        orders = student.remote.graphs.walks(order_of, [nodes[1], nodes[0]])
        assert [list(order) for order in orders] == [nodes, nodes[:1]]
        assert [calls, student.remote.graphs.untouched(nodes)] == [[], before]

    def test_many_paths(self, student, order_of):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        root = student.remote.graphs.ladder(student.Value, [1.0] * 61)
        assert len(order_of(root)) == 61

    def test_many_nodes(self, student, order_of):
        """With 6,000 nodes the time still grows with their number, not with its square."""
        x = student.Value(1.0)
        chains = [student.remote.graphs.chains(student.Value, x, 60, 20) for _ in range(PARTS)]
        small = [student.Value(1.0, tuple(part), "sum") for part in chains]
        root = student.Value(1.0, tuple(end for part in chains for end in part), "sum")
        assert grows_evenly(student, order_of, small, root)
        assert len(order_of(root)) == 6_002

    def test_any_nodes(self, student, order_of, number):
        """Nodes count, and stay, whatever they hold: 0, gradients, labels, many operands."""
        x, y, z = (student.Value(a, label="x") for a in (0.0, number(), 0.0))
        middle = student.Value(0.0, (x, y, z), "")
        nodes = [x, y, z, middle, student.Value(0.0, (middle, x), "relu")]
        for node, grad in zip(nodes, [0.0, 100.0, -3.0, 7.0, 2.0], strict=True):
            node.grad = grad
        before = plain(student.remote.graphs.untouched(nodes))
        order = list(order_of(nodes[-1]))
        assert set(order[:3]) == {x, y, z} and order[3:] == nodes[3:]
        assert student.remote.graphs.untouched(nodes) == before


class BackwardPass:
    """What must hold for a backward pass, under whichever name."""

    name = ""

    def run(self, student, root):
        return plain(alone(student, self.name)(root))

    def assert_right(self, student, reference, number, *builds):
        """That expressions of two nodes get their gradients."""
        for build in builds:
            inputs = [number(), number()]
            leaves = [leaf(student, a) for a in inputs]
            self.run(student, build(*leaves))
            expected = gradients(reference, build, inputs)[1]
            assert [node.grad for node in leaves] == close(expected)

    def test_sets_the_seed(self, student, number):
        """The root's gradient is 1.0 when its step runs, and afterwards, whatever it held."""
        _, root = graph(student, number, [], [0])
        root.grad = number()
        seen = student.remote.graphs.gradient_when_run(root)
        self.run(student, root)
        assert [*seen, root.grad] == [1.0] * (len(seen) + 1)

    def test_every_step_runs_once_and_in_order(self, student, number):
        """Each node's backward step runs once, and after those of all the nodes that it feeds."""
        # There is only one order for the steps.
        _, *nodes = graph(student, number, [], [0, 0], [1, 0], [1, 2], [3, 1], [2, 4, 3])
        calls = student.remote.graphs.recorded(nodes[::-1])
        self.run(student, nodes[-1])
        assert calls == [0, 1, 2, 3, 4]

    @broad()
    def test_random_graphs(self, student, number):
        """In graphs without any pattern, each step runs once, after those of all that it feeds."""
        for operands in random_graphs():
            nodes = graph(student, number, *operands)
            calls = student.remote.graphs.recorded(nodes[2:])
            self.run(student, nodes[-1])
            assert ran_in_order(plain(calls), operands)

    @broad()
    def test_a_second_pass(self, student, number):
        """A later pass runs the steps behind its own root alone, shared ones once more."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        both = x * y
        first, second = both * 0.2, both * 0.3
        held = []
        for root in (first, second, first):
            self.run(student, root)
            held.append(both.grad)
        assert [*held, x.grad, y.grad] == close([0.2, 0.5, 0.7, 1.4 * b, 1.4 * a])

    @broad()
    def test_any_numbers(self, student, reference, number):
        """Roots of any number pass gradients of any size: 0, negative, tiny, huge."""
        a, b = number(), number()
        points = product(((a, b), (a, a), (2.0, 1.0), (0.0, b)), (0.0, 1e-5, 1.0, -1.0, 1e5 / 3))
        rows = [[x, y, b, scale] for (x, y), scale in points]
        found = student.remote.graphs.gradients_after(
            student.Value, student.remote.functions.scaled, alone(student, self.name), rows
        )
        assert found == close([gradients(reference, functions.scaled, row)[1] for row in rows])

    def test_many_operands(self, student, number):
        """A node may have one operand or many, and a graph many nodes: every step runs."""
        x = student.Value(number())
        root, calls = student.remote.graphs.sum_of_many(student.Value, x, 120)
        self.run(student, root)
        assert calls[0] == 0 and sorted(calls) == list(range(121))

    def test_many_paths(self, student):
        """Sixty doublings have a gradient of 2 to the power of 60, and take no time."""
        node = x = leaf(student, 1.0)
        for _ in range(60):
            node = node + node
        self.run(student, node)
        assert x.grad == close(2.0**60)

    def test_errors_of_a_step(self, student, number):
        """An error that a step raises is passed on."""
        self.run(student, leaf(student, number()) * 2)
        for error in ERRORS:
            with student.raises(error):
                node = leaf(student, number()) * 2
                self.run(student, student.remote.graphs.failing(node, raised(student, error)))

    def test_returns_nothing(self, student, number):
        """Each node gets its gradient, and nothing is returned."""
        x = leaf(student, number())
        assert [self.run(student, x * 2 * 3), x.grad] == [None, close(6.0)]

    def test_uses_side_by_side(self, student, reference, number):
        """A node that is used twice by one result, and once by another, waits for both."""
        self.assert_right(
            student, reference, number,
            lambda a, k: ((b := a * k) + b) + b * k,
            lambda a, k: (b := a * k) * k + (b + b),
        )  # fmt: skip

    def test_equal_leaves(self, student, number):
        """Leaves with equal numbers keep what each holds and get what is theirs."""
        a, g = number(), number()
        x, y = leaf(student, a, g), leaf(student, a)
        self.run(student, x * 3 + y * 5)
        assert [x.grad, y.grad] == close([g + 3, 5])


@exercise("backward")
class TestBackward(BackwardPass):
    name = "backward"

    @pytest.mark.parametrize(
        ("promise", "builds"),
        [
            ("`(a * b + 3) ** 2` and `x * y + x` get all their gradients.",
             [lambda a, b: (a * b + 3) ** 2, lambda x, y: x * y + x]),
            ("`b = a + a; c = b + b` gives a gradient of 4.",
             [lambda a, k: (b := a + a) + b]),
            ("A node that feeds the root directly and by a longer way passes on all of its "
             "gradient.",
             [lambda a, k: (b := a * k) + b * k, lambda a, k: (b := a * k) * k + b]),
            ("Paths that part and meet again all count.",
             [lambda x, y: ((b := x * y) + x) * (b - y) * b]),
        ],
        ids=["two_formulas", "twice", "shortcuts", "diamonds"],
    )  # fmt: skip
    def test_formulas(self, student, reference, number, promise, builds):
        """{promise}"""
        self.assert_right(student, reference, number, *builds)

    def test_a_leaf(self, student, number):
        """For a leaf, the gradient of the leaf itself becomes 1.0."""
        x = leaf(student, number(), number())
        self.run(student, x)
        assert x.grad == 1.0

    def test_adds_to_what_is_there(self, student, number):
        """The gradients of two losses add up in the leaves that they share; nothing is zeroed."""
        a, b, g = number(), number(), number()
        x, y = leaf(student, a, g), leaf(student, b)
        self.run(student, x * y)
        self.run(student, x * 3 + y)
        assert [x.grad, y.grad] == close([g + b + 3, a + 1])

    def test_leaves_others_alone(self, student, number):
        """Nodes that the root does not depend on keep their gradients."""
        g = number()
        x, other = leaf(student, number()), leaf(student, number(), g)
        middle = x * 2
        later = middle * other
        self.run(student, middle)
        assert [x.grad, other.grad, later.grad] == close([2.0, g, 0.0])


@exercise("deep")
class TestDeep(BackwardPass):
    name = "backward_without_recursion"

    def test_a_formula(self, student, reference, number):
        """`(a * b + 3) ** 2` gets all its gradients."""
        self.assert_right(student, reference, number, lambda a, b: (a * b + 3) ** 2)

    def test_sums(self, student, number):
        """In the leaves gradients add up, and nothing is zeroed."""
        x = leaf(student, number(), g := number())
        self.run(student, x * 2)
        assert x.grad == close(g + 2.0)

    def test_a_deep_sum(self, student):
        """A sum 1,200 additions deep, used directly and by a longer way, gets all its gradients."""
        x = leaf(student, 1.0)
        both = student.remote.graphs.sum_of_terms(x, 1_200) * 2
        self.run(student, both + both * 3)
        assert x.grad == close(8 * 1_200.0)

    @essential()
    def test_calls_do_not_pile_up(self, student, number):
        """No function calls itself for every level, whatever Python's limit is set to."""
        graphs, built_in = student.remote.graphs, student.remote.builtins
        root, depths = graphs.watched_chain(student.Value, student.Value(number()), 200)
        self.run(student, root)
        assert root.grad == 1.0
        assert built_in.max(depths) - built_in.min(depths) < 100

    def test_a_very_deep_chain(self, student, number):
        """A chain of 6,000 nodes is no obstacle: its steps run, root first, and without delay."""
        start = student.Value(number())
        nodes = [start]
        for _ in range(PARTS):
            nodes.append(student.remote.graphs.chain(student.Value, nodes[-1], 1_200))
        nodes = nodes[:0:-1]
        calls = student.remote.graphs.recorded(nodes)
        self.run(student, nodes[0])
        assert [calls, nodes[0].grad] == [[0, 1, 2, 3, 4], 1.0]
        small = student.remote.graphs.chains(student.Value, start, 1_200, PARTS)
        assert grows_evenly(student, lambda root: self.run(student, root), small, nodes[0])


@exercise("zero_grad")
class TestZeroGrad:
    def test_sets_every_gradient_to_zero(self, student, number):
        """Every parameter's gradient is the number 0.0 afterwards."""
        nodes = [leaf(student, number(), number()) for _ in range(5)]
        plain(student.zero_grad(nodes))  # What it gives back tells one mistake from another.
        assert [node.grad for node in nodes] == [0.0] * 5

    def test_keeps_the_numbers(self, student, number):
        """The parameters lose their gradients, and keep number, label and operands."""
        a, b = number(), number()
        w = student.Value(a, label="w")
        nodes = [w, student.Value(b, (w,), "relu", "r")]
        w.grad, nodes[1].grad = number(), number()
        student.zero_grad(nodes)
        found = plain(student.remote.graphs.untouched(nodes))
        assert found == [[a, 0.0, "w", "", []], [b, 0.0, "r", "relu", [0]]]

    def test_touches_nothing_else(self, student, number):
        """Only the parameters lose their gradients: what one was computed from keeps its own."""
        *others, node = graph(student, number, [], [], [0], [2])
        grads = [number() for _ in others]
        for each, grad in zip([*others, node], [*grads, number()], strict=True):
            each.grad = grad
        student.zero_grad([node])
        assert [each.grad for each in (*others, node)] == [*grads, 0.0]

    def test_other_collections(self, student, number):
        """A tuple or a set of parameters will do as well as a list."""
        for kind in ("tuple", "set"):
            nodes = [leaf(student, number(), number()) for _ in range(3)]
            student.zero_grad(getattr(student.remote.builtins, kind)(nodes))
            assert [node.grad for node in nodes] == close([0.0] * 3)

    def test_separates_two_steps(self, student, number):
        """Zeroing takes gradients alone: the next backward pass runs as ever, and adds to 0.0."""
        a, b = number(), number()
        x = leaf(student, a)
        for factor in (a, b):
            root = x * factor
            root.grad = a
            student.zero_grad([x, root])
            push(root, 1.0)
        assert x.grad == close(b)

    @broad()
    def test_any_gradients(self, student, number):
        """Gradients of any size are set to 0.0: tiny, huge, negative, 0, and what is no number any
        more; of equal nodes and of results too."""
        grads = [0.0, 1e-9, -1e-5, 0.3, -0.3, 500.0, -500.0, 1e9, -1e9, 7.0, 0.7, -2.0, 2.0]
        grads += [math.inf, math.nan]
        for a in (number(), 0.0):
            nodes = graph(student, lambda a=a: a, *[[]] * 14, [0])
            for node, grad in zip(nodes, grads, strict=True):
                node.grad = grad
            given = student.remote.builtins.list(nodes)
            for _ in range(2):
                student.zero_grad(given)
                assert [node.grad for node in nodes] == [0.0] * 15
                nodes[0].grad = number()
            assert len(given) == 15


MANY = [1.5, 2, 2.5, 1.8, 3] * 4
"""Slopes of an expression with many inputs."""


@exercise("check_gradients")
class TestCheckGradients:
    """The student's checker is tried on right operations and on ones with planted mistakes."""

    @pytest.fixture
    def assert_distinguishes(self, student, rng):
        """Gives a function that asserts that the checker accepts the right questions and rejects
        the wrong ones. A question is a function and its inputs; each is made by a call."""
        return lambda right, wrong, **options: assert_distinguishes(
            rng, lambda each: student.check_gradients(*each, **options), right, wrong
        )

    @pytest.fixture
    def planted(self, student):
        """Gives a function that prepares a question: an operation with this formula and these
        derivatives, and its inputs."""
        operation = student.remote.operations.operation
        return lambda formula, slopes, *inputs, **how: (
            lambda: (operation(student.Value, formula, slopes, **how), list(inputs))
        )

    @pytest.mark.parametrize(
        ("promise", "formula", "right", "wrong", "points"),
        [
            ("A backward step that is wrong is rejected, be it by one percent; a right one is not.",
             "x**3", "3 * x**2", ["2 * x**2", "0", "3.03 * x**2"], [[1.5], [-2.0]]),
            ("A gradient whose sign is turned is rejected; a right one below 0 is accepted.",
             "x**2", "2 * x", ["-2 * x"], [[1.5], [-2.0]]),
            ("Of several inputs, right gradients are accepted, and a single wrong one is rejected.",
             "x * y + z * z", "y, x, 2 * z", ["y + 1, x, 2 * z", "y, x + 1, 2 * z",
             "y, x, 2 * z + 1"], [[1.5, -2.0, 2.5], [-1.5, 2.0, -1.5]]),
            ("Two gradients that are swapped are rejected, although their sum is right; in their "
             "right places they are accepted.",
             "x * y", "y, x", ["x, y"], [[1.5, 4.0], [4.0, 1.5]]),
            ("Where the right gradient is only 1e-6, it is accepted, and a missing one is found, "
             "or one that is twice as large.",
             "1e-6 * x - 1e-6 * y", "1e-6, -1e-6", ["1e-6, -2e-6", "1e-6, 0"], [[1.5, 1.2]]),
            ("A right gradient of many millions is accepted: what counts is the relative error.",
             "x**9", "9 * x**8", ["9.5 * x**8", "8.5 * x**8"], [[9.0], [9.2]]),
            ("Each gradient is judged by its own size: a small wrong one is found beside a large.",
             "1e4 * x + y", "1e4, 1", ["1e4, 1.5", "1e4, 0.5"], [[1.5, -2.0], [-1.5, 2.5]]),
            ("A gradient that is rightly 0 is accepted; one that should be and is not is rejected.",
             "0 * x + 2.5 * y + z**3", "0, 2.5, 3 * z**2", ["2.5, 2.5, 0", "0, 5, 0",
             "0, 2.5, 2.5"], [[1.5, -2.0, 0.0]]),
            ("Near the bottom of a parabola right gradients pass and wrong ones do not: a nudge to "
             "one side is not good enough there.",
             "x**2", "2 * x", ["3 * x"], [[3e-5], [-3e-5]]),
            ("Inputs may be 0, equal, whole, large or many: right gradients are accepted, and a "
             "wrong one is found at each of them.",
             " + ".join(f"{slope} * {x}" for slope, x in zip(MANY, LETTERS, strict=True)),
             ", ".join(map(str, MANY)),
             [", ".join(str(slope + (n == place)) for n, slope in enumerate(MANY))
              for place in (0, 1, 2, 3, 9, 19)],
             [[0.0, 2.0, -50.0, 0.0, 2.0] * 4, [3, 2, -5, 1, 2] * 4]),
            ("At large inputs, in steep places, right gradients pass and wrong ones do not.",
             "x**9", "9 * x**8", ["9.45 * x**8"], [[21.0], [-22.0]]),
            ("At large inputs, of a parabola as well, right gradients pass and wrong ones do not.",
             "x**2", "2 * x", ["2.1 * x"], [[21.0], [-22.0]]),
        ],
        ids=["wrong", "sign", "each_input", "swapped", "small", "large", "small_beside_large",
             "zero", "close_to_a_minimum", "any_inputs", "steep_places", "large_inputs"],
    )  # fmt: skip
    def test_verdicts(
        self, assert_distinguishes, planted, rng, formula, right, wrong, points, promise
    ):
        """{promise}"""
        factor = rng.uniform(1.0, 1.1)
        places = [[a if isinstance(a, int) else factor * a for a in point] for point in points]
        rights, wrongs = (
            [planted(formula, slopes, *place) for slopes in each for place in places]
            for each in ([right, right], wrong)
        )
        assert_distinguishes(rights, wrongs)

    def test_right_operations(self, student, assert_distinguishes, planted, positive, number):
        """Right gradients are accepted and wrong ones are not, for one input and for several."""
        cube = student.remote.functions.cube
        several = student.remote.operations.quotient_and_powers
        # With these signs, no gradient of the second expression comes close to 0.
        inputs = [[sign * positive() for _ in range(3)] for sign in (1, -1)]
        right = [lambda: (cube, [number()]), *(lambda i=each: (several, i) for each in inputs)]
        assert_distinguishes(right, [planted("x**3", "2 * x**2", number())])

    def test_overwriting(self, student, assert_distinguishes, rng):
        """Where an input is reused, an operation that adds its gradients is accepted, and one that
        writes `=` in place of `+=` is rejected."""
        operations = student.remote.operations

        def question(adds, sign):
            square = operations.operation(student.Value, "x**2", "2 * x", adds=adds)
            return lambda: (operations.used_twice(square), [sign * rng.uniform(1.2, 1.8)])

        assert_distinguishes(
            *([question(adds, sign) for sign in (1, -1)] for adds in (True, False))
        )

    def test_errors_of_the_function(self, student, assert_distinguishes, planted, number):
        """What the function raises is passed on: it is no verdict."""
        assert_distinguishes(
            [planted("x**3", "3 * x**2", number())], [planted("x**3", "2 * x**2", number())]
        )
        for error in ERRORS:
            refused = student.remote.operations.refusing(raised(student, error))
            with student.raises(error):
                student.check_gradients(refused, [number()])

    def test_epsilon(self, student, assert_distinguishes, positive, rng):
        """`epsilon` is how far an input is moved, up and down, with the others left alone."""
        operations = student.remote.operations
        epsilon = rng.uniform(0.01, 0.02)
        a, b = positive(), -1.0 - 2 * positive()
        right, wrong = (
            operations.watched(operations.operation(student.Value, "x * y", slopes))
            for slopes in ("y, x", "x, y")
        )
        assert_distinguishes([lambda: (right, [a, b])], [lambda: (wrong, [a, b])], epsilon=epsilon)
        asked = list(right.at)
        for point in ([a + epsilon, b], [a - epsilon, b], [a, b + epsilon], [a, b - epsilon]):
            assert any(each == close(point) for each in asked)


@exercise("dot_source")
class TestDotSource:
    @pytest.fixture
    def made(self, student, rng):
        """Makes the nodes of a graph, each of operands at these places, with this operation.

        Gives the nodes, their numbers and their gradients, by which a label can be told: all are
        different, and each ends in a half.
        """

        def made(*rows):
            halves = [place + 0.5 for place in rng.sample(range(11, 99), 2 * len(rows))]
            numbers, grads, nodes = halves[: len(rows)], halves[len(rows) :], []
            for number, grad, (places, operation) in zip(numbers, grads, rows, strict=True):
                nodes.append(student.Value(number, tuple(nodes[p] for p in places), operation))
                nodes[-1].grad = grad
            return nodes, numbers, grads

        return made

    def drawing(self, student, root, facts):
        """What `facts` finds in the graph that the student's text draws, or what is wrong with it.

        The names of the nodes, and the way to write the text, are the student's choice.
        """

        def found(text):
            try:
                return facts(read_dot(text))
            except DotError as error:
                return str(error)

        return plain(alone(student, "draw_dot")(root), found)

    def test_a_leaf(self, student, made):
        """A leaf is one node, which shows its data and its gradient, and there are no arrows. Drawn
        again, it shows what it holds then."""
        [x], [a], [b] = made(([], ""))
        for data, grad in ((a, b), (a + 100, b + 200)):
            x.data, x.grad = data, grad

            def facts(graph, data=data, grad=grad):
                both = shown_together(graph, data, grad)
                return len(graph.showing(data)), both, graph.edges == []

            assert self.drawing(student, x, facts) == (1, True, True)

    def test_nodes(self, student, made):
        """Every Value is one node, and its label shows its data and its gradient."""
        nodes, *numbers = made(([], ""), ([], ""), ([0, 1], "*"), ([2, 0], "+"))

        def facts(graph):
            return [
                (len(graph.showing(data)), shown_together(graph, data, grad))
                for data, grad in zip(*numbers, strict=True)
            ]

        assert self.drawing(student, nodes[-1], facts) == [(1, True)] * 4

    def test_arrows(self, student, made):
        """Arrows lead from every operand to its result, and nowhere else. None is drawn twice."""
        nodes, numbers, _ = made(([], ""), ([], ""), ([0, 1], "*"), ([2], "relu"), ([3, 0], "+"))
        a, b, c, d, e = numbers

        def facts(graph):
            return sorted(graph.flow(numbers)), len(graph.edges) == len(set(graph.edges))

        flow = sorted([(a, c), (b, c), (c, d), (d, e), (a, e)])
        assert self.drawing(student, nodes[-1], facts) == (flow, True)

    def test_operations(self, student, made):
        """Every operation's sign is shown, and two operations of a kind are drawn apart."""
        nodes, numbers, _ = made(([], ""), ([0], "tanh"), ([1], "exp"), ([2], "tanh"))

        def facts(graph):
            shown = " ".join(graph.labels.values())
            return "tanh" in shown, "exp" in shown, sorted(graph.flow(numbers))

        flow = sorted(pairwise(numbers))
        assert self.drawing(student, nodes[-1], facts) == (True, True, flow)

    def test_equal_numbers_are_different_nodes(self, student, made):
        """Two results with one number, label and operand are two nodes, with two operations."""
        (x, *_), numbers, _ = made(([], ""), ([0], "tanh"), ([1], "+"))
        start, data, result = numbers
        twins = list(student.remote.graphs.twins(student.Value, data, x))
        root = student.Value(result, tuple(twins), "+")

        def facts(graph):
            operations = sum("tanh" in label for label in graph.labels.values())
            counts = [len(graph.showing(number)) for number in numbers]
            return counts, operations >= 2, sorted(graph.flow(numbers))

        flow = sorted([(start, data), (data, result)])
        assert self.drawing(student, root, facts) == ([1, 2, 1], True, flow)

    def test_an_operand_used_twice(self, student, made):
        """`x + x` draws x once, with one arrow or two."""
        nodes, numbers, _ = made(([], ""), ([0, 0], "+"))

        def facts(graph):
            flow = sorted(graph.flow(numbers))
            return len(graph.showing(numbers[0])), flow, len(graph.edges) in (1, 2, 3)

        assert self.drawing(student, nodes[-1], facts) == (1, [tuple(numbers)], True)

    @broad()
    def test_any_numbers(self, student, made):
        """Signs are shown, and 0 as well; many operands are, and every sign of an operation."""
        rows = [*[([], "")] * 3, ([0, 1, 2], "sum"), ([3], "**3"), ([3, 4], "/"), ([4, 5], "+")]
        nodes, numbers, grads = made(*rows)
        numbers[0], grads[0], numbers[1] = -numbers[0], -grads[0], 0.0
        for node, number, label in zip(nodes, numbers, "xyx", strict=False):
            node.data, node.label = number, label
        nodes[0].grad = grads[0]
        for node in nodes[1:]:
            node.grad = 0.0

        def facts(graph):
            shown = set(graph.labels.values())
            signs = [any(sign in each for each in shown) for sign in ("sum", "**3", "/", "+")]
            together = shown_together(graph, numbers[0], grads[0])
            zeros = set(graph.showing(numbers[2])) <= set(graph.showing(0.0))
            return together and zeros, signs, sorted(graph.flow(numbers))

        flow = sorted((numbers[p], n) for n, (places, _) in zip(numbers, rows, strict=True)
                      for p in places)  # fmt: skip
        assert self.drawing(student, nodes[-1], facts) == (True, [True] * 4, flow)

    def test_many_paths(self, student):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        numbers = [index + 0.5 for index in range(45)]
        root = student.remote.graphs.ladder(student.Value, numbers)
        found = self.drawing(
            student, root, lambda graph: [len(graph.showing(number)) for number in numbers]
        )
        assert found == [1] * 45


def shown_together(graph, *numbers):
    """Whether the nodes of a drawing that show one of the numbers show all of them."""
    first, *others = map(graph.showing, numbers)
    return all(each == first for each in others)
