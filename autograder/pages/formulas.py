"""Sets formulas in LaTeX as MathML, which browsers draw by themselves: no script, no network."""

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
    """The formula as HTML; one that cannot be set is shown as it was written.

    What it holds is up to whoever wrote it: on a page, it needs `sanitizing.safe_html`.

    Args:
        latex: the formula without its dollars.
        display: whether it stands on a line of its own.
    """
    shown = None if len(latex) > MAX_LENGTH or _OWN_COMMANDS.search(latex) else _set(latex, display)
    return f"<code>{escape(latex)}</code>" if shown is None else shown


def _set(latex: str, display: bool) -> str | None:
    # The library knows this environment by its older name alone.
    known = latex.replace("{aligned}", "{split}")
    try:
        tree = convert_to_element(known, display="block" if display else "inline")
        written = _written(tree)
    # What is not quite LaTeX makes the library fail in more ways than it has names for.
    except Exception:
        return None
    return written if len(written) <= _MAX_RESULT else None


def _written(element: Element) -> str:
    """The element as HTML; the library writes signs as entities, which are texts here."""
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in element.items() if name != "xmlns"
    )
    inside = escape(unescape(element.text or "")) + "".join(
        _written(child) + escape(unescape(child.tail or "")) for child in element
    )
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"
