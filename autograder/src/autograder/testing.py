"""The functions and fixtures for hidden tests.

A hidden test is a pytest function or method. The mark `exercise` names its exercise. The test's
docstring is the criterion that a student reads when the test fails: it says what must hold, without
the numbers that were drawn. In a docstring, `{name}` is replaced by the parameter of that name, or
by the attribute of the test's class.

The fixture `student` holds the names that the student's notebook defines. The fixture `rng` is a
`random.Random`, seeded for this submission and this test. A course's `conftest.py` may add further
fixtures.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from .sandbox.guest.protocol import is_array
from .sandbox.proxies import Proxy, Student, fetch

__all__ = ["Student", "close", "essential", "exercise", "extra", "is_object", "plain"]

RELATIVE = 1e-9
"""Relative tolerance of `close`, for results that differ only in the order of the arithmetic."""
_NUMBERS = (int, float, complex, Fraction, Decimal)


def exercise(name: str) -> pytest.MarkDecorator:
    """Mark a test or a class of tests as belonging to the exercise `name`."""
    return pytest.mark.exercise(name)


def extra() -> pytest.MarkDecorator:
    """Mark a test of an extra part of an exercise, without which the course can be finished."""
    return pytest.mark.extra


def broad() -> pytest.MarkDecorator:
    """Mark a test of many things at once: students read its criterion only if no other test of the
    exercise failed."""
    return pytest.mark.broad


def essential() -> pytest.MarkDecorator:
    """Mark a test of what the exercise is about: who does not pass it gets at most half of the
    points."""
    return pytest.mark.essential


class close:
    """A number, or a list, dictionary or array of numbers, that `==` compares up to rounding.

    Like `pytest.approx`, except that a bool equals no number, and a list equals no array.

    Args:
        expected: the number or numbers.
        relative: the relative tolerance; the absolute one is 1e-12.
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
        actual, expected = fetch(actual, whole=True), fetch(expected, whole=True)
        if isinstance(expected, (list, tuple)):
            if type(actual) not in (list, tuple) or len(actual) != len(expected):
                return False
            # A list, not a generator: values after the first difference have to be fetched too,
            # since they distinguish mistakes.
            return all([self._is_close(a, b) for a, b in zip(actual, expected, strict=True)])
        if isinstance(expected, dict):
            if type(actual) is not dict or actual.keys() != expected.keys():
                return False
            return all([self._is_close(actual[key], expected[key]) for key in expected])
        if is_array(actual) or is_array(expected):
            both = type(actual) is type(expected) and actual.shape == expected.shape
            return both and self._is_close(actual.tolist(), expected.tolist())
        # The expected value may be a student's answer as well, so it may have any type.
        is_number = isinstance(expected, complex) or hasattr(expected, "__float__")
        if type(actual) not in _NUMBERS or not is_number:
            return False
        isclose: Any = cmath.isclose if complex in (type(actual), type(expected)) else math.isclose
        try:
            return bool(isclose(actual, expected, rel_tol=self._relative, abs_tol=1e-12))
        except OverflowError:  # An int or Fraction is beyond the range of floats.
            return bool(actual == expected)


def plain(answer: Any, tidy: Callable[[Any], Any] = lambda value: value) -> Any:
    """Fetch an answer and return its value; an object with no plain value stays a proxy.

    Args:
        tidy: takes the value and returns it in a normal form, such as a sorted list, in which
            answers that mean the same are equal. The normal form is what the verdict records.
    """
    return fetch(answer, whole=True, tidy=tidy)


def is_object(answer: Any) -> bool:
    """Return whether an answer is an object that stays in the student process, and not a plain
    value such as a number or a list."""
    return type(fetch(answer)) is Proxy
