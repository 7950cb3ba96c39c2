"""The hidden tests of `value`.

Each test's docstring is what a student reads when it fails. `number` and `positive` draw other
numbers for each submission; a result gets an upstream gradient other than 1, and gradients start
from something other than 0, so that a formula which is right by luck is not right here.
"""

from __future__ import annotations

import operator

import pytest

from autograder.testing import broad, close, exercise, extra, plain
from graphs import (
    alone,
    assert_gradients,
    assert_right,
    behind,
    gradients,
    leaf,
    operands,
    pairs,
    powers,
)
from rows import table


@exercise("node")
class TestNode:
    def test_keeps_its_number(self, student, number):
        """`Value(data)` keeps the number it is given, be it tiny or huge, and starts with a `grad`
        of 0."""
        x, numbers = student.Value(1.0), [number(), 0.0, 1.0, 12345678.25, 3e-150, -2e200]
        for children in ((), (x,)):
            nodes = [student.Value(a, children) for a in numbers]
            assert [[node.data, node.grad] for node in nodes] == [[a, 0.0] for a in numbers]

    def test_the_number_is_a_float(self, student, rng):
        """`data` is a float, also where an int was given."""
        for a in (2, -3, 0, rng.randint(4, 99)):
            data = plain(student.Value(a).data)
            assert data == a and isinstance(data, float)

    def test_gradient_starts_at_zero(self, student, number):
        """A fresh node's `grad` is the number 0.0, and each node has its own."""
        nodes = [student.Value(number()), student.Value(number())]
        assert [node.grad for node in nodes] == [0.0, 0.0]
        nodes[0].grad = grad = number()
        assert [node.grad for node in nodes] == [grad, 0.0]

    def test_a_leaf_has_no_operands(self, student, number):
        """A leaf has an empty `_prev` and an empty `_op`."""
        x, y = student.Value(a := number()), student.Value(b := number())
        assert operands(x) == operands(y) == [] and [x._op, y._op] == ["", ""]
        assert [x.data, y.data] == [a, b]

    @pytest.mark.parametrize("count", [1, 2, 5])
    def test_records_operands_and_operation(self, student, number, count):
        """`Value(data, operands, op)` keeps its operands in `_prev` and the text in `_op`."""
        nodes = [student.Value(a) for a in (0.0, 2.5, 2.5, number(), number())[:count]]
        node = student.Value(number(), tuple(nodes), "weighted sum", "total")
        assert set(operands(node)) == set(nodes)
        assert [node._op, node.label] == ["weighted sum", "total"]

    def test_equal_numbers_are_different_nodes(self, student, number):
        """Nodes that hold the same number are not equal: `==` tells nodes apart, not numbers."""
        for a in (number(), 0.0, 1.0):
            x, y, z = student.Value(a), student.Value(a), student.Value(b := number())
            assert [x.data, y.data, z.data] == [a, a, b]
            assert not student.equal(x, y)
            assert isinstance(student.remote.builtins.hash(x), int)

    def test_label(self, student, number):
        """`label` is kept when given and empty otherwise."""
        assert student.Value(number(), label="w").label == "w"
        assert student.Value(number(), (), "+").label == ""

    def test_backward_of_a_leaf_does_nothing(self, student, number):
        """A leaf's `_backward` can be called and changes nothing, whatever gradient it holds."""
        for grad in (0.0, number()):
            node = leaf(student, a := number(), grad)
            node._backward()
            assert [node.data, node.grad] == [a, grad]

    def test_repr(self, student, rng):
        """`repr(node)` is a text that shows the class name, the data and the gradient, signs
        included, each under its own name."""
        # Neither number can be found within the other one.
        data, grad = rng.randint(12, 98) + 0.25, rng.randint(12, 98) + 0.8125
        node = student.Value(0.0)
        for a, b in ((data, grad), (-data, -grad), (0.0, grad), (data, 0.0)):
            node.data, node.grad = a, b
            text = plain(repr(node))
            assert all(shown in text for shown in ("Value", f"{a:g}", f"{b:g}"))
        text = plain(repr(leaf(student, data, grad)))
        if "data" in text and "grad" in text:
            in_order = text.index("data") < text.index("grad")
            assert (text.index(f"{data:g}") < text.index(f"{grad:g}")) is in_order


