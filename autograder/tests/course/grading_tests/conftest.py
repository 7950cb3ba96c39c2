"""The fixtures of this course's hidden tests."""

import pytest


@pytest.fixture
def number(rng):
    """Draws numbers that differ from one another, of either sign."""
    drawn = iter(rng.sample(range(10, 1000), 100))
    return lambda: next(drawn) / 8 * rng.choice((-1, 1))
