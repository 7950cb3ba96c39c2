"""The hidden tests of `value`.

Each test's docstring is what a student reads when it fails. `number` and `positive` draw other
numbers for each submission; a result gets an upstream gradient other than 1, and gradients start
from something other than 0, so that a formula which is right by luck is not right here.
"""

from __future__ import annotations

import math
import operator

import pytest

from autograder.testing import close, exercise, plain
from graphs import (
    alone,
    assert_right,
    behind,
    gradients,
    kinds,
    leaf,
    operands,
    pairs,
    push,
)

ERRORS = ("ZeroDivisionError", "ValueError", "ArithmeticError", "OverflowError")
"""What Python may raise where the rules of arithmetic have no answer."""


@exercise("node")
class TestNode:
    def test_keeps_its_number(self, student, number):
        """`Value(data)` keeps the number it is given, fraction and sign included."""
        a, b = number(), number()
        assert [node.data for node in (student.Value(a), student.Value(b))] == [a, b]

    def test_gradient_starts_at_zero(self, student, number):
        """A fresh node's `grad` is the number 0.0."""
        nodes = [student.Value(number()), student.Value(number())]
        assert [node.grad for node in nodes] == [0.0, 0.0]
        changed = [number(), number()]
        for node, grad in zip(nodes, changed, strict=True):
            node.grad = grad
        assert [node.grad for node in nodes] == changed

    def test_a_leaf_has_no_operands(self, student, number):
        """A leaf has an empty `_prev` and an empty `_op`."""
        node = student.Value(a := number())
        assert operands(node) == []
        assert [node.data, node._op] == [a, ""]

    def test_leaves_share_nothing(self, student, number):
        """Leaves do not share a list or set of operands: a change to one would change them all."""
        datas, grads = [number(), number()], [number(), number()]
        leaves = [leaf(student, *each) for each in zip(datas, grads, strict=True)]
        assert not student.inside.graphs.share_operands(*leaves)
        assert [(node.data, node.grad) for node in leaves] == list(zip(datas, grads, strict=True))
        assert operands(leaves[0]) == operands(leaves[1]) == []

    def test_records_operands_and_operation(self, student, number):
        """`Value(data, operands, op)` keeps both operands in `_prev` and the text in `_op`."""
        x, y = student.Value(number()), student.Value(number())
        node = student.Value(number(), (x, y), "?")
        assert set(operands(node)) == {x, y}
        assert [node._op, node.label] == ["?", ""]

    def test_equal_numbers_are_different_nodes(self, student, number):
        """Nodes that hold the same number are not equal: `==` tells nodes apart, not numbers."""
        a = number()
        x, y, z = student.Value(a), student.Value(a), student.Value(b := number())
        assert [x.data, y.data, z.data] == close([a, a, b])
        assert not student.equal(x, y)
        assert isinstance(student.inside.builtins.hash(x), int)

    def test_label(self, student, number):
        """`label` is kept when given and empty otherwise."""
        assert student.Value(number(), label="w").label == "w"
        assert student.Value(number()).label == ""

    def test_backward_of_a_leaf_does_nothing(self, student, number):
        """A leaf's `_backward` can be called and changes nothing."""
        node = student.Value(a := number())
        node._backward()
        assert [node.data, node.grad] == [a, 0.0]

    def test_repr(self, student, rng):
        """`repr(node)` is a text that shows the class name, the data and the gradient."""
        # Neither number can be found within the other one.
        data, grad = rng.randint(12, 98) + 0.25, rng.randint(12, 98) + 0.75
        node = student.Value(data)
        node.grad = grad
        text = repr(node)
        assert [node.data, node.grad] == [data, grad]
        assert "Value" in text
        assert f"{data:g}" in text and f"{grad:g}" in text

    def test_any_numbers(self, student, rng):
        """Tiny and huge numbers, whole ones, 0 and 1 are all kept as they are, in a result too."""
        numbers = [*kinds(rng), 12345678.25, 3e-150, -2e200]
        x = student.Value(1.0)
        nodes = [student.Value(a) for a in numbers] + [student.Value(a, (x,), "?") for a in numbers]
        assert [node.data for node in nodes] == numbers * 2
        assert [node.grad for node in nodes] == [0.0] * len(nodes)

    def test_any_operands(self, student, number):
        """All operands are kept, be they one or many, leaves or results, with equal numbers too."""
        a = number()
        leaves = [student.Value(0.0), *(student.Value(a) for _ in range(4))]
        inner = student.Value(a, (leaves[0],), "tanh")
        for given in ([inner], leaves[:3], [*leaves, inner]):
            node = student.Value(a, tuple(given), "weighted sum", "total")
            node._backward()
            assert set(operands(node)) == set(given) and len(operands(node)) == len(given)
            assert [node._op, node.label, node.grad] == ["weighted sum", "total", 0.0]
        assert [inner._op, inner.label] == ["tanh", ""]

    def test_repr_of_any_numbers(self, student, rng):
        """Signs and all digits are shown, of the data and of the gradient."""
        data, grad = rng.randint(12, 98) + 0.25, rng.randint(12, 98) + 0.8125
        for a, b in ((-data, -grad), (0.0, grad), (data, 0.0)):
            node = leaf(student, a, b)
            assert all(f"{each:g}" in plain(repr(node)) for each in (a, b))

    def test_a_backward_step_can_be_given(self, student, number):
        """A result keeps the backward step that an operation gives it, and each its own."""
        x = student.Value(number())
        data = [number() for _ in range(3)]
        nodes = [student.Value(each, (x,), "?") for each in data]
        calls = student.inside.graphs.recorded(nodes)
        for place in (2, 0, 1, 0):
            nodes[place]._backward()
        x._backward()
        assert calls == [2, 0, 1, 0] and [node.data for node in nodes] == data

    def test_a_leaf_keeps_its_gradient(self, student, number):
        """A leaf's `_backward` leaves a gradient that it holds; nodes with 1 or 0 are equal to none
        but themselves."""
        data, grad = number(), number()
        node = leaf(student, data, grad)
        node._backward()
        assert [node.data, node.grad] == [data, grad]
        for a in (0.0, 1.0):
            assert not student.equal(student.Value(a), student.Value(a))


