"""Reads a class's results in one assignment: marks from the gradebook, verdicts from notebooks."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import ColumnElement, and_, false, or_, select, true
from sqlalchemy.orm import Session

from ..course_folder.own_notebooks import exercise_ids
from ..errors import UnreadableNotebook
from ..notebook.restoring import MISSING_CELL
from ..records import IN_NOTEBOOK
from . import another_look, history
from .another_look import ManualMark
from .cells import of_submission
from .writing import require_assignment


@dataclass
class StudentResult:
    """The result of one student in one assignment.

    Attributes:
        student: the student's id.
        submitted: whether the gradebook has a submission of the student.
        points: by exercise: the points, manual ones included; None if a person has to give them.
        waiting: by exercise that waits for a person: why the manual mark has to be reviewed; "" if
            there is no manual mark yet.
        penalty: the late penalty in points.
        timestamp: the time of submission in UTC; None if unknown.
        late_seconds: seconds from the due date, extension included, to the submission.
    """

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    submitted: bool = False
    points: dict[str, float | None] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    timestamp: datetime | None = None
    late_seconds: float = 0.0

    @property
    def score(self) -> float:
        """The sum of the known points, without late penalty."""
        return round(sum(points or 0.0 for points in self.points.values()), 2)

    @property
    def mark(self) -> float:
        """The score minus the penalty, at least 0."""
        return round(max(0.0, self.score - self.penalty), 2)


@dataclass
class ClassResults:
    """A class's results in one assignment.

    Attributes:
        assignment: the assignment's name.
        max_points: by exercise, in the order of the notebook: the possible points.
        duedate: the assignment's due date in UTC; None if there is none.
        results: one for each student in the gradebook, with or without a submission, sorted by id.
    """

    assignment: str
    max_points: dict[str, float]
    duedate: datetime | None
    results: list[StudentResult]

    @property
    def max_score(self) -> float:
        return round(sum(self.max_points.values()), 2)

    @property
    def submitted(self) -> list[StudentResult]:
        return [result for result in self.results if result.submitted]

    @property
    def again(self) -> list[str]:
        """A message for each manual mark or comment that has to be reviewed."""
        return [
            f"{result.student}, {self.assignment}: {exercise} waits for another look: {why}"
            for result in self.results
            for exercise, why in result.waiting.items()
            if why
        ]


def due_date(gradebook: Gradebook, name: str, student: str) -> datetime | None:
    """Return a student's due date in UTC, extension included; None if the assignment has none."""
    due: datetime | None = None
    with suppress(MissingEntry):
        due = gradebook.find_assignment(name).duedate
        due = gradebook.find_submission(name, student).duedate
    return due


