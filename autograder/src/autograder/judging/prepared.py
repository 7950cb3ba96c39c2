"""Holds what is loaded to judge an assignment: its hidden tests, its table and its sessions."""

from __future__ import annotations

from contextlib import suppress

from coursecheck.check import load_table
from coursecheck.tables import CheckEntry

from ..course_folder.assignments import Assignment, stamps_of_tests
from ..course_folder.own_notebooks import release_command
from ..errors import CourseError
from ..sandbox import ForkServer
from .check_tables import build_table, is_current
from .course_sessions import CourseSessions
from .hidden_tests import Suite
from .reference_times import ReferenceTimes


class LoadedAssignment:
    """The hidden tests and the table of an assignment, and the sessions that run its solution.

    Raises `CourseError` if the tests, the source and the release have different exercises or
    points.

    Attributes:
        suite: the hidden tests.
        table: by exercise, the results of the public examples with the solution and with each
            misconception. None if the table's file is missing, old or edited: call `make_table`.
        course_sessions: makes the sessions that run the solution.
        times: the reference times.
    """

    def __init__(self, assignment: Assignment, server: ForkServer) -> None:
        self.assignment = assignment
        self._stamps = stamps_of_tests(assignment.tests)
        self.suite = Suite(assignment.tests, assignment.core_only)
        try:
            _require_one_course(assignment, self.suite)
        except CourseError:
            self.suite.close()
            raise
        self.table: dict[str, CheckEntry] | None = None
        with suppress(FileNotFoundError):
            found = load_table(assignment.table)
            if is_current(assignment, found):
                self.table = found["exercises"]
        self.course_sessions = CourseSessions(assignment, server)
        self.times = ReferenceTimes(assignment, server.clone())

    def use(self, server: ForkServer) -> None:
        """Run the course's own cells with this fork server from now on."""
        self.times.close()
        self.course_sessions = CourseSessions(self.assignment, server)
        self.times = ReferenceTimes(self.assignment, server.clone())

    def is_current(self, assignment: Assignment) -> bool:
        """Return whether neither the assignment nor the files of its tests have changed since they
        were loaded."""
        return self.assignment is assignment and stamps_of_tests(assignment.tests) == self._stamps

    def make_table(self) -> None:
        """Set `table` to a new table, made in the sandbox. This takes a while if a public example
        computes for long."""
        self.table = build_table(self.assignment, self.course_sessions)["exercises"]

    def close(self) -> None:
        """Close the hidden tests, and end the sandbox of the reference times."""
        self.suite.close()
        self.times.close()


def _require_one_course(assignment: Assignment, suite: Suite) -> None:
    """Raise `CourseError` if a hidden test is of an exercise that the source does not have, or if
    source and release differ in points. In such a course, right answers would lose points."""
    exercises = assignment.exercises.values()
    graded = {each.id for each in exercises if not each.manual}
    if unknown := set(suite.exercises) - graded:
        raise CourseError(
            f"{assignment.tests}: tests grade {', '.join(sorted(unknown))}, which the notebook "
            "does not have: name an exercise that it has, or delete them"
        )
    require_released(assignment)


def require_released(assignment: Assignment) -> None:
    """Raise `CourseError` if an exercise has other points in the release than in the source."""
    name = assignment.name
    exercises = assignment.exercises.values()
    if changed := [each.id for each in exercises if each.released_points != each.total_points]:
        raise CourseError(
            f"{'/'.join(assignment.source.parts[-3:])}: {', '.join(changed)} not worth what the "
            f"release says: run {release_command(name.partition('/')[0])}, and grade again"
        )
