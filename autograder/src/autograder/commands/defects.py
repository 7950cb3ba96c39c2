"""Looks for defects in hidden tests before any student's work is graded, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence

from ..terminal import AssignmentErrors, echo, errors


def solution_defects(
    check_solutions: Callable[[Sequence[str]], Mapping[str, Callable[[], list[str]]]],
    each_of: AssignmentErrors,
) -> dict[str, str]:
    """Grade the reference solutions, and return the defects of tests that they do not pass.

    A solution that passed with the same versions is not graded again.

    Args:
        check_solutions: the method of the `Workers` that grade.
        each_of: isolates the errors of the assignments whose solutions are graded.

    Returns:
        Messages, by their first line.
    """
    defects: dict[str, str] = {}
    for name, check in check_solutions(each_of.left()).items():
        with each_of.isolate(name):
            defects |= by_test(check())
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
