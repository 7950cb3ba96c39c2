"""Reads a course's list of accepted mutants: changes of a solution that are no mistakes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...errors import CourseError

NAME = "accepted_mutants.toml"


@dataclass(frozen=True)
class Accepted:
    """Mutants that may pass all hidden tests for one reason.

    Attributes:
        because: the reason, for people.
        exercises: the exercises whose mutants are meant.
        edits: patterns, one of which matches the whole change, written as `before → after`.
    """

    because: str
    exercises: tuple[str, ...]
    edits: tuple[re.Pattern[str], ...]

    def holds(self, exercise: str, change: str) -> bool:
        """Return whether it is about this change of an exercise's solution."""
        return exercise in self.exercises and any(edit.fullmatch(change) for edit in self.edits)


def accepted_mutants(course: Path) -> tuple[Accepted, ...]:
    """Read the course's list; empty if there is none. Raises `CourseError` for a malformed one."""
    path = course / "grading_tests" / NAME
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


@lru_cache
def _read(path: Path, stamp: int) -> tuple[Accepted, ...]:
    try:
        return tuple(
            Accepted(
                each["because"], tuple(each["exercises"]), tuple(map(re.compile, each["edits"]))
            )
            for each in tomllib.loads(path.read_text("utf-8"))["accepted"]
        )
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise CourseError(
            f"{path}: {type(error).__name__}: {error}. Each table `[[accepted]]` gives a reason as "
            "`because`, a list of `exercises`, and a list of `edits`: regular expressions that "
            "match a mutant's change as `autograder audit` prints it."
        ) from error


def reason(course: Path, exercise: str, change: str) -> str:
    """Return why a mutant may pass all hidden tests; "" if the course accepts no such change."""
    found = (each for each in accepted_mutants(course) if each.holds(exercise, change))
    return next((each.because for each in found), "")
