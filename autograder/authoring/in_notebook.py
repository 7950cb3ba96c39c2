"""Runs the hidden tests in an author's own notebook, on the live namespace."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..course_folder.assignments import (
    find_course,
    load_assignment,
    names_with_hidden_tests,
    stamps_of_tests,
)
from ..errors import CourseError, SuiteError
from ..judging.hidden_tests import Suite
from ..judging.points import blank, points_for, share_of, status_of
from ..model import ExerciseResult
from ..notebook.cards import card
from ..wall.targets import LocalTarget

SEED = b"author"


class LocalResult:
    """The outcome of an exercise's hidden tests; shown as a card, and as points in plain text.

    nbgrader takes a number for the cell's points, and ends the grading of a notebook where it is
    more than the cell is worth. A bonus cell is worth 0, so its points have a word behind them.
    """

    def __init__(self, result: ExerciseResult) -> None:
        self.result = result

    def __repr__(self) -> str:
        return f"{self.result.points}{' bonus points' if self.result.bonus else ''}"

    def _repr_html_(self) -> str:
        return card(self.result)


def run_hidden_tests(exercise: str, namespace: dict[str, Any] | None = None) -> LocalResult:
    """Run an exercise's hidden tests on the notebook that calls this.

    The code is not confined: this is for authors and their own code.

    Args:
        namespace: the names of the answer; the caller's globals by default.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    course = find_course()
    found, suite = _suite_with(course, exercise)
    scope = namespace
    verdicts = list(suite.run(exercise, lambda _: LocalTarget(scope), SEED))
    for verdict in verdicts:
        if verdict.broken:
            raise SuiteError(f"the hidden test {verdict.test} is broken\n{verdict.broken}")
    share = share_of(verdicts)
    result = blank(found)
    result.points, result.status = points_for(share, found.max_points), status_of(share)
    result.promises = [(verdict.promise, verdict.passed) for verdict in verdicts]
    return LocalResult(result)


def _suite_with(course: Path, exercise: str) -> Any:
    for name in names_with_hidden_tests(course):
        assignment = load_assignment(course, name)
        if exercise in assignment.exercises:
            suite = _suite(assignment.tests, stamps_of_tests(assignment.tests))
            return assignment.exercises[exercise], suite
    raise CourseError(f"no assignment of {course} has an exercise called {exercise!r}")


@lru_cache(maxsize=8)
def _suite(path: Path, stamps: tuple[int, ...]) -> Suite:
    return Suite(path)
