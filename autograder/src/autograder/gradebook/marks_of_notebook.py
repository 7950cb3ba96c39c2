"""Reads the marks from a graded notebook, as nbgrader does before it stores them."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

from ..course_folder.own_notebooks import exercises_of
from ..records import UNJUDGED, Marks, Status


def marks_of(notebook: NotebookNode) -> Marks:
    """Return the marks in a graded notebook, whose test cells have the verdicts as outputs.

    This removes the key `UNJUDGED` from the metadata of test cells that wait for a person.
    """
    marks = Marks({}, {})
    report = notebook.metadata.get("autograder", {}).get("report", {})
    results = report.get("exercises", ())
    bonus = {each["id"]: each["points"] for each in results if each.get("bonus")}
    missing = {each["id"] for each in results if each["status"] == Status.MISSING}
    ids = exercises_of(notebook.cells)
    for cell in notebook.cells:
        if "nbgrader" not in cell["metadata"]:
            continue
        if is_grade(cell):
            grade_id = cell.metadata.nbgrader.grade_id
            is_unjudged = cell.metadata.pop(UNJUDGED, False)
            if ids[grade_id] in bonus:
                # A bonus exercise's cell has 0 points in nbgrader, and `determine_grade` refuses
                # more than that.
                points = bonus[ids[grade_id]]
            elif ids[grade_id] in missing:
                points = 0.0
            else:
                points = None if is_unjudged else determine_grade(cell)[0]
                if points is None and not cell.metadata.nbgrader.points:
                    points = 0.0  # Nobody needs to mark a cell without points.
            marks.points[grade_id] = points
        if is_solution(cell):
            grade_id = cell.metadata.nbgrader.grade_id
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            marks.unanswered[grade_id] = untouched or grade_id in missing
    return marks
