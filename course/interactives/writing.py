"""Formats a student's objects for messages and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def as_number(thing: Any) -> float | None:
    """Return a float, or None if the thing is no number."""
    if isinstance(thing, (bool, str)):
        return None
    try:
        return float(thing)
    except Exception:
        # Conversion runs methods of a student's object.
        return None


def brief(thing: Any) -> str:
    """Return a thing in a few characters, for a message."""
    try:
        text = repr(thing)
    except Exception:
        # A half-finished class may have a half-finished `__repr__`.
        text = f"an object of type {type(thing).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of plain text; "" if there is no row."""

    def line(cells: Sequence[str], tag: str) -> str:
        style = 'style="text-align:left;padding:3px 14px 3px 0"'
        inside = "".join(f"<{tag} {style}>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table>{line(head, 'th')}{body}</table>" if body else ""
