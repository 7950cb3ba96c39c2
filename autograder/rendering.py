"""Renders Markdown for nbgrader's pages: as nbconvert does, made safe."""

from __future__ import annotations

from html import escape
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import (
    InvalidNotebook,
    IPythonRenderer,
    MarkdownWithMath,
)

from .sanitizing import MAX_TAGS, safe_html, tags_in

MAX_LENGTH, MAX_LENGTH_OF_A_PAGE = 20_000, 400_000
"""Characters. Longer texts are shown as they are, since Markdown has forms that take long."""


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The Markdown of a cell or an output as HTML that only shows: a filter for templates."""
    resources: dict[str, Any] = context.get("resources", {})
    left = resources.get("markdown_left", MAX_LENGTH_OF_A_PAGE) - len(source)
    resources["markdown_left"] = left
    if left >= 0 and len(source) <= MAX_LENGTH:
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
        try:
            html: str = MarkdownWithMath(renderer=renderer).render(source)
            if tags_in(html) <= MAX_TAGS:
                return safe_html(html)
        except (RecursionError, InvalidNotebook):  # an attachment that is missing
            pass
    style = "white-space:pre-wrap;max-height:90vh;overflow:auto"
    return f'<pre style="{style}">{escape(source)}</pre>'
