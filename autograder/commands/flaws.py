"""Looks for flaws in hidden tests before any student's work is graded, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from ..terminal import EachAssignment, errors, say


def rehearsed(course: Path, each_of: EachAssignment) -> dict[str, str]:
    """Grade the model solutions, once for each version; return the tests that they do not pass."""
    from ..course_folder.key import course_key
    from ..judging.grader import Grader

    flaws: dict[str, str] = {}
    with Grader(course, course_key(course)) as grader:
        for name in each_of.left():
            with each_of.kept(name):
                flaws |= by_test(grader.rehearse(name))
    return flaws


def by_test(flaws: Collection[str]) -> dict[str, str]:
    """Return flaws by their first lines, which name the test: each is printed once."""
    return {flaw.partition("\n")[0]: flaw for flaw in flaws}


def print_flaws(flaws: Collection[str]) -> None:
    """Print the flaws of hidden tests, and end with status 1 if there is one."""
    for flaw in flaws:
        say(f"autograder: {flaw}", "red", errors)
    if flaws:
        sys.exit(1)
