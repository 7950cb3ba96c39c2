"""Draws pictures of training: the loss over time, and the border of a model's decisions.

Every picture comes with its text equivalent: as alternative text in a notebook, and as words and a
map of characters elsewhere. Colour never carries meaning alone: classes differ in marker and
pattern as well, curves in dashes and by a label at their end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.drawing.chart import Axes, Picture

Predict = Callable[[Any], Any]
"""Takes a point, gives a number or a Value."""

_GRID = 30
"""Points to a side of the grid on which a model is asked: an engine of single numbers is slow."""


def loss_curve(
    losses: Sequence[float] | Mapping[str, Sequence[float]], per: str = "epoch", of: str = "loss"
) -> Picture:
    """Draw the loss over the epochs, on a logarithmic scale if it spans several magnitudes.

    Args:
        losses: one number for each epoch; or several such lists by name, to compare them.
        per: what there is one number for, if it is not an epoch.
        of: what the numbers are, if they are not losses.

    Raises:
        ValueError: there is nothing to draw.
    """
    curves = _curves(losses)
    return Picture([_losses(curves, per, of)], _losses_in_words(curves, per, of))


def decision_boundary(
    predict: Predict,
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
    threshold: float = 0.0,
) -> Picture:
    """Draw where a model decides for which class, with the points that it is meant to learn.

    Args:
        predict: the model; its answer at a point is a number or a Value.
        inputs: points with two coordinates.
        targets: one number for each point; those above `threshold` are one class, the rest the
            other.
        threshold: answers above it stand for the class with the higher target.

    Raises:
        ValueError: the points do not have two coordinates.
    """
    plane = DecisionPlane(predict, inputs, targets, threshold)
    return Picture([plane.axes()], plane.in_words(), plane.chart())


class TrainingView:
    """A picture that is drawn again while a model trains: its losses, and its decisions if wanted.

    In a notebook the picture stays in one place and changes; a notebook that is executed by a
    program keeps the last one. Elsewhere each picture's words are printed.

    Args:
        inputs, targets, threshold: as in `decision_boundary`; without them only losses are drawn.
        per: the unit that each loss is for, if it is not an epoch.
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
        """Draw the present state, in place of the picture before; return the picture."""
        curves = _curves(losses)
        drawings, words = [_losses(curves, self._per)], [_losses_in_words(curves, self._per)]
        chart = ""
        if self._points:
            plane = DecisionPlane(model, *self._points, self._threshold)
            drawings.append(plane.axes())
            words.append(plane.in_words())
            chart = plane.chart()
        picture = Picture(drawings, " ".join(words), chart)
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


class DecisionPlane:
    """A model's answers on a grid of points around the given ones."""

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
        """Return the plane: the model's decisions and the points."""
        right = f"{self.right} of {len(self.inputs)} points right"
        size = (300, 230)
        axes = Axes(
            (self.columns[0], self.columns[-1]),
            (self.rows[0], self.rows[-1]),
            size,
            f"{title}: {right}" if title else right,
            f"● target above {self.threshold:g}   ▲ below   ━ border",
            about=self.in_words(),
        )
        axes.areas(self.columns, self.rows, self.answers, self.threshold)
        for (x, y), is_high in zip(self.inputs, self.high, strict=True):
            axes.dot(x, y, *(("circle", 0) if is_high else ("triangle", 1)))
        return axes

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
        """Return the plane in characters: + above the threshold, . below; points as O and ^."""
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
    """Return a sentence on the number of visible marks, if some points lie in one place."""
    places = len({tuple(round(number, 2) for number in point) for point in points})
    return f" Some coincide: {places} marks for {len(points)} points." * (places < len(points))


def axis_of(numbers: Sequence[float], count: int = _GRID) -> list[float]:
    """Return evenly spaced numbers that reach a little beyond the given ones."""
    margin = 0.25 * (max(numbers) - min(numbers)) or 1.0
    start, end = min(numbers) - margin, max(numbers) + margin
    return [start + (end - start) * i / (count - 1) for i in range(count)]


def _place(number: float, axis: Sequence[float]) -> float:
    return (number - axis[0]) / (axis[-1] - axis[0])


def _number(answer: Any) -> float:
    return float(getattr(answer, "data", answer))


def _curves(losses: Sequence[float] | Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    named = losses if isinstance(losses, Mapping) else {"loss": losses}
    curves = {name: [_number(loss) for loss in curve] for name, curve in named.items()}
    if not curves or not all(curves.values()):
        raise ValueError("there is no loss to draw yet")
    return curves


def _losses(curves: dict[str, list[float]], per: str, of: str = "loss") -> Axes:
    every = [loss for curve in curves.values() for loss in curve if math.isfinite(loss)] or [0.0]
    low, high = min(every), max(every)
    logarithmic = low > 0 and high > 20 * low
    low = low if logarithmic else min(0.0, low)
    longest = max(map(len, curves.values()))
    axes = Axes(
        (1, max(longest, 2)),
        (low, high * 1.05 if high > low else low + 1),
        x_label=per,
        y_label=of,
        about=_losses_in_words(curves, per, of),
        logarithmic=logarithmic,
        counts=True,
    )
    for number, (name, curve) in enumerate(curves.items()):
        points = [(i, loss if math.isfinite(loss) else high) for i, loss in enumerate(curve, 1)]
        axes.curve(points, name if len(curves) > 1 else "", number)
    return axes


def _losses_in_words(curves: dict[str, list[float]], per: str, of: str = "loss") -> str:
    parts = []
    for name, curve in curves.items():
        lowest = min(curve)
        what = of.capitalize() if len(curves) == 1 else f"{of.capitalize()} of “{name}”"
        parts.append(
            f"{what} over {len(curve)} {per}s: from {curve[0]:.4g} to {curve[-1]:.4g}, "
            f"lowest {lowest:.4g} in {per} {curve.index(lowest) + 1}."
        )
    return " ".join(parts)
