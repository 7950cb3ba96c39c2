"""Renders drawings and charts as HTML."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any, Protocol, runtime_checkable
from zlib import crc32

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure

# Matplotlib draws charts in these colours. In the SVG, the page's own colours replace them, which
# differ in light and dark mode.
INK, FIRST, SECOND = "#010203", "#010204", "#010205"
PAGE_COLOURS = {INK: "currentColor", FIRST: "var(--chart-1)", SECOND: "var(--chart-2)"}

CHART_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=[FIRST, SECOND], linestyle=["-", "--"]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "figure.figsize": (6.4, 3.2),
    "grid.alpha": 0.2,
    "grid.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "lesson",  # makes ids in the file reproducible
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@runtime_checkable
class Drawing(Protocol):
    """An object of the course that is a drawing: `html` shows it, and `text` describes it."""

    @property
    def html(self) -> str: ...

    @property
    def text(self) -> str: ...


def drawing_html(drawing: Drawing) -> str:
    """Return a drawing as HTML, with its description in a `details` element."""
    return (
        f'<figure class="drawing">{drawing.html}'
        "<details><summary>The drawing in words</summary>"
        f'<pre tabindex="0">{escape(drawing.text)}</pre></details></figure>\n'
    )


def chart_html(figure: Figure, alt: str) -> str:
    """Return a chart as an SVG element in the page's colours.

    Args:
        alt: the chart's alt text.
    """
    with io.StringIO() as file, matplotlib.rc_context(CHART_STYLE):
        figure.savefig(file, format="svg", metadata={"Date": None})
        svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    # Ids must differ between the charts of one page.
    prefix = f"chart{crc32(alt.encode()):x}"
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", svg)
    for drawn, colour in PAGE_COLOURS.items():
        svg = svg.replace(drawn, colour)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    return f'<figure class="chart">{svg}</figure>\n'