ONE_OPERAND = [
    # The exercise and the expression, where n is a plain number; its slope, in words as well.
    ("add", "x + n", lambda x, n: x + n, lambda x, n: 1.0, "1"),
    ("mul", "x * n", lambda x, n: x * n, lambda x, n: n, "n"),
    ("pow", "x ** n", lambda x, n: x**n, lambda x, n: n * x ** (n - 1), "n and x to the n - 1"),
    ("reverse", "n + x", lambda x, n: n + x, lambda x, n: 1.0, "1"),
    ("reverse", "n - x", lambda x, n: n - x, lambda x, n: -1.0, "-1"),
    ("reverse", "n * x", lambda x, n: n * x, lambda x, n: n, "n"),
    ("reverse", "n / x", lambda x, n: n / x, lambda x, n: -n / x**2, "-n / x²"),
    ("neg_sub", "-x", lambda x, n: -x, lambda x, n: -1.0, "-1"),
    ("neg_sub", "x - n", lambda x, n: x - n, lambda x, n: 1.0, "1"),
    ("div", "x / n", lambda x, n: x / n, lambda x, n: 1 / n, "1 / n"),
]

TWO_OPERANDS = [
    # The exercise and the expression; its slopes by x and by y, in words as well.
    ("add", "x + y", lambda x, y: x + y, lambda x, y: (1.0, 1.0), "1 and 1"),
    ("mul", "x * y", lambda x, y: x * y, lambda x, y: (y, x), "y and x"),
    ("neg_sub", "x - y", lambda x, y: x - y, lambda x, y: (1.0, -1.0), "1 and -1"),
    ("div", "x / y", lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2), "1 / y and -x / y²"),
]


@table(ONE_OPERAND, "name operation slope times")
class TestOneOperand:
    @pytest.fixture(autouse=True)
    def row(self, name, operation, slope, times):
        self.operation, self.slope = operation, slope

    @pytest.fixture
    def points(self, number, positive):
        """Numbers for x and n, whole and not, and upstream gradients: all have either sign."""
        above = [(positive(), n) for n in (2, -1.5, 0.5, number())]
        both = [*above, (-positive(), 3)]
        return [(*each, (-1) ** i * positive()) for i, each in enumerate(both)]

    def test_value(self, student, points):
        """`{name}` holds the right number, fraction included, each time anew, and a gradient of 0;
        x keeps its own."""
        x, found = leaf(student, 0.0, 1.0), []
        tried = [(b, n) for a, n, _ in points for b in (a, a / 2)]
        for a, n in tried:
            x.data = a
            result = self.operation(x, n)
            found.append([result.data, result.grad, x.data])
        assert found == close([[self.operation(a, n), 0.0, a] for a, n in tried])

    def test_gradient(self, student, points):
        """x gets the result's gradient, times {times}."""
        x, found = leaf(student, 0.0), []
        for a, n, upstream in points:
            x.data, x.grad = a, 0.0
            student.remote.graphs.differentiate(self.operation(x, n), [x], upstream)
            found.append(x.grad)
        assert found == close([self.slope(a, n) * upstream for a, n, upstream in points])

    def test_gradient_is_added(self, student, points, positive):
        """What `{name}` gives x is added to the gradient that x holds, at each pass."""
        grad, found, points = positive(), [], points[::2]
        for a, n, upstream in points:
            result = self.operation(x := leaf(student, a, grad), n)
            for times in (1, 2):
                student.remote.graphs.differentiate(result, [x], upstream * times)
                found.append(x.grad)
        gains = [self.slope(a, n) * upstream for a, n, upstream in points]
        assert found == close([grad + times * gain for gain in gains for times in (1, 3)])


