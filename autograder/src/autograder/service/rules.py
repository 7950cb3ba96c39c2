"""Decides when an attempt is graded, what feedback is visible, and which attempt counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ..course_folder.settings import ServiceSettings
from .attempts import GRADED, OVER, UNCOUNTED, WAITING, Attempt


def admitted(
    rules: ServiceSettings, before: Sequence[Attempt], arrived: datetime
) -> tuple[str, float]:
    """Return a new attempt's state, and the earliest time of its grading in seconds since 1970.

    The time is 0 if the attempt may be graded at once.

    Args:
        before: the student's earlier attempts at the assignment.
        arrived: when the attempt arrived, in this machine's time zone, whose midnight begins a day.
    """
    accepted = [each for each in before if each.state not in UNCOUNTED]
    if rules.attempts and len(accepted) >= rules.attempts:
        return OVER, 0.0
    if not rules.attempts_a_day:
        return WAITING, 0.0
    day = arrived.replace(hour=0, minute=0, second=0, microsecond=0)
    # A postponed attempt is counted on the day to which it was postponed.
    while _on(accepted, day) >= rules.attempts_a_day:
        day += timedelta(days=1)
    return WAITING, day.timestamp() if day > arrived else 0.0


def _on(attempts: Sequence[Attempt], day: datetime) -> int:
    """Return the number of attempts whose grading falls on the day that begins at `day`."""
    start, end = day.timestamp(), (day + timedelta(days=1)).timestamp()
    return sum(start <= max(each.arrived, each.not_before) < end for each in attempts)


def visible_level(rules: ServiceSettings, due: datetime | None, now: datetime) -> str:
    """Return the level of feedback that the student may see now, one of `settings.SHOWN`.

    Args:
        due: the student's own due date, in UTC; None if there is none.
    """
    return "mistakes" if due is not None and now >= due else rules.before_due


def counts(
    rules: ServiceSettings,
    attempt: Attempt,
    points: float,
    others: Sequence[Attempt],
    penalty: Callable[[float, datetime | None], float],
) -> bool:
    """Return whether an attempt that was just graded gives the student's mark from now on.

    Args:
        points: the attempt's points, without late penalty.
        others: the student's other attempts at the assignment.
        penalty: returns the late penalty in points, given earned points and the time of submission
            in UTC.
    """
    counting = next((each for each in others if each.counts and each.state == GRADED), None)
    if counting is None:
        return True
    if rules.counts == "last":
        return _order(attempt) >= _order(counting)
    before = counting.points or 0.0
    earned = points - penalty(points, attempt.submitted)
    earned_before = before - penalty(before, counting.submitted)
    return earned > earned_before or (
        earned == earned_before and _order(attempt) < _order(counting)
    )


def _order(attempt: Attempt) -> tuple[datetime, int]:
    """Return the key that sorts attempts by submission time, and equal times by arrival."""
    return attempt.submitted or datetime.min, attempt.id
