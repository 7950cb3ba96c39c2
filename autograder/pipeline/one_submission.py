"""Grades a submitted file: read, restore, run, judge. Touches no gradebook."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from ..course_folder.assignments import assignment_names, load_assignment
from ..errors import UnreadableNotebook
from ..judging.grader import Grader
from ..model import Report
from ..notebook.aligning import known_names, marks_of, squeezed
from ..notebook.intake import read_plain_file
from ..notebook.reading import read_notebook
from ..notebook.restoring import Restored, cells_to_run, restore, template, write_results

_log = logging.getLogger(__name__)


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
    return grade_content(grader, read_plain_file(path), str(path), name)


def grade_content(
    grader: Grader, content: bytes, where: str, name: str | None = None
) -> tuple[NotebookNode, Report]:
    """Grade what a notebook file holds; `where` is the file's name, for messages."""
    started = time.thread_time()
    notebook = read_notebook(content, where)
    taken = time.thread_time() - started
    if name is None:
        name = _which_assignment(grader.course, notebook, where)
    else:
        refuse_another(grader.course, notebook, where, name)
    known = template(grader.course, name)
    started = time.thread_time()
    restored = restore(notebook, known, where)
    taken += time.thread_time() - started
    if _log.isEnabledFor(logging.INFO):
        notes = " ".join(note for each in restored.notes.values() for note in each)
        what = notes or "nothing"
        _log.info("%s: read %d bytes in %.3f s; mended: %s", where, len(content), taken, what)
    return restored.notebook, grade_restored(grader, restored, name, taken)


def grade_restored(grader: Grader, restored: Restored, name: str, taken: float = 0.0) -> Report:
    """Run and judge a restored notebook; the outcome is written into it and returned.

    Args:
        taken: seconds of the submission's time that reading it has taken.
    """
    assignment = load_assignment(grader.course, name)
    cells = cells_to_run(restored.notebook, assignment.in_notebook)
    graded = grader.grade(name, [cell for _, cell in cells], taken=taken)
    return write_results(restored, [place for place, _ in cells], graded, assignment)


def refuse_another(course: Path, notebook: NotebookNode, where: str, name: str) -> None:
    """Raise `UnreadableNotebook` for another assignment's notebook.

    A later one is given what an earlier one asks for, so that it would earn marks for the answers
    that everybody is given. A notebook in which a single answer or test cell says that it is this
    assignment's is never another one.
    """
    known = template(course, name)
    asked = {
        grade_id
        for grade_id, cell in known.originals.items()
        if marks_of(cell).get("solution") or marks_of(cell).get("grade")
    }
    if asked.intersection(known_names(notebook.cells, known)):
        return
    counts = _likeness(course, notebook)
    best = max(counts, key=lambda other: counts[other], default=name)
    if counts.get(best, (0, 0)) > counts.get(name, (0, 0)):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: its cells are those of {best!r}. "
            "Ask for the right file."
        )


def _which_assignment(course: Path, notebook: NotebookNode, where: str) -> str:
    """The assignment that most of the notebook's cells belong to."""
    counts = _likeness(course, notebook)
    best = max(counts, key=lambda name: counts[name], default=None)
    if best is None or not any(counts[best]):
        raise UnreadableNotebook(
            f"{where}: this is not a notebook of this course: none of its cells is in it. "
            "Ask for the right file."
        )
    return best


def _likeness(course: Path, notebook: NotebookNode) -> dict[str, tuple[int, int]]:
    """By assignment, how many of its cells the notebook has by name, and how many by text."""
    texts = {squeezed(cell.source) for cell in notebook.cells}
    counts = {}
    for name in assignment_names(course):
        if (course / "release" / name / f"{name}.ipynb").exists():
            known = template(course, name)
            named = set(known_names(notebook.cells, known)) - {None}
            released = {text for text, _, _ in known.released if text}
            counts[name] = (len(named), len(texts & released))
    return counts
