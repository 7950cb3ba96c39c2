# A right solution of `value`: a data class without generated equality, and a shared helper that
# makes nodes.

# %% node
from dataclasses import InitVar, dataclass, field
from typing import Any


@dataclass(eq=False, repr=False)
class Value:
    data: float
    _children: InitVar[Any] = ()
    _op: str = ""
    label: str = ""
    grad: float = field(default=0.0, init=False)
    _prev: tuple = field(init=False)
    _backward: Any = field(init=False)

    def __post_init__(self, _children):
        self.data = float(self.data)
        self._prev = tuple(_children)
        self._backward = lambda: None

    def __repr__(self):
        return f"Value(data={self.data!r}, grad={self.grad!r})"


# %% add
def as_node(x):
    return x if isinstance(x, Value) else Value(x)


def add(self, other):
    other = as_node(other)
    total = Value(self.data + other.data, [self, other], "+")

    def backward():
        self.grad = self.grad + total.grad
        other.grad = other.grad + total.grad

    total._backward = backward
    return total


Value.__add__ = add


# %% reverse
def radd(self, other):
    return as_node(other) + self


def rsub(self, other):
    return as_node(other) - self


def rmul(self, other):
    return as_node(other) * self


def rtruediv(self, other):
    return as_node(other) / self


Value.__radd__, Value.__rsub__ = radd, rsub
Value.__rmul__, Value.__rtruediv__ = rmul, rtruediv


# %% trace
def trace(root):
    nodes = [root]
    met = {id(root)}
    for node in nodes:
        for operand in node._prev:
            if id(operand) not in met:
                met.add(id(operand))
                nodes.append(operand)
    edges = {(operand, node) for node in nodes for operand in node._prev}
    return nodes, edges
