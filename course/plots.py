"""Draws the pictures in the notebooks: of training, and of ideas.

Of training: the loss over time, and the border of a model's decisions. Of ideas: curves and their
slopes, networks, paths into a valley, and small pictures of pixels.

Every picture also exists as text: as its alternative text in a notebook, and as words and a map of
characters in a terminal. Nothing is shown by colour only: classes differ in marker and pattern as
well, curves in their dashes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.drawing.chart import (
    Axes,
    Picture,
    Point,
    attention_drawing,
    loss_axes,
    pixel_drawing,
    plane_axes,
    spread,
    steepest_pixels,
)
from course.drawing.network import network_drawing, weights_of

Predict = Callable[[Any], Any]
"""A model: takes a point, a list of numbers, and returns a number or a Value."""
Function = Callable[[float], float]

_GRID = 30
"""Number of points along each side of the grid on which a model is evaluated. There are few, since
an engine of single numbers is slow."""


def loss_curve(
    losses: Sequence[float] | Mapping[str, Sequence[float]], per: str = "epoch", of: str = "loss"
) -> Picture:
    """Draw the loss over the epochs, on a logarithmic scale if it spans several magnitudes.

    Args:
        losses: a list with one number for each epoch; or a dictionary of such lists by name, to
            compare them.
        per: the word for what each number belongs to, such as "step" instead of "epoch".
        of: the word for the numbers, if they are not losses.

    Raises:
        ValueError: there is nothing to draw.
    """
    return Picture([_losses(losses, per, of)])


def decision_boundary(
    predict: Predict,
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
    threshold: float = 0.0,
) -> Picture:
    """Draw where a model decides for which of two classes, and the points that it should learn.

    Args:
        predict: the model: it takes a point and returns a number or a Value.
        inputs: the points, each with two coordinates.
        targets: one number for each point. Points with a number above `threshold` are of one class,
            all others of the other class.
        threshold: the model decides for the first class where its answer is above this number.

    Raises:
        ValueError: the points do not have two coordinates.
    """
    plane = DecisionPlane(predict, inputs, targets, threshold)
    return Picture([plane.axes()], chart=plane.chart())


class TrainingView:
    """A picture that changes while a model trains: the model's losses, and its decisions if wanted.

    In a notebook the picture stays in one place and changes, and the last one is kept. Outside a
    notebook each picture is printed in words.

    Args:
        inputs, targets, threshold: as in `decision_boundary`; without them only losses are drawn.
        per: the word for what each loss belongs to, such as "step" instead of "epoch".
    """

    def __init__(
        self,
        inputs: Sequence[Sequence[float]] | None = None,
        targets: Sequence[float] | None = None,
        threshold: float = 0.0,
        per: str = "epoch",
    ) -> None:
        self._per = per
        self._points = None if inputs is None or targets is None else (inputs, targets)
        self._threshold = threshold
        self._handle: Any = None

    def show(self, model: Predict, losses: Sequence[float]) -> Picture:
        """Draw the losses so far and the model as it is now, in place of the last picture.

        Args:
            model: the model, as `predict` in `decision_boundary`.
            losses: the losses so far.

        Returns:
            The picture.
        """
        drawings = [_losses(losses, self._per)]
        chart = ""
        if self._points:
            plane = DecisionPlane(model, *self._points, self._threshold)
            drawings.append(plane.axes())
            chart = plane.chart()
        picture = Picture(drawings, chart=chart)
        self._put(picture)
        return picture

    def _put(self, picture: Picture) -> None:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is None:
            print(picture.summary)
        elif self._handle is None:
            self._handle = display(picture, display_id=True)
        else:
            self._handle.update(picture)


def curves(
    functions: Mapping[str, Function],
    across: Point = (-4.0, 4.0),
    tangents: Sequence[float] = (),
    label: str = "x",
) -> Picture:
    """Draw several functions of one number in the same axes, and tangents to the first of them.

    Args:
        functions: a dictionary of functions by name; each takes a float and returns a float.
        across: the lowest and the highest x to draw.
        tangents: the x at which tangents touch the first function.
        label: the text below the axis.
    """
    xs = spread(*across, 161)
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
    up = (min(heights) - margin, max(heights) + margin)
    axes = Axes(across, up, x_label=label, about=about)
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
    return Picture([axes])


def secants(f: Function, x: float, h: float) -> Picture:
    """Draw how well two difference quotients with the step h approximate the slope of f at x.

    The picture shows the line of the one-sided difference, that of the central difference, and the
    tangent.
    """
    lines = {
        "one-sided": ((x, f(x)), (x + h, f(x + h))),
        "central": ((x - h, f(x - h)), (x + h, f(x + h))),
        "tangent": ((x - 1e-5, f(x - 1e-5)), (x + 1e-5, f(x + 1e-5))),
    }
    slopes = {name: (b[1] - a[1]) / (b[0] - a[0]) for name, (a, b) in lines.items()}
    listed = ", ".join(f"{name} {slope:.3f}" for name, slope in slopes.items())
    about = f"A curve at {x:g} and three lines, with the step {h:g}. Their slopes: {listed}."
    left, right = x - 1.6 * h, x + 1.6 * h
    xs = spread(left, right, 81)
    heights = [*map(f, xs)]
    heights += [lines[name][0][1] + slopes[name] * (end - lines[name][0][0])
                for name in lines for end in (left, right)]  # fmt: skip
    title = f"Three slopes at {x:g}, step {h:g}"
    axes = Axes((left, right), (min(heights), max(heights)), title=title, x_label="x", about=about)
    axes.curve(zip(xs, heights, strict=False), look="ch-ink")
    for number, (name, ((a, b), _)) in enumerate(lines.items(), 1):
        line = [(end, b + slopes[name] * (end - a)) for end in xs]
        axes.curve(line, f"{name}, {slopes[name]:.2f}", number)
    for end in (x - h, x, x + h):
        axes.dot(end, f(end))
    return Picture([axes])


def valley(
    height: Callable[[float, float], float],
    paths: Mapping[str, Sequence[Point]],
    across: Point,
    up: Point,
) -> Picture:
    """Draw the paths that different kinds of gradient descent take down into a valley.

    Args:
        height: takes x and y and returns the height of the ground there.
        paths: a dictionary of paths by name; each is the list of points (x, y) of a descent.
        across, up: the lowest and the highest x, and the lowest and the highest y, to show.
    """
    ends = {name: height(*path[-1]) for name, path in paths.items()}
    listed = "; ".join(
        f"{name} ends after {len(paths[name]) - 1} steps at a height of {end:.3g}"
        for name, end in ends.items()
    )
    about = f"Lines of equal height in a valley, and paths down into it: {listed}."
    axes = Axes(across, up, (400, 210), x_label="x", y_label="y", about=about)
    columns, rows = spread(*across, 51), spread(*up, 51)
    ground = [[height(x, y) for x in columns] for y in rows]
    top = max(map(max, ground))
    for share in (0.01, 0.05, 0.15, 0.3, 0.5, 0.75):
        axes.contour(columns, rows, ground, share * top)
    for number, (name, path) in enumerate(paths.items()):
        axes.curve(path, name, number)
        for point in path[:: max(1, len(path) // 12)]:
            axes.dot(*point, shape=("circle", "square", "triangle")[number % 3], number=number)
    return Picture([axes])


def boundaries(
    models: Mapping[str, Callable[[Any], Any]],
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
    threshold: float = 0.0,
) -> Picture:
    """Draw the decisions of several models side by side, each as `decision_boundary` does.

    Args:
        models: a dictionary of models by name.
        inputs, targets, threshold: as in `decision_boundary`.

    Raises:
        ValueError: the points do not have two coordinates.
    """
    planes = {
        name: DecisionPlane(model, inputs, targets, threshold) for name, model in models.items()
    }
    summary = " ".join(f"{name}: {plane.in_words()}" for name, plane in planes.items())
    return Picture([plane.axes(name) for name, plane in planes.items()], summary)


def draw_network(model: Any) -> Picture:
    """Draw a network: a circle for each neuron, with its bias, and a line for each weight.

    The larger a weight, the thicker its line. The line of a positive weight is solid, that of a
    negative one is dashed.

    Args:
        model: a network like your `MLP`: it has `layers`, a layer has `neurons`, and a neuron has
            the weights `w` and the bias `b`.

    Raises:
        TypeError: the model is no such network.
    """
    weights = weights_of(model)
    if not weights:
        raise TypeError("draw_network takes a network with `layers` of neurons that have w and b")
    inputs = [f"x{i + 1}" for i in range(len(weights[0][0]) - 1)]
    shape = "-".join(map(str, [len(inputs), *map(len, weights)]))
    drawing = network_drawing(weights, inputs, title=f"A network {shape}")
    return Picture([drawing])


def draw_pictures(
    pictures: Sequence[Sequence[float]],
    captions: Sequence[object],
    what: str = "Pictures",
    slopes: Sequence[Sequence[float]] = (),
) -> Picture:
    """Draw small square pictures side by side, each with its caption above.

    Args:
        pictures: the pictures, each a list of numbers from 0 (paper) to 1 (ink), one for each
            pixel, row by row from the top.
        captions: one caption for each picture.
        what: what the pictures show, for readers who do not see them.
        slopes: for each picture how an answer reacts to more ink on each pixel. They are drawn
            over it, larger: a disc where the answer rises, a ring where it falls.
    """
    words = [str(caption) for caption in captions]
    about = f"{what}: {', '.join(words)}."
    drawings = [
        pixel_drawing(
            picture,
            caption,
            16 if each else 8,
            " ".join(filter(None, (f"{what}: {caption}.", steepest_pixels(each)))),
            each,
        )
        for picture, caption, each in zip(pictures, words, slopes or [()] * len(words), strict=True)
    ]
    if slopes:
        about = " ".join(drawing.about for drawing in drawings)
    return Picture(drawings, about, smallest=0.9)  # those in the last row look like the others


def draw_attention(letters: str, looks: Sequence[Sequence[float]]) -> Picture:
    """Draw where each letter of a text looks: the weights of an attention head, in percent.

    Args:
        letters: the letters that the model read, in order.
        looks: for each letter a row of weights, for the letters up to itself; each row adds up to
            1.
    """
    return Picture([attention_drawing(letters, looks)])


class DecisionPlane:
    """A model's answers on a grid of points that covers the given points and a margin."""

    def __init__(
        self,
        predict: Predict,
        inputs: Sequence[Sequence[float]],
        targets: Sequence[float],
        threshold: float,
    ) -> None:
        if not inputs or any(len(point) != 2 for point in inputs):
            raise ValueError("a decision boundary needs points with two coordinates each")
        self.threshold = threshold
        self.inputs = inputs
        self.high = [float(target) > threshold for target in targets]
        found = [_number(predict(list(point))) > threshold for point in inputs]
        self.right = sum(a == b for a, b in zip(found, self.high, strict=True))
        self.columns, self.rows = (axis_of([point[i] for point in inputs]) for i in (0, 1))
        self.answers = [[_number(predict([x, y])) for x in self.columns] for y in self.rows]

    def axes(self, title: str = "") -> Axes:
        """Return the drawing of the model's decisions and of the points."""
        right = f"{self.right} of {len(self.inputs)} points right"
        above = [[answer - self.threshold for answer in row] for row in self.answers]
        below = [[-margin for margin in row] for row in above]
        return plane_axes(
            self.columns,
            self.rows,
            [below, above],
            zip(self.inputs, self.high, strict=True),
            size=(300, 230),
            title=f"{title}: {right}" if title else right,
            x_label=f"● target above {self.threshold:g}   ▲ below   ━ border",
            about=self.in_words(),
        )

    def in_words(self) -> str:
        share = sum(answer > self.threshold for row in self.answers for answer in row)
        percent = round(100 * share / len(self.columns) / len(self.rows))
        return (
            f"Decision boundary: {self.right} of {len(self.inputs)} points lie on their own side. "
            f"The model answers above {self.threshold:g} on {percent} % of the plane from "
            f"{self.columns[0]:.1f} to {self.columns[-1]:.1f} across and "
            f"{self.rows[0]:.1f} to {self.rows[-1]:.1f} up.{_coinciding(self.inputs)}"
        )

    def chart(self) -> str:
        """Return a map in characters: + where the answer is above the threshold, else a dot. The
        given points are O if their target is above the threshold, else ^."""
        lines = [
            ["+" if answer > self.threshold else "." for answer in row] for row in self.answers[::2]
        ]
        for (x, y), high in zip(self.inputs, self.high, strict=True):
            row = round(_place(y, self.rows) * (len(lines) - 1))
            column = round(_place(x, self.columns) * (len(lines[0]) - 1))
            lines[row][column] = "O" if high else "^"
        drawn = "\n".join("".join(line) for line in reversed(lines))
        return f"{drawn}\n+ the model answers above {self.threshold:g}   . not   O ^ the points"


