"""Exports a graded notebook as a feedback page: one HTML file without scripts.

`FeedbackExporter` replaces nbgrader's HTML exporter and is several times as fast. The student's
texts and outputs are sanitized again, whatever program graded the notebook.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Template
from markupsafe import Markup
from nbconvert.exporters.exporter import Exporter
from nbconvert.filters.ansi import ansi2html, strip_ansi
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import GenerateFeedback
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets import default

from ...caching import cached_by_text
from ...course_folder.course import COURSE, Course
from ...notebook.intake import leave_out_broken_names
from ...notebook.outputs import MAX_COLOURS, is_base64
from ...notebook.sanitizing import MAX_TAGS, safe_html, safe_svg, tags_in
from ..markdown import comment_html, markdown_html
from ..mathml import mathml
from ..templates import templates
from .from_gradebook import StoredMarks, course_rubrics, is_current, stored_marks
from .summary import count_built_on, first_to_mend, summary

Resources = dict[str, Any]

MAX_CODE, MAX_CODE_OF_A_PAGE = 50_000, 300_000
"""Greatest number of characters of code that are highlighted, of a cell and of a page."""

COLOURS = Path(__file__).parents[2] / "publishing" / "lesson" / "look" / "colours.css"
_LATEX = re.compile(r"\A\s*(\$\$|\$|\\\[)(.*?)(\$\$|\$|\\\])\s*\Z", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.*\S)", re.MULTILINE)
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class FeedbackExporter(Exporter):
    """Exporter for `nbgrader generate_feedback`."""

    output_mimetype = "text/html"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, GenerateFeedback):
            leave_out_broken_names(self.parent.assignments, self.log)
            if not self.parent.force:
                self._remove_older_pages(self.parent)

    def _remove_older_pages(self, converter: GenerateFeedback) -> None:
        """Delete pages that do not show the gradebook's marks: nbgrader skips existing pages."""
        folders = converter.coursedir
        stored_by_notebook: dict[tuple[str, str], dict[str, StoredMarks]] = {}
        for path in sorted(path for paths in converter.assignments.values() for path in paths):
            about = converter.init_single_notebook_resources(path)["nbgrader"]
            name, notebook, student = about["assignment"], about["notebook"], about["student"]
            if (name, notebook) not in stored_by_notebook:
                rubrics = course_rubrics(Course(Path(folders.root)), name, notebook)
                stored_by_notebook[name, notebook] = stored_marks(
                    about["db_url"], name, notebook, rubrics=rubrics
                )
            folder = Path(folders.format_path(folders.feedback_directory, student, name))
            page = folder / f"{notebook}.html"
            stored = stored_by_notebook[name, notebook].get(student)
            if page.exists() and not is_current(page, Path(path), stored):
                self.log.warning("%s is older than its marks, and is made again", page)
                if folders.notebook_id == "*":
                    shutil.rmtree(folder)
                else:
                    page.unlink()

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(
        self, filename: str, resources: Resources | None = None, **keywords: Any
    ) -> tuple[Any, Resources]:
        notebook = _read(Path(filename))
        return self.from_notebook_node(notebook, resources, **keywords)

    def from_notebook_node(
        self, nb: NotebookNode, resources: Resources | None = None, **_: Any
    ) -> tuple[Any, Resources]:
        resources = self._init_resources(resources)
        if isinstance(self.parent, GenerateFeedback):
            resources[COURSE] = Course(Path(self.parent.coursedir.root))
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        return feedback_page(nb, resources), resources


def _read(path: Path) -> NotebookNode:
    """Read a notebook, without the slow validation if it is in nbformat 4."""
    text = path.read_text("utf-8")
    current = json.loads(text).get("nbformat") == 4
    notebook: NotebookNode = (
        nbformat.v4.reads(text) if current else nbformat.reads(text, as_version=4)
    )
    return notebook


def feedback_page(notebook: NotebookNode, resources: Resources) -> str:
    """Return the feedback page, as HTML, for a notebook whose metadata holds marks and comments.

    Args:
        resources: nbconvert's resources, as `ReadMarks` leaves them.
    """
    lines = summary(notebook)
    first = first_to_mend(lines)
    about = resources["nbgrader"]
    return _template().render(
        about=about,
        lines=lines,
        first=first,
        build_on_first=count_built_on(first, lines) if first else 0,
        waiting=any(line.points is None for line in lines),
        by_id={line.id: line for line in lines},
        explained=about.get("explained", {}),
        parts=parts(notebook.cells),
        notes=notebook.metadata.get("autograder", {}).get("report", {}).get("notes", ()),
        markdown=lambda cell: Markup(
            markdown_html(cell.source, resources, cell.get("attachments", {}))
        ),
        comment=lambda text: Markup(comment_html(text, resources)),
        code=lambda cell: Markup(code_html(cell.source, resources)),
        outputs=lambda cell: Markup("".join(outputs_html(cell, resources))),
        colours=Markup(COLOURS.read_text("utf-8")),
    )


