"""The late policy for nbgrader: percent per day, grace period, late tokens."""

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
    """Takes a percentage of the mark for each day, begun ones included, after the due date.

    An extension in the gradebook moves the due date. The default is no penalty. nbgrader's own
    `penalty_method` takes precedence if it is set.
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
        """Return the late penalty of one notebook in points, rounded to hundredths; None for none.

        Args:
            student_id: the student's id.
            score: the notebook's points.
            total_seconds_late: seconds from the due date, extension included, to the submission.
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
        """Return the number of late days, begun days included; 0 within the grace period.

        Args:
            seconds: seconds after the due date.
            due: the due date in UTC, extension included, if days are counted by the clocks of the
                policy's time zone; None if each day has 24 hours.
        """
        if seconds <= 60 * self.grace_minutes:
            return 0
        late = timedelta(seconds=seconds)
        if due is not None:
            # Subtract local times: by local clocks, it is always one day from one noon to the next,
            # also when summer time begins.
            late = self._local_time(due + late) - self._local_time(due)
        return max(1, math.ceil(late / _DAY))

    def _local_time(self, when: datetime) -> datetime:
        """Return the time that clocks in the policy's time zone show at a time in UTC."""
        zone = ZoneInfo(self.time_zone)
        return when.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)

    def _due(self, student_id: str) -> datetime | None:
        """Return the student's due date in UTC, or None if the policy's time zone is UTC.

        Without clock changes each day has 24 hours, and no date is needed to count days.
        """
        if self.time_zone == "UTC":
            return None
        return due_date(self.parent.gradebook, self.parent.assignment_id, student_id)

    def _tokens_spent(self, student_id: str) -> int:
        """Return the number of tokens that a student spends on the assignment being graded.

        Assignments with earlier due dates take tokens first.
        """
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
