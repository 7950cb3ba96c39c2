"""Holds the loaded tests, tables and sandboxes for judging an assignment."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from coursecheck.check import load_table

from ..course_folder.assignments import Assignment, source_of, stamps_of_tests
from ..course_folder.own_notebooks import release_command
from ..errors import CourseError
from ..wall import WarmServer
from .check_tables import build_table, made_from
from .hidden_tests import Suite
from .models import Models
from .solution_times import SolutionTimes


class Prepared:
    """The hidden tests of an assignment, and the processes that run its own cells.

    Raises `CourseError` if tests, source and release do not belong together.

    Attributes:
        table: the public probes' right results and each misconception's, by exercise; None if the
            file beside the course is missing or old, and the table has to be made.
    """

    def __init__(self, assignment: Assignment, server: WarmServer) -> None:
        self.assignment = assignment
        self._stamps = stamps_of_tests(assignment.tests)
        self.suite = Suite(assignment.tests, assignment.core_only)
        try:
            _require_one_course(assignment, self.suite)
        except CourseError:
            self.suite.close()
            raise
        self.table: dict[str, Any] | None = None
        with suppress(FileNotFoundError):
            found = load_table(assignment.table)
            if found.get("made_from") == made_from(assignment):
                self.table = found["exercises"]
        self.models = Models(assignment, server)
        self.times = SolutionTimes(assignment, server.another())

    def use(self, server: WarmServer) -> None:
        """Run the course's own cells in this sandbox from now on."""
        self.times.close()
        self.models = Models(self.assignment, server)
        self.times = SolutionTimes(self.assignment, server.another())

    def is_current(self, assignment: Assignment) -> bool:
        """Return whether neither the assignment nor its tests have changed."""
        return self.assignment is assignment and stamps_of_tests(assignment.tests) == self._stamps

    def make_table(self) -> None:
        """Make the table, which takes a while if a probe computes for long."""
        self.table = build_table(self.assignment, self.models)["exercises"]

    def close(self) -> None:
        """Close the hidden tests, and end a sandbox that measured times."""
        self.suite.close()
        self.times.close()


def _require_one_course(assignment: Assignment, suite: Suite) -> None:
    """Raise `CourseError` if source, release and hidden tests have other exercises or points.

    With such a course right answers would lose points.
    """
    exercises = assignment.exercises.values()
    graded = {each.id for each in exercises if not each.manual}
    if unknown := set(suite.exercises) - graded:
        raise CourseError(
            f"{assignment.tests}: tests grade {', '.join(sorted(unknown))}, which the notebook "
            "does not have: name an exercise that it has, or delete them"
        )
    require_released(assignment)


def require_released(assignment: Assignment) -> None:
    """Raise `CourseError` if an exercise has other points in the release."""
    name = assignment.name
    exercises = assignment.exercises.values()
    if changed := [each.id for each in exercises if each.released_points != each.total_points]:
        course = assignment.tests.parents[1]
        raise CourseError(
            f"{source_of(course, name).relative_to(course)}: {', '.join(changed)} not worth what "
            "the release says: run "
            f"{release_command(name.partition('/')[0])}, and grade again"
        )
