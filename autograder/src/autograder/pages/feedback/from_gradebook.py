"""Reads marks and comments from the gradebook, and tells which feedback pages are outdated.

Each page holds a digest of the marks and comments that it shows, since the gradebook does not store
when they were changed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy import ColumnElement, Engine, create_engine, false, or_, select
from sqlalchemy.orm import Session

from ...course_folder.course import COURSE, Course, course_of
from ...course_folder.own_notebooks import exercise_ids
from ...course_folder.rubrics import Rubric, Rubrics, read_rubrics
from ...errors import CourseError
from ...gradebook import history
from ...gradebook.cells import of_submission
from ...texts import command

Resources = dict[str, Any]


@lru_cache(maxsize=4)
def _engine(url: str) -> Engine:
    return create_engine(url)


@dataclass(frozen=True)
class StoredMarks:
    """The marks and comments of a submitted notebook.

    Attributes:
        penalty: the late penalty in points.
        marks: by graded cell: a dictionary with the keys `score`, `points` (the maximum), `by_hand`
            (whether a person gave the score) and `waits` (whether a person still has to). The key
            `extra` is there if the score includes extra credit, with its points. The key `rubric`
            is there if the score, or the extra credit, is that of a rubric's items, with the value
            of `_rubric_result`.
        comments: the comments, by solution cell.
        is_due: whether the due date, extension included, has passed.
    """

    penalty: float
    marks: dict[str, dict[str, Any]] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    is_due: bool = False

    @property
    def digest(self) -> str:
        """Digest of everything that the page shows from here."""
        text = json.dumps([self.penalty, self.marks, self.comments, self.is_due], sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


class ReadMarks(NbGraderPreprocessor):
    """Writes marks and comments into the notebook's metadata, as nbgrader's `GetGrades` does.

    In addition, the metadata says whether a person gave the marks, and after the due date the
    resources say why wrong answers to questions are wrong. nbgrader's own class is slow: it queries
    the gradebook several times for each cell.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        about = resources["nbgrader"]
        student, assignment, notebook = (
            about[key] for key in ("student", "assignment", "notebook")
        )
        course = resources.get(COURSE)
        rubrics = course_rubrics(course, assignment, notebook) if course else {}
        by_student = stored_marks(about["db_url"], assignment, notebook, student, rubrics)
        if (stored := by_student.get(student)) is None:
            raise CourseError(
                f"the gradebook has no marks of {student} for {assignment}. Run "
                f"{command('autograder', 'grade', assignment)}; for one who was removed, run "
                f"{command('nbgrader', 'db', 'student', 'add', student)} before it"
            )
        marks = stored.marks
        for cell in nb.cells:
            metadata = cell.metadata.get("nbgrader") or {}
            name = metadata.get("grade_id", "")
            if metadata.get("grade") or metadata.get("task"):
                metadata.pop("rubric", None)  # from a notebook that somebody else wrote
                metadata.update(marks.get(name, {}))
            if metadata.get("solution") or metadata.get("task"):
                metadata["comment"] = stored.comments.get(name)
            if metadata.get("solution") and not metadata.get("grade"):
                # Shown below the answer, and not with what the tests found.
                metadata["rubric"] = marks.get(f"test_{name}", {}).get("rubric")
        about["late_penalty"] = stored.penalty
        about["max_score"] = sum(mark["points"] for mark in marks.values())
        about["score"] = sum(mark["score"] for mark in marks.values()) - stored.penalty
        about["made_from"] = stored.digest
        if stored.is_due:
            about["explained"] = explained(course_of(resources), assignment, notebook)
        return nb, resources


def explained(course: Course, folder: str, notebook: str) -> dict[str, list[tuple[str, str]]]:
    """Return the known wrong answers to each question of a notebook, and what is wrong with them,
    by the question's id."""
    exercises = course.assignment(course.name_of(folder, notebook)).exercises
    return {each.id: each.wrong_answers for each in exercises.values() if each.form}


def course_rubrics(course: Course, folder: str, notebook: str) -> Rubrics:
    """Return the rubrics of a notebook, by exercise."""
    return read_rubrics(course.rubrics_of(course.name_of(folder, notebook)))


