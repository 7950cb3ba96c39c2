"""Draws the sandbox's charts: the loss, gradients by layer, and a network's decisions.

They change several times a second while a network trains, so each must be drawn in milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from course.drawing.chart import Axes, Svg
from course.drawing.svg import fitting
from course.interactives.tasks import Sample, decided, scores

POINTS = 300  # greatest number on the loss curve
SHAPES = ("triangle", "circle", "square")  # of the points of class 0, 1 and 2
SIGNS = ("▲", "●", "■")
_COLOURS = (1, 0, 2)
_LOWEST, _HIGHEST = -8.0, 4.0  # powers of ten that the bars of gradients span
VANISHING, EXPLODING = 0.01, 100.0  # the first layer's gradient as a share of the last one's


def loss_chart(losses: Sequence[float]) -> Svg:
    """Return a chart of the loss by epoch, on a logarithmic scale if it spans several
    magnitudes."""
    if not losses:
        return _empty("Loss by epoch", "no epoch yet")
    low, high = min(losses), max(losses)
    logarithmic = low > 0 and high > 20 * low
    low = low if logarithmic else min(0.0, low)
    last = len(losses) - 1
    axes = Axes(
        (1, max(len(losses), 2)),
        (low, high * 1.05 if high > low else low + 1),
        (250, 190),
        "Loss by epoch",
        "epoch",
        about=f"Loss by epoch: from {losses[0]:.4f} in epoch 1 to {losses[-1]:.4f} "
        f"in epoch {len(losses)}",
        logarithmic=logarithmic,
        counts=True,
    )
    shown = sorted({round(i * last / POINTS) for i in range(POINTS + 1)}) if last else [0]
    axes.curve([(i + 1, losses[i]) for i in shown])
    axes.dot(last + 1, losses[-1])
    return axes


def plane_chart(
    side: Sequence[Sequence[float]], grid: list[list[list[float]]], samples: Sequence[Sample]
) -> Svg:
    """Return a chart of the network's decisions, with the points that it trains on.

    Args:
        side: the places of the grid's columns, and those of its rows.
        grid: the network's outputs, row by row, the lowest row first.
        samples: the points.
    """
    columns, rows = side
    classes = len(scores(grid[0][0]))
    share = [0] * classes
    for row in grid:
        for output in row:
            share[decided(output)] += 1
    listed = ", ".join(
        f"class {k} on {100 * count / sum(share):.0f} %" for k, count in enumerate(share)
    )
    axes = Axes(
        (columns[0], columns[-1]),
        (rows[0], rows[-1]),
        (250, 190),
        "Border",
        "   ".join(f"{SIGNS[k]} class {k}" for k in range(classes)) + "   ━ border",
        about=f"The network decides for {listed} of the plane",
    )
    if classes == 2:
        flat = [[scores(output)[1] - scores(output)[0] for output in row] for row in grid]
        axes.areas(columns, rows, flat, 0.0)
    else:
        margins = [
            [[o[k] - max(each for j, each in enumerate(o) if j != k) for o in row] for row in grid]
            for k in range(classes)
        ]
        axes.regions(columns, rows, margins, _COLOURS)
    for (x, y), k in samples:
        axes.dot(x, y, SHAPES[k], _COLOURS[k])
    return axes


def answers_chart(samples: Sequence[Sample], outputs: Sequence[Sequence[float]]) -> Svg:
    """Return a chart of the network's score for class 1 at each point, for points that lie on no
    plane."""
    values = [scores(output)[1] for output in outputs]
    reach = max([1.2, *(1.1 * abs(value) for value in values if math.isfinite(value))])
    axes = Axes(
        (0.5, len(samples) + 0.5),
        (-reach, reach),
        (250, 190),
        "Answer to each point",
        "▲ class 0, wanted below 0   ● class 1, above",
        about="Answers: " + ", ".join(f"{value:.2f}" for value in values),
        counts=True,
    )
    axes.curve([(0.5, 0.0), (len(samples) + 0.5, 0.0)], look="ch-ink")
    for place, ((_, k), value) in enumerate(zip(samples, values, strict=True), 1):
        if math.isfinite(value):
            axes.dot(place, value, SHAPES[k], _COLOURS[k])
    return axes


def gradient_chart(sizes: Sequence[float]) -> Svg:
    """Return a chart of the size of the gradient in each layer, as bars on a logarithmic scale."""
    svg = Svg(310, 84 + 26 * max(len(sizes), 3), gradients_in_words(sizes))
    svg.text(155, 20, "Gradient in each layer", "middle", "ch-title")
    left, width, top = 62.0, 150.0, 36.0
    bottom = top + 26 * max(len(sizes), 3)
    for power in range(int(_LOWEST), int(_HIGHEST) + 1, 4):
        x = left + width * (power - _LOWEST) / (_HIGHEST - _LOWEST)
        svg.add(f'<path class="ch-grid" d="M{x:.1f},{top}V{bottom}"/>')
        svg.text(x, bottom + 16, f"1e{power}" if power else "1", "middle", "ch-quiet")
    for place, size in enumerate(sizes):
        y = top + 26 * place
        log = math.log10(size) if 0 < size < math.inf else _LOWEST if size == 0 else _HIGHEST
        log = min(max(log, _LOWEST), _HIGHEST)
        long = width * (log - _LOWEST) / (_HIGHEST - _LOWEST)
        svg.text(left - 6, y + 17, f"layer {place + 1}", "end", "ch-quiet")
        svg.add(
            f'<rect class="ch-fill-0" x="{left}" y="{y + 4:.0f}" width="{long:.1f}" height="17"/>'
        )
        svg.text(left + width + 8, y + 17, f"{size:.2g}")
    svg.text(155, bottom + 36, "root mean square, logarithmic", "middle", "ch-quiet")
    return svg


def gradients_in_words(sizes: Sequence[float]) -> str:
    """Return the sizes in words, and whether they vanish or explode on their way back to the first
    layer."""
    if not sizes:
        return "There are no gradients yet."
    listed = ", ".join(f"{size:.2g} in layer {k}" for k, size in enumerate(sizes, 1))
    words = f"Gradients by layer: {listed}."
    first, last = sizes[0], sizes[-1]
    if any(not math.isfinite(size) for size in sizes):
        return f"{words} They have exploded: one of them is no number any more."
    if len(sizes) > 1 and first < VANISHING * last:
        factor = f"{last / first:,.0f} times" if first else "infinitely"
        return f"{words} They vanish: the first layer's is {factor} smaller than the last one's."
    if len(sizes) > 1 and first > EXPLODING * last and last > 0:
        return f"{words} They explode: the first layer's is {first / last:,.0f} times as large."
    return words


def beside(charts: Sequence[Svg]) -> str:
    """Return the charts in rows, as many in each as fit."""
    shown = "".join(f"<div>{fitting(str(chart), scrolls=False)}</div>" for chart in charts)
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">{shown}</div>'


def _empty(title: str, words: str) -> Svg:
    svg = Svg(328, 268, f"{title}: {words}")
    svg.text(164, 20, title, "middle", "ch-title")
    svg.text(164, 130, words, "middle", "ch-quiet")
    return svg
