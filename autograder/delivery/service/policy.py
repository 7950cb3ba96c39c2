"""The rules of the service: how many attempts, which feedback when, and which attempt counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ...course_folder.settings import ServiceSettings
from .attempts import GRADED, OVER, WAITING, Attempt


def admitted(
    rules: ServiceSettings, before: Sequence[Attempt], arrived: datetime
) -> tuple[str, float]:
    """Return the state of a new attempt, and when it may be graded, in seconds since 1970.

    Args:
        before: the student's earlier attempts at the assignment.
        arrived: when it came, by this machine's calendar, with its zone.
    """
    made = [each for each in before if each.state != OVER]
    if rules.attempts and len(made) >= rules.attempts:
        return OVER, 0.0
    if not rules.attempts_a_day:
        return WAITING, 0.0
    day = arrived.replace(hour=0, minute=0, second=0, microsecond=0)
    # Attempts that were put off to a day count on that day.
    while _on(made, day) >= rules.attempts_a_day:
        day += timedelta(days=1)
    return WAITING, day.timestamp() if day > arrived else 0.0


def _on(attempts: Sequence[Attempt], day: datetime) -> int:
    start, end = day.timestamp(), (day + timedelta(days=1)).timestamp()
    return sum(start <= max(each.arrived, each.not_before) < end for each in attempts)


def shown_now(rules: ServiceSettings, due: datetime | None, now: datetime) -> str:
    """Return the part of an attempt's feedback that may be shown now, one of `settings.SHOWN`.

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
    """Return whether an attempt that was just graded gives the mark.

    Args:
        points: its points.
        others: the student's other attempts at the assignment.
        penalty: returns the points to take off for this many points at this time.
    """
    held = next((each for each in others if each.counts and each.state == GRADED), None)
    if held is None:
        return True
    if rules.counts == "last":
        return _order(attempt) >= _order(held)
    before = held.points or 0.0
    earned = points - penalty(points, attempt.submitted)
    had = before - penalty(before, held.submitted)
    return earned > had or (earned == had and _order(attempt) < _order(held))


def _order(attempt: Attempt) -> tuple[datetime, int]:
    return attempt.submitted or datetime.min, attempt.id