_SUBMISSIONS = (
    select(
        SubmittedNotebook.id,
        SubmittedAssignment.student_id,
        SubmittedNotebook.late_submission_penalty,
        Assignment.duedate,
        SubmittedAssignment.extension,
    )
    .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
)
_MARKS = select(
    Grade.notebook_id, BaseCell.name, Grade.score, Grade.max_score, Grade.auto_score,
    Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade,
).join(BaseCell, Grade.cell_id == BaseCell.id)  # fmt: skip
_COMMENTS = select(Comment.notebook_id, BaseCell.name, Comment.comment).join(
    BaseCell, Comment.cell_id == BaseCell.id
)


def stored_marks(
    url: str,
    assignment: str,
    notebook: str,
    student: str | None = None,
    rubrics: Rubrics | None = None,
) -> dict[str, StoredMarks]:
    """Return the marks of a notebook, by student, with three queries, and one more for rubrics.

    Args:
        url: the gradebook's URL.
        student: restricts the result to one student.
        rubrics: the notebook's rubrics, by exercise.
    """
    submitted = _SUBMISSIONS.where(Assignment.name == assignment, Notebook.name == notebook)
    if student is not None:
        submitted = submitted.where(SubmittedAssignment.student_id == student)
    with Session(_engine(url)) as session:
        submissions = session.execute(submitted).all()
        now = datetime.now(UTC).replace(tzinfo=None)  # As the gradebook stores times.
        by_key = {
            key: StoredMarks(
                penalty or 0.0,
                is_due=due is not None and due + (extension or timedelta()) <= now,
            )
            for key, _, penalty, due, extension in submissions
        }

        def of(kind: type[Grade | Comment]) -> ColumnElement[bool]:
            all_keys = submitted.with_only_columns(SubmittedNotebook.id)
            of_class: ColumnElement[bool] = kind.notebook_id.in_(all_keys)
            of_student = or_(false(), *(of_submission(kind, key) for key in list(by_key)[:1]))
            return of_class if student is None else of_student

        by_person = {}
        for key, cell, score, max_score, auto, manual, extra, waits in session.execute(
            _MARKS.where(of(Grade))
        ):
            by_person[key, cell] = None if waits else (manual, extra)
            # Another program may have inserted a submission since the first query.
            by_key.setdefault(key, StoredMarks(0.0)).marks[cell] = {
                "score": score,
                "points": max_score,
                "by_hand": manual is not None,
                "waits": auto is manual is None,
                **({"extra": extra} if extra else {}),
            }
        for key, cell, comment in session.execute(_COMMENTS.where(of(Comment))):
            by_key.setdefault(key, StoredMarks(0.0)).comments[cell] = comment
        if rubrics:
            name = history.recorded_name(assignment, notebook)
            lines = history.markings(session.connection(), name, student)
            last = {(line.student, line.exercise): line for line in lines}
            for key, owner, *_ in submissions:
                marks = by_key[key].marks
                for cell, exercise in exercise_ids(marks).items():
                    line = last.get((owner, exercise))
                    if line and (line.points, line.extra) == by_person[key, cell]:
                        marks[cell] |= _rubric_result(rubrics.get(exercise, ()), line)
    return {row.student_id: by_key[row.id] for row in submissions}


def _rubric_result(rubric: Rubric, line: history.Marking) -> dict[str, Any]:
    """Return what a page shows of a mark's items; {} for a mark without items.

    Returns:
        Under the key `rubric`, a dictionary with the keys `given` and `missing` (the points and
        sentences of items, for the student) and `adjust` (the points beside those of the items).
    """
    if not rubric or line.items is None:
        return {}
    given = [(line.items[item.id], item.what) for item in rubric if item.id in line.items]
    missing = [
        (item.points, item.otherwise)
        for item in rubric
        if item.otherwise and item.id not in line.items
    ]
    return {"rubric": {"given": given, "missing": missing, "adjust": line.adjust}}


_MADE_FROM = re.compile(rb'<meta name="made-from" content="(\w+)">')
_HEAD = 1000
"""Number of bytes at the beginning of a page in which the digest is found."""


def is_current(page: Path, notebook: Path, stored: StoredMarks | None) -> bool:
    """Return whether a feedback page exists, is not older than the graded notebook, and shows the
    stored marks and comments.

    Args:
        page: the path of the page.
        notebook: the path of the graded notebook.
        stored: the gradebook's marks; with None, the result is False.
    """
    try:
        with page.open("rb") as file:
            made_from = _MADE_FROM.search(file.read(_HEAD))
        is_older = page.stat().st_mtime_ns < notebook.stat().st_mtime_ns
    except OSError:
        return False
    if is_older or made_from is None or stored is None:
        return False
    return made_from[1].decode() == stored.digest
