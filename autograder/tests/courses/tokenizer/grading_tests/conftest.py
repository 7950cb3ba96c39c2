"""The fixtures of this course's hidden tests."""

import pytest


@pytest.fixture
def numbers(rng):
    """Draws so many different numbers."""
    return lambda count: rng.sample(range(1, 256), count)


@pytest.fixture
def word(rng):
    """Draws words of so many letters, one of them beyond ASCII."""
    return lambda length: "".join(rng.choices("abcdefgh", k=length - 1)) + rng.choice("äöüéñ")
