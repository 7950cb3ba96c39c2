"""Computes late penalties: `autograder grade` gives the same ones as `nbgrader autograde`."""

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
from ..isolation import isolated_errors
from .writing import retry_while_locked

OUR_POLICY = "autograder.nbgrader_plugins.late_policy.LatePolicy"

# nbgrader's indexes begin with the assignment or the notebook. Without conditions on these columns,
# the time of a query for one student would grow with the class.
_SUBMISSIONS = select(SubmittedAssignment.id).where(
    SubmittedAssignment.assignment_id.in_(select(Assignment.id)),
    SubmittedAssignment.student_id == bindparam("student"),
)
# Submissions that may be late or have a penalty. Most are in time: for those, no marks are read and
# no rows are written.
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
    """Applies the late policy that a course's configuration names, as `nbgrader autograde` does.

    Args:
        config: the course's nbgrader configuration.
        gradebook: the course's gradebook.

    Raises `CourseError` if the course has a late policy of its own that cannot be imported.
    """

    def __init__(self, config: Config, gradebook: Gradebook) -> None:
        self._config = config
        self._gradebook = gradebook
        if config.AssignLatePenalties.get("plugin_class", OUR_POLICY) != OUR_POLICY:
            # Import the course's own policy now, so that an error in it is raised even if no
            # submission is late.
            _ = self._step

    @cached_property
    def _step(self) -> Any:
        """nbgrader's preprocessor that applies the late policy; created at the first use.

        None if the course's configuration removes the preprocessor. Raises `CourseError` if the
        configuration names a class that cannot be imported.
        """
        from nbgrader.preprocessors import AssignLatePenalties

        steps = self._config.Autograde.get("autograde_preprocessors", [AssignLatePenalties])
        try:
            kinds = [import_item(step) if isinstance(step, str) else step for step in steps]
            late_steps = [kind for kind in kinds if issubclass(kind, AssignLatePenalties)]
            if not late_steps:
                return None
            step = late_steps[0](config=self._config)
            step.gradebook = self._gradebook
            step.init_plugin()
        except (ImportError, TraitError, TypeError) as error:
            raise CourseError(
                f"nbgrader_config.py: the late policy cannot be had ({error}). Correct "
                "`c.AssignLatePenalties.plugin_class` or `c.Autograde.autograde_preprocessors`."
            ) from error
        return step

    def penalty(self, name: str, student: str, score: float, late: float) -> float:
        """Return the late penalty of a submission in points, from 0 to its score.

        Args:
            name: the assignment.
            score: the submission's points.
            late: seconds after the due date.
        """
        if late <= 0 or self._step is None:
            return 0.0
        self._step.assignment_id = name
        penalty = self._step.plugin_inst.late_submission_penalty(student, score, late)
        return 0.0 if penalty is None else min(max(penalty, 0.0), score)

    def settle(self, student: str) -> dict[str, float]:
        """Compute and store the late penalties of all of a student's submissions.

        A penalty depends on marks, on extensions and, if the policy has tokens, on the other
        assignments' penalties. So all penalties are computed, whatever has changed. The operation
        is idempotent.

        Returns:
            The penalties in points, by assignment, without penalties of 0.

        Raises `CourseError` if another program keeps the gradebook for over a minute.
        """
        return retry_while_locked(
            self._gradebook, f"the late penalties of {student}", lambda: self._settle(student)
        )

    def settle_each(self, students: Iterable[str]) -> dict[str, str]:
        """Call `settle` for each of these students; an error for one does not affect the others.

        Returns:
            By student: the error message, for students whose penalties could not be settled.
        """
        failed = {}
        for student in students:
            with isolated_errors(student) as fault:
                self.settle(student)
            if fault.reason:
                failed[student] = fault.reason
        return failed

    def _settle(self, student: str) -> dict[str, float]:
        db = self._gradebook.db
        of = {"student": student}
        # Query with the connection first: a query with the session, which creates objects for the
        # rows, takes twice as long.
        row = db.connection().execute(_MAYBE_LATE, of).first()
        notebooks = [] if row is None else db.scalars(_MAYBE_LATE, of).all()
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
        return self.penalty(name, student, notebook.score, late) or None
