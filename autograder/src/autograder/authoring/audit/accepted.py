"""Reads a course's list of accepted mutants: changes after which a solution is still right."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...course_folder.course import Course
from ...errors import CourseError

NAME = "accepted_mutants.toml"


@dataclass(frozen=True)
class Accepted:
    """A reason why some mutants may pass all hidden tests.

    Attributes:
        because: the reason, a sentence.
        exercises: ids of the exercises for which the reason holds.
        edits: patterns; the reason holds for mutants whose whole `change`, the text
            `before → after`, matches one of them.
    """

    because: str
    exercises: tuple[str, ...]
    edits: tuple[re.Pattern[str], ...]

    def holds(self, exercise: str, change: str) -> bool:
        """Return whether the reason holds for a mutant of the exercise.

        Args:
            change: the mutant's `change`.
        """
        return exercise in self.exercises and any(edit.fullmatch(change) for edit in self.edits)


def accepted_mutants(course: Course) -> tuple[Accepted, ...]:
    """Return the course's list of accepted mutants; () if the course has no such file.

    Raises `CourseError` if the file is malformed.
    """
    path = course.grading_tests / NAME
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


def reason(course: Course, exercise: str, change: str) -> str:
    """Return the reason why a mutant may pass all hidden tests; "" if it must not pass.

    Args:
        change: the mutant's `change`.
    """
    matches = (each for each in accepted_mutants(course) if each.holds(exercise, change))
    return next((each.because for each in matches), "")
