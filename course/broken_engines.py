"""Engines with one mistake each, on which the checkpoint's check tries a student's `test_engine`.

They are other engines than those of the hidden tests. Each has a riddle for a student whose test it
has passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SHOWN = 4  # greatest number of riddles in a message


def _result(data: float, *sides: tuple[Any, float]) -> Any:
    """Return a new node; its backward step sends each operand its local derivative times the node's
    gradient."""
    out = type(sides[0][0])(data, tuple(operand for operand, _ in sides))

    def _backward() -> None:
        for operand, local in sides:
            operand.grad += local * out.grad

    out._backward = _backward
    return out


def _overwriting_product(self: Any, other: Any) -> Any:
    other = self._as_node(other)
    out = type(self)(self.data * other.data, (self, other))

    def _backward() -> None:
        self.grad, other.grad = other.data * out.grad, self.data * out.grad

    out._backward = _backward
    return out


def _capped_sum(self: Any, other: Any) -> Any:
    other = self._as_node(other)
    out = type(self)(self.data + other.data, (self, other))

    def _backward() -> None:
        self.grad += min(out.grad, 1.0)
        other.grad += min(out.grad, 1.0)

    out._backward = _backward
    return out


def _product_without_twins(self: Any, other: Any) -> Any:
    other = self._as_node(other)
    sides = [(self, other.data), (other, self.data)]
    return _result(self.data * other.data, *sides[: 1 if self is other else 2])


def _quotient_of_one_slope(self: Any, other: Any) -> Any:
    other = self._as_node(other)
    a, b = self.data, other.data
    return _result(a / b, (self, 1 / b), (other, -a / b))


def _shared_number(self: Any, other: Any) -> Any:
    return _result(other / self.data, (self, other / self.data**2))


def _one_sided_difference(self: Any, other: Any) -> Any:
    other = self._as_node(other)
    return _result(self.data - other.data, (self, 1.0), (other, 0.0))


def _difference_from_a_number(self: Any, other: Any) -> Any:
    return _result(other - self.data, (self, 1.0))


def _power_as_product(self: Any, exponent: float) -> Any:
    return _result(self.data * exponent, (self, exponent))


def _mirror(self: Any) -> Any:
    return _result(-self.data, (self, 1.0))


def _unsquared_tanh(self: Any) -> Any:
    t = super(type(self), self).tanh().data
    return _result(t, (self, 1 - t))


def _bent_relu(self: Any) -> Any:
    return _result(max(self.data, 0.0), (self, 1.0 if self.data > 0 else -1.0))


def _seeded_with_data(self: Any) -> None:
    _run(self, _reverse_order(self), self.data)


def _two_steps(self: Any) -> None:
    near = {self, *self._prev}
    _run(self, [node for node in _reverse_order(self) if node in near])


def _path_first(self: Any) -> None:
    met: list[Any] = []
    waiting = [self]
    while waiting:
        node = waiting.pop()
        if not any(node is each for each in met):
            met.append(node)
            waiting.extend(reversed(tuple(node._prev)))
    _run(self, met)


def _reverse_order(root: Any) -> list[Any]:
    order, met, waiting = [], set(), [(root, False)]
    while waiting:
        node, operands_done = waiting.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            waiting.append((node, True))
            waiting.extend((operand, False) for operand in node._prev)
    return order[::-1]


def _run(root: Any, order: list[Any], seed: float = 1.0) -> None:
    root.grad = seed
    for node in order:
        node._backward()


ENGINES: dict[str, tuple[str, Callable[..., Any]]] = {
    "It remembers its last customer only, and it sells products.": (
        "__mul__", _overwriting_product),
    "It is modest: of what is greater than 1 it hands on 1.": ("__add__", _capped_sum),
    "It does not believe in twins.": ("__mul__", _product_without_twins),
    "Whoever divides by 1 has no complaint.": ("__truediv__", _quotient_of_one_slope),
    "Share a cake among more people, and each piece grows: so it thinks.": (
        "__rtruediv__", _shared_number),
    "Ask the one who was taken away.": ("__sub__", _one_sided_difference),
    "Between two nodes it makes no mistake. What else can stand on the left?": (
        "__rsub__", _difference_from_a_number),
    "Its powers agree with themselves, and with nobody else.": ("__pow__", _power_as_product),
    "In its mirror the number is right, and yet left is left.": ("__neg__", _mirror),
    "Near 0 it bends as it should.": ("tanh", _unsquared_tanh),
    "Where the floor is flat, it walks downhill.": ("relu", _bent_relu),
    "If your answer is 1, all that it says is true.": ("backward", _seeded_with_data),
    "It tires after two steps.": ("backward", _two_steps),
    "Where a short way and a long one meet, it does not wait.": ("backward", _path_first),
}  # fmt: skip
"""By riddle: the method that is wrong, and its wrong form."""


class Trial:
    """How a student's test judges the broken engines.

    Args:
        test: the student's function: takes a class `Value` and returns whether it is right.
        value: the class `Value` of the notebook's engine.

    Attributes:
        got_away: the numbers of the engines that the test calls right; engine 1 is the first.
        says: how many were caught, and riddles of those that got away; "" if all were caught.
    """

    def __init__(self, test: Callable[[Any], Any], value: Any) -> None:
        self.got_away = [
            number
            for number, (name, form) in enumerate(ENGINES.values(), 1)
            if test(type("Value", (value,), {name: form}))
        ]
        self.says = ""
        if self.got_away:
            riddles = list(ENGINES)
            caught = f"Caught {len(riddles) - len(self.got_away)} of {len(riddles)} broken engines."
            lines = [f"{number}: “{riddles[number - 1]}”" for number in self.got_away[:_SHOWN]]
            more = len(self.got_away) - _SHOWN
            lines += [f"And {more} more."] * (more > 0)
            if more > 0:
                caught += " Use values twice, numbers on both sides; go on from results."
            self.says = "\n".join([f"{caught} What got away:", *lines])
