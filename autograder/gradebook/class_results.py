"""Reads a class's results in one assignment: marks from the gradebook, verdicts from notebooks."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import (
    BaseCell,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from ..course_folder.own_notebooks import exercise_ids
from ..errors import UnreadableNotebook
from ..model import IN_NOTEBOOK
from .writing import require_assignment


@dataclass
class Result:
    """The result of one student in one assignment.

    Attributes:
        points: by exercise, hand-given marks included; None if a person has to give them.
        waiting: the exercises that a person has to look at before the mark is final.
        penalty: points taken off for being late.
        timestamp: when it was submitted, in UTC, if known.
        late_seconds: how long after the due date, extensions counted.
    """

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    submitted: bool = False
    points: dict[str, float | None] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    penalty: float = 0.0
    timestamp: datetime | None = None
    late_seconds: float = 0.0

    @property
    def score(self) -> float:
        """The points without the penalty, as far as there are any."""
        return round(sum(points or 0.0 for points in self.points.values()), 2)

    @property
    def mark(self) -> float:
        """The points less the penalty, never below 0."""
        return round(max(0.0, self.score - self.penalty), 2)


@dataclass
class ClassResults:
    """A class's results in one assignment.

    Attributes:
        max_points: by exercise, in the order of the notebook.
        results: one for each student of the gradebook, by id, also without a submission.
    """

    assignment: str
    max_points: dict[str, float]
    duedate: datetime | None
    results: list[Result]

    @property
    def max_score(self) -> float:
        return round(sum(self.max_points.values()), 2)

    @property
    def submitted(self) -> list[Result]:
        return [result for result in self.results if result.submitted]


def due_date(gradebook: Gradebook, name: str, student: str) -> datetime | None:
    """Return a student's due date for an assignment, in UTC, extensions counted; None if there is
    no date."""
    due: datetime | None = None
    with suppress(MissingEntry):
        due = gradebook.find_assignment(name).duedate
        due = gradebook.find_submission(name, student).duedate
    return due


def class_results(gradebook: Gradebook, name: str) -> ClassResults:
    """Return all results in an assignment, or in a part of it, with one query for each table.

    If an assignment has several notebooks, their names are put before those of the exercises.

    Raises `CourseError` if the assignment is not in the gradebook.
    """
    folder, _, part = name.partition("/")
    require_assignment(gradebook, folder)
    db = gradebook.db
    assignment = gradebook.find_assignment(folder)
    notebooks = {each.name: each for each in assignment.notebooks if part in ("", each.name)}
    prefix = {each: f"{each}/" if len(notebooks) > 1 else "" for each in notebooks}
    cells = {
        (each, cell.name): cell.max_score
        for each, notebook in notebooks.items()
        for cell in (*notebook.grade_cells, *notebook.task_cells)
    }
    ids = {
        (each, cell): prefix[each] + exercise
        for each in notebooks
        for cell, exercise in exercise_ids(cell for at, cell in cells if at == each).items()
    }
    max_points = {ids[key]: points for key, points in cells.items()}
    results = {
        student.id: Result(
            student.id, student.first_name or "", student.last_name or "", student.email or ""
        )
        for student in db.scalars(select(Student).order_by(Student.id))
    }
    nobody = Result("")
    submissions = db.scalars(
        select(SubmittedAssignment).where(SubmittedAssignment.assignment_id == assignment.id)
    )
    for submission in submissions:
        # Rows may be left of a student who was removed by another program.
        result = results.get(submission.student_id, nobody)
        result.submitted = True
        result.timestamp = submission.timestamp
        result.late_seconds = submission.total_seconds_late
        result.penalty = submission.late_submission_penalty or 0.0
    grades = db.execute(
        select(
            SubmittedAssignment.student_id,
            Notebook.name,
            BaseCell.name,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(SubmittedAssignment.assignment_id == assignment.id, Notebook.name.in_(notebooks))
    )
    for student, notebook, cell, automatic, by_hand, extra, look in grades:
        given = automatic if by_hand is None else by_hand
        exercise = ids[notebook, cell]
        points = None if given is None else given + (extra or 0.0)
        result = results.get(student, nobody)
        result.points[exercise] = points
        if look or given is None:
            result.waiting.append(exercise)
    return ClassResults(name, max_points, assignment.duedate, list(results.values()))


@dataclass
class GradedNotebook:
    """The data in an autograded notebook beside the marks.

    Attributes:
        verdicts: by exercise, at least `status` and `misconception`; empty if the notebook was
            graded without leaving any.
        answers: the source of each solution cell with code, by exercise.
        in_notebook: whether the notebook's own test cells gave the points.
        sandbox: the kind of sandbox that its code ran in; "" if unknown.
    """

    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    in_notebook: bool = False
    sandbox: str = ""


def read_graded(path: Path) -> GradedNotebook:
    """Read an autograded notebook; return an empty one if there is none.

    Raises `UnreadableNotebook` if it is damaged.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return GradedNotebook()
    try:
        return _graded(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableNotebook(
            f"{path}: is damaged ({type(error).__name__}). Put it aside, and grade again."
        ) from error


def _graded(notebook: dict[str, Any]) -> GradedNotebook:
    found = GradedNotebook()
    report = notebook["metadata"].get("autograder", {}).get("report", {})
    found.verdicts = {exercise["id"]: {**exercise} for exercise in report.get("exercises", ())}
    found.in_notebook = report.get("tests") == IN_NOTEBOOK
    found.sandbox = report.get("sandbox", "")
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code" and marks.get("solution"):
            found.answers[marks["grade_id"]] = "".join(cell["source"])
    return found
