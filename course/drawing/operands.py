"""Reads the operands of a student's node, in an order that is the same each time.

A set in `_prev` has no order, and holds an operand once that was used twice. The number in the node
then tells the order of a difference, and that x was used twice for `x + x`; otherwise labels order
the operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any

MISSING = object()

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_NODES_READ = 60
"""Greatest number of nodes behind an operand among which a label is searched."""


def attribute(value: Any, name: str) -> Any:
    """Return an attribute of a student's object; `MISSING` if there is none."""
    try:
        return getattr(value, name)
    except Exception:
        # A property of an unfinished class may raise anything; the drawing then shows "?".
        return MISSING


def as_number(thing: Any) -> float | None:
    """Return an object as a float; None if it is no number."""
    if isinstance(thing, (bool, str)):
        return None
    try:
        return float(thing)
    except Exception:
        # The conversion runs methods of a student's object, which may raise anything.
        return None


def operands_of(node: Any) -> list[Any] | None:
    """Return the operands in `_prev`; [] if there is no `_prev`, None if `_prev` is no tuple, list
    or set."""
    held = attribute(node, "_prev")
    if held is MISSING:
        return []
    if isinstance(held, (tuple, list)):
        return list(held)
    return _ordered(node, held) if isinstance(held, (set, frozenset)) else None


def _ordered(node: Any, held: Iterable[Any]) -> list[Any]:
    operands = sorted(held, key=_place)
    compute, result = BINARY.get(_text(node, "_op")), attribute(node, "data")
    if compute and len(operands) in (1, 2):
        for pair in permutations(operands * (3 - len(operands)), 2):
            try:
                if compute(*(each.data for each in pair)) == result:
                    return list(pair)
            except Exception:
                # A student's `data` may be of any type.
                continue
    return operands


def _place(node: Any) -> tuple[list[str], str, str]:
    """Return a key for sorting: the nearest labels behind a node, its operation and its number."""
    level, read = [node], 0
    labels: list[str] = []
    while level and not labels and read < _NODES_READ:
        read += len(level)
        labels = sorted(label for each in level if (label := _text(each, "label")))
        held = [attribute(each, "_prev") for each in level]
        level = [
            operand
            for each in held
            if isinstance(each, (tuple, list, set, frozenset))
            for operand in each
        ]
    return labels, _text(node, "_op"), repr(attribute(node, "data"))


def _text(node: Any, name: str) -> str:
    value = attribute(node, name)
    return value if isinstance(value, str) else ""