def numbers_of(nodes):
    return sorted(node.data for node in nodes)


@exercise("add")
class TestAdd:
    def test_adds(self, student, number):
        """`x + y` is a new node that holds the sum; x and y keep their numbers."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        assert (x + y).data == close(a + b)
        assert [x.data, y.data] == [a, b]

    def test_records_the_graph(self, student, number):
        """The result's `_prev` holds both operands, and its `_op` is "+"."""
        x, y = leaf(student, number()), leaf(student, number())
        total = x + y
        assert set(operands(total)) == {x, y}
        assert total._op == "+"

    def test_wraps_plain_numbers(self, student, number):
        """`x + 2.5` works: the plain number becomes a node of the graph."""
        a, b, upstream = number(), number(), number()
        x = leaf(student, a)
        total = x + b
        assert total.data == close(a + b)
        assert numbers_of(operands(total)) == close(sorted([a, b]))
        push(total, upstream)
        assert x.grad == close(upstream)

    def test_gradient(self, student, number):
        """Both operands get the result's gradient, added to what they hold already."""
        g, h, upstream = number(), number(), number()
        x, y = leaf(student, number(), g), leaf(student, number(), h)
        push(x + y, upstream)
        assert [x.grad, y.grad] == close([g + upstream, h + upstream])

    def test_an_operand_used_twice(self, student, number):
        """In `x + x` both uses of x count: its gradient grows by twice the result's."""
        a, g, upstream = number(), number(), number()
        x = leaf(student, a, g)
        total = x + x
        push(total, upstream)
        assert [total.data, x.grad] == close([2 * a, g + 2 * upstream])
        assert x in operands(total)

    def test_in_place_form_makes_a_new_node(self, student, number):
        """`b = a; b += 1` leaves a as it was: the result is a node of its own."""
        a, step, upstream = number(), number(), number()
        x = leaf(student, a)
        moved = operator.iadd(x, step)
        assert moved != x
        assert [x.data, moved.data] == close([a, a + step])
        push(moved, upstream)
        assert x.grad == close(upstream)

    def test_sums_of_sums(self, student, reference, number):
        """In a larger sum with shared parts every path counts."""

        def build(x, y):
            both = x + y
            return (both + x) + (both + 3)

        inputs, upstream = [number(), number()], number()
        expected, slopes = gradients(reference, build, inputs, upstream)
        value, found = gradients(student, build, inputs, upstream)
        assert value == close(expected) and found == close(slopes)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers: tiny and huge, 0 and 1, equal and opposite ones."""
        tried = [(operator.add, each) for each in pairs(rng)]
        tried += [(lambda x, b=b: x + b, [a]) for a, b in pairs(rng)]
        assert_right(student, reference, rng, tried)


@exercise("mul")
class TestMul:
    def test_multiplies(self, student, number):
        """`x * y` is a new node that holds the product; x and y keep their numbers."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        assert (x * y).data == close(a * b)
        assert [x.data, y.data] == [a, b]

    def test_records_the_graph(self, student, number):
        """The result's `_prev` holds both operands, and its `_op` is "*"."""
        x, y = leaf(student, number()), leaf(student, number())
        product = x * y
        assert set(operands(product)) == {x, y}
        assert product._op == "*"

    def test_wraps_plain_numbers(self, student, number):
        """`x * 2.5` works: the plain number becomes a node of the graph."""
        a, b, upstream = number(), number(), number()
        x = leaf(student, a)
        product = x * b
        assert product.data == close(a * b)
        assert numbers_of(operands(product)) == close(sorted([a, b]))
        push(product, upstream)
        assert x.grad == close(upstream * b)

    def test_gradient(self, student, number):
        """Each operand gets the other's number times the result's gradient, added on."""
        a, b, g, h, upstream = (number() for _ in range(5))
        x, y = leaf(student, a, g), leaf(student, b, h)
        push(x * y, upstream)
        assert [x.grad, y.grad] == close([g + b * upstream, h + a * upstream])

    def test_an_operand_used_twice(self, student, number):
        """In `x * x` both uses of x count."""
        a, g, upstream = number(), number(), number()
        x = leaf(student, a, g)
        product = x * x
        push(product, upstream)
        assert [product.data, x.grad] == close([a * a, g + 2 * a * upstream])
        assert x in operands(product)

    def test_a_factor_of_zero(self, student, number):
        """A factor of 0 is a factor like any other: the other one's number is its slope."""
        a, upstream = number(), number()
        for inputs, expected in (([a, 0.0], [0.0, a]), ([0.0, a], [a, 0.0])):
            value, slopes = gradients(student, lambda x, y: x * y, inputs, upstream)
            assert value == close(0.0) and slopes == close([s * upstream for s in expected])

    def test_in_place_form_makes_a_new_node(self, student, number):
        """`b = a; b *= 2` leaves a as it was: the result is a node of its own."""
        a, factor = number(), number()
        x = leaf(student, a)
        scaled = operator.imul(x, factor)
        assert scaled != x
        assert [x.data, scaled.data] == close([a, a * factor])

    def test_products_of_products(self, student, reference, number):
        """In a larger product with shared parts every path counts."""

        def build(x, y):
            both = x * y
            return (both * 2) * (both * x)

        inputs, upstream = [number(), number()], number()
        expected, slopes = gradients(reference, build, inputs, upstream)
        value, found = gradients(student, build, inputs, upstream)
        assert value == close(expected) and found == close(slopes)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers: tiny and huge, 0 and 1, equal and opposite ones."""
        tried = [(operator.mul, each) for each in pairs(rng)]
        tried += [(lambda x, b=b: x * b, [a]) for a, b in pairs(rng)]
        assert_right(student, reference, rng, tried)


@exercise("pow")
class TestPow:
    def gradients_of_powers(self, student, a, exponents, upstream):
        """What `a` gets from each of its powers, on leaves of its own."""
        leaves = [leaf(student, a) for _ in exponents]
        for x, n in zip(leaves, exponents, strict=True):
            push(x**n, upstream)
        return [node.grad for node in leaves]

    def test_powers(self, student, positive):
        """`x ** n` holds the power, for whole, negative and fractional n alike."""
        a, exponents = positive(), (2, 3, -1, -2, 0.5, 1.7)
        powers = [*(leaf(student, a) ** n for n in exponents), leaf(student, -a) ** 3]
        expected = [*(a**n for n in exponents), (-a) ** 3]
        assert [node.data for node in powers] == close(expected)

    def test_records_the_graph(self, student, number, rng):
        """The base alone is the result's operand; its `_op` is "**" and the exponent."""
        x, n = leaf(student, number()), rng.choice([3, 4, -1])
        power = x**n
        assert operands(power) == [x] and power._op == f"**{n}"

    def test_gradient(self, student, number):
        """The base gets n times x to the n - 1 times the result's gradient."""
        a, upstream = number(), number()
        exponents = (2, 3, -1, -2)
        expected = [n * a ** (n - 1) * upstream for n in exponents]
        assert self.gradients_of_powers(student, a, exponents, upstream) == close(expected)

    def test_gradient_of_fractional_powers(self, student, positive, number):
        """The same formula holds for fractional n."""
        a, upstream = positive(), number()
        exponents = (0.5, -1.5)
        expected = [n * a ** (n - 1) * upstream for n in exponents]
        assert self.gradients_of_powers(student, a, exponents, upstream) == close(expected)

    def test_gradient_is_added(self, student, number):
        """The gradient is added to what the base holds already."""
        a, g, upstream = number(), number(), number()
        x = leaf(student, a, g)
        push(x**3, upstream)
        assert x.grad == close(g + 3 * a**2 * upstream)

    def test_at_zero(self, student, number):
        """At x = 0, `x ** 0` and `x ** 2` have the derivative 0, and `x ** 1` has 1."""
        upstream = number()
        found = self.gradients_of_powers(student, 0.0, (0, 1, 2), upstream)
        assert found == close([0.0, upstream, 0.0])

    def test_an_infinite_slope(self, student, number):
        """The slope of `x ** 0.5` at 0 is infinite: that is an error, and no number is made up."""
        x, y = leaf(student, number() ** 2), leaf(student, 0.0)
        push(x**0.5, 1.0)
        assert x.grad == close(0.5 * x.data**-0.5)

        def slope():
            push(y**0.5, 1.0)
            return y.grad

        assert refused_or_infinite(student, slope)

    def test_a_value_as_exponent(self, student, number):
        """An exponent that is a Value raises TypeError: it would get no gradient."""
        a = number()
        x, n = leaf(student, a), leaf(student, 2.0)
        assert (x**2).data == close(a**2)
        with student.raises(TypeError):
            x**n

    def test_a_power_that_is_not_real(self, student, positive):
        """A negative number to a fractional power raises an error: the result is not real."""
        a = -positive()
        x = leaf(student, a)
        assert (x**2).data == close(a**2)
        for n in (0.5, 1 / 3, -1.5):
            with student.raises(ValueError, TypeError, ArithmeticError):
                x**n

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers: bases tiny and large, exponents of any kind."""
        bases = kinds(rng, smallest=0.01, largest=500)
        whole = [[a, n] for a, n in zip(bases * 2, [2, -1, 3, 1, 4, -2, 5, 1, -3] * 4, strict=False)
                 if a or n > 0]  # fmt: skip
        above = [a for a in bases if a > 0]
        fractions = [0.5, -0.5, 1.5, 0.25, 2.0, -1.0, 2.5, rng.uniform(0.02, 0.9), -2.7, 0.0]
        broken = [[a, n] for a, n in zip(above * 2, fractions * 2, strict=False)]
        special = [
            [1.2, 30],
            [2, 2],
            [1.0, 1],
            [-1.0, -1],
            [2.0, -2],
            [5e-5, 2],
            [-8e-5, 2],
            [1.0, 7],
            [1.0, -3.5],
            [-5e-4, 1],
            [5e-4, 0.5],
            [1.5, 1e-5],
            [1.5, -1e-5],
            [40.0, 1e-5],
            [-3.0, 2.0],
            [-2.5, -1.0],
        ]
        tried = [(lambda x, n=n: x**n, [a]) for a, n in [*whole, *broken, *special]]
        assert_right(student, reference, rng, tried)


@exercise("neg_sub")
class TestNegSub:
    def test_negates(self, student, number):
        """`-x` holds minus x; x keeps its number."""
        a = number()
        x = leaf(student, a)
        assert [(-x).data, x.data] == close([-a, a])

    def test_gradient_of_negation(self, student, number):
        """The gradient flows through `-x` with its sign turned: x is part of the graph."""
        upstream = number()
        assert gradients(student, lambda x: -x, [number()], upstream)[1] == close([-upstream])

    def test_subtracts(self, student, number):
        """`x - y` holds the difference, whether y is a node or a plain number."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        assert [(x - y).data, (x - b).data] == close([a - b, a - b])

    def test_gradient_of_subtraction(self, student, number):
        """In `x - y`, x gets the result's gradient and y gets it with the sign turned."""
        upstream = number()
        slopes = gradients(student, lambda x, y: x - y, [number(), number()], upstream)[1]
        assert slopes == close([upstream, -upstream])

    def test_gradient_beside_a_number(self, student, number):
        """`x - 2.5` passes the gradient on to x."""
        b, upstream = number(), number()
        assert gradients(student, lambda x: x - b, [number()], upstream)[1] == close([upstream])

    def test_every_use_counts(self, student, number):
        """In `(x - y) - (y - x)` every use of x and of y counts."""
        upstream = number()
        slopes = gradients(student, lambda x, y: (x - y) - (y - x), [number(), number()], upstream)[
            1
        ]
        assert slopes == close([2 * upstream, -2 * upstream])

    def test_twice_negated(self, student, number):
        """`-(-x)` is x again, in number and in gradient, and `x - x` is 0 with gradient 0."""
        a, upstream = number(), number()
        value, slopes = gradients(student, lambda x: -(-x), [a], upstream)
        assert value == close(a) and slopes == close([upstream])
        value, slopes = gradients(student, lambda x: x - x, [a], upstream)
        assert value == close(0.0) and slopes == close([0.0])
        x = leaf(student, a)
        assert x in behind(student, x - x)

    def test_any_numbers(self, student, reference, rng):
        """The rules are the same for all numbers: tiny and huge, 0 and 1, equal and opposite."""
        assert_right(student, reference, rng, [(operator.neg, [a]) for a in kinds(rng)])
        tried = [(operator.sub, each) for each in pairs(rng)]
        tried += [(lambda x, b=b: x - b, [a]) for a, b in pairs(rng)]
        assert_right(student, reference, rng, tried)


