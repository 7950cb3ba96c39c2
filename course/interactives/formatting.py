"""Formats a student's objects for messages and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def brief(thing: Any) -> str:
    """Return an object's repr for a message, cut to 40 characters."""
    try:
        text = repr(thing)
    except Exception:
        # A half-finished class may have a half-finished `__repr__`.
        text = f"an object of type {type(thing).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table from cells of plain text; "" if there is no row."""

    def line(cells: Sequence[str], tag: str) -> str:
        style = 'style="text-align:left;padding:3px 14px 3px 0"'
        inside = "".join(f"<{tag} {style}>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table>{line(head, 'th')}{body}</table>" if body else ""
