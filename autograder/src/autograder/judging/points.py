"""Creates the result of an exercise, and computes its points from the tests that passed."""

from __future__ import annotations

import math

from ..course_folder.assignments import Exercise
from ..records import ExerciseResult, Status, Verdict

_WITHOUT_ESSENTIAL = 0.5
"""Greatest share of an exercise's points if an essential test did not pass."""


def share_passed(verdicts: list[Verdict]) -> float:
    """Return the share of the tests that passed; 0 if there are none."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else 0.0


def lacking(verdicts: list[Verdict]) -> list[str]:
    """Return the criteria of the essential tests that did not pass."""
    return [each.criterion for each in verdicts if each.essential and not each.passed]


def share_of(verdicts: list[Verdict], keeps: float = 0.0) -> float:
    """Return the share of an exercise's points, from 0 to 1: the share of its tests that passed, or
    what the diagnosed mistake keeps if that is more, and at most half if an essential test did not
    pass.

    Args:
        keeps: as `Mistake.keeps`; 0 if no known mistake has the same verdicts.
    """
    most = _WITHOUT_ESSENTIAL if lacking(verdicts) else 1.0
    return min(max(share_passed(verdicts), keeps), most)


def points_for(share: float, max_points: float) -> float:
    """Return the points for a share of `max_points`, rounded down to quarters of a point. Rounding
    down gives full points only if all tests passed."""
    return math.floor(min(max(share, 0.0), 1.0) * max_points * 4) / 4


def status_of(share: float) -> Status:
    """Return the status of an exercise that earned a share of its points."""
    return Status.PASSED if share == 1 else Status.PARTIAL if share else Status.FAILED


def blank(exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise without points and without a verdict."""
    result = ExerciseResult(exercise.id, exercise.title, exercise.max_points)
    result.extra, result.bonus = exercise.extra, exercise.bonus
    return result


def waiting(exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise that a person marks: no points yet."""
    result = blank(exercise)
    # An exercise without points needs no person to mark it.
    result.points, result.status = None if exercise.max_points else 0.0, Status.MANUAL
    result.message = "A person reads and marks this answer."
    return result