def refused_or_infinite(student, divide):
    """Whether Python raises an error; NumPy's numbers become infinite instead."""
    found = []
    error = student.error_of(lambda: found.append(divide()))
    return error in ERRORS or (error is None and math.isinf(found[0]))


@exercise("div")
class TestDiv:
    def test_divides(self, student, number):
        """`x / y` holds the quotient, fraction included."""
        a, b = number(), number()
        x, y = leaf(student, a), leaf(student, b)
        assert [(x / y).data, x.data, y.data] == close([a / b, a, b])

    def test_by_zero(self, student, number):
        """Dividing by 0 is an error, and no number is made up for it."""
        x, y, zero = leaf(student, number()), leaf(student, number()), leaf(student, 0.0)
        assert student.error_of(lambda: [(x / y).data, (x / 2).data]) is None
        for divide in (lambda: (x / zero).data, lambda: (x / 0).data):
            assert refused_or_infinite(student, divide)

    def test_whole_numbers(self, student, rng):
        """`7 / 2` is 3.5, also when the nodes were made from whole numbers."""
        a, b = rng.choice([5, 7, 9, 11]), rng.choice([2, 4])
        assert (leaf(student, a) / leaf(student, b)).data == close(a / b)

    def test_gradient_of_the_numerator(self, student, number):
        """The numerator gets 1 / y times the result's gradient."""
        a, b, upstream = number(), number(), number()
        slopes = gradients(student, lambda x, y: x / y, [a, b], upstream)[1]
        assert slopes[0] == close(upstream / b)

    def test_gradient_of_the_denominator(self, student, number):
        """The denominator gets -x / y² times the result's gradient."""
        a, b, upstream = number(), number(), number()
        slopes = gradients(student, lambda x, y: x / y, [a, b], upstream)[1]
        assert slopes[1] == close(-a / b**2 * upstream)

    def test_divides_by_plain_numbers(self, student, number):
        """`x / 4` works, and its gradient reaches x."""
        a, b, upstream = number(), number(), number()
        value, slopes = gradients(student, lambda x: x / b, [a], upstream)
        assert value == close(a / b) and slopes == close([upstream / b])

    def test_every_use_counts(self, student, number):
        """In `(x / y) / (y / x)` every use of x and of y counts, and `x / x` has gradient 0."""
        a, b, upstream = number(), number(), number()
        slopes = gradients(student, lambda x, y: (x / y) / (y / x), [a, b], upstream)[1]
        assert slopes == close([2 * a / b**2 * upstream, -2 * a**2 / b**3 * upstream])
        value, slopes = gradients(student, lambda x: x / x, [a])
        assert value == close(1.0) and slopes == close([0.0])
        x = leaf(student, a)
        assert x in behind(student, x / x)

    def test_any_numbers(self, student, reference, rng):
        """The rule is the same for all numbers but 0: tiny and huge, 1, equal and opposite ones."""
        numbers = [(a, b) for a, b in pairs(rng) if b] + [(2e-19, 5e-20), (1.5, -3e-17)]
        tried = [(operator.truediv, each) for each in numbers]
        tried += [(lambda x, b=b: x / b, [a]) for a, b in numbers]
        assert_right(student, reference, rng, tried)


