"""What the gradebook is to hold of a graded notebook, read from it as nbgrader reads it."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution


@dataclass
class Marks:
    """What the gradebook is to hold of one graded notebook.

    Attributes:
        points: by test cell or written answer; None where a person gives them.
        unanswered: by solution cell, whether it is as it was released.
    """

    points: dict[str, float | None]
    unanswered: dict[str, bool]


def marks_of(notebook: NotebookNode) -> Marks:
    """The marks in a graded notebook, verdicts in its test cells."""
    marks = Marks({}, {})
    for cell in notebook.cells:
        if "nbgrader" not in cell["metadata"]:
            continue
        if is_grade(cell):
            marks.points[cell.metadata.nbgrader.grade_id], _ = determine_grade(cell)
        if is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            marks.unanswered[cell.metadata.nbgrader.grade_id] = untouched
    return marks
