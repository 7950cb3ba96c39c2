# A right solution of `value`: type hints everywhere, and a class that forbids nothing but says what
# it holds.

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