@exercise("reverse")
class TestReverse:
    def test_number_plus_node(self, student, number):
        """`3 + x` works, in number and in gradient."""
        a, b, upstream = number(), number(), number()
        value, slopes = gradients(student, lambda x: b + x, [a], upstream)
        assert value == close(b + a) and slopes == close([upstream])

    def test_number_minus_node(self, student, number):
        """`5 - x` is five minus x, not the other way round, and x gets a turned sign."""
        a, b, upstream = number(), number(), number()
        value, slopes = gradients(student, lambda x: b - x, [a], upstream)
        assert value == close(b - a) and slopes == close([-upstream])

    def test_number_times_node(self, student, number):
        """`2 * x` works, in number and in gradient."""
        a, b, upstream = number(), number(), number()
        value, slopes = gradients(student, lambda x: b * x, [a], upstream)
        assert value == close(b * a) and slopes == close([b * upstream])

    def test_number_over_node(self, student, number):
        """`6 / x` is six over x, not the other way round, with its own derivative."""
        a, b, upstream = number(), number(), number()
        value, slopes = gradients(student, lambda x: b / x, [a], upstream)
        assert value == close(b / a) and slopes == close([-b / a**2 * upstream])

    def test_number_over_zero(self, student, number):
        """`6 / x` is an error where x is 0, and no number is made up for it."""
        a, x, zero = number(), leaf(student, number()), leaf(student, 0.0)
        assert student.error_of(lambda: (a / x).data) is None
        assert refused_or_infinite(student, lambda: (a / zero).data)

    def test_sum_of_a_list(self, student, number):
        """Python's `sum([...])` of nodes works: it starts from the number 0."""
        inputs, upstream = [number() for _ in range(4)], number()
        value, slopes = gradients(student, lambda *nodes: sum(nodes), inputs, upstream)
        assert value == close(sum(inputs)) and slopes == close([upstream] * 4)

    def test_whole_numbers_on_the_left(self, student, rng, number):
        """Whole numbers on the left work as fractions do, and so does 0; each time anew."""
        x = leaf(student, a := number())
        for n in (rng.randint(2, 5), 0, rng.randint(6, 9)):
            found = [(n + x).data, (n - x).data, (n * x).data, (n / x).data]
            assert found == close([n + a, n - a, n * a, n / a])
            x.data = a = number()

    @pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
    def test_any_numbers(self, student, reference, rng, name):
        """The rule is the same for all numbers: tiny and huge, 0 and 1, equal and opposite ones."""
        apply = getattr(operator, name)
        numbers = [(a, b) for a, b in pairs(rng) if b or name != "truediv"] + [(6, 3.0), (-8, 2.0)]
        tried = [(lambda x, a=a: apply(a, x), [b]) for a, b in numbers]
        assert_right(student, reference, rng, tried)


