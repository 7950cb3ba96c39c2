"""Sorts the nodes of a student's graph, and computes the graph again from other numbers, with the
student's operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from course.drawing.operands import BINARY, as_number, attribute, operands_of

_METHODS = ("exp", "log", "tanh", "relu", "sigmoid", "sin", "cos", "sqrt")


def topological(root: Any) -> list[Any]:
    """Return every node of the graph behind `root` in topological order: operands first.

    There is no recursion, so a graph may be deep.

    Raises:
        TypeError: a node's `_prev` is no set, tuple or list.
        ValueError: a node is among its own operands, directly or through other nodes.
    """
    order: list[Any] = []
    open_: set[int] = set()
    done: set[int] = set()
    tasks: list[tuple[Any, bool]] = [(root, False)]
    while tasks:
        node, operands_done = tasks.pop()
        if operands_done:
            open_.discard(id(node))
            done.add(id(node))
            order.append(node)
        elif id(node) in open_:
            raise ValueError("a node of this graph is computed from itself, so no order fits")
        elif id(node) not in done:
            open_.add(id(node))
            tasks.append((node, True))
            tasks += [(x, False) for x in reversed(uses(node)) if id(x) not in done]
    return order


def uses(node: Any) -> list[Any]:
    """Return the operands in a node's `_prev`, in their order."""
    operands = operands_of(node)
    if operands is None:
        kind = type(node._prev).__name__
        raise TypeError(f"`_prev` holds the operands as a set, tuple or list, not as {kind}")
    return operands


def rebuild(
    nodes: Sequence[Any], operands: Sequence[Sequence[int]], numbers: dict[int, float]
) -> Any:
    """Compute a graph again from other numbers; return the root of the new graph.

    The new graph has the same operations and labels.

    Args:
        nodes: the nodes of the old graph, operands first, root last.
        operands: for each node the indexes of its operands.
        numbers: the new numbers of leaves, by index of the leaf; other leaves keep their numbers.

    Raises:
        LookupError: an operation is unknown.
        Exception: any error that an operation of the student's raises.
    """
    made: list[Any] = []
    for place, node in enumerate(nodes):
        chosen = [made[i] for i in operands[place]]
        if chosen:
            new = _apply(attribute(node, "_op"), chosen)
        else:
            new = type(node)(numbers.get(place, node.data))
        new.label = node.label
        made.append(new)
    return made[-1]


def can_rebuild(nodes: Sequence[Any], operands: Sequence[Sequence[int]]) -> bool:
    """Return whether `rebuild` works: with the same leaves, it gives the same number again.

    It does not work for a difference or a quotient whose operands are a set: with other numbers,
    nothing tells their order.
    """
    if any(
        isinstance(attribute(node, "_prev"), (set, frozenset))
        and attribute(node, "_op") in ("-", "/")
        and len(node._prev) > 1
        for node in nodes
    ):
        return False
    try:
        again = as_number(rebuild(nodes, operands, {}).data)
    except Exception:
        # Student code may raise any error; then the graph cannot be computed again.
        return False
    before = as_number(attribute(nodes[-1], "data"))
    return again is not None and before is not None and math.isclose(again, before)


def _apply(op: Any, operands: list[Any]) -> Any:
    if len(operands) == 2:
        return BINARY[op](*operands)
    if len(operands) == 1 and op in ("-", "neg"):
        return -operands[0]
    if len(operands) == 1 and isinstance(op, str) and op.startswith("**"):
        exponent = float(op[2:])
        return operands[0] ** (int(exponent) if exponent.is_integer() else exponent)
    if len(operands) == 1 and op in _METHODS:
        return getattr(operands[0], op)()
    raise LookupError(f"nothing computes {op!r}")
