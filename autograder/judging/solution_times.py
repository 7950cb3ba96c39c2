"""Measures the times of the model solution, from which the time limits of student code follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

from coursecheck.probes import play

from ..course_folder.assignments import Assignment, Exercise
from ..wall.inside import protocol
from ..wall.targets import LocalTarget
from .hidden_tests import Suite

_SEED = bytes(16)


class SolutionTimes:
    """Seconds of processor time that the model solution takes for the tests of an assignment.

    Each is measured when it is first asked for: few submissions run for so long that one matters.
    """

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self._known: dict[tuple[str, str], float] = {}
        self._own_suite: Suite | None = None

    def close(self) -> None:
        if self._own_suite is not None:
            self._own_suite.close()
            self._own_suite = None

    @property
    def _suite(self) -> Suite:
        """The hidden tests, collected once more: a time is asked for in the middle of a test."""
        if self._own_suite is None:
            self._own_suite = Suite(self.assignment.tests, self.assignment.core_only)
        return self._own_suite

    def of_test(self, exercise: str, test: str) -> float:
        """The seconds of a hidden test."""
        suite = self._suite
        scope = self.assignment.namespace_at(exercise)
        target = LocalTarget(scope, self.assignment.data_folder)
        return self._measured(
            (exercise, test), lambda: suite.run_test(exercise, test, target, _SEED)
        )

    def of_probes(self, exercise: Exercise) -> float:
        """The seconds of all public probes of an exercise together."""
        namespace = self.assignment.namespace_at(exercise.id)
        probes = [*exercise.probes, *exercise.sample_probes]
        return self._measured(
            (exercise.id, ""), lambda: [play(probe, namespace) for probe in probes]
        )

    def _measured(self, key: tuple[str, str], run: Callable[[], object]) -> float:
        if key not in self._known:
            with protocol.without_collection(), redirect_stdout(StringIO()):
                started = time.thread_time()
                with self.assignment.beside_data():
                    run()
                self._known[key] = time.thread_time() - started
        return self._known[key]