@exercise("trace")
class TestTrace:
    @pytest.fixture
    def trace(self, student):
        return alone(student, "trace")

    def test_the_root_alone(self, student, trace, number):
        """For a leaf, the nodes are the leaf alone and there are no edges."""
        x = student.Value(number())
        nodes, edges = trace(x)
        assert list(nodes) == [x] and list(edges) == []

    def test_a_small_graph(self, student, trace, number):
        """Every node and every edge (operand, result) is found."""
        x, y, z = (student.Value(number()) for _ in range(3))
        inner = student.Value(number(), (x, y), "*")
        root = student.Value(number(), (inner, z), "+")
        nodes, edges = trace(root)
        assert set(list(nodes)) == {x, y, z, inner, root}
        assert set(list(edges)) == {(x, inner), (y, inner), (inner, root), (z, root)}

    def test_shared_nodes_are_found_once(self, student, trace, number):
        """A node that is reached along several paths appears once, and so does each edge."""
        x = student.Value(number())
        left, right = (student.Value(number(), (x,), "**2") for _ in range(2))
        root = student.Value(number(), (left, right), "+")
        nodes, edges = trace(root)
        assert len(nodes) == 4 and set(nodes) == {x, left, right, root}
        assert len(edges) == 4
        assert set(edges) == {(x, left), (x, right), (left, root), (right, root)}

    def test_an_operand_used_twice(self, student, trace, number):
        """`x + x` has two nodes and one edge."""
        x = student.Value(number())
        root = student.Value(number(), (x, x), "+")
        nodes, edges = map(list, trace(root))
        assert nodes in ([x, root], [root, x]) and edges == [(x, root)]
        single = student.Value(x.data, (x,), "+")
        assert list(trace(single)[1]) == [(x, single)]

    def test_equal_numbers_are_different_nodes(self, student, trace, number):
        """Nodes that hold the same number are still different nodes."""
        a = number()
        x, y = student.Value(a), student.Value(a)
        root = student.Value(a, (x, y), "+")
        nodes, edges = trace(root)
        assert set(list(nodes)) == {x, y, root}
        assert set(list(edges)) == {(x, root), (y, root)}

    def test_many_paths(self, student, trace):
        """A graph with a huge number of paths takes no longer than its number of nodes."""
        root = student.inside.graphs.doublings(student.Value, [1.0] * 61)
        assert student.inside.graphs.sizes(trace, root) == [61, 60]

    def test_long_chains(self, student, trace):
        """A graph 300 operations deep is no obstacle, with recursion or without."""
        deep = student.inside.graphs.chain(student.Value, student.Value(1.0), 300)
        assert student.inside.graphs.sizes(trace, deep) == [301, 300]

    def test_only_looks(self, student, trace, number):
        """A second walk over the same nodes finds what the first one found."""
        x = student.Value(number())
        y = student.Value(number(), (x,), "**2")
        for root in (y, student.Value(number(), (y, x), "+"), y):
            expected = [3, 3] if root != y else [2, 1]
            assert [len(part) for part in trace(root)] == expected

    def test_any_nodes(self, student, trace, number):
        """Nodes count whatever they hold: 0, gradients, equal labels, no sign, many operands."""
        x, y = (student.Value(a, label="x") for a in (0.0, number()))
        z = student.Value(0.0)
        middle = student.Value(0.0, (x, y, z), "")
        root = student.Value(0.0, (middle,), "relu")
        nodes = [x, y, z, middle, root]
        for node in nodes:
            node.grad = number()
        before = plain(student.inside.graphs.untouched(nodes))
        found, edges = map(list, trace(root))
        assert set(found) == set(nodes) and len(found) == 5
        assert len(edges) == 4
        assert set(edges) == {(x, middle), (y, middle), (z, middle), (middle, root)}
        assert student.inside.graphs.untouched(nodes) == before


