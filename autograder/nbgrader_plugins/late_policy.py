"""Computes the penalty of a late submission by the policy in a course's configuration."""

from __future__ import annotations

import math

from nbgrader.api import Assignment, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from sqlalchemy import select
from traitlets import Float, Int

_DAY = 24 * 60 * 60


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
        days = self.days_late(total_seconds_late)
        if days and self.tokens:
            days -= self._tokens_spent(student_id)
        percent = min(days * self.percent_a_day, self.maximum_percent)
        return round(score * percent / 100, 2) or None

    def days_late(self, seconds: float) -> int:
        """Return the days that count, begun ones too; 0 within the time of grace."""
        return 0 if seconds <= 60 * self.grace_minutes else math.ceil(seconds / _DAY)

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
            spent = min(left, self.days_late(submission.total_seconds_late))
            if submission.name == self.parent.assignment_id:
                return spent
            left -= spent
        return 0
