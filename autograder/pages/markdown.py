"""Renders Markdown for nbgrader's pages: as nbconvert does, formulas set, made safe."""

from __future__ import annotations

import re
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
from .mathml import mathml

MAX_LENGTH, MAX_LENGTH_OF_A_PAGE = 20_000, 400_000
"""Characters. Longer texts are shown as they are, since some forms of Markdown take long."""

MAX_SECONDS = 3.0
"""Processor seconds for a page's Markdown; the rest is shown as it is."""


_SPACES = re.compile(r"[ \t]{200,}")
"""Runs that mistune takes long for."""


class _Renderer(IPythonRenderer):
    """Writes formulas as MathML, so that browsers need not load a script for them."""

    def block_math(self, body: str) -> str:
        return mathml(body.strip(), display=True)

    def inline_math(self, body: str) -> str:
        return mathml(body.strip())

    def latex_environment(self, name: str, body: str) -> str:
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """Return the Markdown of a cell or an output as sanitized HTML: a filter for templates."""
    resources: dict[str, Any] = context.get("resources", {})
    attachments = context.get("cell", {}).get("attachments", {})
    return markdown_html(source, resources, attachments)


def markdown_html(source: str, resources: dict[str, Any], attachments: dict[str, Any]) -> str:
    """Return the Markdown as sanitized HTML.

    Args:
        resources: of the page; they hold how much more Markdown it may have.
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
    """Return the Markdown as safe HTML, or None if that has too many tags."""
    renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    try:
        html: str = MarkdownWithMath(renderer=renderer).render(_SPACES.sub(" " * 200, source))
    except (RecursionError, InvalidNotebook):  # an attachment that is missing
        return None
    return safe_html(html) if tags_in(html) <= MAX_TAGS else None


@cached_by_text(4_000_000)
def _rendered_once(source: str) -> str | None:
    """Return the rendered Markdown, cached: the lesson's cells are the same for a whole class."""
    return _rendered(source, {})
