"""Takes marks off what came late: one policy for `nbgrader autograde` and `autograder grade`."""

from __future__ import annotations

import math

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import bindparam, or_, select
from traitlets import Float, Int
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from .gradebook import patiently

_DAY = 24 * 60 * 60


class LatePolicy(LateSubmissionPlugin):
    """A share of the mark for each day that has begun since the due date.

    An extension that nbgrader knows of moves the due date. As it stands nothing is taken off; set
    what you want in `nbgrader_config.py`. nbgrader's own `penalty_method` comes first if it is set.
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
        """The points to take off one notebook.

        Args:
            student_id: who submitted it.
            score: its points without a penalty.
            total_seconds_late: seconds since the due date, extensions counted.

        Returns:
            Points, rounded to hundredths; None for nothing.
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
        """The days that count, begun ones too; none within the time of grace."""
        return 0 if seconds <= 60 * self.grace_minutes else math.ceil(seconds / _DAY)

    def _tokens_spent(self, student_id: str) -> int:
        """The tokens for the assignment at hand: what earlier due dates have left of them."""
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


# Most submissions are in time, and need neither their marks read nor a row written.
_MAYBE_LATE = (
    select(SubmittedNotebook)
    .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .where(
        SubmittedAssignment.student_id == bindparam("student"),
        or_(
            SubmittedAssignment.timestamp > Assignment.duedate,
            SubmittedAssignment.extension.is_not(None),
            SubmittedNotebook.late_submission_penalty.is_not(None),
        ),
    )
)


class LatePenalties:
    """Applies the policy that a course's configuration names, as nbgrader's own step would.

    Args:
        config: the course's configuration.
        gradebook: its gradebook.
    """

    def __init__(self, config: Config, gradebook: Gradebook) -> None:
        self._gradebook = gradebook
        steps = config.Autograde.get("autograde_preprocessors", [AssignLatePenalties])
        kinds = [import_item(step) if isinstance(step, str) else step for step in steps]
        found = [kind for kind in kinds if issubclass(kind, AssignLatePenalties)]
        self._step = found[0](config=config) if found else None
        if self._step is not None:
            self._step.gradebook = gradebook
            self._step.init_plugin()

    def settle(self, student: str) -> dict[str, float]:
        """Set the penalties of all that a student submitted, by what the gradebook holds now.

        Penalties depend on marks, extensions and, where there are tokens, on each other: they are
        settled together, whatever has changed.

        Returns:
            The penalties in points, by assignment.

        Raises:
            CourseError: another program keeps the gradebook for over a minute.
        """
        if self._step is None:
            return {}
        return patiently(
            self._gradebook, f"the late penalties of {student}", lambda: self._settle(student)
        )

    def _settle(self, student: str) -> dict[str, float]:
        db = self._gradebook.db
        notebooks = db.scalars(_MAYBE_LATE, {"student": student}).all()
        penalties: dict[str, float] = {}
        for notebook in notebooks:
            name = notebook.assignment.name
            penalty = self._penalty(student, name, notebook)
            notebook.late_submission_penalty = penalty
            if penalty:
                penalties[name] = penalties.get(name, 0.0) + penalty
        db.commit()
        return penalties

    def _penalty(self, student: str, name: str, notebook: SubmittedNotebook) -> float | None:
        late = notebook.assignment.total_seconds_late
        if late <= 0:
            return None
        assert self._step is not None
        self._step.assignment_id = name
        penalty = self._step.plugin_inst.late_submission_penalty(student, notebook.score, late)
        return None if penalty is None else min(max(penalty, 0.0), notebook.score)
