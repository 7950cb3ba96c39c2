"""Grades a submitted file: read, restore, run, judge. Touches no gradebook."""

from __future__ import annotations

from pathlib import Path

from nbformat.notebooknode import NotebookNode

from .assignments import assignment_names, load_assignment
from .grading import Grader
from .notebooks import (
    Restored,
    UnreadableNotebook,
    cells_to_run,
    read_submission,
    restore,
    template,
    write_results,
)
from .report import Report


def grade_file(grader: Grader, path: Path, name: str | None = None) -> tuple[NotebookNode, Report]:
    """Grade one notebook file.

    Args:
        grader: the course's grader.
        path: the file.
        name: the assignment; by default the one whose cells the notebook holds.

    Returns:
        The notebook with outputs and verdicts in place, and the report.

    Raises:
        UnreadableNotebook: nothing in the file can be graded.
        SandboxUnavailable: student code cannot be confined on this machine.
    """
    notebook = read_submission(path)
    if name is None:
        name = _which_assignment(grader.course, notebook, path)
    restored = restore(notebook, template(grader.course, name), str(path))
    return restored.notebook, grade_restored(grader, restored, name)


def grade_restored(grader: Grader, restored: Restored, name: str) -> Report:
    """Run and judge a restored notebook; the outcome is written into it and returned."""
    cells = cells_to_run(restored.notebook)
    graded = grader.grade(name, [cell for _, cell in cells])
    assignment = load_assignment(grader.course, name)
    return write_results(restored, [place for place, _ in cells], graded, assignment)


def _which_assignment(course: Path, notebook: NotebookNode, path: Path) -> str:
    """The assignment that most of the notebook's graded cells belong to."""
    found = {
        cell.metadata["nbgrader"].get("grade_id")
        for cell in notebook.cells
        if isinstance(cell.metadata.get("nbgrader"), dict)
    } | {cell.id for cell in notebook.cells}
    counts = {}
    for name in assignment_names(course):
        if (course / "release" / name / f"{name}.ipynb").exists():
            known = template(course, name)
            names = {cell.metadata.nbgrader.grade_id for cell in known} | {c.id for c in known}
            counts[name] = len(found & names)
    best = max(counts, key=lambda name: counts[name], default=None)
    if best is None or counts[best] == 0:
        raise UnreadableNotebook(
            f"{path}: this is not a notebook of this course: none of its graded cells is in it. "
            "Ask for the right file."
        )
    return best
