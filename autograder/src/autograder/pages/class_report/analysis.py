"""Computes the class report's numbers: item analysis and frequencies of misconceptions."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...course_folder.assignments import Assignment
from ...gradebook.class_results import ClassResults


@dataclass(frozen=True)
class Item:
    """The results of a class in one exercise.

    Attributes:
        weight: "extra", "bonus" or "".
        share: mean points divided by possible points, from 0 to 1 (the item's difficulty index);
            None without marks.
        discrimination: the item-rest correlation, see `items`; None if undefined.
        full: the number of students with all points.
        nothing: the number of students with 0 points.
        marked: the number of students with a mark.
    """

    id: str
    title: str
    max_points: float
    weight: str
    share: float | None
    discrimination: float | None
    full: int
    nothing: int
    marked: int


def items(results: ClassResults, assignment: Assignment) -> list[Item]:
    """Return the item analysis of an assignment, in the order of the notebook.

    An exercise's discrimination is Pearson's correlation, over the students, between the exercise's
    points and the sum of all other points. This is the corrected item-total correlation: Henrysson
    (1963), Correction of item-total correlations in item analysis, Psychometrika 28, 211-218.
    """
    analysis = []
    for exercise, total_points in results.max_points.items():
        pairs = [
            (points, result.score - points)
            for result in results.submitted
            if (points := result.points.get(exercise)) is not None
        ]
        marks = [points for points, _ in pairs]
        details = assignment.exercises.get(exercise)
        max_points = details.max_points if details and details.bonus else total_points
        analysis.append(
            Item(
                id=exercise,
                title=details.title if details else exercise,
                max_points=max_points,
                weight=("bonus" if details.bonus else "extra" if details.extra else "")
                if details
                else "",
                share=statistics.fmean(marks) / max_points if marks and max_points else None,
                discrimination=correlation(pairs),
                full=sum(points >= max_points for points in marks),
                nothing=sum(points == 0 for points in marks),
                marked=len(marks),
            )
        )
    return analysis


def correlation(pairs: list[tuple[float, float]]) -> float | None:
    """Return Pearson's correlation; None for fewer than three pairs or a constant variable."""
    if len(pairs) < 3:
        return None
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except statistics.StatisticsError:
        return None


@dataclass(frozen=True)
class SharedMisconception:
    """A misconception of students in a class.

    Attributes:
        id: the misconception's name, `EXERCISE.NAME`.
        exercise: the exercise's name.
        says: the message for students.
        count: the number of students with this misconception.
        keeps: the share of the exercise's points that such an answer keeps at least.
    """

    id: str
    exercise: str
    says: str
    count: int
    keeps: float


def misconceptions(
    verdicts: Mapping[str, Mapping[str, Mapping[str, Any]]], assignment: Assignment
) -> list[SharedMisconception]:
    """Return the diagnosed misconceptions, the most frequent first.

    Args:
        verdicts: by student and exercise: the verdicts, as in `AutogradedMetadata`.
        assignment: the assignment, which has the messages of misconceptions.
    """
    counts: dict[str, int] = {}
    for exercises in verdicts.values():
        for verdict in exercises.values():
            if verdict.get("misconception"):
                counts[verdict["misconception"]] = counts.get(verdict["misconception"], 0) + 1
    known = {
        mistake.id: (mistake.says, mistake.keeps)
        for exercise in assignment.exercises.values()
        for mistake in exercise.mistakes
    }
    shared = []
    for name, count in counts.items():
        says, keeps = known.get(name, ("", 0.0))
        shared.append(SharedMisconception(name, name.partition(".")[0], says, count, keeps))
    return sorted(shared, key=lambda each: (-each.count, each.id))
