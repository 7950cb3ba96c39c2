"""Renders the cards of checks and feedback: HTML with colours that fit light and dark themes."""

from __future__ import annotations

import re
from html import escape

from coursecheck.messages import FailedExample

GREEN, ORANGE, RED, GREY = "#1a7f4b", "#b35c00", "#b3261e", "#4a5568"

# JupyterLab's own colours, which its dark theme changes; elsewhere those of a light page.
_INK, _QUIET = "var(--jp-ui-font-color1,#1b1f24)", "var(--jp-ui-font-color2,#57606a)"
_PAPER, _RAISED = "var(--jp-layout-color1,#fff)", "var(--jp-layout-color2,#f3f4f6)"
_LINE = "var(--jp-border-color1,#c9ced6)"

_BOX = (
    f"font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;color:{_INK};"
    f"background:{_PAPER};border:1px solid {_LINE};border-left:6px solid {{accent}};"
    "border-radius:6px;padding:10px 14px;margin:4px 0;max-width:60em"
)


def box(accent: str, *parts: str) -> str:
    """Return a card as HTML: a box with a coloured edge.

    Args:
        accent: the colour of the edge.
        parts: the contents, as HTML.
    """
    return f'<div style="{_BOX.format(accent=accent)}">{"".join(parts)}</div>'


def heading(text: str, aside: str = "") -> str:
    """Return a card's heading as HTML; both arguments are HTML. `aside` follows in grey."""
    more = f' <span style="font-weight:400;color:{_QUIET}">{aside}</span>' if aside else ""
    return f'<div style="font-weight:600">{text}{more}</div>'


def paragraph(text: str, quiet: bool = False) -> str:
    """Return an HTML paragraph from plain text with `code` and *emphasis*, in grey if `quiet`. Its
    lines end where those of the text do."""
    colour = f";color:{_QUIET}" if quiet else ""
    lines = ";white-space:pre-line" if "\n" in text else ""
    style = f"margin:.5em 0;overflow-wrap:anywhere{lines}{colour}"
    return f'<p style="{style}">{marked_up(text)}</p>'


def marked_up(text: str) -> str:
    """Return HTML from plain text: `code` becomes <code>, a *word* becomes <em>."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 and index < len(pieces) - 1 else
        ("`" * (index % 2) + re.sub(r"(?<!\S)\*(\w+)\*", r"<em>\1</em>", piece))
        for index, piece in enumerate(pieces)
    )  # fmt: skip


LONG = 9  # greatest number of lines of code that a card shows unfolded


def example_table(failed_example: FailedExample) -> str:
    """Return a public example as HTML: its code, and a table of results and expected ones."""
    # JupyterLab sets `word-break: break-all`, which breaks words even near a space.
    shown = (
        f'<pre style="background:{_RAISED};color:{_INK};padding:8px 10px;border-radius:4px;'
        'margin:.4em 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere">'
        f"{escape(failed_example.shown)}</pre>"
    )
    if (length := len(failed_example.shown.splitlines())) > LONG:
        about = f"<summary style='cursor:pointer'>The example, {length} lines of code</summary>"
        shown = f"<details style='margin:.4em 0'>{about}{shown}</details>"
    elif not length:
        shown = ""
    if failed_example.fails_alike:
        return shown
    # Rows are flexible boxes that wrap: on a narrow screen both results stand below the expression.
    cell = (
        "flex:{} 1 {}em;padding:2px 6px 2px 0;text-align:left;min-width:0;overflow-wrap:anywhere;"
        "word-break:normal;font-size:12px"
    )
    wide, narrow = cell.format(2, 13), cell.format(1, 6)

    def line(tag: str, role: str, *cells: str) -> str:
        parts = zip((wide, narrow, narrow), cells, strict=True)
        inner = "".join(
            f"<{tag} role='{role}' style='{style}'>{each}</{tag}>" for style, each in parts
        )
        return f"<tr role='row' style='display:flex;flex-wrap:wrap'>{inner}</tr>"

    rows = "".join(
        line(
            "td",
            "cell",
            f"<code style='padding:0'>{_breakable(row.expression)}</code>",
            f"{_breakable(row.texts[0])}{'' if row.right else ' ✗'}",
            _breakable(row.texts[1]),
        )
        for row in failed_example.shown_rows
    )
    head = line("th", "columnheader", "afterwards" if shown else "", "your code gave", "expected")
    # With `display` set, a table keeps its meaning for screen readers by explicit roles.
    block = "display:block;color:inherit"
    table = (
        f"<table role='table' style='{block};max-width:44em'><tbody role='rowgroup' "
        f"style='{block}'>{head}{rows}</tbody></table>"
    )
    return shown + table


def _breakable(code: str) -> str:
    """Return code as HTML whose lines may end before a name and within the name of an error."""
    return re.sub(r"(?<=[.,(\[])(?=[A-Za-z_])|(?<=[a-z])(?=Error\b)", "<wbr>", escape(code))
