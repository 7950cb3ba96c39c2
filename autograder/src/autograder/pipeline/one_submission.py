"""Grades one submitted file without a gradebook: reads, restores, runs and judges it."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from ..course_folder.course import Course
from ..judging.grader import Grader
from ..notebook.intake import read_plain_file
from ..notebook.reading import read_notebook
from ..notebook.recognising import refuse_another, which_assignment
from ..notebook.restoring import RestoredNotebook, cells_to_run, load_template, restore
from ..notebook.verdict_outputs import write_results
from ..records import Report

_log = logging.getLogger(__name__)


def grade_file(grader: Grader, path: Path, name: str | None = None) -> tuple[NotebookNode, Report]:
    """Grade one notebook file.

    Args:
        path: the notebook file.
        name: the assignment; by default the one to which most of the notebook's cells belong.

    Returns:
        The restored notebook with outputs and verdicts, and the report.

    Raises:
        UnreadableNotebook: nothing in the file can be graded.
        SandboxUnavailable: student code cannot be confined on this machine.
    """
    return grade_content(grader, read_plain_file(path), str(path), name)


def grade_content(
    grader: Grader, content: bytes, where: str, name: str | None = None
) -> tuple[NotebookNode, Report]:
    """Grade the content of a notebook file, as `grade_file` does.

    Args:
        content: the content of the file.
        where: the file's path, for messages.
        name: the assignment; by default the one to which most of the notebook's cells belong.
    """
    restored, name, taken = read_submission(grader.course, content, where, name)
    return restored.notebook, grade_restored(grader, restored, name, taken)


def read_submission(
    course: Course, content: bytes, where: str, name: str | None = None
) -> tuple[RestoredNotebook, str, float]:
    """Read and restore the content of a notebook file.

    Args:
        content: the content of the file.
        where: the file's path, for messages.
        name: the assignment; by default the one to which most of the notebook's cells belong.

    Returns:
        The restored notebook, the name of its assignment, and the processor seconds that count
        towards the submission's time limit: a student can make a file for which reading and
        restoring take long.

    Raises `UnreadableNotebook` if nothing in the file can be graded.
    """
    # Processor time is measured, since other workers may be using the processor in between.
    started = time.thread_time()
    notebook = read_notebook(content, where)
    taken = time.thread_time() - started
    if name is None:
        name = which_assignment(course, notebook, where)
    else:
        refuse_another(course, notebook, where, name)
    template = load_template(course, name)
    started = time.thread_time()
    restored = restore(notebook, template, where)
    taken += time.thread_time() - started
    if _log.isEnabledFor(logging.INFO):
        notes = " ".join(note for each in restored.notes.values() for note in each)
        what = notes or "nothing"
        _log.info("%s: read %d bytes in %.3f s; mended: %s", where, len(content), taken, what)
    return restored, name, taken


def grade_restored(
    grader: Grader, restored: RestoredNotebook, name: str, taken: float = 0.0
) -> Report:
    """Run and judge a restored notebook, write outputs and verdicts into it, and return the report.

    Args:
        name: the assignment.
        taken: processor seconds, of the submission's time limit, that reading and restoring took.
    """
    assignment = grader.course.assignment(name)
    cells = cells_to_run(restored.notebook, assignment.in_notebook)
    graded = grader.grade(name, [cell for _, cell in cells], taken=taken)
    return write_results(restored, [index for index, _ in cells], graded, assignment)
