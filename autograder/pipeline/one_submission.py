"""Grades a submitted file: read, restore, run, judge. Touches no gradebook."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from ..course_folder.assignments import load_assignment
from ..judging.grader import Grader
from ..model import Report
from ..notebook.intake import read_plain_file
from ..notebook.reading import read_notebook
from ..notebook.recognising import refuse_another, which_assignment
from ..notebook.restoring import Restored, cells_to_run, restore, template
from ..notebook.verdicts import write_results

_log = logging.getLogger(__name__)


def grade_file(grader: Grader, path: Path, name: str | None = None) -> tuple[NotebookNode, Report]:
    """Grade one notebook file.

    Args:
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
    """Grade the content of a notebook file; `where` is the file's name, for messages."""
    started = time.thread_time()
    notebook = read_notebook(content, where)
    taken = time.thread_time() - started
    if name is None:
        name = which_assignment(grader.course, notebook, where)
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
    """Run and judge a restored notebook; write the outcome into it and return the report.

    Args:
        taken: seconds of the submission's time that reading it has taken.
    """
    assignment = load_assignment(grader.course, name)
    cells = cells_to_run(restored.notebook, assignment.in_notebook)
    graded = grader.grade(name, [cell for _, cell in cells], taken=taken)
    return write_results(restored, [place for place, _ in cells], graded, assignment)
