"""Renders Markdown as nbconvert does, but with formulas as MathML, and sanitizes the result."""

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
"""Greatest number of characters of one text and of all texts of a page that are rendered. A longer
text is shown as plain text, since rendering some forms of Markdown takes quadratic time."""

MAX_SECONDS = 3.0
"""Greatest number of processor seconds for a page's Markdown; the rest of the Markdown is shown as
plain text."""

_SPACES = re.compile(r"[ \t]{200,}")
"""Runs of white space, for which mistune takes quadratic time."""


class _Renderer(IPythonRenderer):
    """Renders formulas as MathML, which browsers show without a script."""

    def block_math(self, body: str) -> str:
        return mathml(body.strip(), display=True)

    def inline_math(self, body: str) -> str:
        return mathml(body.strip())

    def latex_environment(self, name: str, body: str) -> str:
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)


_OUTSIDE_COMMENTS = (
    "atx_heading", "axt_heading", "setex_heading", "block_quote", "ref_link", "raw_html",
    "def_list", "inline_html", "link", "link_close", "auto_link", "auto_email",
)  # fmt: skip
"""The rules of Markdown, by mistune's names, that take characters away or hide an address."""

_OPERATOR = re.compile(r"\w\*+\w|\b__\w")
"""Asterisks as in x**2, and underscores as in __init__."""


def _comment_parser() -> MarkdownWithMath:
    """Return a parser without the rules in `_OUTSIDE_COMMENTS`, and without task lists."""
    renderer = _Renderer(escape=True, attachments={}, exclude_anchor_links=True)
    parser = MarkdownWithMath(renderer=renderer)
    block, inline = parser.block, parser.inline
    for rules in (block.rules, block.list_rules, inline.rules):
        rules[:] = [rule for rule in rules if rule not in _OUTSIDE_COMMENTS]
    parser.before_render_hooks.clear()
    return parser


def comment_html(comment: str, resources: dict[str, Any]) -> str:
    """Return what a person wrote about an answer as sanitized HTML: Markdown and formulas, with any
    HTML as text, so that `x<y and y>z` stays whole.

    Args:
        resources: as of `markdown_html`.
    """
    return markdown_html(comment, resources, None)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """Return Markdown as sanitized HTML: a Jinja filter that replaces nbconvert's of this name."""
    resources: dict[str, Any] = context.get("resources", {})
    attachments = context.get("cell", {}).get("attachments", {})
    return markdown_html(source, resources, attachments)


def markdown_html(
    source: str, resources: dict[str, Any], attachments: dict[str, Any] | None
) -> str:
    """Return Markdown as sanitized HTML, or as plain text if it is over a limit.

    Args:
        resources: the page's nbconvert resources. They hold the characters and the seconds that are
            left for the page, and this function updates them.
        attachments: the cell's attachments, by name; None if the source is a comment.
    """
    left = resources.get("markdown_left", MAX_LENGTH_OF_A_PAGE) - len(source)
    resources["markdown_left"] = left
    seconds = resources.setdefault("markdown_seconds", MAX_SECONDS)
    shown = None
    if left >= 0 and seconds > 0 and len(source) <= MAX_LENGTH:
        started = time.thread_time()
        shown = _render_cached(source) if attachments == {} else _render(source, attachments)
        resources["markdown_seconds"] = seconds - (time.thread_time() - started)
    if shown is not None:
        return framed(shown)
    style = "white-space:pre-wrap;max-height:90vh;overflow:auto"
    return f'<pre style="{style}">{escape(source)}</pre>'


def _render(source: str, attachments: dict[str, Any] | None) -> str | None:
    """Return Markdown as sanitized HTML; None if there are too many tags, or rendering fails."""
    if attachments is None:
        parser = _comment_parser()
        if _OPERATOR.search(source):
            parser.inline.rules.remove("emphasis")
    else:
        renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
        parser = MarkdownWithMath(renderer=renderer)
    try:
        html: str = parser.render(_SPACES.sub(" " * 200, source))
    except (RecursionError, InvalidNotebook):  # Deep nesting, or a missing attachment.
        return None
    return safe_html(html) if tags_in(html) <= MAX_TAGS else None


@cached_by_text(4_000_000)
def _render_cached(source: str) -> str | None:
    """Render Markdown without attachments.

    The results are cached, since the course's own cells are the same in all submissions of a class.
    """
    return _render(source, {})
