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
    alone,
    assert_gradients,
    assert_right,
    behind,
    gradients,
    kinds,
    leaf,
    ran_in_order,
    random_graphs,
)
from remote import functions
from rows import table
from verdicts import assert_distinguishes


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
    assert list(node._prev) != [x] or str(node._op).lower() == name


REFUSED = [
    ("log", "log", "logarithm of 0 or of a negative number", [0.0, -1.5]),
    ("extra_ops", "sqrt", "square root of a negative number", [-1.5]),
]


@table(REFUSED, "name what refused")
def test_no_result(student, positive, name, what, refused):
    """The {what} raises ValueError."""
    of = methodcaller(name)
    assert of(leaf(student, a := positive())).data == close(getattr(math, name)(a))
    for a in refused:
        with student.raises(ValueError):
            float(of(leaf(student, a)).data)


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

    def test_shared_nodes(self, student, order_of, number):
        """In graphs without any pattern, each node is listed once and after its operands."""
        for operands in random_graphs():
            nodes = graph(student, number, *operands)
            order = list(order_of(nodes[-1]))
            place = {node: index for index, node in enumerate(order)}
            assert len(order) == len(nodes) and set(place) == set(nodes)
            for node, places in zip(nodes, operands, strict=True):
                assert all([place[nodes[operand]] < place[node] for operand in places])

    def test_equal_numbers_are_different_nodes(self, student, order_of, number):
        """Nodes that hold the same number, made alike or not, are still different nodes."""
        a = number()
        nodes = graph(student, lambda: a, [], [], [0, 1], [0, 1], [2, 3])
        order = list(order_of(nodes[-1]))
        assert len(order) == 5 and set(order) == set(nodes)
        assert set(order[:2]) == set(nodes[:2]) and order[4] == nodes[4]

    def test_only_looks(self, student, order_of, number):
        """Whatever nodes hold, all are listed at each call, no step is run, and nothing changes."""
        x, y, z = (student.Value(a, label="x") for a in (0.0, number(), 0.0))
        middle = student.Value(0.0, (x, y, z), "")
        nodes = [x, y, z, middle, student.Value(0.0, (middle, x), "relu")]
        for node, grad in zip(nodes, [0.0, 100.0, -3.0, 7.0, 2.0], strict=True):
            node.grad = grad
        before = plain(student.remote.graphs.untouched(nodes))
        calls = student.remote.graphs.recorded(nodes)
        orders = student.remote.graphs.walks(order_of, [nodes[4], middle])
        whole, part = [list(order) for order in orders]
        assert set(whole[:3]) == {x, y, z} and whole[3:] == nodes[3:]
        assert set(part[:3]) == {x, y, z} and part[3:] == [middle]
        assert [calls, student.remote.graphs.untouched(nodes)] == [[], before]

    def test_many_paths(self, student, order_of):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        root = student.remote.graphs.ladder(student.Value, [1.0] * 61)
        assert len(order_of(root)) == 61


class BackwardPass:
    """What must hold for a backward pass, under whichever name."""

    name = ""

    def run(self, student, root):
        return plain(alone(student, self.name)(root))

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
        for build in builds:
            inputs = [number(), number()]
            leaves = [leaf(student, a) for a in inputs]
            self.run(student, build(*leaves))
            expected = gradients(reference, build, inputs)[1]
            assert [node.grad for node in leaves] == close(expected)

    def test_sets_the_seed(self, student, number):
        """The root's gradient is 1.0 when its step runs, and afterwards, whatever it held, and also
        if it is a leaf."""
        for root in (graph(student, number, [], [0])[1], student.Value(number())):
            root.grad = number()
            seen = student.remote.graphs.gradient_when_run(root)
            self.run(student, root)
            assert [*seen, root.grad] == [1.0] * (len(seen) + 1)

    def test_every_step_runs_once_and_in_order(self, student, number):
        """Each node's backward step runs once, and after those of all the nodes that it feeds."""
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

    def test_many_paths(self, student):
        """A hundred doublings have a gradient of 2 to the power of 100, and take no time."""
        node = x = leaf(student, 1.0)
        for _ in range(100):
            node = node + node
        self.run(student, node)
        assert x.grad == close(2.0**100)

    def test_adds_to_what_is_there(self, student, number):
        """The gradients of two losses are added to what the leaves hold, which may be equal
        numbers; nothing is zeroed."""
        a, g = number(), number()
        x, y = leaf(student, a, g), leaf(student, a)
        self.run(student, x * y)
        self.run(student, x * 3 + y * 5)
        assert [x.grad, y.grad] == close([g + a + 3, a + 5])


