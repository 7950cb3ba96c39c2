"""The hidden tests of `async`. Each test's docstring is what a student reads when it fails."""

from __future__ import annotations

from autograder.testing import exercise


@exercise("total")
class TestTotal:
    def test_sum(self, student, rng):
        """The numbers of all names are added up."""
        numbers = {name: rng.randint(1, 99) for name in "abc"}
        station = student.remote.stations.Station(numbers)
        assert (
            student.run(student.total, station.measure, ["a", "c"]) == numbers["a"] + numbers["c"]
        )

    def test_together(self, student):
        """All are awaited at the same time."""
        station = student.remote.stations.Station({"a": 1, "b": 2, "c": 3})
        assert student.run(student.total, station.measure, ["a", "b", "c"]) == 6
        assert station.together == 3

    def test_nothing(self, student):
        """Without names the sum is 0."""
        station = student.remote.stations.Station({})
        assert student.run(student.total, station.measure, []) == 0
