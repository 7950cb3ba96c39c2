"""Subtracts penalties for late submissions, alike in `nbgrader autograde` and `autograder
grade`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from nbgrader.api import Assignment, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import bindparam, or_, select
from traitlets import TraitError
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from ..errors import CourseError
from ..faults import kept_at
from .writing import patiently

OUR_POLICY = "autograder.nbgrader_plugins.late_policy.LatePolicy"

# The conditions on assignments and notebooks are for nbgrader's indexes alone: without them, the
# time to find one student's submissions would grow with the class.
_SUBMISSIONS = select(SubmittedAssignment.id).where(
    SubmittedAssignment.assignment_id.in_(select(Assignment.id)),
    SubmittedAssignment.student_id == bindparam("student"),
)
# Most submissions are in time, and need neither their marks read nor a row written.
_MAYBE_LATE = (
    select(SubmittedNotebook)
    .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .where(
        SubmittedNotebook.notebook_id.in_(select(Notebook.id)),
        SubmittedNotebook.assignment_id.in_(_SUBMISSIONS),
        or_(
            SubmittedAssignment.timestamp > Assignment.duedate,
            SubmittedAssignment.extension.is_not(None),
            SubmittedNotebook.late_submission_penalty.is_not(None),
        ),
    )
)


class LatePenalties:
    """Applies the policy that a course's configuration names, as nbgrader's own step would.

    Raises `CourseError` if the course's own policy cannot be imported.
    """

    def __init__(self, config: Config, gradebook: Gradebook) -> None:
        self._config = config
        self._gradebook = gradebook
        if config.AssignLatePenalties.get("plugin_class", OUR_POLICY) != OUR_POLICY:
            # An error in the course's own policy is raised before any submission is late.
            _ = self._step

    @cached_property
    def _step(self) -> Any:
        """nbgrader's own step, if the course has it: made for the first submission that may be
        late.

        Raises `CourseError` if the configuration names a class that cannot be imported.
        """
        from nbgrader.preprocessors import AssignLatePenalties

        steps = self._config.Autograde.get("autograde_preprocessors", [AssignLatePenalties])
        try:
            kinds = [import_item(step) if isinstance(step, str) else step for step in steps]
            found = [kind for kind in kinds if issubclass(kind, AssignLatePenalties)]
            if not found:
                return None
            step = found[0](config=self._config)
            step.gradebook = self._gradebook
            step.init_plugin()
        except (ImportError, TraitError, TypeError) as error:
            raise CourseError(
                f"nbgrader_config.py: the late policy cannot be had ({error}). Correct "
                "`c.AssignLatePenalties.plugin_class` or `c.Autograde.autograde_preprocessors`."
            ) from error
        return step

    def would_be(self, name: str, student: str, score: float, late: float) -> float:
        """Return the points that a submission would lose if it came `late` seconds late."""
        if late <= 0 or self._step is None:
            return 0.0
        self._step.assignment_id = name
        penalty = self._step.plugin_inst.late_submission_penalty(student, score, late)
        return 0.0 if penalty is None else min(max(penalty, 0.0), score)

    def settle(self, student: str) -> dict[str, float]:
        """Set the penalties of all that a student submitted, by the present data in the gradebook.

        Penalties depend on marks, extensions and, if there are tokens, on each other: they are
        settled together, whatever has changed.

        Returns:
            The penalties in points, by assignment.

        Raises `CourseError` if another program keeps the gradebook for over a minute.
        """
        return patiently(
            self._gradebook, f"the late penalties of {student}", lambda: self._settle(student)
        )

    def settle_each(self, students: Iterable[str]) -> dict[str, str]:
        """Settle the penalties of each of these students.

        Returns:
            The reason, by student, if that failed.
        """
        failed = {}
        for student in students:
            with kept_at(student) as fault:
                self.settle(student)
            if fault.reason:
                failed[student] = fault.reason
        return failed

    def _settle(self, student: str) -> dict[str, float]:
        db = self._gradebook.db
        of = {"student": student}
        # A query through the session makes objects of the rows and takes twice as long.
        found = db.connection().execute(_MAYBE_LATE, of).first()
        notebooks = [] if found is None else db.scalars(_MAYBE_LATE, of).all()
        penalties: dict[str, float] = {}
        for notebook in notebooks if notebooks and self._step else ():
            name = notebook.assignment.name
            penalty = self._penalty(student, name, notebook)
            notebook.late_submission_penalty = penalty
            if penalty:
                penalties[name] = penalties.get(name, 0.0) + penalty
        db.commit()
        return penalties

    def _penalty(self, student: str, name: str, notebook: SubmittedNotebook) -> float | None:
        late = notebook.assignment.total_seconds_late
        return self.would_be(name, student, notebook.score, late) or None