def parts(cells: Iterable[NotebookNode]) -> Iterator[tuple[str, list[NotebookNode]]]:
    """Yield runs of consecutive cells, each with a title.

    A run of answers and verdicts has the title "", and the page shows it unfolded. The title of any
    other run is its first heading, if any, with the number of its cells.
    """
    for is_graded, group in groupby(cells, _is_answer_or_verdict):
        run = [*group]
        texts = (cell.source for cell in run if cell.cell_type == "markdown")
        heading = next(filter(None, map(_HEADING.search, texts)), None)
        count = f"{len(run)} cell{'s' * (len(run) > 1)} of the notebook"
        yield "" if is_graded else f"{heading[1].strip()} ({count})" if heading else count, run


def _is_answer_or_verdict(cell: NotebookNode) -> bool:
    metadata = cell.metadata.get("nbgrader") or {}
    return any(metadata.get(key) for key in ("solution", "task", "grade"))


@cache
def _template() -> Template:
    environment = templates(__package__)
    environment.filters["number"] = lambda value: f"{value:.2f}".rstrip("0").rstrip(".")
    return environment.get_template("page.html")


def code_html(source: str, resources: Resources) -> str:
    """Return a code cell's source as HTML; without highlighting if it exceeds a limit.

    Args:
        resources: the page's nbconvert resources. They hold the number of characters that may still
            be highlighted on the page, and this function updates it.
    """
    left = resources.get("code_left", MAX_CODE_OF_A_PAGE) - len(source)
    resources["code_left"] = left
    return _highlighted(source) if left >= 0 and len(source) <= MAX_CODE else escape(source)


@cached_by_text(4_000_000)
def _highlighted(source: str) -> str:
    coloured: str = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    return coloured


def outputs_html(cell: NotebookNode, resources: Resources) -> Iterator[str]:
    """Yield each output of a code cell as sanitized HTML."""
    tags = MAX_TAGS
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            yield _text(output.text, f"output_{output.name}")
        elif output.output_type == "error":
            yield _text("\n".join(output.traceback), "output_error")
        else:
            tags -= tags_in(output.data.get("text/html", ""))
            yield _shown(output, resources, rich=tags >= 0)


def _text(text: str, kind: str) -> str:
    """Return a text as HTML; ANSI escapes become colours unless there are too many.

    Args:
        kind: the CSS class of the element.
    """
    changes = text.count("\x1b")
    if changes > MAX_COLOURS:
        text, changes = strip_ansi(text), 0
    shown = str(ansi2html(text)) if changes else escape(text)
    return f'<pre class="{escape(kind)}" tabindex="0">{shown}</pre>'


def _shown(output: NotebookNode, resources: Resources, rich: bool) -> str:
    """Return a displayed output as sanitized HTML, in the richest MIME type that a page can show.

    Args:
        rich: whether `text/html` may be used.
    """
    data = output.data
    if "text/html" in data and rich:
        return f'<div class="output_html frame">{_safe(data["text/html"])}</div>'
    if "text/markdown" in data:
        shown = markdown_html(data["text/markdown"], resources, {})
        return f'<div class="output_markdown frame">{shown}</div>'
    if "image/svg+xml" in data and (drawing := safe_svg(data["image/svg+xml"])) is not None:
        return f'<div class="output_svg">{_safe(drawing)}</div>'
    if "text/latex" in data and (formula := _LATEX.match(data["text/latex"])):
        shown = safe_html(mathml(formula.group(2).strip(), display=formula.group(1) != "$"))
        return f'<div class="output_latex frame">{shown}</div>'
    for kind in _PICTURES:
        if kind in data and is_base64(data[kind]):
            return (
                f'<div class="output_png"><img src="data:{kind};base64,{data[kind]}" alt=""></div>'
            )
    return _text(str(data.get("text/plain", "")), "output_text")


@cached_by_text(4_000_000)
def _safe(html: str) -> str:
    """Sanitize HTML; results are cached, since many submissions have the same outputs."""
    return safe_html(html)
