"""The hidden tests of `numpy`. Each test's docstring is what a student reads when it fails."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.testing import close, exercise


@pytest.fixture
def table(rng):
    """Five rows of three numbers."""
    return np.array([[rng.uniform(-9, 9) for _ in range(3)] for _ in range(5)])


@exercise("standardised")
class TestStandardised:
    def test_numbers(self, student, table):
        """Each column has the mean 0 and the standard deviation 1."""
        expected = (table - table.mean(axis=0)) / table.std(axis=0)
        assert student.standardised(table) == close(expected)

    def test_a_new_array(self, student, table):
        """The array that was given is as it was."""
        given = student.remote.copy.copy(table)
        assert student.standardised(given) != given
        assert given == table


@exercise("clip")
class TestClip:
    def test_in_place(self, student, table):
        """Afterwards the array itself has no negative numbers, and the others are as they were."""
        given = student.remote.copy.copy(table)
        student.clip(given)
        assert given == np.maximum(table, 0)

    def test_none(self, student, table):
        """The function returns None."""
        assert student.clip(table) is None
