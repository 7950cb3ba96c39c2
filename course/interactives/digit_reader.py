"""Reads a digit that a person draws on the screen, with the student's own network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from course.digits import SIDE, Stroke, pixels
from course.drawing.chart import Svg, bars, in_rows, pixel_drawing, steepest_pixels
from course.drawing.operands import as_number
from course.interactives.formatting import brief
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show

_PIXEL = 22
_INK = (" ", "·", "o", "#")


def draw_digit(network: Callable[[list[float]], Any]) -> Reader:
    """Draw a digit with the mouse or the keyboard, and see which digit your network reads.

    Args:
        network: your trained network. It takes 64 numbers from 0 to 1, the pixels row by row, and
            gives ten logits, one for each digit.

    Over your drawing stands the gradient of the largest logit at each pixel: a disc where more ink
    would make the network surer, a ring where it would make it less sure.

    Returns:
        An object that always holds your drawing as it is now (`picture`), the probability that
        the network gives each digit (`chances`), and the gradient at each pixel (`slopes`).

    Raises:
        YourCodeFailed: the network raised an error, or did not return ten logits.
    """
    reader = Reader(network)
    show(reader)
    return reader


class Reader:
    """The model of the drawing area: the drawn digit, and the network's probability of each digit.

    Attributes:
        picture: the ink on each pixel, 64 numbers from 0 to 1, row by row from the top.
        chances: the probability of each digit, ten numbers from 0 to 1 that add up to 1; [] as long
            as nothing is drawn.
        slopes: the gradient of the largest logit at each pixel; [] as long as nothing is drawn, or
            if the network answers with plain numbers.
    """

    title = "Draw a digit"
    running = False

    def __init__(self, network: Callable[[list[float]], Any]) -> None:
        self._network = network
        self._strokes: list[Stroke] = []
        self.chances: list[float] = []
        self.slopes: list[float] = []
        self.news = ""
        self._read(pixels([]))  # raises an error if the network gives no ten logits
        self._clear()

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
        if name == "clear" or not value:
            self._clear()
            return
        self._strokes = value
        self._read(pixels(value))
        self.news = self.summary()

    def _clear(self) -> None:
        self._strokes = []
        self.picture, self.chances, self.slopes = pixels([]), [], []
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
        self.slopes = []
        if hasattr(answer[0], "backward"):
            with your_code("The network"):
                inputs = [type(answer[0])(ink) for ink in picture]
                self._network(inputs)[self._order()[0]].backward()
                self.slopes = [float(pixel.grad) for pixel in inputs]

    def _order(self) -> list[int]:
        """Return the digits, the likeliest first."""
        return sorted(range(10), key=lambda digit: -self.chances[digit])

    def summary(self) -> str:
        if not self.chances:
            return "Nothing is drawn yet."
        first, second = self._order()[:2]
        return (
            f"It reads {named(first)}, at {self.chances[first]:.0%}. "
            f"Next comes {named(second)}, at {self.chances[second]:.0%}."
        )

    def html(self) -> str:
        chances = enumerate(self.chances or [0.0] * 10)
        rows = [(str(digit), chance, f"{chance:.0%}") for digit, chance in chances]
        drawings = [self._pixels(), bars("How likely each digit is", rows, self.summary(), {})]
        key = "<p>● more ink here would make it surer &nbsp; ○ less sure</p>" * any(self.slopes)
        return f"<p><strong>{self.summary()}</strong></p>{key}{in_rows(drawings, 1.0)}"

    def text(self) -> str:
        return f"{self._in_characters()}\n{self.summary()}"

    def _in_characters(self) -> str:
        rows = [self.picture[row * SIDE : (row + 1) * SIDE] for row in range(SIDE)]
        return "\n".join("".join(_INK[int(ink * 3)] for ink in row).rstrip() for row in rows)

    def _pixels(self) -> Svg:
        inked = sum(ink > 0 for ink in self.picture)
        about = (
            f"What the network sees: {SIDE} by {SIDE} pixels, {inked} of them with ink. "
            f"{steepest_pixels(self.slopes)}"
        ).rstrip()
        return pixel_drawing(self.picture, "What the network sees", _PIXEL, about, self.slopes)


def named(digit: int) -> str:
    """Return a digit with its article: "a 3", "an 8"."""
    return f"{'an' if digit == 8 else 'a'} {digit}"


def _listed(answer: Any) -> Sequence[Any]:
    return answer if isinstance(answer, (list, tuple)) else [answer]
