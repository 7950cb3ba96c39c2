"""A release step that sets the points of extra exercises to 0 if course.toml has `core_only`."""

from __future__ import annotations

from pathlib import Path

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from ..course_folder.assignments import is_extra, line_below_heading
from ..course_folder.course import find_course

Resources = dict[str, dict[str, str]]


class CoreOnly(NbGraderPreprocessor):
    """Sets the points of extra exercises to 0, so that they are left out of the gradebook's totals.

    This does nothing unless course.toml has `core_only = true`.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        settings = find_course(Path.cwd()).settings
        # Whether an exercise is extra is said below its heading, and holds up to the next heading.
        extra = False
        for cell in nb.cells if settings.core_only else ():
            if cell.cell_type == "markdown" and (match := settings.heading.search(cell.source)):
                extra = is_extra(line_below_heading(cell.source[match.end() :]))
            metadata = cell.metadata.get("nbgrader") or {}
            if extra and metadata.get("grade"):
                metadata["points"] = 0
        return nb, resources