def class_results(gradebook: Gradebook, name: str, student: str | None = None) -> ClassResults:
    """Return a class's results in an assignment or in a part, with one query for each table.

    If the assignment has several notebooks, its exercises are named NOTEBOOK/EXERCISE.

    Args:
        name: the assignment or, as ASSIGNMENT/NOTEBOOK, the part.
        student: restricts the results to one student.

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
    chosen = true() if student is None else Student.id == student
    results = {
        each.id: StudentResult(
            each.id, each.first_name or "", each.last_name or "", each.email or ""
        )
        for each in db.scalars(select(Student).where(chosen).order_by(Student.id))
    }
    nobody = StudentResult("")
    of_assignment = and_(
        SubmittedAssignment.assignment_id == assignment.id,
        true() if student is None else SubmittedAssignment.student_id == student,
    )
    for submission in db.scalars(select(SubmittedAssignment).where(of_assignment)):
        # If another program removed a student, the student's submissions may still have rows.
        result = results.get(submission.student_id, nobody)
        result.submitted = True
        result.timestamp = submission.timestamp
        result.late_seconds = submission.total_seconds_late
        result.penalty = submission.late_submission_penalty or 0.0
    waiting: list[_OpenExercise] = []
    of_submissions: ColumnElement[bool] = true()
    # nbgrader's index of grades begins with the cell. Without this condition, a query for one
    # student would read the grades of the whole class.
    if student is not None:
        own = SubmittedNotebook.notebook_id.in_([each.id for each in notebooks.values()])
        keys = select(SubmittedNotebook.id).join(SubmittedNotebook.assignment)
        keys = keys.where(of_assignment, own)
        of_submissions = or_(false(), *(of_submission(Grade, key) for key in db.scalars(keys)))
    grades = db.execute(
        select(
            SubmittedAssignment.student_id,
            Notebook.name,
            BaseCell.name,
            Grade.auto_score,
            *another_look.MANUAL_COLUMNS,
        )
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(of_assignment, of_submissions, Notebook.name.in_(notebooks))
    )
    for owner, notebook, cell, automatic, manual, extra, waits in grades:
        score = automatic if manual is None else manual
        exercise = ids[notebook, cell]
        result = results.get(owner, nobody)
        result.points[exercise] = None if score is None else score + (extra or 0.0)
        if waits or score is None:
            result.waiting[exercise] = ""
            mark = ManualMark(manual, extra, waits=waits)
            waiting.append(_OpenExercise(result, notebook, exercise, cells[notebook, cell], mark))
    if waiting:
        names = {each: [ids[at] for at in cells if at[0] == each] for each in notebooks}
        _explain(db, folder, waiting, names, prefix, of_assignment)
    return ClassResults(name, max_points, assignment.duedate, list(results.values()))


@dataclass(frozen=True)
class _OpenExercise:
    """An exercise of one student that waits for a person.

    Attributes:
        result: the student's result.
        notebook: the notebook's name.
        exercise: the exercise's name in `result`.
        max_points: the possible points.
        mark: the manual mark, without the comment.
    """

    result: StudentResult
    notebook: str
    exercise: str
    max_points: float
    mark: ManualMark


def _explain(
    db: Session,
    folder: str,
    waiting: list[_OpenExercise],
    exercises: dict[str, list[str]],
    prefix: dict[str, str],
    of_assignment: ColumnElement[bool],
) -> None:
    """Set, in the results' `waiting`, the reason why each waiting exercise has to be reviewed.

    Args:
        folder: the assignment.
        waiting: the exercises that wait for a person.
        exercises: by notebook: the names of all exercises.
        prefix: by notebook: the prefix of the exercises' names, NOTEBOOK/ or "".
        of_assignment: the SQL condition that selects the submissions.
    """
    comments: dict[tuple[str, str], list[str]] = {}
    for student, notebook, cell in db.execute(
        select(SubmittedAssignment.student_id, Notebook.name, BaseCell.name)
        .select_from(Comment)
        .join(SubmittedNotebook, Comment.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .where(of_assignment, another_look.COMMENTED)
    ):
        comments.setdefault((student, notebook), []).append(prefix[notebook] + cell)
    students = {each.result.student for each in waiting}
    last_gradings = {
        name: history.last_of_each(db.connection(), name, students)
        for name in (folder, *(f"{folder}/{each}" for each in exercises))
    }
    for item in waiting:
        student, notebook = item.result.student, item.notebook
        commented = comments.get((student, notebook), ())
        is_commented = another_look.comments_on(item.exercise, exercises[notebook], commented)
        mark = replace(item.mark, comment=is_commented)
        # The record has a grading under the assignment's name or, if the assignment has several
        # notebooks, under ASSIGNMENT/NOTEBOOK.
        of_part, of_all = last_gradings[f"{folder}/{notebook}"], last_gradings[folder]
        verdicts = of_part.get(student) or of_all.get(student, {})
        last = verdicts.get(item.exercise.removeprefix(prefix[notebook]))
        # The exercise's maximum may have changed since the last grading.
        now = last and last | {"max_points": item.max_points or last["max_points"]}
        seen = another_look.seen_at(last, mark.waits)
        item.result.waiting[item.exercise] = another_look.why_again(mark, seen, now)


@dataclass
class AutogradedMetadata:
    """The data, other than marks, in an autograded notebook.

    Attributes:
        verdicts: by exercise: a dictionary with at least the keys `status` and `misconception`; {}
            if the notebook has no verdicts.
        answers: by grade_id: the sources of code answers.
        texts: by grade_id: the sources of written answers.
        in_notebook: whether the notebook's own test cells gave the points.
        sandbox: the kind of sandbox in which the notebook's code ran; "" if unknown.
    """

    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    in_notebook: bool = False
    sandbox: str = ""


def read_graded(path: Path) -> AutogradedMetadata:
    """Return the data in the autograded notebook at `path`; empty if there is no file.

    Raises `UnreadableNotebook` if the file is damaged.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return AutogradedMetadata()
    try:
        return _graded(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableNotebook(
            f"{path}: is damaged ({type(error).__name__}). Put it aside, and grade again."
        ) from error


def _graded(notebook: dict[str, Any]) -> AutogradedMetadata:
    graded = AutogradedMetadata()
    report = notebook["metadata"].get("autograder", {}).get("report", {})
    graded.verdicts = {exercise["id"]: {**exercise} for exercise in report.get("exercises", ())}
    graded.in_notebook = report.get("tests") == IN_NOTEBOOK
    graded.sandbox = report.get("sandbox", "")
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        text = "".join(cell["source"])
        if marks.get("solution") and text != MISSING_CELL:
            kept = graded.answers if cell["cell_type"] == "code" else graded.texts
            kept[marks["grade_id"]] = text
    return graded
