"""Pictures of training: the loss over time, and where a model's decision changes.

Every picture comes with its text equivalent: as alternative text in a notebook, and as words and
a map of characters elsewhere. Colour never carries anything alone: classes differ in marker and
hatching as well, curves in dashes and by a label at their end.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Predict = Callable[[Any], Any]
"""Takes a point, gives a number or a Value."""

_HIGH, _LOW, _INK = "#0072b2", "#d55e00", "#222222"
_LINE = 11  # points from one label to the next
_DASHES = ["-", "--", "-.", ":"]
_GRID = 30
"""Points each way on which a model is asked: an engine of single numbers takes its time."""


class Picture:
    """A finished picture: a notebook shows the drawing, a terminal the words.

    Attributes:
        png: the drawing.
        summary: what it shows, in a sentence or two.
        text: the summary, and a map in characters where there is one.
    """

    def __init__(self, figure: Figure, summary: str, chart: str = "") -> None:
        buffer = io.BytesIO()
        # A layout that fits everything in needs no second drawing to find out what sticks out.
        fits = figure.get_layout_engine() is not None
        figure.savefig(buffer, format="png", dpi=100, bbox_inches=None if fits else "tight")
        self.png = buffer.getvalue()
        self.summary = summary
        self.text = f"{summary}\n\n{chart}" if chart else summary

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = base64.b64encode(self.png).decode()
        html = f'<img alt="{escape(self.summary)}" src="data:image/png;base64,{data}">'
        return {"text/html": html, "text/plain": self.text}


def loss_curve(
    losses: Sequence[float] | Mapping[str, Sequence[float]], per: str = "epoch"
) -> Picture:
    """Draw the loss over the epochs, on a logarithmic scale where it spans several magnitudes.

    Args:
        losses: one number an epoch; or several such lists by name, to compare them.
        per: what there is one number for, where it is not an epoch.

    Raises:
        ValueError: there is nothing to draw.
    """
    curves = _curves(losses)
    figure = Figure(figsize=(6.5, 3.2))
    _draw_losses(figure.add_subplot(), curves, per)
    return Picture(figure, _losses_in_words(curves, per))


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
        targets: one number a point; those above `threshold` are one class, the rest the other.
        threshold: answers above it stand for the class with the higher target.

    Raises:
        ValueError: the points do not have two coordinates.
    """
    plane = _Plane(predict, inputs, targets, threshold)
    figure = Figure(figsize=(4.6, 4.0))
    plane.draw(figure.add_subplot())
    return Picture(figure, plane.in_words(), plane.chart())


class TrainingView:
    """A picture that is drawn anew while a model trains: its losses, and its decisions if wanted.

    In a notebook the picture stays in one place and changes; a notebook that is executed without
    anybody watching keeps the last one. Elsewhere each picture's words are printed.

    Args:
        inputs, targets, threshold: as in `decision_boundary`; without them only losses are drawn.
    """

    def __init__(
        self,
        inputs: Sequence[Sequence[float]] | None = None,
        targets: Sequence[float] | None = None,
        threshold: float = 0.0,
    ) -> None:
        self._points = None if inputs is None or targets is None else (inputs, targets)
        self._threshold = threshold
        self._handle: Any = None

    def show(self, model: Predict, losses: Sequence[float]) -> Picture:
        """Draw how things stand, in place of the picture before; returns the picture."""
        curves = _curves(losses)
        plane = None
        figure = Figure(figsize=(9.0 if self._points else 6.5, 3.6), layout="constrained")
        if self._points:
            plane = _Plane(model, *self._points, self._threshold)
            left, right = figure.subplots(1, 2, width_ratios=[5, 4])
            plane.draw(right)
        else:
            left = figure.add_subplot()
        _draw_losses(left, curves)
        words = [_losses_in_words(curves), plane.in_words() if plane else ""]
        picture = Picture(figure, " ".join(filter(None, words)), plane.chart() if plane else "")
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


