"""Writes solution pages: an assignment's solved notebook with the known mistakes of each exercise,
and the rubrics of written answers.

A page is one HTML file without scripts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...course_folder.course import Course
from ...course_folder.own_notebooks import exercises_of, parse_notebook
from ...course_folder.release import require_current_solution
from ...course_folder.rubrics import rubrics_of
from ..feedback.exporter import COLOURS, code_html, outputs_html
from ..markdown import markdown_html
from ..templates import templates

_MARKS = re.compile(r"^[ \t#]*(BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def write_solution_pages(course: Course, names: list[str], output: Path) -> list[Path]:
    """Write a solution page for each assignment; return the pages' paths.

    Args:
        course: the course folder, with executed notebooks in `solutions/`.
        names: the assignments.
        output: the folder for the pages, created if missing.

    Raises `CourseError` if an assignment does not exist, or its solution notebook is missing or
    differs from the source.
    """
    pages = [(name, _page(course, name)) for name in names]
    output.mkdir(parents=True, exist_ok=True)
    for name, page in pages:
        (output / f"{name}.html").write_text(page, "utf-8")
    return [output / f"{name}.html" for name in names]


def _page(course: Course, name: str) -> str:
    assignment = course.assignment(name)
    path = course.notebook_path(name)
    notebook = parse_notebook(require_current_solution(course, path.folder, path.notebook))
    for cell in notebook.cells:
        cell.source = _MARKS.sub("", cell.source)
    # The text is the course's own, so the time limit for untrusted Markdown is raised.
    resources: dict[str, Any] = {"markdown_seconds": 120.0}
    ids = exercises_of(notebook.cells)
    return (
        templates(__package__)
        .get_template("page.html")
        .render(
            name=name,
            cells=notebook.cells,
            # By grade_id of the cell that has the exercise's points: the test cell or, if a person
            # marks the answer, the answer's cell.
            exercises={cell: assignment.exercises[each] for cell, each in ids.items()},
            rubrics=rubrics_of(course, name),
            markdown=lambda cell: Markup(
                markdown_html(cell.source, resources, cell.get("attachments", {}))
            ),
            code=lambda cell: Markup(code_html(cell.source, resources)),
            outputs=lambda cell: Markup("".join(outputs_html(cell, resources))),
            colours=Markup(COLOURS.read_text("utf-8")),
        )
    )