@exercise("manual_backward")
class TestManualBackward:
    def recorded(self, student, count, number):
        """Results whose `_backward` writes down that it ran, and that list."""
        x = student.Value(number())
        nodes = [student.Value(number(), (x,), "?") for _ in range(count)]
        for node in nodes:
            node.grad = number()
        return nodes, student.inside.graphs.recorded(nodes)

    def test_follows_the_given_order(self, student, number, rng):
        """`_backward` runs once for each time a node is listed, in exactly the order given."""
        nodes, calls = self.recorded(student, 6, number)
        order = [0, *rng.sample(range(1, 6), 5), rng.randint(1, 5)]
        student.push_gradients(nodes[0], tuple(nodes[index] for index in order))
        assert calls == order

    def test_seeds_the_root(self, student, number):
        """The root's gradient is 1.0 before its `_backward` runs, whatever it held."""
        data = number()
        root = student.Value(data, (student.Value(number()),), "?")
        root.grad = number()
        seen = student.inside.graphs.gradient_when_run(root)
        student.push_gradients(root, [root])
        assert [seen, root.grad, root.data] == [[1.0], 1.0, data]

    def test_leaves_other_gradients_alone(self, student, number):
        """No other node's gradient is seeded or set back to zero."""
        nodes, _ = self.recorded(student, 3, number)
        before = [number(), number()]
        for node, grad in zip(nodes[1:], before, strict=True):
            node.grad = grad
        student.push_gradients(nodes[0], nodes)
        assert [node.grad for node in nodes] == [1.0, *before]

    def test_runs_only_what_it_is_given(self, student, number):
        """A node that is not in the order is not run, though the graph holds it."""
        nodes, calls = self.recorded(student, 3, number)
        root = student.Value(number(), tuple(nodes), "+")
        student.push_gradients(root, [root, nodes[1]])
        assert calls == [1]

    def test_gradients_of_an_expression(self, student, reference, number):
        """Given a right order, `(a * b + c) ** 2` gets all its gradients."""
        inputs = [number() for _ in range(3)]
        a, b, c = leaves = [leaf(student, data) for data in inputs]
        root = (a * b + c) ** 2
        student.push_gradients(root, student.inside.graphs.reverse_topological(root))
        expected = gradients(reference, lambda a, b, c: (a * b + c) ** 2, inputs)[1]
        assert [node.grad for node in leaves] == close(expected)

    def test_any_gradients(self, student, number):
        """Each listed step runs, also where a gradient is 0 or tiny, and of many hundred nodes."""
        grads = [0.0, 1e-9, 0.5, 1e6] * 75
        graphs = student.inside.graphs
        nodes = graphs.uses(student.Value, student.Value(number()), grads)
        calls = graphs.recorded(nodes)
        student.push_gradients(nodes[0], student.inside.builtins.list(nodes))
        assert calls == list(range(300)) and graphs.held(nodes) == [1.0, *grads[1:]]

    def test_root_and_order_are_two_things(self, student, number):
        """The root alone is seeded, wherever it stands in the order; the order stays as it is."""
        x = student.Value(a := number())
        nodes = [student.Value(a, (x,), "?") for _ in range(3)]
        calls = student.inside.graphs.recorded(nodes)
        order = student.inside.builtins.list([nodes[1], nodes[2]])
        for _ in range(2):
            student.push_gradients(nodes[0], order)
        assert [node.grad for node in nodes] == [1.0, 0.0, 0.0]
        assert [calls, list(order)] == [[1, 2, 1, 2], [nodes[1], nodes[2]]]
        half = leaf(student, a, 0.5)
        student.push_gradients(half, [half])
        assert half.grad == 1.0

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

    def test_errors_of_a_step(self, student, number):
        """An error that a step raises is passed on."""
        node = student.Value(number(), (student.Value(number()),), "?")
        student.push_gradients(node, [node])
        assert node.grad == 1.0
        with student.raises(ZeroDivisionError):
            student.push_gradients(node, [student.inside.graphs.failing(node)])


