"""Recognises which assignment a submitted notebook belongs to, by its cells."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution, is_task

from ..course_folder.course import Course
from ..course_folder.own_notebooks import read_cells
from ..errors import CourseError, UnreadableNotebook
from ..texts import command
from .aligning import known_grade_ids, nbgrader_metadata, squeezed
from .restoring import load_template


def refuse_another(course: Course, notebook: NotebookNode, where: str, name: str) -> None:
    """Raise `UnreadableNotebook` if a notebook belongs to another assignment.

    Without this check, the notebook of a later assignment, which contains the answers of an earlier
    one, would earn marks for these. A notebook with at least one answer, test cell or task of this
    assignment is accepted. So is every notebook if the assignment has no such cell, since it can
    earn no marks then.

    Args:
        where: the file's name, for messages.
        name: the assignment's name.
    """
    template = load_template(course, name)
    own = {
        grade_id
        for grade_id, cell in template.originals.items()
        if is_solution(cell) or is_grade(cell) or is_task(cell)
    }
    if not own or own.intersection(known_grade_ids(notebook.cells, template)):
        return
    counts = _count_cells(course, notebook)
    best = max(counts, key=lambda other: counts[other], default=name)
    if counts.get(best, (0, 0)) > counts.get(name, (0, 0)):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: its cells are those of {best!r}. "
            "The right file has to be handed in."
        )


def which_assignment(course: Course, notebook: NotebookNode, where: str) -> str:
    """Return the name of the released assignment to which most of the notebook's cells belong.

    Raises `UnreadableNotebook` if no assignment has one of the cells, and `CourseError` if an
    assignment without a release has more of them than every released one.

    Args:
        where: the file's name, for messages.
    """
    counts = _count_cells(course, notebook)
    best = max(counts, key=lambda name: counts[name], default=None)
    _refuse_unreleased(course, notebook, counts[best][0] if best else 0, where)
    if best is None or not any(counts[best]):
        raise UnreadableNotebook(
            f"{where}: this is not a notebook of this course: none of its cells is in it. "
            "The right file has to be handed in."
        )
    return best


def _refuse_unreleased(course: Course, notebook: NotebookNode, most: int, where: str) -> None:
    """Raise `CourseError` if more than `most` of the cells belong to an assignment without a
    release."""
    grade_ids = {nbgrader_metadata(cell).get("grade_id") for cell in notebook.cells} - {None}
    for name in course.part_names():
        if not course.release_of(name).exists():
            cells = read_cells(*course.source_files(name))
            own = {nbgrader_metadata(cell).get("grade_id") for cell in cells}
            if len(grade_ids & own) > most:
                raise CourseError(
                    f"{where} is of {name}, which has no release: run "
                    f"{command('autograder', 'release', name)}"
                )


def _count_cells(course: Course, notebook: NotebookNode) -> dict[str, tuple[int, int]]:
    """Return for each released assignment, by its name, two numbers: how many of its cells the
    notebook has by grade_id or cell id, and how many by their text."""
    texts = {squeezed(cell.source) for cell in notebook.cells}
    counts = {}
    for name in course.part_names():
        if course.release_of(name).exists():
            template = load_template(course, name)
            grade_ids = set(known_grade_ids(notebook.cells, template)) - {None}
            released = {text for text, _, _ in template.released if text}
            counts[name] = (len(grade_ids), len(texts & released))
    return counts
