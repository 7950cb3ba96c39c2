"""Runs backward steps by hand, for examples that come before `backward` is written."""

from __future__ import annotations

from collections import Counter
from typing import Any


def push(root: Any, grad: float) -> None:
    """Give `root` a gradient and run every backward step behind it, each when its turn comes.

    Args:
        root: a Value.
        grad: the gradient that it is given.
    """
    found = [root]
    waits_for: Counter[int] = Counter()
    for node in found:  # grows while it is walked
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
