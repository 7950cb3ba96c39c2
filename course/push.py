"""Runs a backward pass, for examples in notebooks in which `backward` is not written yet."""

from __future__ import annotations

from collections import Counter
from typing import Any


def push(root: Any, grad: float) -> None:
    """Set the gradient of `root` and run the backward pass from there.

    Each node's `_backward` is called once, after those of all nodes that were computed from it.

    Args:
        root: a Value.
        grad: the gradient of `root`.
    """
    found = [root]
    waits_for: Counter[int] = Counter()
    for node in found:  # the list grows during the loop
        for operand in node._prev:
            if id(operand) not in waits_for and operand is not root:
                found.append(operand)
            waits_for[id(operand)] += 1
    root.grad = grad
    ready = [root]
    while ready:
        node = ready.pop()
        node._backward()
        for operand in node._prev:
            waits_for[id(operand)] -= 1
            if waits_for[id(operand)] == 0:
                ready.append(operand)
