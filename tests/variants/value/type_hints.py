# A right solution of `value`: type hints everywhere, and a class that forbids nothing but says
# what it holds. An exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% node
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Union


class Value:
    data: float
    grad: float
    _prev: tuple[Value, ...]
    _op: str
    label: str
    _backward: Callable[[], None]

    def __init__(
        self, data: float, _children: Iterable[Value] = (), _op: str = "", label: str = ""
    ) -> None:
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label
        self._backward = lambda: None

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"


Operand = Union[Value, int, float]


# %% add
def to_value(operand: Operand) -> Value:
    return operand if isinstance(operand, Value) else Value(operand)


def add(self: Value, other: Operand) -> Value:
    right: Value = to_value(other)
    out: Value = Value(self.data + right.data, (self, right), "+")

    def _backward() -> None:
        self.grad += out.grad
        right.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mul
def mul(self: Value, other: Operand) -> Value:
    right: Value = to_value(other)
    out: Value = Value(self.data * right.data, (self, right), "*")

    def _backward() -> None:
        self.grad += right.data * out.grad
        right.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% pow
def power(self: Value, exponent: int | float) -> Value:
    if not isinstance(exponent, int | float):
        raise TypeError(f"{exponent!r} is not a plain number")
    result: float | complex = self.data**exponent
    if isinstance(result, complex):
        raise ValueError(f"{result} is not real")
    out: Value = Value(result, (self,), f"**{exponent}")

    def _backward() -> None:
        slope: float = exponent * self.data ** (exponent - 1) if exponent != 0 else 0.0
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self: Value) -> Value:
    return self * -1


def sub(self: Value, other: Operand) -> Value:
    return self + -to_value(other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self: Value, other: Operand) -> Value:
    return self * to_value(other) ** -1


Value.__truediv__ = div


# %% reverse
def radd(self: Value, other: int | float) -> Value:
    return self + other


def rsub(self: Value, other: int | float) -> Value:
    return to_value(other) - self


def rmul(self: Value, other: int | float) -> Value:
    return self * other


def rtruediv(self: Value, other: int | float) -> Value:
    return to_value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% trace
def trace(root: Value) -> tuple[list[Value], list[tuple[Value, Value]]]:
    nodes: list[Value] = []
    edges: list[tuple[Value, Value]] = []
    met: set[Value] = {root}
    to_visit: list[Value] = [root]
    while to_visit:
        node: Value = to_visit.pop()
        nodes.append(node)
        for operand in set(node._prev):
            edges.append((operand, node))
            if operand not in met:
                met.add(operand)
                to_visit.append(operand)
    return nodes, edges


# %% manual_backward
def push_gradients(root: Value, order: list[Value]) -> None:
    root.grad = 1.0
    for node in order:
        node._backward()


# %% numerical
from collections.abc import Callable


def numerical_derivative(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    return (f(x + h) - f(x - h)) / (2 * h)
