"""Converts LaTeX formulas to MathML, which browsers render without a script."""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from ..caching import cached_by_text

MAX_LENGTH = 2000
"""Greatest number of characters of a formula; a longer formula is shown as LaTeX."""

_MAX_RESULT = 50_000
_DEFINITIONS = re.compile(r"\\(re)?newcommand|\\(g|e|x)?def|\\let|\\DeclareMathOperator")


@cached_by_text(4_000_000)
def mathml(latex: str, display: bool = False) -> str:
    """Return a formula as MathML, or as LaTeX in `<code>` if it cannot be converted.

    The result for a student's formula must be sanitized, by `sanitizing.safe_html`.

    Args:
        latex: the formula without the dollars around it.
        display: whether the formula is a block of its own, and not inline.
    """
    # Macros that a formula defines could expand to exponential size.
    is_refused = len(latex) > MAX_LENGTH or _DEFINITIONS.search(latex)
    shown = None if is_refused else _convert(latex, display)
    return f"<code>{escape(latex)}</code>" if shown is None else shown


def _convert(latex: str, display: bool) -> str | None:
    """Return MathML, or None if the formula is invalid or the result is too long."""
    # latex2mathml knows the environment `aligned` only as `split`.
    latex = latex.replace("{aligned}", "{split}")
    try:
        tree = convert_to_element(latex, display="block" if display else "inline")
        html = _to_html(tree)
    # For invalid LaTeX the library raises many kinds of errors.
    except Exception:
        return None
    return html if len(html) <= _MAX_RESULT else None


def _to_html(element: Element) -> str:
    """Return an element of latex2mathml as HTML, with the entities in its texts decoded before."""
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in element.items() if name != "xmlns"
    )
    content = escape(unescape(element.text or "")) + "".join(
        _to_html(child) + escape(unescape(child.tail or "")) for child in element
    )
    return f"<{element.tag}{attributes}>{content}</{element.tag}>"
