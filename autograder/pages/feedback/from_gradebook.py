"""Reads the marks and comments of one submission from the gradebook, in three queries."""

from __future__ import annotations

from functools import lru_cache
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
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.orm import Session

from ...errors import CourseError
from ...gradebook.writing import of_submission
from ...texts import command

Resources = dict[str, Any]


@lru_cache(maxsize=4)
def _engine(url: str) -> Engine:
    return create_engine(url)


class ReadMarks(NbGraderPreprocessor):
    """Puts marks and comments where nbgrader's `GetGrades` puts them, and says who gave them.

    nbgrader's own class reads the gradebook several times for each cell.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        about = resources["nbgrader"]
        with Session(_engine(about["db_url"])) as session:
            key, penalty = _submission(session, about)
            marks = _marks(session, key)
            comments = _comments(session, key)
        for cell in nb.cells:
            own = cell.metadata.get("nbgrader") or {}
            name = own.get("grade_id", "")
            if own.get("grade") or own.get("task"):
                own.update(marks.get(name, {}))
            if own.get("solution") or own.get("task"):
                own["comment"] = comments.get(name)
        about["late_penalty"] = penalty
        about["max_score"] = sum(mark["points"] for mark in marks.values())
        about["score"] = sum(mark["score"] for mark in marks.values()) - penalty
        return nb, resources


def _submission(session: Session, about: dict[str, Any]) -> tuple[str, float]:
    """Return the key of the submitted notebook, and the points it loses for being late."""
    found = session.execute(
        select(SubmittedNotebook.id, SubmittedNotebook.late_submission_penalty)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .where(
            SubmittedAssignment.student_id == about["student"],
            Assignment.name == about["assignment"],
            Notebook.name == about["notebook"],
        )
    ).one_or_none()
    if found is None:
        raise CourseError(
            f"the gradebook has no marks of {about['student']} for {about['assignment']}. Run "
            f"{command('autograder', 'grade', about['assignment'])}; for one who was removed, run "
            f"{command('nbgrader', 'db', 'student', 'add', about['student'])} before it"
        )
    return found[0], found[1] or 0.0


def _marks(session: Session, key: str) -> dict[str, dict[str, Any]]:
    """Return, by graded cell, its points, whether a person gave them, and whether one still has
    to."""
    rows = session.execute(
        select(BaseCell.name, Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(of_submission(Grade, key))
    )
    return {
        name: {
            "score": grade.score,
            "points": grade.max_score,
            "by_hand": grade.manual_score is not None,
            "waits": grade.needs_manual_grade or grade.auto_score is grade.manual_score is None,
        }
        for name, grade in rows
    }


def _comments(session: Session, key: str) -> dict[str, str | None]:
    rows = session.execute(
        select(BaseCell.name, Comment.comment)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .where(of_submission(Comment, key))
    )
    return {name: comment for name, comment in rows}
