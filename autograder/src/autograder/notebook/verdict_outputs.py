"""Writes verdicts into the test cells of a restored notebook."""

from __future__ import annotations

from hashlib import blake2b
from textwrap import indent

import nbformat
from nbformat.notebooknode import NotebookNode

from ..course_folder.assignments import Assignment
from ..course_folder.own_notebooks import exercises_of
from ..records import IN_NOTEBOOK, UNJUDGED, ExerciseResult, JudgedNotebook, Report, Status
from .aligning import nbgrader_metadata
from .cards import card
from .reading import new_cell
from .restoring import RestoredNotebook, exercise_of, is_blank, unique_ids

MARKING_GUIDE = "marking-guide"
_MEND = (
    "The exercise has no marks, and costs nobody a point. Mend this and grade again, or give "
    "the points by hand."
)


def write_results(
    restored: RestoredNotebook, places: list[int], graded: JudgedNotebook, assignment: Assignment
) -> Report:
    """Write outputs and verdicts into the notebook's cells, and return the report.

    A verdict is written as an output of the exercise's test cell. The plain text of this output is
    the points, which nbgrader reads. If the test cell itself gave the points, its own outputs
    follow, for the instructor.

    Args:
        places: for each cell that ran, its index in the notebook.
        graded: the report, and how the cells went, in the same order.
    """
    notebook, report = restored.notebook, graded.report
    for place, ran in zip(places, graded.ran, strict=True):
        notebook.cells[place].outputs = nbformat.from_dict(ran.outputs)
        notebook.cells[place].execution_count = ran.execution_count
    by_id = {result.id: result for result in report.exercises}
    answers = {nbgrader_metadata(cell)["grade_id"]: cell.source for cell in notebook.cells
               if nbgrader_metadata(cell).get("solution")}  # fmt: skip
    for each in report.exercises:
        # If no answer has the exercise's name, its test cell may test any answer of the notebook.
        text = answers.get(each.id, "\0".join(answers.values()))
        each.answer = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        stub = assignment.exercises[each.id].stub
        waits = each.status == Status.MANUAL and each.id in answers
        if restored.is_blank or (waits and is_blank(text, stub)):
            each.points, each.status, each.defect = 0.0, Status.MISSING, ""
            each.message = "No answer was found."
    results: dict[str, ExerciseResult] = {}
    ids = exercises_of(notebook.cells)
    for cell in notebook.cells:
        marks = nbgrader_metadata(cell)
        result = by_id.get(ids.get(marks.get("grade_id", ""), ""))
        if not marks.get("grade") or marks.get("solution") or result is None:
            continue
        results[marks["grade_id"]] = result
        if result.status == Status.MANUAL:
            continue
        if result.points is None:
            cell.metadata[UNJUDGED] = True
        notes = restored.notes.get(exercise_of(marks["grade_id"]), [])
        result.note = " ".join([*notes, result.note]).strip()
        data = {"text/plain": f"{result.points or 0.0}", "text/html": card(result, result.drawing)}
        output = {"output_type": "execute_result", "data": data, "metadata": {}}
        shown = cell.outputs if report.tests == IN_NOTEBOOK else []
        cell.outputs = [nbformat.from_dict({**output, "execution_count": None}), *shown]
        cell.execution_count = None
    _add_marking_guides(notebook, assignment, results)
    for exercise, notes in restored.notes.items():
        if exercise not in assignment.exercises:
            report.notes += notes
    if report.notes:
        listed = "\n".join(f"- {note}" for note in report.notes)
        notebook.cells.insert(0, new_cell("markdown", f"**About this file**\n\n{listed}"))
        unique_ids(notebook.cells)
    return report


def _add_marking_guides(
    notebook: NotebookNode, assignment: Assignment, results: dict[str, ExerciseResult]
) -> None:
    """Insert Markdown cells that only the instructor sees: below an answer that a person marks, the
    solution and the marking guide; below a test cell, the test defect if there is one.

    Args:
        results: by the grade_id of a test cell, the result of its exercise.
    """
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        grade_id = nbgrader_metadata(cell).get("grade_id", "")
        exercise, result = assignment.exercises.get(grade_id), results.get(grade_id)
        text = f"### For marking\n\n{exercise.marking_guide}" if exercise else ""
        if result is not None and result.defect:
            text = f"### A test is broken\n\n{indent(result.defect, '    ')}\n\n{_MEND}"
        elif exercise is None or not exercise.marking_guide:
            continue
        if text:
            guide = new_cell("markdown", text)
            guide.id = f"{grade_id}-{MARKING_GUIDE}"
            guide.metadata["tags"] = [MARKING_GUIDE]
            cells.append(guide)
    notebook.cells = cells
    unique_ids(cells)


def without_marking_guides(notebook: NotebookNode) -> None:
    """Remove the cells that `_add_marking_guides` inserts."""
    notebook.cells = [
        cell for cell in notebook.cells if MARKING_GUIDE not in cell["metadata"].get("tags", [])
    ]
