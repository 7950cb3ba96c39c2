"""Draws pictures of ideas: curves with their slopes, a network, descents into a valley.

Like the pictures of training in `course.plots`, each has a description in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.drawing.chart import Axes, Picture, Point
from course.drawing.network import network_drawing, weights_of
from course.drawing.pixels import pixel_drawing
from course.plots import DecisionPlane

Function = Callable[[float], float]


def curves(
    functions: Mapping[str, Function],
    across: Point = (-4.0, 4.0),
    tangents: Sequence[float] = (),
    label: str = "x",
) -> Picture:
    """Draw functions of one number over one another, and tangents to the first of them.

    Args:
        functions: by name, each from a float to a float.
        across: the range of the number.
        tangents: where a tangent touches the first function.
        label: what the number is.
    """
    xs = [across[0] + (across[1] - across[0]) * i / 160 for i in range(161)]
    drawn = {name: [(x, f(x)) for x in xs] for name, f in functions.items()}
    heights = [y for points in drawn.values() for _, y in points]
    margin = 0.05 * (max(heights) - min(heights))
    words = [f"{name} goes from {p[0][1]:.3g} to {p[-1][1]:.3g}" for name, p in drawn.items()]
    first = next(iter(functions.values()))
    slopes = [(x, first(x), (first(x + 1e-5) - first(x - 1e-5)) / 2e-5) for x in tangents]
    if slopes:
        steep = ", ".join(f"{slope:.3g} at {x:g}" for x, _, slope in slopes)
        words.append(f"the slope of {next(iter(functions))} is {steep}")
    about = f"Over {label} from {across[0]:g} to {across[1]:g}: {'; '.join(words)}."
    axes = Axes(
        across,
        (min(heights) - margin, max(heights) + margin),
        x_label=label,
        about=about,
    )
    for number, (name, points) in enumerate(drawn.items()):
        axes.curve(points, name, number)
    reach = (across[1] - across[0]) / 9
    for x, y, slope in slopes:
        run = reach / math.hypot(
            1.0, slope * (across[1] - across[0]) / (max(heights) - min(heights))
        )
        axes.curve([(x - run, y - slope * run), (x + run, y + slope * run)], look="ch-ink")
        axes.dot(x, y)
        axes.note(x, y, f"slope {slope + 0.0:.2g}")
    return Picture([axes], about)


def secants(f: Function, x: float, h: float) -> Picture:
    """Draw how a one-sided and a central difference approach the slope of f at x with step h."""
    lines = {
        "one-sided": ((x, f(x)), (x + h, f(x + h))),
        "central": ((x - h, f(x - h)), (x + h, f(x + h))),
        "tangent": ((x - 1e-5, f(x - 1e-5)), (x + 1e-5, f(x + 1e-5))),
    }
    slopes = {name: (b[1] - a[1]) / (b[0] - a[0]) for name, (a, b) in lines.items()}
    listed = ", ".join(f"{name} {slope:.3f}" for name, slope in slopes.items())
    about = f"A curve at {x:g} and three lines, with the step {h:g}. Their slopes: {listed}."
    left, right = x - 1.6 * h, x + 1.6 * h
    xs = [left + (right - left) * i / 80 for i in range(81)]
    heights = [f(each) for each in xs]
    heights += [lines[name][0][1] + slopes[name] * (end - lines[name][0][0])
                for name in lines for end in (left, right)]  # fmt: skip
    named = {f"{name}, {slopes[name]:.2f}": name for name in lines}
    axes = Axes(
        (left, right),
        (min(heights), max(heights)),
        title=f"Three slopes at {x:g}, step {h:g}",
        x_label="x",
        about=about,
    )
    axes.curve(zip(xs, heights, strict=False), look="ch-ink")
    for number, (label, name) in enumerate(named.items(), 1):
        (a, b), _ = lines[name]
        axes.curve([(each, b + slopes[name] * (each - a)) for each in xs], label, number)
    for each in (x - h, x, x + h):
        axes.dot(each, f(each))
    return Picture([axes], about)


def valley(
    height: Callable[[float, float], float],
    paths: Mapping[str, Sequence[Point]],
    across: Point,
    up: Point,
) -> Picture:
    """Draw the ways that different descents take down into a valley.

    Args:
        height: of the ground at a point.
        paths: by name, the points that a descent went through.
        across, up: the part of the ground to show.
    """
    ends = {name: height(*path[-1]) for name, path in paths.items()}
    listed = "; ".join(
        f"{name} ends after {len(paths[name]) - 1} steps at a height of {end:.3g}"
        for name, end in ends.items()
    )
    about = f"Lines of equal height in a valley, and paths down into it: {listed}."
    axes = Axes(across, up, (400, 210), x_label="x", y_label="y", about=about)
    columns = [across[0] + (across[1] - across[0]) * i / 50 for i in range(51)]
    rows = [up[0] + (up[1] - up[0]) * i / 50 for i in range(51)]
    ground = [[height(x, y) for x in columns] for y in rows]
    top = max(map(max, ground))
    for share in (0.01, 0.05, 0.15, 0.3, 0.5, 0.75):
        axes.contour(columns, rows, ground, share * top)
    for number, (name, path) in enumerate(paths.items()):
        axes.curve(path, name, number)
        for point in path[:: max(1, len(path) // 12)]:
            axes.dot(*point, shape=("circle", "square", "triangle")[number % 3], number=number)
    return Picture([axes], about)


def boundaries(
    models: Mapping[str, Callable[[Any], Any]],
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
    threshold: float = 0.0,
) -> Picture:
    """Draw where several models decide for which class, side by side, as `decision_boundary` does.

    Raises:
        ValueError: the points do not have two coordinates.
    """
    planes = {
        name: DecisionPlane(model, inputs, targets, threshold) for name, model in models.items()
    }
    summary = " ".join(f"{name}: {plane.in_words()}" for name, plane in planes.items())
    return Picture([plane.axes(name) for name, plane in planes.items()], summary)


def draw_network(model: Any) -> Picture:
    """Draw a network of layers as circles and lines: a circle for each neuron, with its bias, and a
    line for each weight, thick where it is large, solid where positive and dashed where negative.

    Args:
        model: has `layers`, whose `neurons` have `w` and `b`, as an `MLP` does.

    Raises:
        TypeError: it is no such network.
    """
    weights = weights_of(model)
    if not weights:
        raise TypeError("draw_network takes a network with `layers` of neurons that have w and b")
    inputs = [f"x{i + 1}" for i in range(len(weights[0][0]) - 1)]
    shape = "-".join(map(str, [len(inputs), *map(len, weights)]))
    drawing = network_drawing(weights, inputs, title=f"A network {shape}")
    return Picture([drawing], drawing.about)


def draw_pictures(
    pictures: Sequence[Sequence[float]], captions: Sequence[object], what: str = "Pictures"
) -> Picture:
    """Draw small square pictures side by side, each with its caption above.

    Args:
        pictures: each a number from 0 (paper) to 1 (ink) for each pixel, row by row.
        captions: one for each picture.
        what: what they are, for the words.
    """
    words = [str(caption) for caption in captions]
    about = f"{what}: {', '.join(words)}."
    drawings = [
        pixel_drawing(picture, caption, 8, f"{what}: {caption}.")
        for picture, caption in zip(pictures, words, strict=True)
    ]
    return Picture(drawings, about)
