"""What the gradebook is to hold of a graded notebook, read from it as nbgrader reads it."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

from ..model import UNJUDGED, Marks


def marks_of(notebook: NotebookNode) -> Marks:
    """The marks in a graded notebook, verdicts in its test cells.

    The mark of a test cell that waits for a person is taken off the cell.
    """
    marks = Marks({}, {})
    for cell in notebook.cells:
        if "nbgrader" not in cell["metadata"]:
            continue
        if is_grade(cell):
            points = None if cell.metadata.pop(UNJUDGED, False) else determine_grade(cell)[0]
            marks.points[cell.metadata.nbgrader.grade_id] = points
        if is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            marks.unanswered[cell.metadata.nbgrader.grade_id] = untouched
    return marks
