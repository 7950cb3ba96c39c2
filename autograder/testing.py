"""The functions and fixtures that hidden tests are written with.

A hidden test is an ordinary pytest function or method. It names its exercise with `exercise`; its
docstring is the sentence that a student reads when it fails, so it says what must hold and never
which numbers were used. In it, `{name}` stands for a parameter of that name, or for an attribute of
the test's class.

The fixture `student` holds the names of the student's notebook, used as if they were the test's
own. A course's `conftest.py` may hold more fixtures; `rng`, a `random.Random` seeded for this
submission and this test, is there for drawing numbers.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from .wall.inside.protocol import is_array
from .wall.proxies import Promise, Student, look

__all__ = ["Student", "close", "exercise", "extra", "is_object", "plain"]

RELATIVE = 1e-9
"""Tolerance if both sides are the same arithmetic in another order."""
_NUMBERS = (int, float, complex, Fraction, Decimal)


def exercise(name: str) -> pytest.MarkDecorator:
    """Mark a test or a class of tests as belonging to the exercise `name`."""
    return pytest.mark.exercise(name)


def extra() -> pytest.MarkDecorator:
    """Mark a test of an extra part of an exercise: the course can be finished without this part."""
    return pytest.mark.extra


def broad() -> pytest.MarkDecorator:
    """Mark a test of many things at once: students read its promise if no other is broken."""
    return pytest.mark.broad


class close:
    """A number, or a list, dictionary or array of numbers, to compare with `==` up to rounding.

    A truth value is close to no number, and a list to no array.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, relative: float = RELATIVE) -> None:
        self._expected = expected
        self._relative = relative

    def __eq__(self, actual: object) -> bool:
        return self._is_close(actual, self._expected)

    def _is_close(self, actual: Any, expected: Any) -> bool:
        if type(actual) is type(expected) is float:
            return math.isclose(actual, expected, rel_tol=self._relative, abs_tol=1e-12)
        actual, expected = look(actual, whole=True), look(expected, whole=True)
        if isinstance(expected, (list, tuple)):
            if type(actual) not in (list, tuple) or len(actual) != len(expected):
                return False
            # All are compared, also after a difference: their values distinguish mistakes.
            return all([self._is_close(a, b) for a, b in zip(actual, expected, strict=True)])
        if isinstance(expected, dict):
            if type(actual) is not dict or actual.keys() != expected.keys():
                return False
            return all([self._is_close(actual[key], expected[key]) for key in expected])
        if is_array(actual) or is_array(expected):
            both = type(actual) is type(expected) and actual.shape == expected.shape
            return both and self._is_close(actual.tolist(), expected.tolist())
        # The expected value may be an answer, too, of any type.
        is_number = isinstance(expected, complex) or hasattr(expected, "__float__")
        if type(actual) not in _NUMBERS or not is_number:
            return False
        isclose: Any = cmath.isclose if complex in (type(actual), type(expected)) else math.isclose
        try:
            return bool(isclose(actual, expected, rel_tol=self._relative, abs_tol=1e-12))
        except OverflowError:  # One of them is beyond all floats.
            return bool(actual == expected)


def plain(answer: Any, tidy: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return the plain value of an answer; the answer itself if it is an object.

    Args:
        tidy: brings answers that mean the same into one form, before they are recorded.
    """
    return look(answer, whole=True, tidy=tidy)


def is_object(answer: Any) -> bool:
    """Return whether an answer is an object of the student's rather than a plain value."""
    return type(look(answer)) is Promise