@table(TWO_OPERANDS, "name operation slopes times")
class TestTwoOperands:
    @pytest.fixture(autouse=True)
    def row(self, name, operation, slopes, times):
        self.operation, self.slopes, self.sign = operation, slopes, name[2]

    def test_value(self, student, number):
        """`{name}` holds the right number, fraction included, each time anew; x and y keep their
        own."""
        x, y, found = leaf(student, 0.0), leaf(student, 0.0), []
        tried = [(number(), number()) for _ in range(2)]
        for a, b in tried:
            x.data, y.data = a, b
            found.append([self.operation(x, y).data, x.data, y.data])
        assert found == close([[self.operation(a, b), a, b] for a, b in tried])
        tiny = self.operation(leaf(student, 3e-9), leaf(student, 2e-9)).data
        assert tiny / self.operation(3e-9, 2e-9) == close(1.0)

    def test_is_part_of_the_graph(self, student, number):
        """`{name}` is a new node, its gradient 0, that knows its operands: x and y can be reached
        from it."""
        x, y = leaf(student, a := number(), 1.5), leaf(student, b := number(), 2.5)
        result = self.operation(x, y)
        found = behind(student, result)
        assert x in found and y in found and x != result and y != result
        assert [result.data, result.grad] == close([self.operation(a, b), 0.0])

    def test_gradient(self, student, number):
        """x and y get the result's gradient, times {times}, added to what they hold."""
        x, y = leaf(student, 0.0), leaf(student, 0.0)
        for a, b, g, h, upstream in [[number() for _ in range(5)] for _ in range(2)]:
            x.data, y.data, x.grad, y.grad = a, b, g, h
            _, found = student.remote.graphs.differentiate(self.operation(x, y), [x, y], upstream)
            by_x, by_y = self.slopes(a, b)
            assert found == close([g + by_x * upstream, h + by_y * upstream])

    def test_an_operand_used_twice(self, student, number):
        """If x and y are the same node, both uses count, beside the gradient that it holds; the
        result still leads to it."""
        a, h, upstream = number(), number(), number()
        result = self.operation(x := leaf(student, a, h), x)
        assert x in behind(student, result)
        data, found = student.remote.graphs.differentiate(result, [x], upstream)
        assert data == close(self.operation(a, a)) and x.data == a
        assert found == close([h + sum(self.slopes(a, a)) * upstream])

    def test_shared_parts(self, student, reference, number):
        """In a larger formula of `{name}` with shared parts the gradients are right: every path
        counts, and counts once."""

        def build(x, y):
            both = self.operation(x, y)
            return self.operation(self.operation(both, x), self.operation(y, both))

        assert_gradients(student, reference, build, [number(), number()], number())


@table([*ONE_OPERAND, *TWO_OPERANDS], "name operation")
@broad()
def test_any_numbers(student, reference, rng, name, operation):
    """`{name}` and its gradients are right for numbers of every kind, at a first pass and at a
    second: tiny and huge, 0 and 1, equal and opposite ones."""
    numbers = powers(rng) if name == "x ** n" else pairs(rng, operation)
    beside = [(lambda x, n=n: operation(x, n), [a]) for a, n in numbers]
    tried = [(operation, pair) for pair in numbers] if "y" in name else beside
    assert_right(student, reference, rng, tried)


SIGNS = {"+": operator.add, "*": operator.mul}


@table([("add", "+"), ("mul", "*")], "sign")
class TestSign:
    def test_records_the_graph(self, student, number, sign):
        """The `_prev` of `x {sign} y` holds both operands, and its `_op` is "{sign}"."""
        x, y = leaf(student, number()), leaf(student, number())
        result = SIGNS[sign](x, y)
        assert set(operands(result)) == {x, y} and result._op == sign

    def test_wraps_plain_numbers(self, student, number, sign):
        """In `x {sign} 2.5` the plain number becomes a node of the graph."""
        a, b = number(), number()
        result = SIGNS[sign](leaf(student, a), b)
        assert sorted(node.data for node in operands(result)) == close(sorted([a, b]))


@exercise("reverse")
def test_sum_of_a_list(student, number):
    """Python's `sum([...])` of nodes works: it starts from the number 0."""
    inputs, upstream = [number() for _ in range(4)], number()
    found = gradients(student, lambda *nodes: sum(nodes), inputs, upstream)
    assert found == close((sum(inputs), [upstream] * 4))


