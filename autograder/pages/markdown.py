"""Renders Markdown for nbgrader's pages: as nbconvert does, formulas set, made safe."""

from __future__ import annotations

import time
from html import escape
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import (
    InvalidNotebook,
    IPythonRenderer,
    MarkdownWithMath,
)

from ..caching import cached_by_text
from ..notebook.sanitizing import MAX_TAGS, framed, safe_html, tags_in
from .formulas import mathml

MAX_LENGTH, MAX_LENGTH_OF_A_PAGE = 20_000, 400_000
"""Characters. Longer texts are shown as they are, since Markdown has forms that take long."""

MAX_SECONDS = 3.0
"""Of processor time that a page's Markdown may take; what comes after that is shown as it is."""


class _Renderer(IPythonRenderer):
    """Writes formulas as MathML, so that nobody's browser has to fetch what sets them."""

    def block_math(self, body: str) -> str:
        return mathml(body.strip(), display=True)

    def inline_math(self, body: str) -> str:
        return mathml(body.strip())

    def latex_environment(self, name: str, body: str) -> str:
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The Markdown of a cell or an output as HTML that only shows: a filter for templates."""
    resources: dict[str, Any] = context.get("resources", {})
    attachments = context.get("cell", {}).get("attachments", {})
    return markdown_html(source, resources, attachments)


def markdown_html(source: str, resources: dict[str, Any], attachments: dict[str, Any]) -> str:
    """The Markdown as HTML that only shows.

    Args:
        resources: of the page; how much more Markdown it may hold is kept in it.
        attachments: the cell's pictures, by name.
    """
    left = resources.get("markdown_left", MAX_LENGTH_OF_A_PAGE) - len(source)
    resources["markdown_left"] = left
    seconds = resources.setdefault("markdown_seconds", MAX_SECONDS)
    shown = None
    if left >= 0 and seconds > 0 and len(source) <= MAX_LENGTH:
        started = time.thread_time()
        shown = _rendered(source, attachments) if attachments else _rendered_once(source)
        resources["markdown_seconds"] = seconds - (time.thread_time() - started)
    if shown is not None:
        return framed(shown)
    style = "white-space:pre-wrap;max-height:90vh;overflow:auto"
    return f'<pre style="{style}">{escape(source)}</pre>'


def _rendered(source: str, attachments: dict[str, Any]) -> str | None:
    """The Markdown as safe HTML, or None where that takes too much."""
    renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    try:
        html: str = MarkdownWithMath(renderer=renderer).render(source)
    except (RecursionError, InvalidNotebook):  # an attachment that is missing
        return None
    return safe_html(html) if tags_in(html) <= MAX_TAGS else None


@cached_by_text(4_000_000)
def _rendered_once(source: str) -> str | None:
    """The lesson's own cells are the same in every notebook of a class."""
    return _rendered(source, {})
