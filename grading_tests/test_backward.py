"""The hidden tests of `backward`.

Each test's docstring is what a student reads when it fails. Functions of one operand are tried
inside larger expressions, with an upstream gradient other than 1, and their backward steps are
run by the tests themselves, so that no exercise leans on another one's `backward`.
"""

from __future__ import annotations

import math
import statistics
from functools import partial
from operator import methodcaller

import pytest

from autograder.testing import close, exercise, plain
from course.dot import DotError, read_dot
from graphs import alone, assert_right, behind, gradients, kinds, leaf, push
from inside import functions

TOO_LONG = 20
"""How many times as long as making its nodes a walk over a graph may take. Of 6,000 nodes, it
takes up to five times as long with a set of those that were met, and sixty or more with a list."""

PARTS = 5
"""In how many parts, all as much work, the nodes are made."""


def made_in_parts(student, make):
    """What `make` gives at each of `PARTS` calls, and how many seconds they take, undisturbed: the
    median counts of what a part takes."""
    made = []
    seconds = [student.seconds(lambda: made.append(make())) for _ in range(PARTS)]
    return made, PARTS * statistics.median(seconds)


def is_quick(student, walk, making):
    """Whether a walk over all nodes is, at one of three tries: the machine may be busy. What takes
    twice too long is not tried again."""
    most = TOO_LONG * making
    for _ in range(3):
        seconds = student.seconds(walk)
        if not most <= seconds < 2 * most:
            break
    return seconds < most


