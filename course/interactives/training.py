"""Trains a small network on XOR with the student's own classes, a few epochs at a time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from html import escape
from typing import Any

from course.datasets import xor
from course.interactives.charts import MARGIN, decision_svg, loss_svg
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show
from course.interactives.writing import as_number, brief, table

HIDDEN, LEARNING_RATE, SEED = 4, 0.3, 1
RATES = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
GOAL = 0.001  # a loss at which there is nothing more to see
AT_MOST = 2000  # epochs that one press of "Run" trains
PREVIEW = 150  # epochs before the picture that stays on a page without controls
TICK = 0.15  # seconds of training between two pictures
FINE = 21  # points to a side of the decision picture


def xor_trainer(MLP: Callable[..., Any], mse: Callable[..., Any], SGD: Callable[..., Any]) -> None:
    """Train a network on XOR and watch its loss and its decisions.

    Args:
        MLP: your class; `MLP(2, [4, 1])` is made of it.
        mse: your loss, called with the predictions and the targets of all four points.
        SGD: your optimizer, called with the parameters and the learning rate.

    Raises:
        TypeError: something that was passed cannot be called.
        YourCodeFailed: one epoch with your code raised an error, or gave no numbers.
    """
    show(XorTraining(MLP, mse, SGD))


class XorTraining:
    """The model: a network, an optimizer, and the losses so far.

    Attributes:
        hidden: units in the hidden layer; 0 means that there is none.
        rate: the learning rate.
        seed: what Python's random numbers start from when the network is made.
        losses: the loss of each epoch, before its update.
        answers: of each point its name, the target, the network's answer, and whether it is right.
    """

    title = "Training on XOR"

    def __init__(self, MLP: Any, mse: Any, SGD: Any) -> None:
        for name, thing in (("MLP", MLP), ("mse", mse), ("SGD", SGD)):
            if not callable(thing):
                raise TypeError(
                    f"xor_trainer takes your MLP, mse and SGD: `xor_trainer(MLP, mse, SGD)`. "
                    f"In place of {name} it was given {brief(thing)}."
                )
        self._MLP, self._mse, self._SGD = MLP, mse, SGD
        self.hidden, self.rate, self.seed = HIDDEN, LEARNING_RATE, SEED
        self.running = False
        self.news = ""
        self.losses: list[float] = []
        self.reset()
        self.train(PREVIEW)

    def begin(self) -> None:
        self.reset()

    def controls(self) -> list[Control]:
        run = "Pause" if self.running else "Run ▶"
        return [
            Control("step", "Step: 1 epoch", enabled=not self.running),
            Control("run", run),
            Control("reset", "Reset"),
            Control("hidden", "Hidden units", "slider", self.hidden, low=0, high=8),
            Control("rate", "Learning rate", "choice", self.rate, options=RATES),
            Control("seed", "Seed", "slider", self.seed, low=0, high=99),
        ]

    def act(self, name: str, value: Any) -> None:
        try:
            if name == "step":
                self.train(1)
                self.news = self.summary()
            elif name == "run":
                self.running = not self.running
                self._until = self.epoch + AT_MOST
                self.news = "Training." if self.running else f"Paused. {self.summary()}"
            elif name == "tick":
                self._tick()
            elif name == "rate":
                self.rate = float(value)
                self._new_optimizer()
                self.news = f"The learning rate is {self.rate:g} from now on."
            else:
                if name in ("hidden", "seed"):
                    setattr(self, name, int(value))
                self.reset()
        except YourCodeFailed:
            self.running = False
            raise

    @property
    def epoch(self) -> int:
        return len(self.losses)

    def reset(self) -> None:
        """Make a new network and forget the losses."""
        sizes = [self.hidden, 1] if self.hidden else [1]
        before = random.getstate()
        random.seed(self.seed)
        try:
            with your_code(f"MLP(2, {sizes})"):
                self.network = self._MLP(2, sizes)
        finally:
            random.setstate(before)
        self._new_optimizer()
        self._look()
        self.running = False
        self.losses = []
        layer = f"{self.hidden} hidden units" if self.hidden else "no hidden layer"
        self.news = f"A new network with {layer}, seed {self.seed}. {self.summary()}"

    def train(self, epochs: int, seconds: float = math.inf) -> None:
        """Train so many epochs, or for about so many seconds if that is less."""
        stop = time.monotonic() + seconds
        inputs, targets = xor()
        for _ in range(epochs):
            with your_code("A training step"):
                predictions = [self.network(point) for point in inputs]
                loss = self._mse(predictions, targets)
            number = as_number(getattr(loss, "data", None))
            if number is None or not math.isfinite(number):
                raise YourCodeFailed(
                    f"The loss is {brief(getattr(loss, 'data', loss))} in epoch {self.epoch + 1}. "
                    "If it was a number before, the learning rate is too large: choose another, "
                    "and press Reset."
                )
            with your_code("A training step"):
                self._optimizer.zero_grad()
                loss.backward()
                self._optimizer.step()
            self.losses.append(number)
            if time.monotonic() > stop:
                break
        self._look()

    def _look(self) -> None:
        """Ask the network about the four points, and all over the plane."""
        answers = []
        for (x, y), target in zip(*xor(), strict=True):
            said = self._predict(x, y)
            answers.append((f"{x:g} xor {y:g}", target, said, (said > 0.5) == (target > 0.5)))
        side = [i / (FINE - 1) * (1 + 2 * MARGIN) - MARGIN for i in range(FINE)]
        self._grid = [[self._predict(x, y) for x in side] for y in side]
        self.answers = answers

    def _predict(self, x: float, y: float) -> float:
        with your_code("A prediction"):
            answer = self.network([x, y])
        number = as_number(getattr(answer, "data", None))
        if number is None:
            raise YourCodeFailed(
                f"The network answers {brief(answer)} to one point. A network with one output "
                "gives one Value."
            )
        return number

    def summary(self) -> str:
        if not self.losses:
            return "It has not been trained yet."
        right = sum(right for *_, right in self.answers)
        return f"Epoch {self.epoch}, loss {self.losses[-1]:.4f}, {right} of 4 right."

    def html(self) -> str:
        answers = table(
            ("point", "target", "network", "verdict"),
            [
                (name, f"{target:g}", f"{said:.3f}", "✓ right" if right else "✗ wrong")
                for name, target, said, right in self.answers
            ],
        )
        return (
            f"<p><strong>{escape(self._setting())}</strong> {escape(self.summary())}</p>"
            '<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">'
            f"{loss_svg(self.losses)}{decision_svg(self._grid, self.answers)}"
            f"{answers}</div>"
        )

    def text(self) -> str:
        lines = [
            f"{name} is {target:g}; the network says {said:.3f}, {'right' if right else 'wrong'}"
            for name, target, said, right in self.answers
        ]
        return "\n".join([self._setting(), self.summary(), *lines])

    def _setting(self) -> str:
        return (
            f"XOR with {self.hidden} hidden units, learning rate {self.rate:g}, seed {self.seed}."
        )

    def _new_optimizer(self) -> None:
        with your_code("SGD(MLP.parameters(), lr)"):
            self._optimizer = self._SGD(self.network.parameters(), self.rate)

    def _tick(self) -> None:
        """Train a little, and stop where there is no more to see."""
        if not self.running:
            return
        were_right, above = self._all_right(), not self.losses or self.losses[-1] >= GOAL
        self.train(self._until - self.epoch, TICK)
        if self._all_right() and not were_right:
            self.news = f"All four points are right. {self.summary()}"
        if self.epoch >= self._until or (above and self.losses[-1] < GOAL):
            self.running = False
            self.news = f"Stopped. {self.summary()}"

    def _all_right(self) -> bool:
        return all(right for *_, right in self.answers)
