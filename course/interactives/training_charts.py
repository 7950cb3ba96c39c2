"""Draws the training panel's charts: the loss, gradients by layer, and a network's decisions.

The charts change several times a second while a network trains, so drawing one must take only
milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from course.drawing.chart import CLASSES, Axes, Grid, Svg, bars, loss_axes, plane_axes
from course.interactives.tasks import Sample, decided, scores

POINTS = 300  # about the greatest number of points on the loss curve
_SIZE = (250, 190)
_LOWEST, _HIGHEST = -8.0, 4.0  # powers of ten that the bars of gradients span
# Limits of the first layer's gradient divided by the last layer's.
VANISHING, EXPLODING = 0.01, 100.0


def loss_chart(losses: Sequence[float]) -> Svg:
    """Return a chart of the loss by epoch, on a logarithmic scale if the losses span several
    magnitudes."""
    if not losses:
        svg = Svg(328, 268, "Loss by epoch: no epoch yet")
        svg.text(164, 20, "Loss by epoch", "middle", "ch-title")
        svg.text(164, 130, "no epoch yet", "middle", "ch-quiet")
        return svg
    last = len(losses) - 1
    shown = sorted({round(i * last / POINTS) for i in range(POINTS + 1)})
    axes = loss_axes(
        {"loss": [(i + 1, losses[i]) for i in shown]},
        size=_SIZE,
        title="Loss by epoch",
        x_label="epoch",
        about=f"Loss by epoch: from {losses[0]:.4f} in epoch 1 to {losses[-1]:.4f} "
        f"in epoch {len(losses)}",
    )
    axes.dot(last + 1, losses[-1])
    return axes


def plane_chart(
    side: Sequence[Sequence[float]], grid: Sequence[Grid], samples: Sequence[Sample]
) -> Svg:
    """Return a chart of the network's decisions, with the points that it trains on.

    Args:
        side: the x of the grid's columns, and the y of its rows.
        grid: the network's outputs at each point of the grid, row by row from the bottom.
        samples: the points, each with the index of its class.
    """
    columns, rows = side
    by_class = [[scores(output) for output in row] for row in grid]
    classes = range(len(by_class[0][0]))
    found = [decided(output) for row in grid for output in row]
    listed = ", ".join(f"class {k} on {100 * found.count(k) / len(found):.0f} %" for k in classes)
    margins = [
        [[score[k] - max(score[:k] + score[k + 1 :]) for score in row] for row in by_class]
        for k in classes
    ]
    return plane_axes(
        columns,
        rows,
        margins,
        samples,
        size=_SIZE,
        title="Border",
        x_label="   ".join(f"{CLASSES[k][0]} class {k}" for k in classes) + "   ━ border",
        about=f"The network decides for {listed} of the plane",
    )


def answers_chart(samples: Sequence[Sample], outputs: Sequence[Sequence[float]]) -> Svg:
    """Return a chart of the network's score for class 1 at each point, for points with more than
    two coordinates."""
    values = [scores(output)[1] for output in outputs]
    reach = max([1.2, *(1.1 * abs(value) for value in values if math.isfinite(value))])
    axes = Axes(
        (0.5, len(samples) + 0.5),
        (-reach, reach),
        _SIZE,
        "Answer to each point",
        "▲ class 0, wanted below 0   ● class 1, above",
        about="Answers: " + ", ".join(f"{value:.2f}" for value in values),
        counts=True,
    )
    axes.curve([(0.5, 0.0), (len(samples) + 0.5, 0.0)], look="ch-ink")
    for place, ((_, k), value) in enumerate(zip(samples, values, strict=True), 1):
        if math.isfinite(value):
            axes.dot(place, value, *CLASSES[k][1:])
    return axes


def gradient_chart(sizes: Sequence[float]) -> Svg:
    """Return a chart of the sizes of the gradients in each layer, as bars on a logarithmic scale.

    Args:
        sizes: for each layer the root mean square of its gradients.
    """
    rows = []
    for number, size in enumerate(sizes, 1):
        log = math.log10(size) if 0 < size < math.inf else _LOWEST if size == 0 else _HIGHEST
        share = (min(max(log, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST)
        rows.append((f"layer {number}", share, f"{size:.2g}"))
    scale = {0.0: "1e-8", 1 / 3: "1e-4", 2 / 3: "1", 1.0: "1e4"}
    return bars("Root mean square gradient by layer", rows, gradients_in_words(sizes), scale)


def gradients_in_words(sizes: Sequence[float]) -> str:
    """Return the sizes of the gradients in words, and whether the gradients vanish or explode on
    the way back to the first layer."""
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