@exercise("pow")
class TestPow:
    def test_records_the_base(self, student, positive):
        """The base alone is the operand of `x ** n`."""
        x = leaf(student, positive())
        assert operands(x**3) == [x]

    def test_records_the_operation(self, student, positive, rng):
        """The `_op` of `x ** n` is "**" and the exponent."""
        n = rng.choice([3, 4, -1])
        assert (leaf(student, positive()) ** n)._op == f"**{n}"

    @extra()
    def test_a_value_as_exponent(self, student, positive):
        """An exponent that is a Value raises TypeError: it would get no gradient."""
        x, n = leaf(student, a := positive()), leaf(student, 2.0)
        assert (x**2).data == close(a**2)
        with student.raises(TypeError):
            x**n

    @extra()
    def test_an_exponent_of_zero(self, student, positive):
        """At x = 0, `x ** 0` has the derivative 0, and `x ** 1` has 1."""
        found = [gradients(student, lambda x, n=n: x**n, [0.0], 2.5)[1] for n in (0, 1)]
        assert found == [[0.0], [2.5]]

    @extra()
    def test_a_power_that_is_not_real(self, student, positive):
        """A negative number to a fractional power raises ValueError: the result is not real. To the
        power of 2 it is."""
        x = leaf(student, a := -positive())
        assert (x**2).data == close(a**2)
        for n in (0.5, 1 / 3, -1.5):
            with student.raises(ValueError):
                x**n


@exercise("trace")
class TestTrace:
    @pytest.fixture
    def trace(self, student):
        return alone(student, "trace")

    @pytest.fixture
    def assert_found(self, student, trace):
        """Asserts that walks find the nodes of these graphs, in each of which the last is the root,
        and all edges between them, each once."""

        def assert_found(*graphs):
            walks = student.remote.graphs.walks(trace, [nodes[-1] for nodes in graphs])
            for nodes, walk in zip(graphs, walks, strict=True):
                edges = {(operand, node) for node in nodes for operand in operands(node)}
                found = [list(part) for part in walk]
                assert [len(part) for part in found] == [len(nodes), len(edges)]
                assert [set(part) for part in found] == [set(nodes), edges]

        return assert_found

    @pytest.mark.parametrize(
        ("promise", "nodes"),
        [
            ("For a leaf, the nodes are the leaf alone and there are no edges.",
             lambda x, y, z, w: [x]),
            ("Every node and every edge (operand, result) is found.",
             lambda x, y, z, w: [x, y, z, p := x * y, p + z]),
            ("Nodes far from the root are found as well.",
             lambda x, y, z, w: [x, y, z, w, p := x * y, q := p + z, q * w]),
            ("A node that is reached along several paths appears once, and so does each edge.",
             lambda x, y, z, w: [x, y, s := x * y, p := s + y, q := p * y, q + p]),
            ("`x + x` has two nodes and one edge.",
             lambda x, y, z, w: [x, x + x]),
        ],
        ids=["leaf", "small", "far", "shared", "twice"],
    )  # fmt: skip
    def test_a_graph(self, student, assert_found, number, promise, nodes):
        """{promise}"""
        assert_found(nodes(*(student.Value(number()) for _ in range(4))))

    def test_equal_numbers_are_different_nodes(self, student, assert_found, number):
        """Nodes that hold the same number, made alike or not, are still different nodes."""
        v, x, y = (student.Value(a := number()), *(student.Value(a) for _ in range(2)))
        z, w = (student.Value(a, (x, y), "+") for _ in range(2))
        u = student.Value(a, (z, w), "+")
        assert_found([x, y, z, w, u, student.Value(a, (u, x), "+")])
        for nodes in ([v], [student.Value(a)], [v, student.Value(a, (v,), "+")]):
            assert_found(nodes)

    def test_many_paths(self, student, trace):
        """In a graph with a huge number of paths each node is found once, and without delay."""
        root = student.remote.graphs.ladder(student.Value, [1.0] * 61)
        assert student.remote.graphs.sizes(trace, root) == [61, 119]

    def test_only_looks(self, student, assert_found, number):
        """Of several walks over the same nodes each finds all that there is, and nothing changes,
        neither nodes nor earlier results."""
        x = student.Value(0.0)
        y = x * x
        z = y + x
        nodes = [x, y, z, student.Value(0.0, (x, y, z), "sum")]
        for node in nodes:
            node.grad = number()
        before = plain(student.remote.graphs.untouched(nodes))
        assert_found([x, y], nodes, [x, y, z])
        assert student.remote.graphs.untouched(nodes) == before


