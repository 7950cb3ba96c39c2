"""The hidden tests of `value`."""

import pytest

from autograder.testing import close, exercise


@exercise("node")
class TestNode:
    def test_keeps_its_number(self, student, number):
        """`Value(data)` keeps the number it is given."""
        a, b = number(), number()
        x, y = student.Value(a), student.Value(b)
        assert [x.data, y.data] == [a, b]

    def test_a_leaf_has_no_operands(self, student, number):
        """A Value that was not computed has no operands and no sign."""
        x = student.Value(a := number())
        assert list(x._prev) == [] and x._op == "" and x.data == a

    def test_keeps_its_operands(self, student, number):
        """`Value(data, operands, op)` keeps operands and sign."""
        x, y = student.Value(number()), student.Value(number())
        node = student.Value(number(), (x, y), "?")
        assert set(node._prev) == {x, y} and node._op == "?"

    def test_gradient_begins_at_zero(self, student, number):
        """A new Value's `grad` is 0.0."""
        x = student.Value(number())
        assert x.grad == 0.0
        x.grad = grad = number()
        assert x.grad == grad

    def test_backward_does_nothing(self, student, number):
        """`_backward` of a Value that was not computed changes nothing."""
        x = student.Value(a := number())
        x.grad = grad = number()
        x._backward()
        assert [x.data, x.grad] == [a, grad]


@exercise("add")
class TestAdd:
    def test_adds(self, student, number):
        """The sum is right."""
        a, b = number(), number()
        assert (student.Value(a) + student.Value(b)).data == a + b

    def test_takes_a_number(self, student, number):
        """A plain number may be added."""
        a, b = number(), number()
        assert (student.Value(a) + b).data == a + b

    def test_remembers(self, student, number):
        """The sum remembers both operands, and "+"."""
        x, y = student.Value(number()), student.Value(number())
        z = x + y
        assert set(z._prev) == {x, y} and z._op == "+"

    def test_passes_the_gradient_on(self, student, number):
        """`_backward` adds the sum's gradient to that of each operand."""
        x, y = student.Value(number()), student.Value(number())
        x.grad, y.grad = old, other = number(), number()
        z = x + y
        z.grad = grad = number()
        z._backward()
        assert [x.grad, y.grad] == close([old + grad, other + grad])


@exercise("mul")
class TestMul:
    def test_multiplies(self, student, number):
        """The product is right."""
        a, b = number(), number()
        assert (student.Value(a) * student.Value(b)).data == a * b

    def test_takes_a_number(self, student, number):
        """A Value may be multiplied by a plain number."""
        a, b = number(), number()
        assert (student.Value(a) * b).data == a * b

    def test_remembers(self, student, number):
        """The product remembers both operands, and "*"."""
        x, y = student.Value(number()), student.Value(number())
        z = x * y
        assert set(z._prev) == {x, y} and z._op == "*"

    def test_passes_the_gradient_on(self, student, number):
        """`_backward` adds each operand's part, which is the other's number times the gradient."""
        x, y = student.Value(a := number()), student.Value(b := number())
        x.grad, y.grad = old, other = number(), number()
        z = x * y
        z.grad = grad = number()
        z._backward()
        assert [x.grad, y.grad] == close([old + b * grad, other + a * grad])


@exercise("trace")
class TestTrace:
    @pytest.fixture
    def trace(self, student):
        """The set of what is found, made in the student's process, whatever the answer is."""
        return lambda root: student.remote.builtins.set(student.trace(root))

    def test_alone(self, student, trace, number):
        """A Value that was not computed is found alone."""
        x = student.Value(number())
        assert trace(x) == {x}

    def test_far(self, student, trace, number):
        """Values far from the result are found."""
        x, y, z = (student.Value(number()) for _ in range(3))
        product = x * y
        root = product + z
        assert trace(root) == {x, y, z, product, root}

    def test_twice(self, student, trace, number):
        """A Value that is used twice counts once."""
        x = student.Value(number())
        root = x + x
        assert student.remote.builtins.len(trace(root)) == 2

    def test_equal_numbers(self, student, trace, number):
        """Different Values with the same number are both found."""
        x, y = student.Value(a := number()), student.Value(a)
        root = x * y
        assert trace(root) == {x, y, root}
