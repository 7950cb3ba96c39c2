"""Computes the numbers of a class report: item analysis and misconceptions."""

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
        share: the mean share of its points, from 0 to 1, which is its difficulty.
        discrimination: the item-rest correlation, see `items`; None if it is not defined.
        full: how many students have all its points.
        nothing: how many have none.
        marked: how many have a mark in it.
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

    An item's discrimination is Pearson's correlation, over the students, of its points with the sum
    of all other points: the corrected item-total correlation of Henrysson (1963), Correction of
    item-total correlations in item analysis, Psychometrika 28, 211-218. An item's own points are
    left out of the sum since they would correlate with themselves.
    """
    found = []
    for exercise, total_points in results.max_points.items():
        pairs = [
            (points, result.score - points)
            for result in results.submitted
            if (points := result.points.get(exercise)) is not None
        ]
        marks = [points for points, _ in pairs]
        known = assignment.exercises.get(exercise)
        max_points = known.max_points if known and known.bonus else total_points
        found.append(
            Item(
                id=exercise,
                title=known.title if known else exercise,
                max_points=max_points,
                weight=("bonus" if known.bonus else "extra" if known.extra else "")
                if known
                else "",
                share=statistics.fmean(marks) / max_points if marks and max_points else None,
                discrimination=correlation(pairs),
                full=sum(points >= max_points for points in marks),
                nothing=sum(points == 0 for points in marks),
                marked=len(marks),
            )
        )
    return found


def correlation(pairs: list[tuple[float, float]]) -> float | None:
    """Return Pearson's correlation; None with fewer than three pairs or if one side is constant."""
    if len(pairs) < 3:
        return None
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except statistics.StatisticsError:
        return None


@dataclass(frozen=True)
class Shared:
    """A misconception, and the number of students with it."""

    id: str
    exercise: str
    says: str
    count: int


def misconceptions(
    verdicts: Mapping[str, Mapping[str, Mapping[str, Any]]], assignment: Assignment
) -> list[Shared]:
    """Return the misconceptions that grading named, the most frequent first.

    Args:
        verdicts: by student and exercise, as `results.verdicts` reads them.
        assignment: holds the message of each misconception.
    """
    counts: dict[str, int] = {}
    for exercises in verdicts.values():
        for verdict in exercises.values():
            if verdict.get("misconception"):
                counts[verdict["misconception"]] = counts.get(verdict["misconception"], 0) + 1
    says = {
        mistake.id: mistake.says
        for exercise in assignment.exercises.values()
        for mistake in exercise.mistakes
    }
    found = [
        Shared(name, name.partition(".")[0], says.get(name, ""), count)
        for name, count in counts.items()
    ]
    return sorted(found, key=lambda each: (-each.count, each.id))
