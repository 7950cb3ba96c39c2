"""Measures the times of the model solution, from which the time limits of student code follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..course_folder.assignments import Assignment, Exercise
from ..wall import WarmServer
from .hidden_tests import Suite
from .models import Models
from .trunk import Trunk

_SEED = bytes(16)


class SolutionTimes:
    """Seconds that the model solution takes for the tests of an assignment, behind the wall.

    Each time is measured when it is first needed: few submissions run for so long that one matters.
    Since that is in the middle of a student's test, the measurement has a sandbox and a test suite
    of its own.

    Args:
        server: a sandbox of its own, not started yet.
    """

    def __init__(self, assignment: Assignment, server: WarmServer) -> None:
        self.assignment = assignment
        self._server = server
        self._models: Models | None = None
        self._suite: Suite | None = None
        self._known: dict[tuple[str, str], float] = {}

    def close(self) -> None:
        """End the sandbox, if it was started."""
        if self._suite is not None:
            self._suite.close()
        if self._models is not None:
            self._server.close()
        self._suite = self._models = None

    def of_test(self, exercise: str, test: str) -> float:
        """Return the seconds of a hidden test."""

        def run(trunk: Trunk, place: int) -> None:
            if self._suite is None:
                self._suite = Suite(self.assignment.tests, self.assignment.core_only)
            self._suite.run_test(exercise, test, trunk.target(place), _SEED)

        return self._measured(exercise, test, run)

    def of_probes(self, exercise: Exercise) -> float:
        """Return the seconds of all public probes and samples of an exercise together."""
        played = [*exercise.probes, *exercise.sample_probes]
        return self._measured(exercise.id, "", lambda t, place: t.observe(place, exercise, played))

    def _measured(self, exercise: str, test: str, run: Callable[[Trunk, int], Any]) -> float:
        """Return the seconds of a run at an exercise's place, which is measured once."""
        if (exercise, test) not in self._known:
            if self._models is None:
                self._server.start()
                self._models = Models(self.assignment, self._server)
            trunk, place = self._models.trunk(exercise)
            process = trunk.run_to(place)
            before = process.seconds()
            run(trunk, place)
            self._known[exercise, test] = process.seconds() - before
            trunk.close()
        return self._known[exercise, test]
