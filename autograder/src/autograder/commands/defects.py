"""Looks for defects in hidden tests before any student's work is graded, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Collection

from ..course_folder.course import Course
from ..terminal import AssignmentErrors, echo, errors


def solution_defects(course: Course, each_of: AssignmentErrors) -> dict[str, str]:
    """Grade the reference solutions, and return the defects of tests that they do not pass.

    A solution that passed with the same versions is not graded again.

    Args:
        each_of: isolates the errors of the assignments whose solutions are graded.

    Returns:
        Messages, by their first line.
    """
    from ..judging.grader import Grader

    defects: dict[str, str] = {}
    with Grader(course, course.key) as grader:
        for name in each_of.left():
            with each_of.isolate(name):
                defects |= by_test(grader.check_solution(name))
    return defects


def by_test(defects: Collection[str]) -> dict[str, str]:
    """Return messages on defects by their first line, which names the test, so that each defect is
    printed only once."""
    return {defect.partition("\n")[0]: defect for defect in defects}


def print_defects(defects: Collection[str]) -> None:
    """Print the defects of hidden tests, and end with status 1 if there is one."""
    for defect in defects:
        echo(f"autograder: {defect}", "red", errors)
    if defects:
        sys.exit(1)
