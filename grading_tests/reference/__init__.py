"""The reference engine: scalar reverse-mode differentiation, short and fast.

It has the names that students define (`data`, `grad`, `_prev`, `_op`, `_backward`, `label`). In
place of a student's closure, a node stores its local derivatives, one for each operand, which the
forward pass computes. So a node refers only to its operands, there is no reference cycle, and a
graph is freed as soon as its root is deleted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence


class Value:
    """A number that remembers how it was computed.

    Operations accept Values, ints and floats and return a new Value of the same class. Arguments
    that are not numbers raise TypeError.

    Attributes:
        data: the number, a float.
        grad: derivative of the last root with respect to this node; adds up until it is zeroed.
        label: a name for drawings.
        _prev: the operands in the order written; empty for a leaf.
        _op: the operation that made this node, such as "+" or "**3"; "" for a leaf.
        _local: the local derivative with respect to each operand of `_prev`.
    """

    __slots__ = ("_local", "_op", "_prev", "data", "grad", "label")

    def __init__(
        self,
        data: float,
        _children: Iterable[Value] = (),
        _op: str = "",
        label: str = "",
        _local: tuple[float, ...] = (),
    ) -> None:
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label
        self._local = _local

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    def _operand(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            return other
        if isinstance(other, (int, float)):
            return type(self)(other)
        raise TypeError(
            f"a Value cannot be combined with a {type(other).__name__}; use a Value, int or float"
        )

    # Arithmetic: the result, its operands, its name, its local derivatives.

    def __add__(self, other: Value | float) -> Value:
        other = self._operand(other)
        return type(self)(self.data + other.data, (self, other), "+", "", (1.0, 1.0))

    def __sub__(self, other: Value | float) -> Value:
        other = self._operand(other)
        return type(self)(self.data - other.data, (self, other), "-", "", (1.0, -1.0))

    def __mul__(self, other: Value | float) -> Value:
        other = self._operand(other)
        return type(self)(self.data * other.data, (self, other), "*", "", (other.data, self.data))

    def __truediv__(self, other: Value | float) -> Value:
        other = self._operand(other)
        ratio = self.data / other.data
        return type(self)(ratio, (self, other), "/", "", (1.0 / other.data, -ratio / other.data))

    def __neg__(self) -> Value:
        return type(self)(-self.data, (self,), "neg", "", (-1.0,))

    def __pow__(self, exponent: float) -> Value:
        if not isinstance(exponent, (int, float)):
            raise TypeError(f"the exponent must be an int or a float, not {exponent!r}")
        result = self.data**exponent
        if isinstance(result, complex):
            raise ValueError(f"({self.data}) ** {exponent} is not a real number")
        slope = _slope_of_power(self.data, exponent, result)
        return type(self)(result, (self,), f"**{exponent}", "", (slope,))

    def __radd__(self, other: float) -> Value:
        return self._operand(other) + self

    def __rsub__(self, other: float) -> Value:
        return self._operand(other) - self

    def __rmul__(self, other: float) -> Value:
        return self._operand(other) * self

    def __rtruediv__(self, other: float) -> Value:
        return self._operand(other) / self

    # Functions of one operand.

    def exp(self) -> Value:
        """Return e to the power of this node. Raises `OverflowError` above about 709."""
        result = math.exp(self.data)
        return type(self)(result, (self,), "exp", "", (result,))

    def log(self) -> Value:
        """Return the natural logarithm. Raises `ValueError` unless `data` is above 0."""
        if self.data <= 0:
            raise ValueError(f"log is defined only above 0, not at {self.data}")
        return type(self)(math.log(self.data), (self,), "log", "", (1.0 / self.data,))

    def sqrt(self) -> Value:
        """Return the square root, whose derivative at 0 is infinite. Raises `ValueError` below
        0."""
        if self.data < 0:
            raise ValueError(f"sqrt is defined only from 0 up, not at {self.data}")
        root = math.sqrt(self.data)
        return type(self)(root, (self,), "sqrt", "", (0.5 / root if root else math.inf,))

    def sin(self) -> Value:
        """Return the sine of this node, in radians."""
        return type(self)(math.sin(self.data), (self,), "sin", "", (math.cos(self.data),))

    def cos(self) -> Value:
        """Return the cosine of this node, in radians."""
        return type(self)(math.cos(self.data), (self,), "cos", "", (-math.sin(self.data),))

    def tanh(self) -> Value:
        """Return the hyperbolic tangent t; its derivative is 1 - t²."""
        result = math.tanh(self.data)
        return type(self)(result, (self,), "tanh", "", (1.0 - result * result,))

    def relu(self) -> Value:
        """Return max(0, x) as a new node; its derivative at 0 is 0."""
        positive = self.data > 0
        result = self.data if positive else 0.0
        return type(self)(result, (self,), "relu", "", (1.0 if positive else 0.0,))

    def sigmoid(self) -> Value:
        """Return s = 1 / (1 + e⁻ˣ); its derivative is s(1 - s)."""
        # Only ever raise e to a negative power, which cannot overflow.
        decay = math.exp(-abs(self.data))
        result = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
        return type(self)(result, (self,), "sigmoid", "", (result * (1.0 - result),))

    # The backward pass.

    def _backward(self) -> None:
        """Add this node's share of the gradient to each operand: local derivative times grad."""
        grad = self.grad
        for operand, local in zip(self._prev, self._local, strict=False):
            operand.grad += local * grad

    def backward(self) -> None:
        """Set this node's grad to 1.0 and add to the grad of every node that it depends on."""
        push_gradients(self, reversed(topological_order(self)))


