"""Writes verdicts into nbgrader's gradebook, one transaction a submission."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

from .assignments import CourseError


def require_assignment(gradebook: Gradebook, name: str) -> None:
    """Raises `CourseError` if nbgrader does not know the assignment yet."""
    try:
        gradebook.find_assignment(name)
    except MissingEntry as error:
        raise CourseError(
            f"the gradebook has no assignment {name!r}: "
            f"run `nbgrader generate_assignment {name}` first"
        ) from error


def record(
    gradebook: Gradebook,
    name: str,
    student: str,
    notebook: NotebookNode,
    timestamp: datetime | None,
) -> None:
    """Store the marks of one graded notebook, as nbgrader's `SaveAutoGrades` would.

    Marks and comments that a person gave stay; where there is one, the cell is marked for another
    look.

    Args:
        name: the assignment, and its notebook's name.
        student: the student's id.
        notebook: the graded notebook, verdicts in its test cells.
        timestamp: when it was submitted, in UTC, if known.
    """
    session = gradebook.db
    try:
        with session.no_autoflush:
            gradebook.update_or_create_student(student)
            more: dict[str, Any] = {} if timestamp is None else {"timestamp": timestamp}
            gradebook.update_or_create_submission(name, student, **more)
        submission = gradebook.find_submission_notebook(name, name, student)
        grades = {grade.cell.name: grade for grade in submission.grades}
        comments = {comment.cell.name: comment for comment in submission.comments}
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if is_grade(cell):
                grade = grades[grade_id]
                grade.auto_score, _ = determine_grade(cell)
                by_hand = grade.manual_score is not None or grade.auto_score is None
                grade.needs_manual_grade = by_hand
            if is_solution(cell):
                untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                comments[grade_id].auto_comment = "No response." if untouched else None
        session.commit()
    except Exception:
        session.rollback()
        raise
