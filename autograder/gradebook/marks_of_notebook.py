"""Reads the marks of a graded notebook for the gradebook, as nbgrader does."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

from ..course_folder.own_notebooks import exercises_of
from ..model import UNJUDGED, Marks


def marks_of(notebook: NotebookNode) -> Marks:
    """Return the marks in a graded notebook, verdicts in its test cells.

    The mark of a test cell that waits for a person is removed from the cell.
    """
    marks = Marks({}, {})
    report = notebook.metadata.get("autograder", {}).get("report", {})
    results = report.get("exercises", ())
    bonus = {each["id"]: each["points"] for each in results if each.get("bonus")}
    ids = exercises_of(notebook.cells)
    for cell in notebook.cells:
        if "nbgrader" not in cell["metadata"]:
            continue
        if is_grade(cell):
            grade_id = cell.metadata.nbgrader.grade_id
            is_unjudged = cell.metadata.pop(UNJUDGED, False)
            if ids[grade_id] in bonus:
                # nbgrader refuses more points than the cell has there, which is 0.
                points = bonus[ids[grade_id]]
            else:
                points = None if is_unjudged else determine_grade(cell)[0]
                if points is None and not cell.metadata.nbgrader.points:
                    points = 0.0  # A cell without points needs no person to mark it.
            marks.points[grade_id] = points
        if is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            marks.unanswered[cell.metadata.nbgrader.grade_id] = untouched
    return marks