class _Plane:
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
        self.columns, self.rows = (_axis([point[i] for point in inputs]) for i in (0, 1))
        self.answers = [[_number(predict([x, y])) for x in self.columns] for y in self.rows]

    def draw(self, axes: Axes) -> None:
        lowest = min(map(min, self.answers))
        highest = max(map(max, self.answers))
        if lowest <= self.threshold < highest:
            edges = [lowest - 1.0, self.threshold, highest + 1.0]
            axes.contourf(self.columns, self.rows, self.answers, edges,
                          colors=[_LOW, _HIGH], alpha=0.2, hatches=["", "..."])  # fmt: skip
            axes.contour(self.columns, self.rows, self.answers, [self.threshold],
                         colors=_INK, linewidths=2)  # fmt: skip
        for is_high, marker, colour in ((True, "o", _HIGH), (False, "^", _LOW)):
            chosen = [p for p, high in zip(self.inputs, self.high, strict=True) if high == is_high]
            label = f"target {'above' if is_high else 'below'} {self.threshold:g}"
            axes.scatter([p[0] for p in chosen], [p[1] for p in chosen], marker=marker, s=50,
                         color=colour, edgecolors=_INK, zorder=3, label=label)  # fmt: skip
        axes.set_title(f"{self.right} of {len(self.inputs)} points right", fontsize=11)
        axes.set_xlabel("first coordinate")
        axes.set_ylabel("second coordinate")
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)

    def in_words(self) -> str:
        share = sum(answer > self.threshold for row in self.answers for answer in row)
        percent = round(100 * share / len(self.columns) / len(self.rows))
        return (
            f"Decision boundary: {self.right} of {len(self.inputs)} points lie on their own side. "
            f"The model answers above {self.threshold:g} on {percent} % of the plane from "
            f"{self.columns[0]:.1f} to {self.columns[-1]:.1f} across and "
            f"{self.rows[0]:.1f} to {self.rows[-1]:.1f} up."
        )

    def chart(self) -> str:
        """The plane in characters: + above the threshold, . below; points as O and ^."""
        lines = [
            ["+" if answer > self.threshold else "." for answer in row] for row in self.answers[::2]
        ]
        for (x, y), high in zip(self.inputs, self.high, strict=True):
            row = round(_place(y, self.rows) * (len(lines) - 1))
            column = round(_place(x, self.columns) * (len(lines[0]) - 1))
            lines[row][column] = "O" if high else "^"
        drawn = "\n".join("".join(line) for line in reversed(lines))
        return f"{drawn}\n+ the model answers above {self.threshold:g}   . not   O ^ the points"


def _axis(numbers: Sequence[float]) -> list[float]:
    """Evenly spaced numbers that reach a little beyond the given ones."""
    margin = 0.25 * (max(numbers) - min(numbers)) or 1.0
    start, end = min(numbers) - margin, max(numbers) + margin
    return [start + (end - start) * i / (_GRID - 1) for i in range(_GRID)]


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


def _draw_losses(axes: Axes, curves: dict[str, list[float]], per: str = "epoch") -> None:
    for index, (name, curve) in enumerate(curves.items()):
        axes.plot(range(1, len(curve) + 1), curve, _DASHES[index % len(_DASHES)],
                  color=f"C{index}" if len(curves) > 1 else _HIGH, label=name)  # fmt: skip
    every = [loss for curve in curves.values() for loss in curve]
    if min(every) > 0 and max(every) > 20 * min(every):
        axes.set_yscale("log")
    axes.set_xlabel(per)
    axes.set_ylabel("loss")
    axes.grid(True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        _label_ends(axes, curves)


def _label_ends(axes: Axes, curves: dict[str, list[float]]) -> None:
    """Write each curve's name at its end, one above the other where curves end close together."""
    points_a_pixel = 72 / axes.figure.dpi
    lowest = -math.inf
    for name, curve in sorted(curves.items(), key=lambda named: named[1][-1]):
        end = (len(curve), curve[-1])
        height = axes.transData.transform(end)[1] * points_a_pixel
        place = max(height, lowest)
        lowest = place + _LINE
        axes.annotate(name, end, (4, place - height), textcoords="offset points",
                      fontsize=9, va="center")  # fmt: skip


def _losses_in_words(curves: dict[str, list[float]], per: str = "epoch") -> str:
    parts = []
    for name, curve in curves.items():
        lowest = min(curve)
        what = "Loss" if len(curves) == 1 else f"Loss of “{name}”"
        parts.append(
            f"{what} over {len(curve)} {per}s: from {curve[0]:.4g} to {curve[-1]:.4g}, "
            f"lowest {lowest:.4g} in {per} {curve.index(lowest) + 1}."
        )
    return " ".join(parts)
