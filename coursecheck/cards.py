"""The cards that checks and feedback show: HTML with its own colours, readable on any page."""

from __future__ import annotations

import re
from html import escape

from coursecheck.messages import Example, describe

GREEN, ORANGE, RED, GREY = "#1a7f4b", "#b35c00", "#b3261e", "#4a5568"

_BOX = (
    "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;color:#1b1f24;"
    "background:#fff;border:1px solid #c9ced6;border-left:6px solid {accent};"
    "border-radius:6px;padding:10px 14px;margin:4px 0;max-width:60em"
)


def box(accent: str, *parts: str) -> str:
    """Return a card of HTML parts with a coloured edge."""
    return f'<div style="{_BOX.format(accent=accent)}">{"".join(parts)}</div>'


def heading(text: str, aside: str = "") -> str:
    """Return the card's first line, from HTML."""
    more = f' <span style="font-weight:400;color:#57606a">{aside}</span>' if aside else ""
    return f'<div style="font-weight:600">{text}{more}</div>'


def paragraph(text: str, quiet: bool = False) -> str:
    """Return a paragraph of plain text in which `code` is set as code."""
    colour = ";color:#57606a" if quiet else ""
    return f'<p style="margin:.5em 0{colour}">{marked_up(text)}</p>'


def marked_up(text: str) -> str:
    """Return escaped text in which `code` is set as code, and a *word* is stressed."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 and index < len(pieces) - 1 else
        ("`" * (index % 2) + re.sub(r"(?<!\S)\*(\w+)\*", r"<em>\1</em>", piece))
        for index, piece in enumerate(pieces)
    )  # fmt: skip


LONG = 9  # lines of code that a card shows unfolded


def example_table(example: Example) -> str:
    """Return a table of a public example: its code, and results beside the expected ones."""
    # JupyterLab breaks lines of code anywhere, also where a space is near.
    shown = (
        '<pre style="background:#f3f4f6;color:#1b1f24;padding:8px 10px;border-radius:4px;'
        'margin:.4em 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere">'
        f"{escape(example.shown)}</pre>"
    )
    if (length := len(example.shown.splitlines())) > LONG:
        about = f"<summary style='cursor:pointer'>The example, {length} lines of code</summary>"
        shown = f"<details style='margin:.4em 0'>{about}{shown}</details>"
    if example.fails_alike:
        return shown
    cell = "padding:2px 8px 2px 0;text-align:left;font-size:12px"
    rows = "".join(
        f"<tr><td style='{cell};min-width:5em;overflow-wrap:anywhere'>"
        f"<code>{escape(row.expression)}</code></td>"
        f"<td style='{cell}'>{escape(describe(row.seen))}{'' if row.right else ' ✗'}</td>"
        f"<td style='{cell}'>{escape(describe(row.expected))}</td></tr>"
        for row in example.rows
    )
    head = "".join(
        f"<th style='{cell}'>{name}</th>" for name in ("afterwards", "your code gave", "expected")
    )
    table = f"<table style='border-collapse:collapse'><tr>{head}</tr>{rows}</table>"
    return f"{shown}<div style='overflow-x:auto'>{table}</div>"
