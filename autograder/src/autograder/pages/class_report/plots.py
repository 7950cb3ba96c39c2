"""Draws the class report's plots with matplotlib, as inline SVG in the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# Colour that `currentColor` replaces in the SVG, so that plots are legible in light and dark mode.
_INK = "#010203"
_BAR = "#3b7dbd"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "class report",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
_styled = matplotlib.rc_context(_STYLE)


@_styled
def histogram(
    counts: Sequence[int], edges: Sequence[float], label: str, alt: str, name: str
) -> str:
    """Return a histogram of counted bins.

    Args:
        counts: the number of students in each bin.
        edges: the edges of the bins, in increasing order: one more than there are bins.
        label: the label of the x axis.
        alt: the alt text.
        name: a prefix for the SVG's ids, unique on the page.
    """
    figure, axes = _figure(2.6)
    widths = [right - left for left, right in pairwise(edges)]
    bars = axes.bar(edges[:-1], counts, widths, align="edge", color=_BAR, edgecolor=_INK)
    axes.bar_label(bars, [str(count) if count else "" for count in counts], padding=2)
    axes.set_xlabel(label)
    axes.set_ylabel("students")
    axes.set_ylim(0, max(counts, default=0) * 1.15 + 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return _svg(figure, alt, name)


@_styled
def item_bars(
    names: Sequence[str],
    shares: Sequence[float | None],
    correlations: Sequence[float | None],
    alt: str,
    name: str,
) -> str:
    """Return two bar charts side by side: difficulty and discrimination of each exercise.

    Args:
        names: the exercises.
        shares: each exercise's mean share of points, from 0 to 1; None if unknown.
        correlations: each exercise's item-rest correlation, from -1 to 1; None if undefined.
        alt: the alt text.
        name: a prefix for the SVG's ids, unique on the page.
    """
    figure = Figure(figsize=(7.2, 0.6 + 0.27 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _bars(left, names, shares, "mean share of points", (0, 1))
    _bars(right, names, correlations, "item-rest correlation", (-1, 1))
    right.axvline(0, color=_INK, linewidth=0.8)
    return _svg(figure, alt, name)


@_styled
def count_bars(names: Sequence[str], counts: Sequence[int], alt: str, name: str) -> str:
    """Return a bar chart with one labelled bar for each of `names`.

    Args:
        counts: the number of students for each name.
        alt: the alt text.
        name: a prefix for the SVG's ids, unique on the page.
    """
    figure, axes = _figure(0.6 + 0.27 * len(names))
    bars = axes.barh(range(len(names)), counts, color=_BAR)
    axes.bar_label(bars, padding=3)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("students")
    axes.set_xlim(0, max(counts) * 1.1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _svg(figure, alt, name)


def two_digits(value: float | None) -> str:
    """Return a share or correlation with two digits, without a negative zero; a dash for None."""
    return "—" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _bars(
    axes: Axes,
    names: Sequence[str],
    values: Sequence[float | None],
    label: str,
    limits: tuple[float, float],
) -> None:
    bars = axes.barh(range(len(names)), [value or 0.0 for value in values], color=_BAR)
    axes.bar_label(bars, [two_digits(value) for value in values], padding=3)
    axes.set_yticks(range(len(names)), names)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
    axes.set_xlabel(label)
    reach = limits[1] - limits[0]
    axes.set_xlim(limits[0] - (0.15 * reach if limits[0] < 0 else 0), limits[1] + 0.15 * reach)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, height), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure, alt: str, name: str) -> str:
    """Return a figure as an SVG element of flexible size, with an alt text.

    Args:
        name: a prefix for the element's ids.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, count=1, flags=re.DOTALL)
    svg = svg.replace(_INK, "currentColor")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