def central(a, b, x, h):
    """The central difference of a t³ + b t² at x, worked out by hand."""
    return a * (3 * x**2 + h**2) + 2 * b * x


@exercise("numerical")
class TestNumerical:
    @pytest.fixture
    def curve(self, student, number):
        """A curve that is drawn: its two factors, and the function."""

        def draw():
            a, b = number(), number()
            return a, b, student.inside.functions.Curve(a, b)

        return draw

    def test_central_difference(self, student, curve, number, rng):
        """The slope is taken between x - h and x + h, over a run of 2h."""
        (a, b, f), x, h = curve(), number(), rng.uniform(0.01, 0.1)
        assert student.numerical_derivative(f, x, h) == close(central(a, b, x, h))

    def test_asks_on_both_sides(self, student, number, rng):
        """The function is asked at x - h and at x + h."""
        x, h, asked = number(), rng.uniform(0.01, 0.1), student.inside.functions.Asked()
        student.numerical_derivative(asked, x, h)
        assert [min(asked.at), max(asked.at)] == close([x - h, x + h])

    def test_default_step(self, student, curve, number):
        """Without h the step is small: the derivative of a curve comes out to six digits."""
        (a, b, f), x = curve(), number()
        expected = 3 * a * x**2 + 2 * b * x
        assert student.numerical_derivative(f, x) == close(expected, relative=1e-6)

    def test_falling_functions(self, student, positive):
        """A falling function has a negative slope."""
        x, a = positive(), positive()
        found = student.numerical_derivative(student.inside.functions.Inverse(a), x)
        assert found == close(-a / x**2, relative=1e-6)

    def test_any_place(self, student, rng):
        """It is asked at x - h and x + h for every x and h: 0, negative, large, tiny and wide."""
        steps = (rng.uniform(1e-6, 3e-6), rng.uniform(0.2, 0.9), rng.uniform(2, 5))
        bases = (0.0, -rng.uniform(0.2, 0.8), rng.uniform(30, 90), 3, -rng.uniform(200, 500))
        places = [(x, h) for x in bases for h in steps] + [(0.0, rng.uniform(2e-9, 4e-9))]
        found, ends = [], student.inside.builtins
        for x, h in places:
            asked = student.inside.functions.Asked()
            slope = student.numerical_derivative(asked, x, h)
            found.append([slope, ends.min(asked.at), ends.max(asked.at)])
        right = [[1.0, x - h, x + h] for x, h in places]
        assert found == close(right, 1e-7)

    def test_errors_of_the_function(self, student, number, rng):
        """What the function raises on either side of x is passed on."""
        x, h, above = number(), rng.uniform(0.01, 0.1), student.inside.functions.Above
        assert student.numerical_derivative(above(x - 2 * h), x, h) == close(1.0)
        for bound in (x, x + h / 2, x + 2 * h):
            with student.raises(ValueError):
                student.numerical_derivative(above(bound), x, h)

    def test_any_slope(self, student, curve, positive, rng):
        """Flat and steep slopes come out, and nothing is kept from one call to the next."""
        a, b, f = curve()
        for x in (0.0, rng.uniform(0.002, 0.004), -rng.uniform(80, 90)):
            for h in (1e-4, 2e-3):
                found = student.numerical_derivative(f, x, h)
                assert found == close(central(a, b, x, h), relative=1e-6)
        (a, b, f), factor, x, h = curve(), positive(), rng.uniform(80, 90), 0.01
        inverse = student.inside.functions.Inverse(factor)
        found = [student.numerical_derivative(each, x, h) for each in (f, inverse, f)]
        slope = central(a, b, x, h)
        assert found == close([slope, -factor / (x**2 - h**2), slope], 1e-6)
