"""Releases extra exercises without points, if `course.toml` has the core alone graded."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from ..course_folder.assignments import find_course, is_extra, line_below_heading
from ..course_folder.settings import load_settings

Resources = dict[str, dict[str, str]]


class CoreOnly(NbGraderPreprocessor):
    """Sets the points of graded cells to 0 below the heading of an extra exercise.

    So the gradebook's totals are those of the core. Without `core_only = true` it does nothing.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        settings = load_settings(find_course())
        extra = False
        for cell in nb.cells if settings.core_only else ():
            if cell.cell_type == "markdown" and (found := settings.heading.search(cell.source)):
                extra = is_extra(line_below_heading(cell.source[found.end() :]))
            own = cell.metadata.get("nbgrader") or {}
            if extra and own.get("grade"):
                own["points"] = 0
        return nb, resources
