"""Fits a line to points by hand: two sliders, and the gradients that say which way to move them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.drawing.chart import Axes, Point, in_rows
from course.drawing.graph import short
from course.drawing.operands import as_number
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show

NUDGE, REACH, FOUND = 0.1, 4.0, 1e-3


def fit_line(value_class: type[Any], loss: Callable[..., Any], points: Sequence[Point]) -> None:
    """Move the weight and the bias of a line, and watch its loss and your gradients.

    Args:
        value_class: your Value class.
        loss: your loss. It takes a list of answers and a list of targets.
        points: the points (x, target) that the line should meet.
    """
    show(LineFit(value_class, loss, points))


class LineFit:
    """The model of a line w x + b, and of its loss at the points.

    Attributes:
        numbers: the weight "w" and the bias "b".
        loss: the loss of the line.
        gradients: the derivative of the loss with respect to each of the two.
    """

    title = "A line through the points"
    running = False

    def __init__(
        self, value_class: type[Any], loss: Callable[..., Any], points: Sequence[Point]
    ) -> None:
        self._value_class, self._loss, self._points = value_class, loss, list(points)
        self.numbers = {"w": 0.0, "b": 0.0}
        self.news = ""
        self._evaluate()

    def begin(self) -> None:
        """Do nothing: the line is in its initial state."""

    def controls(self) -> list[Control]:
        return [
            Control(name, name, "slider", number, low=-REACH, high=REACH, step=NUDGE)
            for name, number in self.numbers.items()
        ]

    def act(self, name: str, value: Any) -> None:
        # Sums of steps in the browser have rounding errors, such as 2.1000000000000005.
        self.numbers[name] = float(f"{float(value):.10g}")
        before = self.loss
        self._evaluate()
        change = "fell" if self.loss < before else "rose" if self.loss > before else "stayed"
        self.news = f"The loss {change}. {self.text()}"

    def html(self) -> str:
        xs = [x for x, _ in self._points]
        ys = [y for _, y in self._points]
        across, up = (min(0.0, *xs), max(xs) + 1.0), (min(0.0, *ys) - 1.0, max(ys) + 1.0)
        axes = Axes(across, up, x_label="x", about=self.text())
        for x, y in self._points:
            axes.curve([(x, y), (x, self._at(x))], look="ch-height")
            axes.dot(x, y, number=1)
        axes.curve([(x, self._at(x)) for x in across], "your line", 0)
        return f"<p><strong>{self.text()}</strong></p>{in_rows([axes], 1.0)}"

    def text(self) -> str:
        told = f"With w = {short(self.numbers['w'])} and b = {short(self.numbers['b'])}"
        told = f"{told}, the loss is {short(self.loss)}."
        if self.loss < FOUND:
            return f"{told} You have found the line."
        moves = (
            f"The gradient of {name} is {short(grad)}: move {name} {'up' if grad < 0 else 'down'}."
            for name, grad in self.gradients.items()
            if grad
        )
        return " ".join([told, *moves])

    def _at(self, x: float) -> float:
        return self.numbers["w"] * x + self.numbers["b"]

    def _evaluate(self) -> None:
        with your_code("The loss of the line"):
            w, b = (self._value_class(number) for number in self.numbers.values())
            answers = [w * x + b for x, _ in self._points]
            loss = self._loss(answers, [target for _, target in self._points])
            loss.backward()
        found = [as_number(each) for each in (loss.data, w.grad, b.grad)]
        if None in found:
            raise YourCodeFailed("The loss of the line, or one of its gradients, is not a number.")
        self.loss, *gradients = [each for each in found if each is not None]
        self.gradients = dict(zip("wb", gradients, strict=True))
