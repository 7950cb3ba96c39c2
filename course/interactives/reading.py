"""Reads a digit that a person draws, with a network of the student's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from course.digits import SIDE, Stroke, digits, pixels
from course.drawing.chart import Svg
from course.drawing.pixels import pixel_drawing
from course.interactives.charts import beside
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show
from course.interactives.writing import as_number, brief

_PIXEL = 22
_INK = (" ", "·", "o", "#")


def draw_digit(network: Callable[[list[float]], Any]) -> Reader:
    """Draw a digit with the mouse or the keyboard, and see which one a network reads.

    Args:
        network: your trained network. It takes 64 numbers from 0 to 1, the pixels row by row, and
            gives ten logits, one for each digit.

    Returns:
        What is drawn, and how it is read, at any later time.

    Raises:
        YourCodeFailed: the network raised an error, or gave something else.
    """
    reader = Reader(network)
    show(reader)
    return reader


class Reader:
    """The model: the drawn digit, and the network's probability for each digit.

    Attributes:
        picture: the pixels, row by row.
        chances: a number from 0 to 1 for each digit; they add up to 1.
    """

    title = "Draw a digit"
    running = False

    def __init__(self, network: Callable[[list[float]], Any]) -> None:
        self._network = network
        self._strokes: list[Stroke] = []
        self.chances: list[float] = []
        self.news = ""
        # A page without working controls shows a digit that the course draws.
        self._read(digits(1, seed=7)[0][0])

    def __repr__(self) -> str:
        return self.summary()

    def begin(self) -> None:
        self._clear()

    def controls(self) -> list[Control]:
        return [
            Control("strokes", "Drawing area", "pad", self._strokes),
            Control("clear", "Clear", enabled=bool(self._strokes)),
        ]

    def act(self, name: str, value: Any) -> None:
        if name == "clear":
            self._clear()
            return
        self._strokes = value
        self._read(pixels(value))
        self.news = self.summary()

    def _clear(self) -> None:
        self._strokes = []
        self.picture, self.chances = pixels([]), []
        self.news = "The drawing area is empty."

    def _read(self, picture: list[float]) -> None:
        with your_code("The network"):
            answer = self._network(picture)
        logits = [as_number(getattr(each, "data", each)) for each in _listed(answer)]
        if len(logits) != 10 or any(each is None or not math.isfinite(each) for each in logits):
            raise YourCodeFailed(
                f"The network answers {brief(answer)}. It should give ten logits, one a digit."
            )
        numbers = [each for each in logits if each is not None]
        weights = [math.exp(number - max(numbers)) for number in numbers]
        self.picture = picture
        self.chances = [weight / sum(weights) for weight in weights]

    def summary(self) -> str:
        if not self.chances:
            return "Nothing is drawn yet."
        first, second = sorted(range(10), key=lambda digit: -self.chances[digit])[:2]
        return (
            f"It reads a {first}, at {self.chances[first]:.0%}. "
            f"Next comes a {second}, at {self.chances[second]:.0%}."
        )

    def html(self) -> str:
        return f"<p><strong>{self.summary()}</strong></p>{beside([self._pixels(), self._bars()])}"

    def text(self) -> str:
        return f"{self._in_characters()}\n{self.summary()}"

    def _in_characters(self) -> str:
        rows = [self.picture[row * SIDE : (row + 1) * SIDE] for row in range(SIDE)]
        return "\n".join("".join(_INK[int(ink * 3)] for ink in row).rstrip() for row in rows)

    def _pixels(self) -> Svg:
        inked = sum(ink > 0 for ink in self.picture)
        about = f"What the network sees: {SIDE} by {SIDE} pixels, {inked} of them with ink."
        return pixel_drawing(self.picture, "What the network sees", _PIXEL, about)

    def _bars(self) -> Svg:
        svg = Svg(270, 44 + 19 * 10 + 8, self.summary())
        svg.text(135, 20, "How likely each digit is", "middle", "ch-title")
        for digit, chance in enumerate(self.chances or [0.0] * 10):
            y = 32 + 19 * digit
            svg.text(34, y + 14, str(digit), "end")
            svg.add(
                f'<rect class="ch-fill-0" x="42" y="{y + 2}" width="{160 * chance:.1f}" '
                'height="14"/>'
            )
            svg.text(50 + 160 * chance, y + 14, f"{chance:.0%}", look="ch-quiet")
        return svg


def _listed(answer: Any) -> Sequence[Any]:
    return answer if isinstance(answer, (list, tuple)) else [answer]
