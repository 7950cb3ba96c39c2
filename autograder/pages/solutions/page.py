"""Makes the page of an assignment's solution: the solved notebook, and the known mistakes with it.

The page is one file without a script, readable offline and on paper.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from markupsafe import Markup

from ...course_folder.assignments import load_assignment, place_of
from ...course_folder.own_notebooks import exercises_of
from ...errors import CourseError
from ...texts import command
from ..feedback.exporter import COLOURS, code_html, outputs_html
from ..markdown import markdown_html
from ..templates import templates

_MARKS = re.compile(r"^[ \t#]*(BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def write_solution_pages(course: Path, names: list[str], output: Path) -> list[Path]:
    """Write a page for each assignment; return their paths.

    Args:
        course: the course folder, with the executed notebooks in `solutions/`.

    Raises `CourseError` if there is no such assignment, or it has no solution notebook.
    """
    pages = [(name, _page(course, name)) for name in names]
    output.mkdir(parents=True, exist_ok=True)
    for name, page in pages:
        (output / f"{name}.html").write_text(page, "utf-8")
    return [output / f"{name}.html" for name in names]


def _page(course: Path, name: str) -> str:
    assignment = load_assignment(course, name)
    path = place_of(course, name).inside(course / "solutions")
    if not path.is_file():
        raise CourseError(
            f"{path} is missing: run {command('autograder', 'release', '--solutions', name)} first"
        )
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = _MARKS.sub("", cell.source)
    # All text is the course's own, so that no limit is needed.
    resources: dict[str, Any] = {"markdown_seconds": 120.0}
    ids = exercises_of(notebook.cells)
    return (
        templates(__package__)
        .get_template("page.html")
        .render(
            name=name,
            cells=notebook.cells,
            # They stand below the check, or below the answer if there is none.
            exercises={cell: assignment.exercises[each] for cell, each in ids.items()},
            markdown=lambda cell: Markup(
                markdown_html(cell.source, resources, cell.get("attachments", {}))
            ),
            code=lambda cell: Markup(code_html(cell.source, resources)),
            outputs=lambda cell: Markup("".join(outputs_html(cell, resources))),
            colours=Markup(COLOURS.read_text("utf-8")),
        )
    )
