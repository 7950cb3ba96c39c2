"""The hidden tests of `backward`.

Each test's docstring is what a student reads when it fails. Functions of one operand are tried
inside larger expressions, with an upstream gradient other than 1, and their backward steps are
run by the tests themselves, so that no exercise leans on another one's `backward`.
"""

from __future__ import annotations

import math

import pytest

from autograder.testing import close, exercise, gradients, leaf, reverse_topological
from course.dot import read_dot

TOO_LONG = 20
"""How many times as long as making its nodes a walk over a graph may take. Of 6,000 nodes, it
takes up to five times as long with a set of those that were met, and sixty or more with a list."""


def made_in_parts(student, make, parts):
    """What `make` gives at each of so many calls, and how long each call takes."""
    made = [student.timed(make) for _ in range(parts)]
    return [part for _, part in made], [seconds for seconds, _ in made]


def is_quick(student, action, making):
    """Whether a walk over all nodes is, at one of three tries: the machine may be busy."""
    tries = (student.timed(action)[0] for _ in range(3))
    return any(student.is_shorter(seconds, TOO_LONG, making) for seconds in tries)


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
        assert x in reverse_topological(student, x.exp())[1:]

    def test_gradient(self, student, number):
        """x gets e to the power of x times the result's gradient."""
        a, upstream = number(), number()
        assert gradients(student, lambda x: x.exp(), [a], upstream)[1] == close(
            [math.exp(a) * upstream]
        )

    def test_gradient_is_added(self, student, reference, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [number()], number()
        for build in (lambda x: 2 * x - 3 * x.exp(), lambda x: x.exp() * x + x):
            expected = gradients(reference, build, a, upstream)
            assert gradients(student, build, a, upstream)[1] == close(expected[1])

    def test_too_large(self, student, rng):
        """Above about 709 it is too large for a float: that is an error, and never a number."""
        x, found = leaf(student, rng.uniform(720, 1100)), []
        error = student.error_of(lambda: found.append(x.exp().data))
        assert error == "OverflowError" or found == [math.inf]  # what NumPy gives

    def test_chains(self, student, reference, number):
        """In a chain such as `(x * y).exp() * x` the gradients come out right."""
        inputs, upstream = [number() / 3, number() / 3], number()

        def build(x, y):
            return (x * y).exp() * x

        expected = gradients(reference, build, inputs, upstream)
        found = gradients(student, build, inputs, upstream)
        assert found[0] == close(expected[0]) and found[1] == close(expected[1])


@exercise("log")
class TestLog:
    def test_value(self, student, positive):
        """`x.log()` holds the natural logarithm; x keeps its number."""
        a, b = positive(), 1 / positive()
        x = leaf(student, a)
        assert [x.log().data, x.data] == close([math.log(a), a])
        assert leaf(student, b).log().data == close(math.log(b))

    def test_is_part_of_the_graph(self, student, positive):
        """The result knows its operand: x can be reached from it."""
        x = leaf(student, positive())
        assert x in reverse_topological(student, x.log())[1:]

    def test_gradient(self, student, positive, number):
        """x gets 1 / x times the result's gradient."""
        upstream = number()
        for a in (positive(), 1 / positive()):
            slopes = gradients(student, lambda x: x.log(), [a], upstream)[1]
            assert slopes == close([upstream / a])

    def test_gradient_is_added(self, student, reference, positive, number):
        """Where x has other uses as well, before or after, every use counts."""
        a, upstream = [positive()], number()
        for build in (lambda x: 2 * x - 3 * x.log(), lambda x: x.log() * x + x):
            expected = gradients(reference, build, a, upstream)
            assert gradients(student, build, a, upstream)[1] == close(expected[1])

    def test_far_from_one(self, student, rng, number):
        """Small and large numbers get the logarithm and the gradient of their own."""
        upstream = number()
        for a in (rng.uniform(1, 9) * 1e-12, rng.uniform(1, 9) * 1e12):
            value, slopes = gradients(student, lambda x: x.log(), [a], upstream)
            assert value == close(math.log(a)) and slopes[0] * a == close(upstream)

    def test_zero(self, student, positive):
        """The logarithm of 0 raises ValueError."""
        assert leaf(student, a := positive()).log().data == close(math.log(a))
        x = leaf(student, 0.0)
        assert student.error_of(lambda: x.log().data) == "ValueError"

    def test_negative(self, student, positive):
        """The logarithm of a negative number raises ValueError."""
        a = positive()
        assert leaf(student, a).log().data == close(math.log(a))
        x = leaf(student, -a)
        assert student.error_of(lambda: x.log().data) == "ValueError"


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
            expected = gradients(reference, build, a, upstream)
            assert gradients(student, build, a, upstream)[1] == close(expected[1])

    def test_a_neuron(self, student, reference, number):
        """In a neuron, `(w * x + b).tanh()`, the gradients come out right."""
        inputs, upstream = [number() / 2, number() / 2, number() / 4], number()

        def build(w, x, b):
            return (w * x + b).tanh()

        expected = gradients(reference, build, inputs, upstream)
        found = gradients(student, build, inputs, upstream)
        assert found[0] == close(expected[0]) and found[1] == close(expected[1])

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_very_large_numbers(self, student, rng, number, sign):
        """Far out, as at 1000 and at -1000, nothing overflows: t is 1 or -1 and the slope 0."""
        a, upstream = sign * rng.uniform(900, 1100), number()
        value, slopes = gradients(student, lambda x: x.tanh(), [a], upstream)
        assert value == close(sign) and slopes == close([0.0])


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
            assert result != x and x in reverse_topological(student, result)[1:]

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
            value, slopes = gradients(student, lambda x: x.relu(), [a], grad)
            assert value == close(0.0) and slopes == close([0.0])

    def test_gradient_at_zero(self, student, number):
        """At exactly 0 no gradient passes: that is the course's convention."""
        upstream = number()
        for grad in (upstream, -upstream):
            value, slopes = gradients(student, lambda x: x.relu(), [0.0], grad)
            assert value == close(0.0) and slopes == close([0.0])

    def test_gradient_is_added(self, student, reference, positive, number):
        """Where x has other uses as well, before or after, every use counts."""
        upstream = number()
        for a in (positive(), -positive()):
            for build in (lambda x: 2 * x - 3 * x.relu(), lambda x: x.relu() * x + x):
                expected = gradients(reference, build, [a], upstream)
                assert gradients(student, build, [a], upstream)[1] == close(expected[1])


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
            expected = gradients(reference, build, a, upstream)
            assert gradients(student, build, a, upstream)[1] == close(expected[1])

    def test_a_neuron(self, student, reference, number):
        """In a neuron, `(w * x + b).sigmoid()`, the gradients come out right."""
        inputs, upstream = [number() / 2, number() / 2, number() / 4], number()

        def build(w, x, b):
            return (w * x + b).sigmoid()

        expected = gradients(reference, build, inputs, upstream)
        found = gradients(student, build, inputs, upstream)
        assert found[0] == close(expected[0]) and found[1] == close(expected[1])

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_very_large_numbers(self, student, rng, number, sign):
        """Far out, as at 1000 and at -1000, nothing overflows: s is 1 or 0 and the slope 0."""
        a, upstream = sign * rng.uniform(900, 1100), number()
        value, slopes = gradients(student, lambda x: x.sigmoid(), [a], upstream)
        assert value == close(1.0 if sign > 0 else 0.0) and slopes == close([0.0])


@exercise("topological_order")
class TestTopologicalOrder:
    def keeps_the_rule(self, edges, order):
        """Whether every operand of `edges` comes before its result."""
        place = {node: index for index, node in enumerate(order)}
        return all(place[operand] < place[result] for operand, result in edges)

    def test_the_root_alone(self, student, number):
        """For a leaf, the order holds the leaf alone."""
        x = student.Value(number())
        assert student.items(student.topological_order(x)) == [x]

    def test_a_chain(self, student, number):
        """In a chain there is only one order: leaf first, root last."""
        x = student.Value(number())
        y = student.Value(number(), (x,), "**2")
        z = student.Value(number(), (y,), "**3")
        assert student.items(student.topological_order(z)) == [x, y, z]

    def test_the_smallest_counterexample(self, student, number):
        """`b = a + a; c = b + b` gives a, b, c, each once."""
        a = student.Value(number())
        b = student.Value(number(), (a, a), "+")
        c = student.Value(number(), (b, b), "+")
        assert student.items(student.topological_order(c)) == [a, b, c]

    def test_a_shortcut(self, student, number):
        """A node that is reached by a short and by a long way comes before both its results."""
        a = student.Value(number())
        b = student.Value(number(), (a,), "**2")
        c = student.Value(number(), (b,), "**2")
        for operands in ((b, c), (c, b)):
            root = student.Value(number(), operands, "+")
            order = student.items(student.topological_order(root))
            expected = [a, b, c, root]
            assert student.attributes(order, "data") == student.attributes(expected, "data")
            assert order == expected

    def test_shared_nodes(self, student, rng, number):
        """In a random graph with shared nodes, each is listed once and after its operands."""
        nodes = [student.Value(number()) for _ in range(4)]
        edges = []
        for _ in range(12):
            pair = rng.sample(nodes[-6:], 2)
            nodes.append(student.Value(number(), tuple(pair), "+"))
            edges += [(operand, nodes[-1]) for operand in pair]
        root = student.Value(number(), tuple(nodes), "sum")
        edges += [(operand, root) for operand in nodes]
        order = student.items(student.topological_order(root))
        assert len(order) == 17 and set(order) == {*nodes, root}
        assert order[-1] == root and self.keeps_the_rule(edges, order)

    def test_equal_numbers_are_different_nodes(self, student, number):
        """Nodes that hold the same number are still different nodes."""
        a = number()
        x, y = student.Value(a), student.Value(a)
        root = student.Value(a, (x, y), "+")
        order = student.items(student.topological_order(root))
        assert len(order) == 3 and set(order[:2]) == {x, y} and order[2] == root

    def test_only_looks(self, student, number):
        """No backward step is run, and neither numbers nor gradients change."""
        calls, a, g = [], number(), number()
        x = leaf(student, a, g)
        root = student.Value(number(), (x,), "?")
        root._backward = lambda: calls.append("ran")
        assert student.items(student.topological_order(root)) == [x, root]
        assert [calls, x.data, x.grad, root.grad] == [[], a, g, 0.0]

    def test_many_paths(self, student):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        node = student.Value(1.0)
        for _ in range(60):
            node = student.Value(1.0, (node, node), "+")
        assert student.lengths([student.call(student.topological_order, node)]) == [61]

    def test_many_nodes(self, student):
        """With 6,000 nodes the time still grows with their number, not with its square."""
        x = student.Value(1.0)
        chains, making = made_in_parts(
            student, lambda: [student.deepened(x, 60) for _ in range(20)], 5
        )
        root = student.Value(1.0, tuple(end for part in chains for end in part), "sum")
        orders = []

        def walk():
            orders.append(student.call(student.topological_order, root))

        assert is_quick(student, walk, making)
        assert student.lengths(orders[:1]) == [6_002]


class BackwardPass:
    """What must hold for a backward pass, under whichever name."""

    name = ""

    def run(self, student, root):
        student.call(getattr(student, self.name), root)

    def assert_right(self, student, reference, build, inputs):
        expected = gradients(reference, build, inputs)[1]
        leaves = [leaf(student, number) for number in inputs]
        self.run(student, build(*leaves))
        assert student.attributes(leaves, "grad") == close(expected)

    def recorded(self, student, number):
        """A graph with shortcuts, and its leaf: each step that runs adds its digit to x.grad."""
        x = student.Value(number())

        def record(digit):
            x.grad = 10 * x.grad + digit

        b = student.Value(number(), (x, x), "?")
        c = student.Value(number(), (b, x), "?")
        d = student.Value(number(), (b, c), "?")
        e = student.Value(number(), (d, b), "?")
        root = student.Value(number(), (c, e, d), "?")
        for index, node in enumerate([root, e, d, c, b]):
            node._backward = lambda index=index: record(index + 1)
        return root, x

    def test_a_second_pass(self, student, number):
        """A later pass runs shared steps again, with what they hold: the graph stays as it was."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        both = x * y
        first, second = both * 2, both * 3
        for root, held in ((first, 2), (second, 5), (first, 7)):
            self.run(student, root)
            assert both.grad == close(held)
        assert [x.grad, y.grad] == close([14 * b, 14 * a])


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
        root, x = self.recorded(student, number)
        self.run(student, root)
        assert x.grad == 12345

    def test_sets_the_seed(self, student, number):
        """The root's gradient is 1.0 before the first step runs, whatever it held."""
        x, seen, before = student.Value(number()), [], number()
        root = student.Value(number(), (x,), "?")
        root.grad = before
        root._backward = lambda: seen.append(root.grad)
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
        student.zero_grad(nodes)
        grads = student.attributes(nodes, "grad")
        assert grads == [0.0] * 5 and not any(grad is False for grad in grads)

    def test_keeps_the_numbers(self, student, number):
        """The parameters keep their data, and they stay the same nodes."""
        numbers = [number() for _ in range(4)]
        nodes = [leaf(student, data, number()) for data in numbers]
        student.zero_grad(nodes)
        assert student.attributes(nodes, "data") == close(numbers)
        assert student.attributes(nodes, "grad") == [0.0] * 4

    def test_touches_nothing_else(self, student, number):
        """Nodes that are not in the list keep their gradients, also operands of one that is."""
        grads = [number(), number()]
        x, other = (leaf(student, number(), grad) for grad in grads)
        node = student.Value(number(), (x,), "**2")
        node.grad = number()
        student.zero_grad([node])
        assert [x.grad, other.grad, node.grad] == [*grads, 0.0]

    def test_other_collections(self, student, number):
        """A tuple of parameters will do as well as a list."""
        nodes = tuple(leaf(student, number(), number()) for _ in range(3))
        student.zero_grad(nodes)
        assert student.attributes(list(nodes), "grad") == [0.0] * 3

    def test_separates_two_steps(self, student, number):
        """After zeroing, the next backward pass starts from nothing."""
        a, b = number(), number()
        x = leaf(student, a)
        for factor in (a, b):
            student.zero_grad([x])
            y = x * factor
            y.grad = 1.0
            student.invoke(y, "_backward")
        assert x.grad == close(b)


@exercise("check_gradients")
class TestCheckGradients:
    """The student's checker is tried on right operations and on ones with planted mistakes."""

    def accepts(self, student, f, inputs, **options):
        return student.check_gradients(f, inputs, **options) is True

    def rejects(self, student, f, inputs, **options):
        return student.check_gradients(f, inputs, **options) is False

    def test_right_operations(self, student, number):
        """Right gradients are accepted, for one input and for several."""
        assert self.accepts(student, student.expression(lambda x: x**3), [number()])
        several = student.expression(lambda x, y, z: x * y + y**3 - z / x)
        assert self.accepts(student, several, [number(), number(), number()])

    def test_wrong_operation(self, student, number):
        """A backward step that is wrong, be it by one percent, is rejected; a right one is not."""
        a = number()
        right = student.operation(lambda x: x**3, lambda x: 3 * x**2)
        wrong = student.operation(lambda x: x**3, lambda x: 2 * x**2)
        silent = student.operation(lambda x: x**3, lambda x: 0.0)
        nearly = student.operation(lambda x: x**3, lambda x: 3.03 * x**2)
        assert self.accepts(student, right, [a])
        for operation in (wrong, silent, nearly):
            assert self.rejects(student, operation, [a])

    def test_wrong_sign(self, student, number):
        """A gradient whose sign is turned is rejected."""
        a = number()
        right = student.operation(lambda x: 3 * x, lambda x: 3.0)
        wrong = student.operation(lambda x: 3 * x, lambda x: -3.0)
        assert self.accepts(student, right, [a]) and self.rejects(student, wrong, [a])

    def test_each_input_counts(self, student, number):
        """One wrong gradient is enough, whether it is the first input's or the last one's."""
        inputs = [number(), number(), number()]
        right = [lambda x, y, z: y, lambda x, y, z: x, lambda x, y, z: 2 * z]
        wrong = [lambda x, y, z: y + 1, lambda x, y, z: x + 1, lambda x, y, z: 2 * z + 1]

        def operation(*slopes):
            return student.operation(lambda x, y, z: x * y + z * z, *slopes)

        assert self.accepts(student, operation(*right), inputs)
        for place in range(3):
            slopes = [*right[:place], wrong[place], *right[place + 1 :]]
            assert self.rejects(student, operation(*slopes), inputs)

    def test_mistakes_that_cancel(self, student, positive):
        """Two gradients that are swapped are rejected, although their sum is right."""
        a, b = positive(), 1.0 + positive() * 2
        right = student.operation(lambda x, y: x * y, lambda x, y: y, lambda x, y: x)
        swapped = student.operation(lambda x, y: x * y, lambda x, y: x, lambda x, y: y)
        assert self.accepts(student, right, [a, b]) and self.rejects(student, swapped, [a, b])

    def test_overwriting(self, student, number):
        """An operation that writes `=` in place of `+=` is rejected where its input is reused."""

        def reused(adds):
            square = student.operation(lambda x: x * x, lambda x: 2 * x, adds=adds)
            return student.expression(lambda x: x.through(square) + x * x.through(square))

        a = number()
        for each in (a, -a):
            assert self.accepts(student, reused(adds=True), [each])
            assert self.rejects(student, reused(adds=False), [each])

    def test_small_gradients(self, student, rng):
        """A gradient twice too large, or missing, is found where the right one is only 1e-6."""
        inputs, tiny = [rng.uniform(1.2, 2.0), rng.uniform(1.2, 2.0)], 1e-6

        def gives(slope):
            return student.operation(
                lambda x, y: tiny * (x - y), lambda x, y: tiny, lambda x, y: slope
            )

        assert self.accepts(student, gives(-tiny), inputs)
        assert self.rejects(student, gives(-2 * tiny), inputs)
        assert self.rejects(student, gives(0.0), inputs)

    def test_large_gradients(self, student, rng):
        """A right gradient of many millions is accepted: what counts is the relative error."""
        a = rng.uniform(9.0, 10.0)
        right = student.operation(lambda x: x**9, lambda x: 9 * x**8)
        wrong = student.operation(lambda x: x**9, lambda x: 9.5 * x**8)
        assert self.accepts(student, right, [a]) and self.rejects(student, wrong, [a])

    def test_small_beside_large(self, student, number):
        """Each gradient is judged by its own size: a small wrong one is found beside a large."""
        inputs, large = [number(), number()], 1e4
        slopes = [lambda x, y: large, lambda x, y: 1.0]
        right = student.operation(lambda x, y: large * x + y, *slopes)
        wrong = student.operation(lambda x, y: large * x + y, slopes[0], lambda x, y: 1.5)
        assert self.accepts(student, right, inputs) and self.rejects(student, wrong, inputs)

    def test_gradients_of_zero(self, student, number):
        """A gradient that is rightly 0 is accepted, one that should be 0 and is not is rejected."""
        inputs = [number(), number()]
        slopes = [lambda x, y: 2.0, lambda x, y: 0.0]
        right = student.operation(lambda x, y: 2 * x, *slopes)
        wrong = student.operation(lambda x, y: 2 * x, slopes[0], slopes[0])
        assert self.accepts(student, right, inputs) and self.rejects(student, wrong, inputs)

    def test_close_to_a_minimum(self, student, rng):
        """Near the bottom of a parabola a one-sided nudge is not good enough: nudge both ways."""
        a = rng.uniform(2e-5, 4e-5)
        right = student.operation(lambda x: x * x, lambda x: 2 * x)
        wrong = student.operation(lambda x: x * x, lambda x: 3 * x)
        assert self.accepts(student, right, [a]) and self.rejects(student, wrong, [a])

    def test_epsilon(self, student, number, rng):
        """`epsilon` is how far an input is moved, up and down, with the others left alone."""
        inputs, epsilon, asked = [number(), number()], rng.uniform(0.01, 0.02), []

        def f(x, y):
            asked.append((x.data, y.data))
            return x * y

        assert self.accepts(student, f, inputs, epsilon=epsilon)
        a, b = inputs
        for x, y in ((a + epsilon, b), (a - epsilon, b), (a, b + epsilon), (a, b - epsilon)):
            assert any((x, y) == close(pair) for pair in asked)


@exercise("deep")
class TestDeep(BackwardPass):
    name = "backward_without_recursion"

    def test_a_formula(self, student, reference, number):
        """`(a * b + c) ** 2` gets all its gradients."""
        inputs = [number() for _ in range(3)]
        self.assert_right(student, reference, lambda a, b, c: (a * b + c) ** 2, inputs)

    def test_every_step_runs_once_and_in_order(self, student, number):
        """Each node's backward step runs once, and after those of all the nodes that it feeds."""
        root, x = self.recorded(student, number)
        self.run(student, root)
        assert x.grad == 12345

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
        """A sum of 1,200 terms gives every use of a term its due."""
        x = leaf(student, 1.0)
        self.run(student, student.chain("add", x, student.repeated(x, 1_199)))
        assert x.grad == close(1_200.0)

    def test_a_very_deep_chain(self, student, number):
        """A chain of 6,000 nodes is no obstacle: its steps run, root first, and without delay."""
        ends, calls = [student.Value(number())], []

        def go_on():
            node = student.Value(number(), (student.deepened(ends[-1], 1_499),), "?")
            place = len(ends)
            node._backward = lambda: calls.append(place)
            ends.append(node)

        _, making = made_in_parts(student, go_on, 4)
        root = ends[-1]
        assert is_quick(student, lambda: self.run(student, root), making)
        assert calls[:4] == [4, 3, 2, 1] and root.grad == 1.0


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
                expected = gradients(reference, build, [each], upstream)
                assert gradients(student, build, [each], upstream)[1] == close(expected[1])

    def test_root_of_a_negative_number(self, student, positive):
        """The square root of a negative number raises ValueError."""
        a = positive()
        assert leaf(student, a).sqrt().data == close(math.sqrt(a))
        x = leaf(student, -a)
        assert student.error_of(lambda: x.sqrt().data) == "ValueError"


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

    def read(self, student, root):
        """The graph that the student's text draws."""
        return read_dot(student.draw_dot(root))

    def test_a_leaf(self, student, drawn):
        """A leaf is one node, which shows its data and its gradient, and there are no arrows."""
        x, data, grad = self.node(student, drawn)
        graph = self.read(student, x)
        [name] = graph.showing(data)
        assert graph.showing(grad) == [name] and graph.edges == []

    def test_nodes(self, student, drawn):
        """Every Value is one node, and its label shows its data and its gradient."""
        x, *first = self.node(student, drawn)
        y, *second = self.node(student, drawn)
        z, *third = self.node(student, drawn, (x, y), "*")
        root, *fourth = self.node(student, drawn, (z, x), "+")
        graph = self.read(student, root)
        for data, grad in (first, second, third, fourth):
            [name] = graph.showing(data)
            assert graph.showing(grad) == [name]

    def test_arrows(self, student, drawn):
        """Arrows lead from every operand to its result, and nowhere else."""
        x, a, _ = self.node(student, drawn)
        y, b, _ = self.node(student, drawn)
        z, c, _ = self.node(student, drawn, (x, y), "*")
        w, d, _ = self.node(student, drawn, (z,), "relu")
        root, e, _ = self.node(student, drawn, (w, x), "+")
        found = self.read(student, root).flow([a, b, c, d, e])
        assert found == {(a, c), (b, c), (c, d), (d, e), (a, e)}

    def test_operations(self, student, drawn):
        """Every operation's sign is shown, and two operations of a kind are drawn apart."""
        x, a, _ = self.node(student, drawn)
        y, b, _ = self.node(student, drawn, (x,), "tanh")
        z, c, _ = self.node(student, drawn, (y,), "exp")
        root, d, _ = self.node(student, drawn, (z,), "tanh")
        graph = self.read(student, root)
        shown = " ".join(graph.labels.values())
        assert "tanh" in shown and "exp" in shown
        assert graph.flow([a, b, c, d]) == {(a, b), (b, c), (c, d)}

    def test_equal_numbers_are_different_nodes(self, student, drawn):
        """Two Values are two nodes in the drawing, though they have the same number and label."""
        data = drawn()
        x, y = student.Value(data, label="x"), student.Value(data, label="x")
        root, result, _ = self.node(student, drawn, (x, y), "+")
        graph = self.read(student, root)
        assert len(graph.showing(data)) == 2 and len(graph.showing(result)) == 1
        assert graph.flow([data, result]) == {(data, result)}

    def test_an_operand_used_twice(self, student, drawn):
        """`x + x` draws x once, with one arrow or two."""
        x, data, _ = self.node(student, drawn)
        root, result, _ = self.node(student, drawn, (x, x), "+")
        graph = self.read(student, root)
        assert len(graph.showing(data)) == 1
        assert graph.flow([data, result]) == {(data, result)}
        assert len(graph.edges) in (1, 2, 3)

    def test_many_paths(self, student):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        node = student.Value(0.5)
        for index in range(1, 31):
            node = student.Value(index + 0.5, (node, node), "+")
        graph = self.read(student, node)
        assert all(len(graph.showing(index + 0.5)) == 1 for index in range(31))
