"""The fixtures of this course's hidden tests."""

import pytest


@pytest.fixture
def word(rng):
    """Draws words of so many small letters."""
    return lambda length: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=length))
