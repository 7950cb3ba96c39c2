"""The hidden tests of `files`. Each test's docstring is what a student reads when it fails.

Student code runs in a folder of its own, with the assignment's data files in it.
"""

from __future__ import annotations

from autograder.testing import exercise


@exercise("warm")
class TestWarm:
    def test_of_the_given_file(self, student):
        """The days that are as warm as that, or warmer, are in the file, a line each."""
        student.warm("days.csv", "warm.txt", 25)
        assert student.files["warm.txt"].split() == ["Tuesday", "Saturday"]

    def test_of_any_file(self, student, rng):
        """Any file can be read, and what the other one held before is gone."""
        least = rng.randint(-5, 30)
        text = f"First,{least - 1}\nSecond,{least + 1}\n"
        student.remote.pathlib.Path("other.csv").write_text(text)
        student.remote.pathlib.Path("found.txt").write_text("old\n")
        student.warm("other.csv", "found.txt", least)
        assert student.files["found.txt"] == "Second\n"


@exercise("bars")
class TestBars:
    def test_prints(self, student, rng):
        """Each number has a line with as many stars."""
        counts = [rng.randint(1, 9) for _ in range(3)]
        assert student.printed(student.bars, counts).splitlines() == ["*" * n for n in counts]

    def test_nothing(self, student):
        """Without numbers, nothing is printed."""
        assert student.printed(student.bars, []) == ""