def _slope_of_power(x: float, exponent: float, power: float) -> float:
    """Return d(x ** exponent)/dx = exponent · x ** (exponent - 1), where power = x ** exponent."""
    if exponent == 0:
        return 0.0
    try:
        return float(exponent * x ** (exponent - 1))
    except (ZeroDivisionError, OverflowError):
        # The power is finite but its slope is not, as for 0 ** 0.5.
        return exponent * (power / x) if x else math.inf


def topological_order(root: Value) -> list[Value]:
    """Return every node that `root` depends on, each once, operands before results, `root` last.

    This takes linear time and needs no recursion, so the graph may be deep.
    """
    order: list[Value] = []
    seen: set[Value] = set()
    stack: list[Value | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:  # a marker: the operands of the node below it are all in the order
            order.append(stack.pop())  # type: ignore[arg-type]
        elif node not in seen:
            seen.add(node)
            stack += (node, None)
            stack += node._prev[::-1]
    return order


def push_gradients(root: Value, order: Iterable[Value]) -> None:
    """Set root's grad to 1.0, then call `_backward` on each node exactly in the given order."""
    root.grad = 1.0
    for node in order:
        node._backward()


def trace(root: Value) -> tuple[set[Value], set[tuple[Value, Value]]]:
    """Return the nodes and the edges of the graph behind `root`; an edge is (operand, result)."""
    nodes = set(topological_order(root))
    return nodes, {(operand, node) for node in nodes for operand in node._prev}


def zero_grad(parameters: Iterable[Value]) -> None:
    """Set the grad of each parameter to 0.0."""
    for parameter in parameters:
        parameter.grad = 0.0


def numerical_derivative(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """Return the central difference (f(x + h) - f(x - h)) / 2h; its error shrinks as h²."""
    return (f(x + h) - f(x - h)) / (2 * h)


def check_gradients(
    f: Callable[..., Value], inputs: Sequence[float], epsilon: float = 1e-5
) -> bool:
    """Return whether backward agrees with central differences in every input.

    The comparison is relative, so that a wrong gradient is caught even if the right one is as small
    as 1e-6. Do not check at a kink, such as relu at 0, where no derivative exists.

    Args:
        f: takes one Value per input and returns a Value.
        inputs: plain numbers at which to check.
        epsilon: the step of the difference.

    Returns:
        True if all gradients agree; False if one differs or is not finite.
    """
    leaves = [Value(x) for x in inputs]
    root = f(*leaves)
    root.backward()
    for i, (leaf, x) in enumerate(zip(leaves, inputs, strict=True)):

        def along_input(moved: float, i: int = i) -> float:
            return f(*[Value(moved if j == i else y) for j, y in enumerate(inputs)]).data

        estimate = numerical_derivative(along_input, x, epsilon)
        # Rounding of x and of f, about 1e-16 of each, reaches the estimate divided by the step.
        relative = 1e-5 + 1e-15 * abs(x) / epsilon
        absolute = 1e-15 * max(1.0, abs(root.data)) / epsilon
        if not abs(leaf.grad - estimate) <= relative * abs(estimate) + absolute:
            return False
    return True
