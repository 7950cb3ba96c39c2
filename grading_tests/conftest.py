"""The fixtures of this course's hidden tests."""

from itertools import cycle

import pytest

import reference as reference_engine


@pytest.fixture
def reference():
    """The reference engine, a module like the one that students write."""
    return reference_engine


@pytest.fixture
def positive(rng):
    """Return a function that draws positive numbers, away from 0 and from 1."""
    return lambda: rng.uniform(1.2, 3.0)


@pytest.fixture
def number(rng):
    """Return a function that draws numbers away from 0 and from 1, with signs in a fixed order.

    Which mistakes a test catches often depends on signs, and must not depend on the draw. If the
    numbers are drawn in pairs, all four pairs of signs occur.
    """
    signs = cycle([-1, 1, -1, -1, 1, 1, 1, -1])
    return lambda: next(signs) * rng.uniform(1.2, 3.0)


@pytest.fixture
def numbers(number):
    """Return a function that draws a list of `count` numbers."""
    return lambda count: [number() for _ in range(count)]
