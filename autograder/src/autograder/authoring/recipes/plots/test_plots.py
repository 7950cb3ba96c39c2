"""The hidden tests of `plots`. Each test's docstring is what a student reads when it fails.

A picture is not compared. Its parts are asked for what they show, as matplotlib names them.
"""

from __future__ import annotations

import numpy as np

from autograder.testing import close, exercise


@exercise("squares")
class TestSquares:
    def test_points(self, student, rng):
        """One line goes through the points."""
        numbers = sorted(rng.sample(range(100), 5))
        lines = student.squares(numbers).get_lines()
        assert len(lines) == 1
        x, y = np.array(lines[0].get_xdata()), np.array(lines[0].get_ydata())
        assert x.tolist() == close(numbers)
        assert y.tolist() == close([x * x for x in numbers])

    def test_labels(self, student):
        """Both axes have their labels."""
        axes = student.squares([1, 2])
        assert [axes.get_xlabel(), axes.get_ylabel()] == ["x", "x squared"]

    def test_twice(self, student):
        """A second picture does not hold the first one's line."""
        student.squares([1, 2])
        assert len(student.squares([3, 4]).get_lines()) == 1