@exercise("manual_backward")
class TestManualBackward:
    @pytest.fixture
    def results(self, student, number):
        """Results that hold gradients, and the list in which each notes that its step ran."""
        graphs, x = student.remote.graphs, student.Value(number())
        results = graphs.uses(student.Value, x, [number() for _ in range(3)])
        nodes = [*results, x + x, x * x, x * x + x]
        for node in nodes:
            node.grad = number()
        return nodes, graphs.recorded(nodes)

    def test_leaves_the_order_alone(self, student, results):
        """Steps run, and the list `order` holds the same nodes in the same order afterwards."""
        nodes, calls = results
        order = student.remote.builtins.list(nodes)
        student.push_gradients(nodes[0], order)
        assert len(calls) > 0 and list(order) == nodes

    def test_follows_the_given_order(self, student, results, rng):
        """`_backward` runs once for each time a node is listed, in exactly the order given."""
        nodes, calls = results
        order = [0, *rng.sample(range(1, 6), 5), rng.randint(1, 5)]
        student.push_gradients(nodes[0], tuple(nodes[index] for index in order))
        assert calls == order

    def test_seeds_the_root(self, student, results):
        """The root's gradient is 1.0 before its `_backward` runs, whatever it held."""
        root = results[0][0]
        data = plain(root.data)
        seen = student.remote.graphs.gradient_when_run(root)
        student.push_gradients(root, [root])
        assert [seen, root.grad, root.data] == [[1.0], 1.0, data]

    def test_leaves_other_gradients_alone(self, student, results):
        """No other node's gradient is seeded or set back to zero."""
        nodes, _ = results
        before = [plain(node.grad) for node in nodes[1:]]
        student.push_gradients(nodes[0], nodes)
        assert [node.grad for node in nodes] == [1.0, *before]

    def test_gradients_of_an_expression(self, student, number):
        """Given a right order, `(a * b + c) * c` gets all its gradients."""
        a, b, c = inputs = [number() for _ in range(3)]
        x, y, z = leaves = [leaf(student, data) for data in inputs]
        root = (x * y + z) * z
        student.push_gradients(root, student.remote.graphs.reverse_topological(root))
        assert [node.grad for node in leaves] == close([b * c, a * c, a * b + 2 * c])

    def test_the_root_need_not_be_first(self, student, number):
        """The order is followed as it is, also where the root comes last, and the root is seeded
        before the first step alone."""
        x = leaf(student, number())
        y = x + x
        z = y + y
        student.push_gradients(z, [y, z])
        assert [x.grad, y.grad, z.grad] == close([0.0, 2.0, 1.0])
        student.push_gradients(y, [z, y])
        assert [x.grad, y.grad] == close([6.0, 3.0])


def central(a, b, x, h):
    """The central difference of a t³ + b t² at x, worked out by hand."""
    return a * (3 * x**2 + h**2) + 2 * b * x


@exercise("numerical")
class TestNumerical:
    def test_central_difference(self, student, number, rng):
        """The slope is taken between x - h and x + h, over a run of 2h."""
        a, b, x, h = number(), number(), number(), rng.uniform(0.01, 0.1)
        found = student.numerical_derivative(student.remote.functions.curve(a, b), x, h)
        assert found == close(central(a, b, x, h))

    def test_default_step(self, student, number):
        """Without h the derivative of a curve comes out to six digits."""
        a, b, xs = number(), number(), [number() for _ in range(4)]
        curve = student.remote.functions.curve(a, b)
        found = [student.numerical_derivative(curve, x) for x in xs]
        assert found == close([3 * a * x**2 + 2 * b * x for x in xs], relative=1e-6)

    def test_falling_functions(self, student, positive):
        """A falling function has a negative slope, be it flat or steep."""
        x = positive()
        for a in (positive(), 1e-5, 1e5):
            found = student.numerical_derivative(student.remote.functions.inverse(a), x)
            assert found == close(-a / x**2, relative=1e-6)

    @broad()
    def test_any_place(self, student, rng):
        """The function is asked at x - h and x + h for every x and h: 0, negative, large, tiny."""
        steps = (rng.uniform(1e-6, 3e-6), rng.uniform(0.2, 0.9), rng.uniform(2, 5))
        bases = (0.0, -rng.uniform(0.2, 0.8), rng.uniform(30, 90), 3.0, -rng.uniform(200, 500))
        places = [(x, h) for x in bases for h in steps] + [(0.0, rng.uniform(2e-9, 4e-9))]
        found, ends = [], student.remote.builtins
        for x, h in places:
            asked = student.remote.functions.asked()
            slope = student.numerical_derivative(asked, x, h)
            found.append([slope, ends.min(asked.at), ends.max(asked.at)])
        right = [[1.0, x - h, x + h] for x, h in places]
        assert found == close(right, 1e-7)