@exercise("backward")
class TestBackward(BackwardPass):
    name = "backward"


@exercise("deep")
class TestDeep(BackwardPass):
    name = "backward_without_recursion"

    def test_a_deep_sum(self, student):
        """A sum 2,000 additions deep, used directly and by a longer way, gets its gradient."""
        x = leaf(student, 1.0)
        total = student.remote.graphs.sum_of_terms(x, 2_000) * 2
        self.run(student, total + total * 3)
        assert x.grad == close(8 * 2_000.0)

    @essential()
    def test_calls_do_not_pile_up(self, student, number):
        """No function calls itself for every level, whatever Python's limit is set to."""
        graphs, built_in = student.remote.graphs, student.remote.builtins
        root, depths = graphs.watched_chain(student.Value, student.Value(number()), 200)
        self.run(student, root)
        assert root.grad == 1.0
        assert built_in.max(depths) - built_in.min(depths) < 100


@exercise("zero_grad")
class TestZeroGrad:
    def test_sets_every_gradient_to_zero(self, student, number):
        """Every parameter's gradient is the number 0.0 afterwards, be it tiny or huge before."""
        grads = [number(), 0.0, 1e-9, -1e-5, 0.3, -0.3, 500.0, -500.0, 1e9, -1e9, number()]
        nodes = [leaf(student, 0.0, grad) for grad in grads]
        plain(student.zero_grad(nodes))  # What it gives back tells one mistake from another.
        assert [node.grad for node in nodes] == [0.0] * len(grads)

    def test_keeps_the_numbers(self, student, number):
        """The parameters lose their gradients, and keep number, label and operands."""
        a, b = number(), number()
        w = student.Value(a, label="w")
        nodes = [w, student.Value(b, (w,), "relu", "r")]
        student.zero_grad(nodes)
        found = plain(student.remote.graphs.untouched(nodes))
        assert found == [[a, 0.0, "w", "", []], [b, 0.0, "r", "relu", [0]]]

    def test_touches_nothing_else(self, student, number):
        """Only the parameters lose their gradients: what one was computed from keeps its own. The
        list keeps its length."""
        nodes = graph(student, number, [], [], [0], [2])
        grads = [number() for _ in nodes]
        for node, grad in zip(nodes, grads, strict=True):
            node.grad = grad
        student.zero_grad(given := student.remote.builtins.list(nodes[3:]))
        assert [len(given), *(node.grad for node in nodes)] == [1, *grads[:3], 0.0]


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
            ("A backward step that is wrong is rejected, be it by one percent or in its sign; a "
             "right one is not.",
             "x**3", "3 * x**2", ["2 * x**2", "0", "3.03 * x**2", "-3 * x**2"], [[1.5], [-2.0]]),
            ("Of several inputs, right gradients are accepted, and a single wrong one is rejected, "
             "or two that are swapped.",
             "x * y + z * z", "y, x, 2 * z", ["y + 1, x, 2 * z", "y, x + 1, 2 * z",
             "y, x, 2 * z + 1", "x, y, 2 * z"], [[1.5, -2.0, 2.5], [-1.5, 2.0, -1.5]]),
            ("Where the right gradient is only 1e-6, it is accepted, and a missing one is found, "
             "or one that is twice as large.",
             "1e-6 * x - 1e-6 * y", "1e-6, -1e-6", ["1e-6, -2e-6", "1e-6, 0"], [[1.5, 1.2]]),
            ("A right gradient of many millions is accepted, and a wrong one is rejected: what "
             "counts is the relative error.",
             "x**9", "9 * x**8", ["9.45 * x**8", "8.5 * x**8"], [[9.0], [-21.0]]),
            ("A gradient that is rightly 0 is accepted; one that should be and is not is rejected.",
             "0 * x + 2.5 * y + z**3", "0, 2.5, 3 * z**2", ["2.5, 2.5, 0", "0, 5, 0",
             "0, 2.5, 2.5"], [[1.5, -2.0, 0.0]]),
            ("Near the bottom of a parabola right gradients pass and wrong ones do not: a nudge to "
             "one side is not good enough there.",
             "x**2", "2 * x", ["3 * x"], [[3e-5], [-3e-5]]),
            ("Inputs may be 0, equal, whole or large, and each gradient is judged by its own size: "
             "right ones are accepted, and a small wrong one is found beside a large one.",
             "1e4 * x + 3 * y + 4 * z + 5 * u", "1e4, 3, 4, 5",
             ["2e4, 3, 4, 5", "1e4, 4, 4, 5", "1e4, 3, 3, 5", "1e4, 3, 4, 4"],
             [[0.0, 2.0, -50.0, 2.0], [3, 2, -5, 2]]),
        ],
        ids=["wrong", "each_input", "small", "large", "zero", "close_to_a_minimum", "any_inputs"],
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
        different, each ends in a half, and every second one is negative.
        """

        def made(*rows):
            halves = [place + 0.5 for place in rng.sample(range(11, 99), 2 * len(rows))]
            halves[::2] = [-half for half in halves[::2]]
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
        for each in ((a, b), (a + 100, b + 200)):
            x.data, x.grad = each
            found = self.drawing(student, x, lambda graph, e=each: (shown(graph, e), graph.edges))
            assert found == (1, [])

    def test_nodes(self, student, made):
        """Every Value is one node, and its label shows its data and its gradient, sign included, be
        they 0 or not."""
        nodes, *numbers = made(([], ""), ([], ""), ([0, 1], "*"), ([2, 0], "+"))
        nodes[0].data = numbers[0][0] = nodes[1].grad = numbers[1][1] = 0.0
        pairs = list(zip(*numbers, strict=True))
        found = self.drawing(student, nodes[3], lambda graph: [shown(graph, e) for e in pairs])
        assert found == [1] * 4

    def test_arrows(self, student, made):
        """Arrows lead from every operand to its result, through the operation's node if there is
        one, and nowhere else. None is drawn twice."""
        nodes, numbers, _ = made(([], ""), ([], ""), ([0, 1], "*"), ([2], "relu"), ([3, 2, 0], "+"))
        a, b, c, d, e = numbers

        def facts(graph):
            once = len(graph.edges) == len(set(graph.edges))
            loose = len(graph.nothing_leads_to), len(graph.nothing_leads_from)
            return sorted(graph.flow(numbers)), once, loose

        flow = sorted([(a, c), (b, c), (c, d), (d, e), (c, e), (a, e)])
        assert self.drawing(student, nodes[-1], facts) == (flow, True, (2, 1))

    def test_operations(self, student, made):
        """Every operation's sign is shown, and two operations of a kind are drawn apart."""
        signs = ["", "tanh", "**3", "tanh"]
        nodes, numbers, _ = made(*(([n - 1] if n else [], sign) for n, sign in enumerate(signs)))

        def facts(graph):
            text = " ".join(graph.labels.values())
            return [sign in text for sign in signs], sorted(graph.flow(numbers))

        flow = sorted(pairwise(numbers))
        assert self.drawing(student, nodes[-1], facts) == ([True] * 4, flow)

    def test_equal_numbers_are_different_nodes(self, student, made):
        """Two results with one number, label and operand are two nodes, with two operations."""
        (x, *_), numbers, _ = made(([], ""), ([0], "tanh"), ([1], "+"))
        twins = list(student.remote.graphs.twins(student.Value, numbers[1], x))
        root = student.Value(numbers[2], tuple(twins), "+")

        def facts(graph):
            operations = sum("tanh" in label for label in graph.labels.values())
            return [len(graph.showing(number)) for number in numbers], operations > 1

        assert self.drawing(student, root, facts) == ([1, 2, 1], True)

    def test_an_operand_used_twice(self, student, made):
        """`x + x` draws x once, with one arrow or two."""
        nodes, numbers, _ = made(([], ""), ([0, 0], "+"))

        def facts(graph):
            return len(graph.showing(numbers[0])), graph.flow(numbers), len(graph.edges) < 4

        assert self.drawing(student, nodes[-1], facts) == (1, {tuple(numbers)}, True)


def shown(graph, numbers):
    """The number of nodes that show both numbers."""
    return len(set.intersection(*(set(graph.showing(number)) for number in numbers)))
