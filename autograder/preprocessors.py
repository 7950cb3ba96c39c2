"""The nbgrader and nbconvert plugins that `nbgrader_config.py` names, one step a class."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from .assignments import find_course
from .grading import Grader
from .keys import course_key
from .notebooks import (
    Restored,
    UnreadableNotebook,
    blank,
    read_submission,
    restore,
    template,
    visible_part,
    without_marking_guides,
)
from .submissions import grade_restored

Resources = dict[str, Any]


@cache
def shared_grader(course: Path) -> Grader:
    """The grader of this process: kept warm, and ended with the process."""
    grader = Grader(course, course_key(course))
    atexit.register(grader.close)
    return grader


class SubmissionExporter(NotebookExporter):
    """Reads a notebook in any state; what holds nothing to grade becomes an empty notebook."""

    def from_filename(
        self, filename: str, resources: Resources | None = None, **keywords: Any
    ) -> tuple[Any, Resources]:
        resources = resources or {}
        try:
            notebook = read_submission(Path(filename))
        except UnreadableNotebook as error:
            self.log.error(str(error))
            resources["unreadable"] = str(error)
            notebook = nbformat.v4.new_notebook()
        output: tuple[Any, Resources] = self.from_notebook_node(notebook, resources, **keywords)
        return output


class RestoreCells(NbGraderPreprocessor):
    """Puts the course's own cells back: each once, in its place, locked ones unedited."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        known = template(find_course(), resources["nbgrader"]["assignment"])
        where = f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            restored = restore(nb, known, where)
        except UnreadableNotebook as error:
            reason = resources.get("unreadable") or str(error)
            self.log.error(reason)
            restored = blank(known, reason)
        for notes in restored.notes.values():
            for note in notes:
                self.log.warning("%s: %s", where, note)
        restored.notebook.metadata["autograder_notes"] = restored.notes
        return restored.notebook, resources


class GradeBehindWall(NbGraderPreprocessor):
    """Runs the cells in the sandbox and writes each verdict where `SaveAutoGrades` reads it."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        restored = Restored(nb, nb.metadata.pop("autograder_notes", {}))
        name = resources["nbgrader"]["assignment"]
        report = grade_restored(shared_grader(find_course()), restored, name)
        self.log.info("%s: %g of %g points", name, report.score, report.max_score)
        return nb, resources


class HideTests(NbGraderPreprocessor):
    """Takes hidden tests and marking guides out before a feedback page is made."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        without_marking_guides(nb)
        done: tuple[NotebookNode, Resources] = super().preprocess(nb, resources)
        return done

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, cell_index: int
    ) -> tuple[NotebookNode, Resources]:
        if is_grade(cell):
            cell.source = visible_part(cell.source)
        return cell, resources
