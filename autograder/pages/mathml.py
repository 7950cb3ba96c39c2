"""Converts LaTeX formulas to MathML, which browsers draw by themselves: no script, no network."""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from ..caching import cached_by_text

MAX_LENGTH = 2000
"""Characters of a formula. A longer one is shown as it was written."""

_MAX_RESULT = 50_000
_OWN_COMMANDS = re.compile(r"\\(re)?newcommand|\\(g|e|x)?def|\\let|\\DeclareMathOperator")


@cached_by_text(4_000_000)
def mathml(latex: str, display: bool = False) -> str:
    """Return the formula as HTML; one that cannot be converted is shown as it was written.

    The formula may be a student's: on a page, the result needs `sanitizing.safe_html`.

    Args:
        latex: the formula without its dollars.
        display: whether it stands on a line of its own.
    """
    shown = None if len(latex) > MAX_LENGTH or _OWN_COMMANDS.search(latex) else _set(latex, display)
    return f"<code>{escape(latex)}</code>" if shown is None else shown


def _set(latex: str, display: bool) -> str | None:
    # The library supports this environment by its older name alone.
    known = latex.replace("{aligned}", "{split}")
    try:
        tree = convert_to_element(known, display="block" if display else "inline")
        written = _written(tree)
    # For invalid LaTeX the library raises many kinds of errors.
    except Exception:
        return None
    return written if len(written) <= _MAX_RESULT else None


def _written(element: Element) -> str:
    """Return the element as HTML, with the entities of the library's texts unescaped."""
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in element.items() if name != "xmlns"
    )
    inside = escape(unescape(element.text or "")) + "".join(
        _written(child) + escape(unescape(child.tail or "")) for child in element
    )
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"
