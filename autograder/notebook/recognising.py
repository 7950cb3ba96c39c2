"""Recognises which assignment a submitted notebook belongs to, by its cells."""

from __future__ import annotations

from pathlib import Path

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution, is_task

from ..course_folder.assignments import part_names, place_of
from ..course_folder.own_notebooks import source_cells
from ..errors import CourseError, UnreadableNotebook
from ..texts import command
from .aligning import known_names, marks_of, squeezed
from .restoring import template


def refuse_another(course: Path, notebook: NotebookNode, where: str, name: str) -> None:
    """Raise `UnreadableNotebook` for another assignment's notebook.

    A later notebook contains the answers to an earlier one, so that it would earn marks for them. A
    notebook with a single answer, test cell or task of this assignment is accepted, and so is any
    if the assignment has none: it can earn no marks.
    """
    known = template(course, name)
    asked = {
        grade_id
        for grade_id, cell in known.originals.items()
        if is_solution(cell) or is_grade(cell) or is_task(cell)
    }
    if not asked or asked.intersection(known_names(notebook.cells, known)):
        return
    counts = _likeness(course, notebook)
    best = max(counts, key=lambda other: counts[other], default=name)
    if counts.get(best, (0, 0)) > counts.get(name, (0, 0)):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: its cells are those of {best!r}. "
            "Ask for the right file."
        )


def which_assignment(course: Path, notebook: NotebookNode, where: str) -> str:
    """Return the assignment that most of the notebook's cells belong to."""
    counts = _likeness(course, notebook)
    best = max(counts, key=lambda name: counts[name], default=None)
    _refuse_unreleased(course, notebook, counts[best][0] if best else 0, where)
    if best is None or not any(counts[best]):
        raise UnreadableNotebook(
            f"{where}: this is not a notebook of this course: none of its cells is in it. "
            "Ask for the right file."
        )
    return best


def _refuse_unreleased(course: Path, notebook: NotebookNode, most: int, where: str) -> None:
    """Raise `CourseError` if the notebook has more cells of an assignment without a release."""
    held = {marks_of(cell).get("grade_id") for cell in notebook.cells} - {None}
    for name in part_names(course):
        source = place_of(course, name).inside(course / "source")
        if not place_of(course, name).inside(course / "release").exists():
            own = {marks_of(cell).get("grade_id") for cell in source_cells(course, source)}
            if len(held & own) > most:
                raise CourseError(
                    f"{where} is of {name}, which has no release: run "
                    f"{command('autograder', 'release', name)}"
                )


def _likeness(course: Path, notebook: NotebookNode) -> dict[str, tuple[int, int]]:
    """Return how many of each assignment's cells the notebook has, by name and by text."""
    texts = {squeezed(cell.source) for cell in notebook.cells}
    counts = {}
    for name in part_names(course):
        if place_of(course, name).inside(course / "release").exists():
            known = template(course, name)
            named = set(known_names(notebook.cells, known)) - {None}
            released = {text for text, _, _ in known.released if text}
            counts[name] = (len(named), len(texts & released))
    return counts
