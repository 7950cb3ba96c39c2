"""Runs hidden tests in an author's notebook, in the kernel itself, on the names defined there."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..course_folder.assignments import stamps_of_tests
from ..course_folder.course import Course, find_course
from ..errors import CourseError, SuiteError
from ..judging.hidden_tests import Suite
from ..judging.points import blank, lacking, points_for, share_of, status_of
from ..notebook.cards import card
from ..records import ExerciseResult
from ..sandbox.targets import LocalTarget

SEED = b"author"


class LocalResult:
    """The result of an exercise's hidden tests. A notebook shows it as a card; as text it is the
    points.

    nbgrader reads a number in a test cell's output as the earned points, and fails if they exceed
    the cell's maximum. A bonus cell has the maximum 0 in nbgrader, so its text is no bare number.
    """

    def __init__(self, result: ExerciseResult) -> None:
        self.result = result

    def __repr__(self) -> str:
        return f"{self.result.points}{' bonus points' if self.result.bonus else ''}"

    def _repr_html_(self) -> str:
        return card(self.result)


def run_hidden_tests(exercise: str, namespace: dict[str, Any] | None = None) -> LocalResult:
    """Run an exercise's hidden tests on the notebook that calls this function.

    There is no sandbox: this is for authors, who run their own code.

    Args:
        exercise: the exercise's id.
        namespace: the namespace that holds the answer; by default the caller's globals.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    course = find_course()
    definition, suite = _suite_with(course, exercise)
    target = LocalTarget(namespace)
    verdicts = list(suite.run(exercise, lambda _: target, SEED))
    for verdict in verdicts:
        if verdict.broken:
            raise SuiteError(f"the hidden test {verdict.test} is broken\n{verdict.broken}")
    share = share_of(verdicts)
    result = blank(definition)
    result.points, result.status = points_for(share, definition.max_points), status_of(share)
    result.criteria = [(verdict.criterion, verdict.passed) for verdict in verdicts]
    result.essential = lacking(verdicts)
    return LocalResult(result)


def _suite_with(course: Course, exercise: str) -> Any:
    """Return the exercise with this id, and the hidden tests of its assignment."""
    for name in course.names_with_hidden_tests():
        assignment = course.assignment(name)
        if exercise in assignment.exercises:
            suite = _suite(assignment.tests, stamps_of_tests(assignment.tests))
            return assignment.exercises[exercise], suite
    raise CourseError(f"no assignment of {course} has an exercise called {exercise!r}")


@lru_cache(maxsize=8)
def _suite(path: Path, stamps: tuple[int, ...]) -> Suite:
    """Load hidden tests. `stamps` is part of the cache's key, so that changed tests are loaded
    again."""
    return Suite(path)
