"""Begins the result of an exercise, and computes its points from the share of passed tests."""

from __future__ import annotations

import math

from ..course_folder.assignments import Exercise
from ..model import ExerciseResult, Verdict


def share_of(verdicts: list[Verdict]) -> float:
    """Return the share of the tests that passed; 0 if there are none."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else 0.0


def points_for(share: float, max_points: float) -> float:
    """Return the points for a share of the tests, in quarters, rounded down: full points need all
    tests."""
    return math.floor(min(max(share, 0.0), 1.0) * max_points * 4) / 4


def status_of(share: float) -> str:
    """Return the status of an exercise that earned a share of its points."""
    return "passed" if share == 1 else "partial" if share else "failed"


def blank(exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise without points and without a verdict."""
    result = ExerciseResult(exercise.id, exercise.title, exercise.max_points)
    result.extra, result.bonus = exercise.extra, exercise.bonus
    return result


def waiting(exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise whose points a person gives."""
    result = blank(exercise)
    # An exercise without points needs no person to mark it.
    result.points, result.status = None if exercise.max_points else 0.0, "manual"
    result.message = "A person reads and marks this answer."
    return result
