"""Measures the times of the reference solution, from which the time limits of student code
follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..course_folder.assignments import Assignment, Exercise
from ..sandbox import ForkServer
from .course_sessions import CourseSessions
from .hidden_tests import Suite
from .notebook_session import NotebookSession

_SEED = bytes(16)


class ReferenceTimes:
    """Processor time in seconds that the reference solution takes for each test of an assignment.

    A time is measured when it is first needed, since few submissions run for so long that it
    matters. Since a student's test is running then, the measurement has a fork server and a `Suite`
    of its own.

    Args:
        server: a fork server for the measurements only, not started yet.
    """

    def __init__(self, assignment: Assignment, server: ForkServer) -> None:
        self.assignment = assignment
        self._server = server
        self._course_sessions: CourseSessions | None = None
        self._suite: Suite | None = None
        self._known: dict[tuple[str, str], float] = {}

    def close(self) -> None:
        """End the sandbox, if it was started, and close the tests."""
        if self._suite is not None:
            self._suite.close()
        if self._course_sessions is not None:
            self._server.close()
        self._suite = self._course_sessions = None

    def of_test(self, exercise: str, test: str) -> float:
        """Return the seconds that a hidden test takes with the reference solution."""

        def run(session: NotebookSession, place: int) -> None:
            if self._suite is None:
                self._suite = Suite(self.assignment.tests, self.assignment.core_only)
            self._suite.run_test(exercise, test, session.target(place), _SEED)

        return self._measured(exercise, test, run)

    def of_examples(self, exercise: Exercise) -> float:
        """Return the seconds that all public examples and sweeps of an exercise take together, with
        the reference solution."""
        played = [*exercise.examples, *exercise.sweep_examples]
        return self._measured(exercise.id, "", lambda t, place: t.observe(place, exercise, played))

    def _measured(
        self, exercise: str, test: str, run: Callable[[NotebookSession, int], Any]
    ) -> float:
        """Return the seconds that `run` takes where an exercise is tested. They are measured once
        and then remembered.

        Args:
            test: the name of a test, or "" for the public examples.
            run: called with the session and the number of cells that ran before the tests.
        """
        if (exercise, test) not in self._known:
            if self._course_sessions is None:
                self._server.start()
                self._course_sessions = CourseSessions(self.assignment, self._server)
            session, place = self._course_sessions.session(exercise)
            process = session.run_to(place)
            before = process.seconds()
            run(session, place)
            self._known[exercise, test] = process.seconds() - before
            session.close()
        return self._known[exercise, test]
