"""Computes the penalty of a late submission by the policy in a course's configuration."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from nbgrader.api import Assignment, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from sqlalchemy import select
from traitlets import Float, Int, TraitError, Unicode, validate

from ..gradebook.class_results import due_date

_DAY = timedelta(days=1)


class LatePolicy(LateSubmissionPlugin):
    """A share of the mark for each day that has begun since the due date.

    An extension in the gradebook moves the due date. By default the penalty is 0; set your own in
    `nbgrader_config.py`. nbgrader's own `penalty_method` comes first if it is set.
    """

    grace_minutes = Float(
        0.0, min=0, help="Up to this long after the due date counts as in time."
    ).tag(config=True)
    percent_a_day = Float(
        0.0, min=0, max=100, help="Percent of the mark that each day costs, begun days too."
    ).tag(config=True)
    maximum_percent = Float(
        100.0, min=0, max=100, help="No more percent of the mark than this is taken off."
    ).tag(config=True)
    tokens = Int(
        0,
        min=0,
        help="Late days that each student has free over the whole course, spent on the "
        "assignments in the order of their due dates.",
    ).tag(config=True)
    time_zone = Unicode(
        "UTC",
        help="Whose clocks days are counted by, such as Europe/Berlin: where they are set to "
        "summer time, a day has 23 hours.",
    ).tag(config=True)

    @validate("time_zone")
    def _known_zone(self, proposal: dict[str, str]) -> str:
        try:
            return ZoneInfo(proposal["value"]).key
        except (OSError, ValueError, KeyError) as error:
            raise TraitError(f"there is no time zone {proposal['value']!r}") from error

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points to take off one notebook.

        Args:
            student_id: who submitted it.
            score: its points without a penalty.
            total_seconds_late: seconds since the due date, extensions counted.

        Returns:
            Points, rounded to hundredths; None for no penalty.
        """
        if self.penalty_method != "none":
            penalty: float | None = super().late_submission_penalty(
                student_id, score, total_seconds_late
            )
            return penalty
        days = self.days_late(total_seconds_late, self._due(student_id))
        if days and self.tokens:
            days -= self._tokens_spent(student_id)
        percent = min(days * self.percent_a_day, self.maximum_percent)
        return round(score * percent / 100, 2) or None

    def days_late(self, seconds: float, due: datetime | None) -> int:
        """Return the days that count, begun ones too; 0 within the time of grace.

        Args:
            seconds: since the due date.
            due: the due date in UTC, extension counted; without one, a day has 24 hours.
        """
        if seconds <= 60 * self.grace_minutes:
            return 0
        late = timedelta(seconds=seconds)
        if due is not None:
            late = self._clock(due + late) - self._clock(due)
        return max(1, math.ceil(late / _DAY))

    def _clock(self, when: datetime) -> datetime:
        zone = ZoneInfo(self.time_zone)
        return when.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)

    def _due(self, student_id: str) -> datetime | None:
        """Return the student's due date for the assignment at hand."""
        if self.time_zone == "UTC":
            return None
        return due_date(self.parent.gradebook, self.parent.assignment_id, student_id)

    def _tokens_spent(self, student_id: str) -> int:
        """Return the late tokens left for this assignment after those with earlier due dates."""
        left = self.tokens
        db = self.parent.gradebook.db
        submissions = db.scalars(
            select(SubmittedAssignment)
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .where(SubmittedAssignment.student_id == student_id, Assignment.duedate.is_not(None))
            .order_by(Assignment.duedate, Assignment.name)
        )
        for submission in submissions:
            late = submission.total_seconds_late
            spent = min(left, self.days_late(late, submission.duedate))
            if submission.name == self.parent.assignment_id:
                return spent
            left -= spent
        return 0
