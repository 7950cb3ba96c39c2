"""Draws a neural network: each layer as a column of neurons, and a line for each weight.

The larger a weight, the thicker its line. The line of a positive weight is solid, that of a
negative one is dashed and has another colour. Each neuron shows its bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from course.drawing.chart import Svg

Weights = list[list[list[float]]]
"""For each layer, for each of its neurons: the weights, and then the bias."""

_COLUMN, _ROW, _RADIUS = 96.0, 38.0, 15.0
_TOP, _SIDE = 50.0, 46.0
_FOOT = "in a circle: the bias   ━ positive   ╌ negative"
_THICKEST = 6.0
_FEW = 6  # greatest number of weights of a layer that the description lists one by one


def weights_of(network: Any) -> Weights | None:
    """Return the weights of a network, or None if it is not made of layers of neurons.

    Args:
        network: has `layers`; a layer has `neurons` or is a list of neurons; a neuron has `w`, a
            list of Values, and `b`, a Value.
    """
    try:
        return [
            [
                [float(value.data) for value in [*neuron.w, neuron.b]]
                for neuron in getattr(layer, "neurons", layer)
            ]
            for layer in network.layers
        ]
    except (AttributeError, TypeError, ValueError):
        return None


def network_drawing(
    weights: Weights, inputs: Sequence[str] = (), outputs: Sequence[str] = (), title: str = ""
) -> Svg:
    """Return the drawing of a network, with its description.

    Args:
        weights: as `weights_of` returns them.
        inputs, outputs: names, written beside the first and the last column.
        title: what is written above.
    """
    sizes = [len(weights[0][0]) - 1, *map(len, weights)]
    height = _TOP + _ROW * max(sizes) + 34
    width = 2 * _SIDE + _COLUMN * (len(sizes) - 1)
    svg = Svg(max(width, 300.0), height, network_in_words(weights))
    left = (svg.width - width) / 2 + _SIDE
    svg.text(svg.width / 2, 20, title, "middle", "ch-title")

    def place(column: int, row: int) -> tuple[float, float]:
        middle = _TOP + _ROW * max(sizes) / 2
        return left + column * _COLUMN, middle + (row - (sizes[column] - 1) / 2) * _ROW

    finite = [abs(w) for layer in weights for neuron in layer for w in neuron if math.isfinite(w)]
    largest = max(finite, default=0.0) or 1.0
    for column, layer in enumerate(weights):
        for row, neuron in enumerate(layer):
            for source, weight in enumerate(neuron[:-1]):
                svg.add(_line(place(column, source), place(column + 1, row), weight, largest))
    for column, size in enumerate(sizes):
        for row in range(size):
            x, y = place(column, row)
            svg.add(f'<circle class="ch-node" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>')
            if column:
                bias = weights[column - 1][row][-1]
                svg.text(x, y + 4, f"{round(bias, 1) + 0.0:.1f}", "middle", "ch-small")
        x, names = place(column, 0)[0], {0: inputs, len(sizes) - 1: outputs}.get(column, ())
        for row, name in enumerate(names[:size]):
            away, anchor = (-19, "end") if column == 0 else (19, "start")
            svg.text(x + away, place(column, row)[1] + 4, name, anchor)
        what = "inputs" if column == 0 else f"layer {column}"
        svg.text(x, 40, what, "middle", "ch-quiet")
    svg.text(svg.width / 2, height - 10, _FOOT, "middle", "ch-quiet")
    return svg


def network_in_words(weights: Weights) -> str:
    """Return a description of layers and weights; the weights of a wide layer are summed up as a
    range."""
    sizes = [len(weights[0][0]) - 1, *map(len, weights)]
    count = sum(len(neuron) for layer in weights for neuron in layer)
    words = [f"A network {' to '.join(map(str, sizes))}, {count} weights and biases."]
    for number, layer in enumerate(weights, 1):
        every = [weight for neuron in layer for weight in neuron[:-1]]
        if len(every) <= _FEW:
            listed = ", ".join(f"{weight:.2f}" for weight in every)
            words.append(f"Layer {number} has the weights {listed}.")
        else:
            negative = sum(weight < 0 for weight in every)
            words.append(
                f"Layer {number} has {len(every)} weights from {min(every):.2f} to "
                f"{max(every):.2f}, {negative} of them negative."
            )
    return " ".join(words)


def _line(start: tuple[float, float], end: tuple[float, float], weight: float, of: float) -> str:
    share = min(abs(weight) / of, 1.0) if math.isfinite(weight) else 1.0
    thick = max(_THICKEST * share, 0.35)
    look = 'class="ch-0"' if weight >= 0 else 'class="ch-1" stroke-dasharray="6 4"'
    return (
        f'<path {look} stroke-width="{thick:.2f}" '
        f'd="M{start[0]:.1f},{start[1]:.1f}L{end[0]:.1f},{end[1]:.1f}">'
        f"<title>weight {weight:.3g}</title></path>"
    )
