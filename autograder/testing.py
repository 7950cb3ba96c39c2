"""What grading tests are written with.

A grading test is an ordinary pytest function or method that takes the fixture `student`, an
`Engine`. It names its exercise with `exercise`; its docstring is the sentence that a student
reads when it fails, so it says what must hold and never with which numbers it was tried.

Other fixtures: `reference`, the reference engine behind the same interface; `rng`, a
`random.Random` seeded for this assignment and this test; and, drawing from it, `number()`, of
either sign and away from 0 and from 1, and `positive()`. A module or class may define its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from .engines import Engine, Remote
from .sandbox.inside.objects import results_first

RELATIVE = 1e-9
"""Tolerance where both sides are the same arithmetic in another order."""


def exercise(name: str) -> pytest.MarkDecorator:
    """Mark a test or a class of tests as belonging to the exercise `name`."""
    return pytest.mark.exercise(name)


class close:
    """`expected`, a number or a list of numbers, to compare with `==` up to rounding."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, relative: float = RELATIVE) -> None:
        self._expected = expected
        self._relative = relative

    def __eq__(self, actual: object) -> bool:
        return self._is_close(actual, self._expected)

    def _is_close(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, (list, tuple)):
            return (
                isinstance(actual, (list, tuple))
                and len(actual) == len(expected)
                and all(map(self._is_close, actual, expected))
            )
        return isinstance(actual, (int, float)) and math.isclose(
            actual, expected, rel_tol=self._relative, abs_tol=1e-12
        )


def leaf(engine: Engine, data: float, grad: float = 0.0) -> Any:
    """A node without operands, its gradient set to `grad`."""
    node = engine.Value(data)
    node.grad = grad
    return node


def push(engine: Engine, result: Any, upstream: float) -> None:
    """Give a result the gradient `upstream` and let it pass it on, as a backward pass would."""
    result.grad = upstream
    engine.invoke(result, "_backward")


def operands(engine: Engine, node: Any) -> list[Any]:
    """What a node was computed from, whatever kind of collection `_prev` is."""
    return engine.items(node._prev)


def reverse_topological(engine: Engine, root: Any) -> list[Any]:
    """Every node of the graph, each after all that it feeds: root first."""
    return results_first(engine.graph(root), key=hash)


def gradients(
    engine: Engine, build: Callable[..., Any], inputs: Sequence[float], upstream: float = 1.0
) -> tuple[float, list[float]]:
    """Build an expression and run the backward pass by hand.

    Args:
        engine: whose `Value` to use.
        build: takes one node an input and returns the root.
        inputs: the leaves' numbers.
        upstream: the gradient that the root is given.

    Returns:
        The root's data, and `upstream` times the root's derivative by each input.
    """
    leaves = [leaf(engine, number) for number in inputs]
    root = build(*leaves)
    return engine.differentiate(root, leaves, upstream)


def is_node(value: Any) -> bool:
    """Whether the engine answered with an object of its own rather than a plain value."""
    return isinstance(value, Remote)