def _coinciding(points: Sequence[Sequence[float]]) -> str:
    """Return a sentence on the number of visible marks if some points lie in the same place; else
    ""."""
    places = len({tuple(round(number, 2) for number in point) for point in points})
    return f" Some coincide: {places} marks for {len(points)} points." * (places < len(points))


def axis_of(numbers: Sequence[float], count: int = _GRID) -> list[float]:
    """Return `count` evenly spaced numbers, from a little below the lowest given number to a little
    above the highest."""
    margin = 0.25 * (max(numbers) - min(numbers)) or 1.0
    start, end = min(numbers) - margin, max(numbers) + margin
    return spread(start, end, count)


def _place(number: float, axis: Sequence[float]) -> float:
    return (number - axis[0]) / (axis[-1] - axis[0])


def _number(answer: Any) -> float:
    return float(getattr(answer, "data", answer))


def _losses(
    losses: Sequence[float] | Mapping[str, Sequence[float]], per: str, of: str = "loss"
) -> Axes:
    named = losses if isinstance(losses, Mapping) else {"loss": losses}
    curves = {name: [_number(loss) for loss in curve] for name, curve in named.items()}
    if not curves or not all(curves.values()):
        raise ValueError("there is no loss to draw yet")
    words = []
    for name, curve in curves.items():
        lowest = min(curve)
        what = of.capitalize() if len(curves) == 1 else f"{of.capitalize()} of “{name}”"
        words.append(
            f"{what} over {len(curve)} {per}s: from {curve[0]:.4g} to {curve[-1]:.4g}, "
            f"lowest {lowest:.4g} in {per} {curve.index(lowest) + 1}."
        )
    points = {name: list(enumerate(curve, 1)) for name, curve in curves.items()}
    return loss_axes(points, x_label=per, y_label=of, about=" ".join(words))
