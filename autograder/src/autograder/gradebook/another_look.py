"""Decides which manual marks and comments a person has to review after a grading, and why.

A manual mark is valid for the answer, the tests' points and the maximum that the person saw. The
record of gradings has these three values. If the exercise already waits for a review, they are in
the last grading's verdict under the key `seen`; otherwise they are the last grading's own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Comment, Grade

Verdict = Mapping[str, Any]

SEEN = ("answer", "points", "max_points")
"""Keys of a verdict whose values decide whether a manual mark is still valid."""


@dataclass(frozen=True)
class ManualMark:
    """The values that a person entered for an exercise, in nbgrader's manual columns.

    Attributes:
        points: the points that replace the tests' points; None if there are none.
        extra: the extra credit in points; None if there is none.
        comment: whether the person wrote a comment.
        waits: whether the exercise waits for a person: nbgrader's `needs_manual_grade`.
    """

    points: float | None = None
    extra: float | None = None
    comment: bool = False
    waits: bool = False

    @property
    def is_given(self) -> bool:
        return self.points is not None or bool(self.extra) or self.comment


MANUAL_COLUMNS = (Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
"""Columns of a grade with the values for `points`, `extra` and `waits` of a `ManualMark`."""

COMMENTED = Comment.manual_comment.is_not(None) & (Comment.manual_comment != "")
"""SQL condition: a person wrote the comment in this row."""


def comments_on(exercise: str, exercises: Iterable[str], commented: Iterable[str]) -> bool:
    """Return whether a comment may be about an exercise's answer.

    A comment on a solution cell that has an exercise's name is about this exercise. Any other
    solution cell may belong to any exercise.

    Args:
        exercise: the name of the exercise.
        exercises: the names of all exercises.
        commented: the names of the solution cells that have a comment.
    """
    others = {*exercises} - {exercise}
    return any(cell not in others for cell in commented)


def outgrown(points: float, before: float, now: float) -> str:
    """Return why manual points are invalid after a change of the maximum; "" if they are valid.

    Args:
        points: the manual points.
        before: the maximum that the person saw.
        now: the present maximum.
    """
    if now == before or not points:
        return ""
    if points > now:
        return f"the {points:g} that a person gave are above the maximum, which is {now:g} now"
    if points >= before:
        return f"the {points:g} that a person gave were all points, and it is worth {now:g} now"
    return ""


def seen_at(before: Verdict | None, waits: bool) -> Verdict | None:
    """Return the verdict that the person saw who gave the manual mark; None if unknown.

    Args:
        before: the exercise's verdict in the last grading; None if there is none.
        waits: whether the exercise already waits for a review.
    """
    if before is None:
        return None
    seen: Verdict = before.get("seen", before) if waits else before
    return seen


def why_again(given: ManualMark, seen: Verdict | None, now: Verdict | None) -> str:
    """Return why a person has to review a manual mark; "" if the mark stays valid.

    Args:
        given: the manual mark.
        seen: the verdict that the person saw.
        now: the verdict of the new grading.
    """
    if not given.is_given:
        return ""
    if seen is None or now is None or not now["answer"]:
        return "the record does not say which answer a person marked"
    if seen["answer"] != now["answer"]:
        return "the answer has changed since a person marked it"
    if given.points is None:
        return ""
    if why := outgrown(given.points, seen["max_points"], now["max_points"]):
        return why
    tests, earlier = now["points"], seen["points"]
    if tests is not None and tests > given.points and tests > (earlier or 0.0):
        return f"the tests give {tests:g} now, and a person gave {given.points:g}"
    return ""