@exercise("exp")
class TestExp:
    def test_value(self, student, number):
        """`x.exp()` is a new node that holds e to the power of x; x keeps its number."""
        a = number()
        x = leaf(student, a)
        assert [x.exp().data, x.data] == close([math.exp(a), a])

    def test_is_part_of_the_graph(self, student, number):
        """The result knows its operand: x can be reached from it."""
        x = leaf(student, number())
        assert x in behind(student, x.exp())

    def test_gradient(self, student, number):
        """x gets e to the power of x times the result's gradient."""
        a, upstream = number(), number()
        slopes = gradients(student, lambda x: x.exp(), [a], upstream)[1]
        # Closer than a slope by nudging comes.
        assert slopes == close([math.exp(a) * upstream], relative=2e-12)

    def test_gradient_is_added(self, student, reference, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [number()], number()
        for build in (lambda x: 2 * x - 3 * x.exp(), lambda x: x.exp() * x + x):
            expected = gradients(reference, build, a, upstream)[1]
            assert gradients(student, build, a, upstream)[1] == close(expected)

    def test_too_large(self, student, rng):
        """Above about 709 it is too large for a float: that is an error, and never a number."""
        # 2 to the power of 1,000 is not.
        assert student.error_of(lambda: leaf(student, rng.uniform(1, 600)).exp().data) is None
        x, found = leaf(student, rng.uniform(720, 1000)), []
        error = student.error_of(lambda: found.append(x.exp().data))
        assert error == "OverflowError" or found == [math.inf]  # what NumPy gives

    def test_chains(self, student, reference, number):
        """In a chain such as `(x * y).exp() * x` the gradients come out right."""
        inputs, upstream = [number() / 3, number() / 3], number()

        def build(x, y):
            return (x * y).exp() * x

        expected = gradients(reference, build, inputs, upstream)
        assert gradients(student, build, inputs, upstream) == close(expected)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        tried = [(methodcaller("exp"), [a]) for a in kinds(rng, largest=500)]
        assert_right(student, reference, rng, tried)
        for a in (rng.uniform(18, 22), rng.uniform(36, 40)):
            assert leaf(student, -a).exp().data * math.exp(a) == close(1.0)


@exercise("log")
class TestLog:
    def test_value(self, student, positive):
        """`x.log()` holds the natural logarithm; x keeps its number."""
        a, b = positive(), 1 / positive()
        x, y = leaf(student, a), leaf(student, b)
        found = [x.log().data, y.log().data, x.data, y.data]
        assert found == close([math.log(a), math.log(b), a, b])

    def test_is_part_of_the_graph(self, student, positive):
        """The result knows its operand: x can be reached from it."""
        x = leaf(student, positive())
        assert x in behind(student, x.log())

    def test_gradient(self, student, positive, number):
        """x gets 1 / x times the result's gradient."""
        upstream = number()
        for a in (positive(), 1 / positive()):
            slopes = gradients(student, lambda x: x.log(), [a], upstream)[1]
            # Closer than a slope by nudging comes.
            assert slopes == close([upstream / a], relative=2e-12)

    def test_gradient_is_added(self, student, reference, positive, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [positive()], number()
        for build in (lambda x: 2 * x - 3 * x.log(), lambda x: x.log() * x + x):
            expected = gradients(reference, build, a, upstream)[1]
            assert gradients(student, build, a, upstream)[1] == close(expected)

    def test_far_from_one(self, student, rng, number):
        """Small and large numbers get the logarithm and the gradient of their own."""
        upstream = number()
        for a in (rng.uniform(1, 9) * 1e-12, rng.uniform(1, 9) * 1e12):
            value, slopes = gradients(student, lambda x: x.log(), [a], upstream)
            assert [value, slopes[0] * a] == close([math.log(a), upstream])

    def test_zero(self, student, positive):
        """The logarithm of 0 raises ValueError."""
        assert leaf(student, a := positive()).log().data == close(math.log(a))
        with student.raises(ValueError):
            float(leaf(student, 0.0).log().data)

    def test_negative(self, student, positive):
        """The logarithm of a negative number raises ValueError."""
        a = positive()
        assert leaf(student, a).log().data == close(math.log(a))
        with student.raises(ValueError):
            float(leaf(student, -a).log().data)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        tried = [(methodcaller("log"), [a]) for a in kinds(rng) * 2 if a > 0]
        assert_right(student, reference, rng, tried)


@exercise("tanh")
class TestTanh:
    def test_value(self, student, number):
        """`x.tanh()` holds the hyperbolic tangent; x keeps its number."""
        for a in (number(), 0.0):
            x = leaf(student, a)
            assert [x.tanh().data, x.data] == close([math.tanh(a), a])

    def test_gradient(self, student, rng, number):
        """x gets 1 - t² times the result's gradient, where t is the result."""
        upstream = number()
        for a in (rng.uniform(0.3, 0.9), -rng.uniform(0.9, 2.0)):
            slopes = gradients(student, lambda x: x.tanh(), [a], upstream)[1]
            assert slopes == close([(1 - math.tanh(a) ** 2) * upstream])

    def test_gradient_is_added(self, student, reference, rng, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [rng.uniform(0.3, 1.5)], number()
        for build in (lambda x: 2 * x - 3 * x.tanh(), lambda x: x.tanh() * x + x):
            expected = gradients(reference, build, a, upstream)[1]
            assert gradients(student, build, a, upstream)[1] == close(expected)

    def test_a_neuron(self, student, reference, number):
        """In a neuron, `(w * x + b).tanh()`, the gradients come out right."""
        inputs, upstream = [number() / 2, number() / 2, number() / 4], number()

        def build(w, x, b):
            return (w * x + b).tanh()

        expected = gradients(reference, build, inputs, upstream)
        assert gradients(student, build, inputs, upstream) == close(expected)

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_very_large_numbers(self, student, rng, number, sign):
        """Far out, as at 1000 and at -1000, nothing overflows: t is 1 or -1 and the slope 0."""
        a, upstream = sign * rng.uniform(900, 1100), number()
        found = gradients(student, lambda x: x.tanh(), [a], upstream)
        assert found == close((sign, [0.0]))

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        tried = [(methodcaller("tanh"), [a]) for a in [*kinds(rng, smallest=1e-4), 4e-5, -4e-5]]
        assert_right(student, reference, rng, tried)


@exercise("relu")
class TestRelu:
    def test_value(self, student, positive):
        """`x.relu()` holds x where x is positive and 0 where it is negative; x stays as it is."""
        a = positive()
        x, y = leaf(student, a), leaf(student, -a)
        assert [x.relu().data, y.relu().data, x.data, y.data] == close([a, 0.0, a, -a])

    def test_returns_a_new_node(self, student, positive):
        """The result is a node of its own, also where the number passes unchanged."""
        for a in (positive(), -positive()):
            x = leaf(student, a)
            result = x.relu()
            assert result != x and x in behind(student, result)

    def test_gradient_where_open(self, student, positive, number):
        """Where x is positive the gradient passes as it is, whatever its sign."""
        upstream = positive()
        for a in (positive(), positive() / 100):
            for grad in (upstream, -upstream):
                assert gradients(student, lambda x: x.relu(), [a], grad)[1] == close([grad])

    def test_gradient_where_shut(self, student, positive, number):
        """Where x is negative no gradient passes, whatever its sign."""
        a, upstream = -positive(), positive()
        for grad in (upstream, -upstream):
            assert gradients(student, lambda x: x.relu(), [a], grad) == close((0.0, [0.0]))

    def test_gradient_at_zero(self, student, number):
        """At exactly 0 no gradient passes: that is the course's convention."""
        upstream = number()
        for grad in (upstream, -upstream):
            assert gradients(student, lambda x: x.relu(), [0.0], grad) == close((0.0, [0.0]))

    def test_gradient_is_added(self, student, reference, positive, number):
        """Where x has other uses as well, before or after, every use counts."""
        upstream = number()
        for a in (positive(), -positive()):
            for build in (lambda x: 2 * x - 3 * x.relu(), lambda x: x.relu() * x + x):
                expected = gradients(reference, build, [a], upstream)[1]
                assert gradients(student, build, [a], upstream)[1] == close(expected)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        tried = [(methodcaller("relu"), [a]) for a in kinds(rng) * 2]
        assert_right(student, reference, rng, tried)


def sigmoid_of(x):
    return 1 / (1 + math.exp(-x))


@exercise("sigmoid")
class TestSigmoid:
    def test_value(self, student, number):
        """`x.sigmoid()` holds 1 / (1 + e to the power of -x); x keeps its number."""
        a = number()
        for each in (a, -a, a / 10, -a / 10, 0.0):
            x = leaf(student, each)
            assert [x.sigmoid().data, x.data] == close([sigmoid_of(each), each])

    def test_gradient(self, student, number):
        """x gets s (1 - s) times the result's gradient, where s is the result."""
        a, upstream = number(), number()
        for each in (a, -a):
            s = sigmoid_of(each)
            slopes = gradients(student, lambda x: x.sigmoid(), [each], upstream)[1]
            assert slopes == close([s * (1 - s) * upstream])

    def test_gradient_is_added(self, student, reference, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [number()], number()
        for build in (lambda x: 2 * x - 3 * x.sigmoid(), lambda x: x.sigmoid() * x + x):
            expected = gradients(reference, build, a, upstream)[1]
            assert gradients(student, build, a, upstream)[1] == close(expected)

    def test_a_neuron(self, student, reference, number):
        """In a neuron, `(w * x + b).sigmoid()`, the gradients come out right."""
        inputs, upstream = [number() / 2, number() / 2, number() / 4], number()

        def build(w, x, b):
            return (w * x + b).sigmoid()

        expected = gradients(reference, build, inputs, upstream)
        assert gradients(student, build, inputs, upstream) == close(expected)

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_very_large_numbers(self, student, rng, number, sign):
        """Far out, as at 1000 and at -1000, nothing overflows: s is 1 or 0 and the slope 0."""
        a, upstream = sign * rng.uniform(900, 1100), number()
        found = gradients(student, lambda x: x.sigmoid(), [a], upstream)
        assert found == close((1.0 if sign > 0 else 0.0, [0.0]))

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        tried = [(methodcaller("sigmoid"), [a]) for a in kinds(rng)]
        assert_right(student, reference, rng, tried)


@exercise("topological_order")
class TestTopologicalOrder:
    @pytest.fixture
    def order_of(self, student):
        return alone(student, "topological_order")

    def test_the_root_alone(self, student, order_of, number):
        """For a leaf, the order holds the leaf alone."""
        x = student.Value(number())
        assert list(order_of(x)) == [x]

    def test_a_chain(self, student, order_of, number):
        """In a chain there is only one order: leaf first, root last."""
        x = student.Value(number())
        y = student.Value(number(), (x,), "**2")
        z = student.Value(number(), (y,), "**3")
        assert list(order_of(z)) == [x, y, z]

    def test_the_smallest_counterexample(self, student, order_of, number):
        """`b = a + a; c = b + b` gives a, b, c, each once."""
        a = student.Value(number())
        b = student.Value(number(), (a, a), "+")
        c = student.Value(number(), (b, b), "+")
        assert list(order_of(c)) == [a, b, c]

    def test_a_shortcut(self, student, order_of, number):
        """A node that is reached by a short and by a long way comes before both its results."""
        numbers = [number() for _ in range(4)]
        a = student.Value(numbers[0])
        b = student.Value(numbers[1], (a,), "**2")
        c = student.Value(numbers[2], (b,), "**2")
        for operands in ((b, c), (c, b)):
            root = student.Value(numbers[3], operands, "+")
            order = list(order_of(root))
            assert [node.data for node in order] == close(numbers)
            assert order == [a, b, c, root]

    def test_shared_nodes(self, student, order_of, rng, number):
        """In a random graph with shared nodes, each is listed once and after its operands."""
        nodes = [student.Value(number()) for _ in range(4)]
        edges = []
        for _ in range(12):
            pair = rng.sample(nodes[-6:], 2)
            nodes.append(student.Value(number(), tuple(pair), "+"))
            edges += [(operand, nodes[-1]) for operand in pair]
        root = student.Value(number(), tuple(nodes), "sum")
        edges += [(operand, root) for operand in nodes]
        order = list(order_of(root))
        place = {node: index for index, node in enumerate(order)}
        assert len(order) == len(place) == 17
        assert all([node in place for node in (*nodes, root)])
        assert all([place[operand] < place[result] for operand, result in edges])

    def test_equal_numbers_are_different_nodes(self, student, order_of, number):
        """Nodes that hold the same number are still different nodes."""
        a = number()
        x, y = student.Value(a), student.Value(a)
        root = student.Value(a, (x, y), "+")
        assert list(order_of(root)) in ([x, y, root], [y, x, root])

    def test_only_looks(self, student, order_of, number):
        """No backward step is run, and neither numbers nor gradients change."""
        a, g = number(), number()
        x = leaf(student, a, g)
        root = student.Value(number(), (x,), "?")
        calls = student.inside.graphs.recorded([root])
        assert list(order_of(root)) == [x, root]
        assert [calls, x.data, x.grad, root.grad] == [[], a, g, 0.0]

    def test_many_paths(self, student, order_of):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        root = student.inside.graphs.doublings(student.Value, [1.0] * 61)
        assert len(order_of(root)) == 61

    def test_many_nodes(self, student, order_of):
        """With 6,000 nodes the time still grows with their number, not with its square."""
        x = student.Value(1.0)
        chains, making = made_in_parts(
            student, lambda: student.inside.graphs.chains(student.Value, x, 60, 20)
        )
        root = student.Value(1.0, tuple(end for part in chains for end in part), "sum")
        found = []
        assert is_quick(student, lambda: found.append(order_of(root)), making)
        assert len(found[0]) == 6_002

    def test_any_nodes(self, student, order_of, number):
        """Nodes count whatever they hold: 0, gradients, equal labels, no sign, many operands."""
        x, y, z = (student.Value(a, label="x") for a in (0.0, number(), 0.0))
        middle = student.Value(0.0, (x, y, z), "")
        root = student.Value(0.0, (middle, x), "relu")
        nodes = [x, y, z, middle, root]
        for place, node in enumerate(nodes):
            node.grad = [0.0, 100.0, -3.0, 7.0, 2.0][place]
        before = plain(student.inside.graphs.untouched(nodes))
        order = list(order_of(root))
        assert len(order) == 5 and set(order[:3]) == {x, y, z} and order[3:] == [middle, root]
        assert student.inside.graphs.untouched(nodes) == before


class BackwardPass:
    """What must hold for a backward pass, under whichever name."""

    name = ""

    def run(self, student, root):
        alone(student, self.name)(root)

    def assert_right(self, student, reference, build, inputs):
        expected = gradients(reference, build, inputs)[1]
        leaves = [leaf(student, number) for number in inputs]
        self.run(student, build(*leaves))
        assert [node.grad for node in leaves] == close(expected)

    def recorded(self, student, number):
        """The root of a graph with shortcuts, and a list in which each step that runs is noted.

        There is only one order for the steps. They are numbered in it, from 0 to 4.
        """
        x = student.Value(number())
        b = student.Value(number(), (x, x), "?")
        c = student.Value(number(), (b, x), "?")
        d = student.Value(number(), (b, c), "?")
        e = student.Value(number(), (d, b), "?")
        root = student.Value(number(), (c, e, d), "?")
        return root, student.inside.graphs.recorded([root, e, d, c, b])

    def test_a_second_pass(self, student, number):
        """A later pass runs shared steps again, with what they hold: the graph stays as it was."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        both = x * y
        first, second = both * 2, both * 3
        held = []
        for root in (first, second, first):
            self.run(student, root)
            held.append(both.grad)
        assert [*held, x.grad, y.grad] == close([2, 5, 7, 14 * b, 14 * a])

    def test_any_numbers(self, student, reference, number):
        """Roots of any number pass gradients of any size: 0, negative, tiny, huge."""
        a, b = number(), number()
        scales = (0.0, 1e-5, 1.0, -1.0, 1e5 / 3)
        pairs = ((a, b), (a, a), (2.0, 1.0), (0.0, b))
        rows = [[x, y, b, scale] for scale in scales for x, y in pairs]
        found = student.inside.graphs.gradients_after(
            student.Value, student.inside.functions.scaled, alone(student, self.name), rows
        )
        assert found == close([gradients(reference, functions.scaled, row)[1] for row in rows])

    def test_many_operands(self, student, number):
        """A node may have one operand or many, and a graph many nodes: every step runs."""
        x = student.Value(number())
        root, calls = student.inside.graphs.sum_of_many(student.Value, x, 120)
        self.run(student, root)
        assert calls[0] == 0 and sorted(calls) == list(range(121))

    def test_errors_of_a_step(self, student, number):
        """An error that a step raises is passed on."""
        node = leaf(student, number()) * 2
        self.run(student, node)
        assert node.grad == 1.0
        with student.raises(ZeroDivisionError):
            self.run(student, student.inside.graphs.failing(node))

    def test_uses_side_by_side(self, student, reference, number):
        """A node that is used twice by one result, and once by another, waits for both."""

        def first(a, k):
            b = a * k
            return (b + b) + b * k

        def last(a, k):
            b = a * k
            return b * k + (b + b)

        for build in (first, last):
            self.assert_right(student, reference, build, [number(), number()])

    def test_equal_leaves(self, student, number):
        """Leaves with equal numbers keep what each holds and get what is theirs."""
        a, g = number(), number()
        x, y = leaf(student, a, g), leaf(student, a)
        self.run(student, x * 3 + y * 5)
        assert [x.grad, y.grad] == close([g + 3, 5])


@exercise("backward")
class TestBackward(BackwardPass):
    name = "backward"

    def test_two_formulas(self, student, reference, number):
        """`(a * b + c) ** 2` and `x * y + x` get all their gradients."""
        a, b, c = (number() for _ in range(3))
        self.assert_right(student, reference, lambda a, b, c: (a * b + c) ** 2, [a, b, c])
        self.assert_right(student, reference, lambda x, y: x * y + x, [a, b])

    def test_the_smallest_counterexample(self, student, reference, number):
        """`b = a + a; c = b + b` gives a gradient of 4."""

        def build(a):
            b = a + a
            return b + b

        self.assert_right(student, reference, build, [number()])

    def test_shortcuts(self, student, reference, number):
        """A node that feeds the root directly and by a longer way passes on all of its gradient."""

        def early(a, k):
            b = a * k
            return b + b * k

        def late(a, k):
            b = a * k
            return b * k + b

        inputs = [number(), number()]
        self.assert_right(student, reference, early, inputs)
        self.assert_right(student, reference, late, inputs)

    def test_diamonds(self, student, reference, number):
        """Paths that part and meet again all count."""

        def build(x, y):
            both = x * y
            left, right = both + x, both - y
            return left * right * both

        self.assert_right(student, reference, build, [number(), number()])

    def test_every_step_runs_once_and_in_order(self, student, number):
        """Each node's backward step runs once, and after those of all the nodes that it feeds."""
        root, calls = self.recorded(student, number)
        self.run(student, root)
        assert calls == [0, 1, 2, 3, 4]

    def test_sets_the_seed(self, student, number):
        """The root's gradient is 1.0 before the first step runs, whatever it held."""
        x = student.Value(number())
        root = student.Value(number(), (x,), "?")
        root.grad = number()
        seen = student.inside.graphs.gradient_when_run(root)
        self.run(student, root)
        assert [seen, root.grad] == [[1.0], 1.0]

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

    def test_many_paths(self, student):
        """Sixty doublings have a gradient of 2 to the power of 60, and take no time."""
        node = x = leaf(student, 1.0)
        for _ in range(60):
            node = node + node
        self.run(student, node)
        assert x.grad == close(2.0**60)


@exercise("zero_grad")
class TestZeroGrad:
    def test_sets_every_gradient_to_zero(self, student, number):
        """Every parameter's gradient is the number 0.0 afterwards."""
        nodes = [leaf(student, number(), number()) for _ in range(5)]
        plain(student.zero_grad(nodes))  # What it gives back tells one mistake from another.
        assert [node.grad for node in nodes] == [0.0] * 5

    def test_keeps_the_numbers(self, student, number):
        """The parameters keep their data, and they stay the same nodes."""
        numbers = [number() for _ in range(4)]
        nodes = [leaf(student, data, number()) for data in numbers]
        student.zero_grad(nodes)
        found = [[node.data for node in nodes], [node.grad for node in nodes]]
        assert found == close([numbers, [0.0] * 4])

    def test_touches_nothing_else(self, student, number):
        """Nodes that are not in the list keep their gradients, also operands of one that is."""
        grads = [number(), number()]
        x, other = (leaf(student, number(), grad) for grad in grads)
        node = student.Value(number(), (x,), "**2")
        node.grad = number()
        student.zero_grad([node])
        assert [x.grad, other.grad, node.grad] == close([*grads, 0.0])

    def test_other_collections(self, student, number):
        """A tuple of parameters will do as well as a list."""
        nodes = tuple(leaf(student, number(), number()) for _ in range(3))
        student.zero_grad(nodes)
        assert [node.grad for node in nodes] == close([0.0] * 3)

    def test_separates_two_steps(self, student, number):
        """After zeroing, the next backward pass starts from nothing."""
        a, b = number(), number()
        x = leaf(student, a)
        for factor in (a, b):
            product = x * factor
            product.grad = a
            student.zero_grad([x, product])
            push(product, 1.0)
        assert x.grad == close(b)

    def test_any_gradients(self, student, number):
        """Gradients of any size are set to 0.0: tiny, huge, negative, 0, and what is no number any
        more; of equal nodes and of results too."""
        grads = [0.0, 1e-9, -1e-5, 0.3, -0.3, 500.0, -500.0, 1e9, -1e9, 7.0, 0.7, -2.0, 2.0]
        grads += [math.inf, math.nan]
        a, x = number(), student.Value(number())
        nodes = [leaf(student, a, grad) for grad in grads[:-1]]
        nodes.append(student.Value(a, (x,), "?"))
        nodes[-1].grad = grads[-1]
        given = student.inside.builtins.list(nodes)
        for _ in range(2):
            student.zero_grad(given)
            assert [node.grad for node in nodes] == [0.0] * 15
            nodes[0].grad = number()
        assert len(given) == 15

    def test_what_is_behind(self, student, number):
        """What a parameter was computed from keeps its gradients, near and far."""
        grads = [number(), number()]
        x = leaf(student, number(), grads[0])
        y = student.Value(number(), (x,), "?")
        z = student.Value(number(), (y,), "?")
        y.grad, z.grad = grads[1], number()
        student.zero_grad([z])
        assert [x.grad, y.grad, z.grad] == [*grads, 0.0]


def to_verdict(answer):
    """True and False alone are verdicts: 1 and 0 are not."""
    return answer if type(answer) is bool else None


@exercise("check_gradients")
class TestCheckGradients:
    """The student's checker is tried on right operations and on ones with planted mistakes."""

    @pytest.fixture
    def says(self, student, rng):
        """What the checker says to each question, a function and the inputs to check it at.

        A question is given as what makes it. They are made in an order that is drawn, and each is
        asked twice, in another one: that a question comes early or late, or once more, tells
        nothing about its answer.
        """

        def ask(*makers, **options):
            turns = range(len(makers))
            questions = {turn: makers[turn]() for turn in rng.sample(turns, len(turns))}
            answers = {turn: [] for turn in turns}
            for turn in rng.sample([*turns] * 2, 2 * len(turns)):
                answers[turn].append(student.check_gradients(*questions[turn], **options))
            first, second = zip(*answers.values(), strict=True)
            found = [plain(each, to_verdict) for each in first]
            assert found == [plain(each, to_verdict) for each in second]
            return found

        return ask

    @pytest.fixture
    def power(self, student):
        """A question about xⁿ, whose derivative is taken to be factor · xⁿ⁻¹."""
        return lambda n, factor, *inputs: (
            student.inside.operations.power(student.Value, n, factor),
            list(inputs),
        )

    @pytest.fixture
    def linear(self, student):
        """A question about a x + b y + …, whose derivatives are taken to be the slopes."""
        return lambda factors, slopes, *inputs: (
            student.inside.operations.linear(student.Value, factors, slopes),
            list(inputs),
        )

    def test_right_operations(self, student, says, power, positive, number):
        """Right gradients are accepted and wrong ones are not, for one input and for several."""
        cube = student.inside.functions.cube
        several = student.inside.operations.quotient_and_powers
        # With these signs, no gradient of the second expression comes close to 0.
        assert says(
            lambda: (cube, [number()]),
            lambda: (several, [positive(), positive(), positive()]),
            lambda: (several, [-positive(), -positive(), -positive()]),
            lambda: power(3, 2.0, number()),
            lambda: power(2, 3.0, positive()),
        ) == [True, True, True, False, False]

    def test_wrong_operation(self, says, power, number):
        """A backward step that is wrong, be it by one percent, is rejected; a right one is not."""
        factors = [3.0, 3.0, 2.0, 0.0, 3.03]
        makers = [lambda f=factor: power(3, f, number()) for factor in factors]
        assert says(*makers) == [True, True, False, False, False]

    def test_wrong_sign(self, says, linear, positive, number):
        """A gradient whose sign is turned is rejected."""
        a, b = positive(), -positive()
        pairs = [(a, a), (b, b), (a, -a), (b, -b)]
        makers = [lambda f=factor, s=slope: linear([f], [s], number()) for factor, slope in pairs]
        assert says(*makers) == [True, True, False, False]

    def test_each_input_counts(self, student, says, number):
        """One wrong gradient is enough, whether it is the first input's or the last one's."""

        def question(*errors):
            operation = student.inside.operations.product_and_square(student.Value, errors)
            return operation, [number(), number(), number()]

        cases = [(0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        makers = [partial(question, *case) for case in cases]
        assert says(*makers) == [True, True, False, False, False]

    def test_mistakes_that_cancel(self, student, says, positive):
        """Two gradients that are swapped are rejected, although their sum is right."""

        def question(swaps, turned):
            inputs = [positive(), 1.0 + positive() * 2]
            operation = student.inside.operations.product(student.Value, swaps)
            return operation, inputs[::-1] if turned else inputs

        cases = [(False, False), (False, True), (True, False), (True, True)]
        makers = [partial(question, *case) for case in cases]
        assert says(*makers) == [True, True, False, False]

    def test_overwriting(self, student, says, rng):
        """An operation that writes `=` in place of `+=` is rejected where its input is reused."""

        def question(adds, sign):
            operations = student.inside.operations
            square = operations.power(student.Value, 2, 2.0, adds=adds)
            return operations.used_twice(square), [sign * rng.uniform(1.2, 1.8)]

        makers = [partial(question, adds, sign) for adds in (True, False) for sign in (1, -1)]
        assert says(*makers) == [True, True, False, False]

    def test_small_gradients(self, says, linear, rng):
        """A gradient twice too large, or missing, is found where the right one is only 1e-6."""
        tiny = 1e-6

        def question(slope):
            inputs = rng.uniform(1.2, 2.0), rng.uniform(1.2, 2.0)
            return linear([tiny, -tiny], [tiny, slope], *inputs)

        makers = [partial(question, slope) for slope in (-tiny, -tiny, -2 * tiny, 0.0)]
        assert says(*makers) == [True, True, False, False]

    def test_large_gradients(self, says, power, rng):
        """A right gradient of many millions is accepted: what counts is the relative error."""
        factors = [9.0, 9.0, 9.5, 8.5]
        makers = [lambda f=factor: power(9, f, rng.uniform(9.0, 10.0)) for factor in factors]
        assert says(*makers) == [True, True, False, False]

    def test_small_beside_large(self, says, linear, number):
        """Each gradient is judged by its own size: a small wrong one is found beside a large."""
        large = 1e4

        def question(slope):
            return linear([large, 1.0], [large, slope], number(), number())

        makers = [partial(question, slope) for slope in (1.0, 1.0, 1.5, 0.5)]
        assert says(*makers) == [True, True, False, False]

    def test_gradients_of_zero(self, says, linear, positive, number):
        """A gradient that is rightly 0 is accepted, one that should be 0 and is not is rejected."""
        a, b = positive(), -positive()
        cases = [
            ([a, 0.0], [a, 0.0]),
            ([0.0, b], [0.0, b]),
            ([a, 0.0], [a, a]),
            ([0.0, b], [b, b]),
            ([a, 0.0], [2 * a, 0.0]),
            ([0.0, b], [0.0, 2 * b]),
        ]
        makers = [lambda c=case: linear(*c, number(), number()) for case in cases]
        assert says(*makers) == [True, True, *[False] * 4]

    def test_errors_of_the_function(self, student, says, power, number):
        """What the function raises is passed on: it is no verdict."""
        makers = [lambda f=factor: power(3, f, number()) for factor in (3.0, 2.0)]
        assert says(*makers) == [True, False]
        with student.raises(ValueError):
            student.check_gradients(student.inside.operations.refused, [number()])

    def test_close_to_a_minimum(self, says, power, rng):
        """Near the bottom of a parabola a one-sided nudge is not good enough: nudge both ways."""

        def question(factor, sign):
            return power(2, factor, sign * rng.uniform(2e-5, 4e-5))

        makers = [partial(question, factor, sign) for factor in (2.0, 3.0) for sign in (1, -1)]
        assert says(*makers) == [True, True, False, False]

    def test_epsilon(self, student, says, positive, rng):
        """`epsilon` is how far an input is moved, up and down, with the others left alone."""
        operations = student.inside.operations
        epsilon = rng.uniform(0.01, 0.02)
        (a, b), watched = (positive(), -1.0 - 2 * positive()), []

        def right():
            watched.append(operations.Watched(operations.product(student.Value, False)))
            return watched[0], [a, b]

        def wrong():
            swapped = operations.product(student.Value, True)
            return operations.Watched(swapped), [positive(), -1.0 - 2 * positive()]

        assert says(right, wrong, epsilon=epsilon) == [True, False]
        asked = list(watched[0].at)
        for point in ([a + epsilon, b], [a - epsilon, b], [a, b + epsilon], [a, b - epsilon]):
            assert any(each == close(point) for each in asked)

    def test_any_inputs(self, says, linear, rng):
        """Inputs may be 0, equal, large or many: a wrong gradient is found at each of them."""
        factors = [rng.uniform(1.2, 3.0) for _ in range(5)]
        inputs = [0.0, rng.uniform(1.2, 3.0), -rng.uniform(30, 80), 0.0, 0]
        inputs[4] = inputs[1]

        def question(place):
            slopes = [f * (1.5 if i == place else 1.0) for i, f in enumerate(factors)]
            return linear(factors, slopes, *inputs)

        makers = [partial(question, place) for place in (None, None, 0, 1, 2, 3, 4)]
        assert says(*makers) == [True, True, *[False] * 5]

    def test_at_large_inputs(self, says, power, rng):
        """At large inputs, in steep places, right gradients pass and wrong ones do not."""
        makers = [
            lambda n=n, f=f, sign=sign: power(n, f, sign * rng.uniform(20.2, 24.8))
            for n, right in ((9, 9.0), (2, 2.0))
            for f in (right, right * 1.05)
            for sign in (1, -1)
        ]
        assert says(*makers) == [True, True, False, False] * 2


@exercise("deep")
class TestDeep(BackwardPass):
    name = "backward_without_recursion"

    def test_a_formula(self, student, reference, number):
        """`(a * b + c) ** 2` gets all its gradients."""
        inputs = [number() for _ in range(3)]
        self.assert_right(student, reference, lambda a, b, c: (a * b + c) ** 2, inputs)

    def test_every_step_runs_once_and_in_order(self, student, number):
        """Each node's backward step runs once, and after those of all the nodes that it feeds."""
        root, calls = self.recorded(student, number)
        self.run(student, root)
        assert calls == [0, 1, 2, 3, 4]

    def test_seed_and_sums(self, student, number):
        """The root's gradient is set to 1.0; in the leaves gradients add up, nothing is zeroed."""
        a, g = number(), number()
        x = leaf(student, a, g)
        root = x * 2
        root.grad = number()
        self.run(student, root)
        assert [root.grad, x.grad] == close([1.0, g + 2.0])

    def test_many_paths(self, student):
        """Sixty doublings have a gradient of 2 to the power of 60, and take no time."""
        node = x = leaf(student, 1.0)
        for _ in range(60):
            node = node + node
        self.run(student, node)
        assert x.grad == close(2.0**60)

    def test_a_deep_sum(self, student):
        """A sum of 1,200 terms, used directly and by a longer way, gives every term its due."""
        x = leaf(student, 1.0)
        both = student.inside.graphs.sum_of_terms(x, 1_200) * 2
        self.run(student, both + both * 3)
        assert x.grad == close(8 * 1_200.0)

    def test_a_very_deep_chain(self, student, number):
        """A chain of 6,000 nodes is no obstacle: its steps run, root first, and without delay."""
        ends = [student.Value(number())]

        def go_on():
            ends.append(student.inside.graphs.chain(student.Value, ends[-1], 1_200))
            return ends[-1]

        nodes, making = made_in_parts(student, go_on)
        nodes.reverse()
        calls = student.inside.graphs.recorded(nodes)
        self.run(student, nodes[0])
        assert [calls, nodes[0].grad] == [[0, 1, 2, 3, 4], 1.0]
        assert is_quick(student, lambda: self.run(student, nodes[0]), making)


@exercise("extra_ops")
class TestExtraOps:
    @pytest.mark.parametrize("name", ["sin", "cos", "sqrt"])
    def test_value(self, student, positive, name):
        """`sin`, `cos` and `sqrt` hold the right number; x keeps its own."""
        a = positive()
        for each in (a,) if name == "sqrt" else (a, -a):
            x = leaf(student, each)
            assert [getattr(x, name)().data, x.data] == close([getattr(math, name)(each), each])

    @pytest.mark.parametrize("name", ["sin", "cos", "sqrt"])
    def test_gradient(self, student, reference, positive, number, name):
        """The gradients of `sin`, `cos` and `sqrt` are right, beside other uses of x too."""

        def applied(x):
            return getattr(x, name)()

        a, upstream = positive(), number()
        for each in (a,) if name == "sqrt" else (a, -a):
            for build in (lambda x: applied(x) * x + x, lambda x: 2 * x - 3 * applied(x * x)):
                expected = gradients(reference, build, [each], upstream)[1]
                assert gradients(student, build, [each], upstream)[1] == close(expected)

    def test_root_of_a_negative_number(self, student, positive):
        """The square root of a negative number raises ValueError."""
        a = positive()
        assert leaf(student, a).sqrt().data == close(math.sqrt(a))
        with student.raises(ValueError):
            float(leaf(student, -a).sqrt().data)

    @pytest.mark.parametrize("name", ["sin", "cos", "sqrt"])
    def test_any_numbers(self, student, reference, rng, name):
        """The rule is the same for all numbers, with any gradient and however often it is used."""
        numbers = [a for a in [*kinds(rng, largest=500), 0.5] * 3 if a > 0 or name != "sqrt"]
        assert_right(student, reference, rng, [(methodcaller(name), [a]) for a in numbers])


@exercise("dot_source")
class TestDotSource:
    @pytest.fixture
    def drawn(self, rng):
        """Draws numbers that a label can be told by: different ones, each ending in a half."""
        numbers = rng.sample(range(11, 99), 60)
        return lambda: numbers.pop() + 0.5

    def node(self, student, drawn, operands=(), operation=""):
        """A node with numbers of its own, and these numbers."""
        data, grad = drawn(), drawn()
        node = student.Value(data, tuple(operands), operation)
        node.grad = grad
        return node, data, grad

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

    def test_a_leaf(self, student, drawn):
        """A leaf is one node, which shows its data and its gradient, and there are no arrows."""
        x, data, grad = self.node(student, drawn)

        def facts(graph):
            return len(graph.showing(data)), shown_together(graph, data, grad), graph.edges == []

        assert self.drawing(student, x, facts) == (1, True, True)

    def test_nodes(self, student, drawn):
        """Every Value is one node, and its label shows its data and its gradient."""
        x, *first = self.node(student, drawn)
        y, *second = self.node(student, drawn)
        z, *third = self.node(student, drawn, (x, y), "*")
        root, *fourth = self.node(student, drawn, (z, x), "+")

        def facts(graph):
            pairs = (first, second, third, fourth)
            return [(len(graph.showing(pair[0])), shown_together(graph, *pair)) for pair in pairs]

        assert self.drawing(student, root, facts) == [(1, True)] * 4

    def test_arrows(self, student, drawn):
        """Arrows lead from every operand to its result, and nowhere else."""
        x, a, _ = self.node(student, drawn)
        y, b, _ = self.node(student, drawn)
        z, c, _ = self.node(student, drawn, (x, y), "*")
        w, d, _ = self.node(student, drawn, (z,), "relu")
        root, e, _ = self.node(student, drawn, (w, x), "+")
        found = self.drawing(student, root, lambda graph: sorted(graph.flow([a, b, c, d, e])))
        assert found == sorted([(a, c), (b, c), (c, d), (d, e), (a, e)])

    def test_operations(self, student, drawn):
        """Every operation's sign is shown, and two operations of a kind are drawn apart."""
        x, a, _ = self.node(student, drawn)
        y, b, _ = self.node(student, drawn, (x,), "tanh")
        z, c, _ = self.node(student, drawn, (y,), "exp")
        root, d, _ = self.node(student, drawn, (z,), "tanh")

        def facts(graph):
            shown = " ".join(graph.labels.values())
            return "tanh" in shown, "exp" in shown, sorted(graph.flow([a, b, c, d]))

        flow = sorted([(a, b), (b, c), (c, d)])
        assert self.drawing(student, root, facts) == (True, True, flow)

    def test_equal_numbers_are_different_nodes(self, student, drawn):
        """Two Values are two nodes in the drawing, though they have the same number and label."""
        data = drawn()
        x, y = student.Value(data, label="x"), student.Value(data, label="x")
        root, result, _ = self.node(student, drawn, (x, y), "+")

        def facts(graph):
            counts = [len(graph.showing(number)) for number in (data, result)]
            return counts, sorted(graph.flow([data, result]))

        assert self.drawing(student, root, facts) == ([2, 1], [(data, result)])

    def test_an_operand_used_twice(self, student, drawn):
        """`x + x` draws x once, with one arrow or two."""
        x, data, _ = self.node(student, drawn)
        root, result, _ = self.node(student, drawn, (x, x), "+")

        def facts(graph):
            flow = sorted(graph.flow([data, result]))
            return len(graph.showing(data)), flow, len(graph.edges) in (1, 2, 3)

        assert self.drawing(student, root, facts) == (1, [(data, result)], True)

    def test_any_numbers(self, student, drawn):
        """Signs are shown, and 0 as well; many operands are, and every sign of an operation."""
        numbers = [-drawn(), 0.0, drawn()]
        nodes = [student.Value(a, label=label) for a, label in zip(numbers, "xyx", strict=True)]
        nodes[0].grad = grad = -drawn()
        for operation, count in (("sum", 3), ("**3", 1), ("/", 2), ("+", 2)):
            numbers.append(drawn())
            nodes.append(student.Value(numbers[-1], tuple(nodes[-count:]), operation))

        def facts(graph):
            shown = set(graph.labels.values())
            signs = [any(sign in each for each in shown) for sign in ("sum", "**3", "/", "+")]
            together = shown_together(graph, numbers[0], grad)
            zeros = set(graph.showing(numbers[2])) <= set(graph.showing(0.0))
            return together and zeros, signs, sorted(graph.flow(numbers))

        a, b, c, total, power, product, root = numbers
        flow = [(a, total), (b, total), (c, total), (total, power), (total, product)]
        flow += [(power, product), (power, root), (product, root)]
        assert self.drawing(student, nodes[-1], facts) == (True, [True] * 4, sorted(flow))

    def test_many_paths(self, student):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        numbers = [index + 0.5 for index in range(31)]
        root = student.inside.graphs.doublings(student.Value, numbers)
        found = self.drawing(
            student, root, lambda graph: [len(graph.showing(number)) for number in numbers]
        )
        assert found == [1] * 31


def shown_together(graph, *numbers):
    """Whether the nodes of a drawing that show one of the numbers show all of them."""
    first, *others = map(graph.showing, numbers)
    return all(each == first for each in others)
