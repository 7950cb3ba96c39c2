"""Trainings that are recorded: a small one, and those on XOR."""

from __future__ import annotations

import math
from typing import Any

from course.datasets import xor


class Line:
    """The model w · x, with one weight."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: float) -> Any:
        return self.w * x

    def parameters(self) -> list[Any]:
        return [self.w]


class Rehearsal:
    """The parts of a training loop, a model, an optimizer and a loss, which keep a record.

    Attributes:
        model: a line whose weight `w` starts at 0.5.
        optimizer: takes steps with a learning rate of 0.1.
        samples: the targets that the loss was given, one after the other.
        losses: the results of the loss, a Value for each call.
        gradients: the gradient that each step used.
        went_backward: for each step, whether the last loss had run backward before it.
    """

    def __init__(self, value: type) -> None:
        self.model = Line(value(0.5))
        self.optimizer = Steps(self)
        self.samples: list[float] = []
        self.losses: list[Any] = []
        self.gradients: list[float] = []
        self.went_backward: list[bool] = []

    def loss(self, predictions: list[Any], targets: list[float]) -> Any:
        """Return the mean squared error."""
        predictions, targets = list(predictions), list(targets)
        if len(predictions) != len(targets):
            found = f"{len(predictions)} predictions and {len(targets)} targets"
            raise ValueError(f"the loss was called with {found}")
        self.samples.extend(targets)
        squares = [(p - t) * (p - t) for p, t in zip(predictions, targets, strict=True)]
        self.losses.append(sum(squares) / len(squares))
        return self.losses[-1]


class Steps:
    """The optimizer of a rehearsal."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def zero_grad(self) -> None:
        self._rehearsal.model.w.grad = 0.0

    def step(self) -> None:
        w = self._rehearsal.model.w
        self._rehearsal.gradients.append(w.grad)
        losses = self._rehearsal.losses
        self._rehearsal.went_backward.append(bool(losses) and losses[-1].grad == 1.0)
        w.data -= 0.1 * w.grad


class XorTrials:
    """The results of a training on XOR from the seeds 0, 0 again and 1, and on its opposite from 2.

    Attributes:
        right: how many of the four points each network has right, if a seed decides.
        same_again: whether seed 0 gave the same answers twice.
        differ: whether seed 1 gave others. Rounded ones may be the same at these points.
        says: the fault, in words, if some points are wrong.
    """

    def __init__(self, train: Any) -> None:
        inputs, targets = xor()
        tasks = [(targets, 0), (targets, 1), ([1 - t for t in targets], 2)]

        def answers(wanted: list[float], seed: int) -> list[float]:
            model = train([list(x) for x in inputs], list(wanted), seed)
            return [getattr(answer, "data", answer) for answer in map(model, inputs)]

        found = [answers(wanted, seed) for wanted, seed in tasks]
        self.same_again = answers(targets, 0) == found[0]
        self.differ = found[1] != found[0] or len(set(found[0])) <= 2
        self.right = [
            self.same_again
            and sum((a > 0.5) == (t == 1) for a, t in zip(each, wanted, strict=True))
            for each, (wanted, _) in zip(found, tasks, strict=True)
        ]
        self.says = ""
        if self.same_again and self.right != [4, 4, 4]:
            if all(map(_is_straight, found)):
                self.says = (
                    "The answers are those of a straight line: is there a hidden layer, and does "
                    "it bend?"
                )
            else:
                self.says = (
                    "Not all of the points come out right yet. Look at the losses. If they still "
                    "fall, train longer or faster: more epochs, a larger learning rate, momentum. "
                    "If they jump, or stay high after a jump, take a smaller rate. If they never "
                    "move, is it this network whose parameters the optimizer has?"
                )


def _is_straight(answers: list[float]) -> bool:
    """Return whether answers at the corners of a square are a straight line's, bent or not."""
    for undo in (float, math.atanh, lambda a: math.log(a / (1 - a))):
        try:
            a, b, c, d = map(undo, answers)
        except (ValueError, ZeroDivisionError):
            continue
        spread = max(a, b, c, d) - min(a, b, c, d)
        if spread and abs(a - b - c + d) < 1e-6 * spread + 1e-15:
            return True
    return False
