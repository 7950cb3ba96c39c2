"""Makes a student's feedback page: one file without a script, readable offline and on paper.

It does what nbgrader's HTML exporter does with these notebooks, several times as fast. What the
student wrote and displayed is made safe once more on its way in, whatever graded the notebook.
"""

from __future__ import annotations

import json
import re
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
from ...notebook.intake import leave_out_broken_names
from ...notebook.outputs import MAX_COLOURS, is_base64
from ...notebook.sanitizing import MAX_TAGS, safe_html, safe_svg, tags_in
from ..markdown import markdown_html
from ..mathml import mathml
from ..templates import templates
from .summary import first_to_mend, summary

Resources = dict[str, Any]

MAX_CODE, MAX_CODE_OF_A_PAGE = 50_000, 300_000
"""Characters. Longer cells, and what comes after them on a long page, are shown without colours."""

COLOURS = Path(__file__).parents[2] / "delivery" / "lesson" / "look" / "colours.css"
_LATEX = re.compile(r"\A\s*(\$\$|\$|\\\[)(.*?)(\$\$|\$|\\\])\s*\Z", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.*\S)", re.MULTILINE)
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class FeedbackExporter(Exporter):
    """The exporter with which `nbgrader generate_feedback` makes pages in this course."""

    output_mimetype = "text/html"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, GenerateFeedback):
            leave_out_broken_names(self.parent.assignments, self.log)

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
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        return feedback_page(nb, resources), resources


def _read(path: Path) -> NotebookNode:
    """The notebook; one of the current format is not validated again, which takes long."""
    text = path.read_text("utf-8")
    current = json.loads(text).get("nbformat") == 4
    notebook: NotebookNode = (
        nbformat.v4.reads(text) if current else nbformat.reads(text, as_version=4)
    )
    return notebook


def feedback_page(notebook: NotebookNode, resources: Resources) -> str:
    """The page for a notebook in which marks and comments have been put."""
    lines = summary(notebook)
    about = resources["nbgrader"]
    return _template().render(
        about=about,
        lines=lines,
        first=first_to_mend(lines),
        waiting=any(line.points is None for line in lines),
        by_id={line.id: line for line in lines},
        parts=parts(notebook.cells),
        notes=notebook.metadata.get("autograder", {}).get("report", {}).get("notes", ()),
        markdown=lambda cell: Markup(
            markdown_html(cell.source, resources, cell.get("attachments", {}))
        ),
        comment=lambda text: Markup(markdown_html(text, resources, {})),
        code=lambda cell: Markup(code_html(cell.source, resources)),
        outputs=lambda cell: Markup("".join(outputs_html(cell, resources))),
        colours=Markup(COLOURS.read_text("utf-8")),
    )


def parts(cells: Iterable[NotebookNode]) -> Iterator[tuple[str, list[NotebookNode]]]:
    """Yield runs of cells: answers and verdicts without a title, all else with one to fold under.

    The title is the run's first heading, or the number of its cells.
    """
    for is_own, run in groupby(cells, _is_answer_or_verdict):
        held = [*run]
        texts = (cell.source for cell in held if cell.cell_type == "markdown")
        heading = next(filter(None, map(_HEADING.search, texts)), None)
        count = f"{len(held)} cell{'s' * (len(held) > 1)} of the notebook"
        yield "" if is_own else f"{heading[1].strip()} ({count})" if heading else count, held


def _is_answer_or_verdict(cell: NotebookNode) -> bool:
    own = cell.metadata.get("nbgrader") or {}
    return any(own.get(key) for key in ("solution", "task", "grade"))


@cache
def _template() -> Template:
    environment = templates(__package__)
    environment.filters["number"] = lambda value: f"{value:.2f}".rstrip("0").rstrip(".")
    return environment.get_template("page.html")


def code_html(source: str, resources: Resources) -> str:
    """A code cell's text with colours; `resources` counts how much of a page has had them."""
    left = resources.get("code_left", MAX_CODE_OF_A_PAGE) - len(source)
    resources["code_left"] = left
    return _highlighted(source) if left >= 0 and len(source) <= MAX_CODE else escape(source)


@cached_by_text(4_000_000)
def _highlighted(source: str) -> str:
    coloured: str = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    return coloured


def outputs_html(cell: NotebookNode, resources: Resources) -> Iterator[str]:
    """Each output of a code cell, made safe."""
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
    changes = text.count("\x1b")
    if changes > MAX_COLOURS:
        text, changes = strip_ansi(text), 0
    shown = str(ansi2html(text)) if changes else escape(text)
    return f'<pre class="{escape(kind)}" tabindex="0">{shown}</pre>'


def _shown(output: NotebookNode, resources: Resources, rich: bool) -> str:
    """The best form of a displayed value: the first of these that it has."""
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
    """Return sanitized HTML, cached: verdicts and outputs of lesson cells are often the same."""
    return safe_html(html)
