"""Runs a student's training and records what happened: with a tiny model, and on XOR."""

from __future__ import annotations

import math
from typing import Any

from course.datasets import Points, Targets, xor


class Line:
    """The model w · x, with one weight."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: float) -> Any:
        return self.w * x

    def parameters(self) -> list[Any]:
        return [self.w]


class RecordedTraining:
    """A model, an optimizer and a loss, which record how a training loop uses them.

    Args:
        value: the class `Value`.

    Attributes:
        model: a line whose weight `w` starts at 0.5.
        optimizer: takes steps with a learning rate of 0.1.
        samples: all targets that were passed to the loss, in order.
        losses: the results of the loss, a Value for each call.
        gradients: the gradient that each step of the optimizer used.
        went_backward: for each step of the optimizer, whether `backward` of the last loss had been
            called before.
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
    """The optimizer of a `RecordedTraining`."""

    def __init__(self, training: RecordedTraining) -> None:
        self._training = training

    def zero_grad(self) -> None:
        self._training.model.w.grad = 0.0

    def step(self) -> None:
        w = self._training.model.w
        self._training.gradients.append(w.grad)
        losses = self._training.losses
        self._training.went_backward.append(bool(losses) and losses[-1].grad == 1.0)
        w.data -= 0.1 * w.grad


class _Enough(BaseException):
    """Ends a training."""


def first_losses(value: Any, train: Any, *task: Any, most: int = 4) -> list[float]:
    """Return the numbers of the first losses whose `backward` a training calls; then end it.

    Args:
        value: the class `Value`.
        train: the student's function: takes inputs, targets and a seed.
        task: its arguments.
        most: how many losses.
    """
    backward = value.backward
    losses: list[float] = []

    def recorded(loss: Any) -> None:
        if len(losses) == most:
            raise _Enough
        losses.append(loss.data)
        backward(loss)

    value.backward = recorded
    try:
        train(*task)
    except _Enough:
        pass
    finally:
        value.backward = backward
    return losses


class XorRuns:
    """The results of a student's training on XOR with the seed 0, and on the opposite of XOR with
    the seed 2, and its first losses with the seeds 0 and 1.

    Args:
        value: the class `Value`.
        train: the student's function: takes inputs, targets and a seed, and returns a model.

    Attributes:
        right: for the seeds 0 and 2, how many of the four points the network has right; False for
            each if `same_again` is False.
        same_again: whether seed 0 gave the same losses twice.
        differ: whether seed 1 gave other losses than seed 0. Also true if there were none.
        says: a message on what may be wrong, if some points are wrong; else "".
    """

    def __init__(self, value: Any, train: Any) -> None:
        inputs, targets = xor()
        tasks = [(targets, 0), ([1 - t for t in targets], 2)]

        def copies(wanted: list[float]) -> tuple[Points, Targets]:
            return [list(x) for x in inputs], list(wanted)

        def answers(wanted: list[float], seed: int) -> list[float]:
            model = train(*copies(wanted), seed)
            return [getattr(answer, "data", answer) for answer in map(model, inputs)]

        found = [answers(wanted, seed) for wanted, seed in tasks]
        first, again, other = (
            first_losses(value, train, *copies(targets), seed) for seed in (0, 0, 1)
        )
        self.same_again = again == first
        self.differ = other != first or not first
        self.right = [
            self.same_again
            and sum((a > 0.5) == (t == 1) for a, t in zip(each, wanted, strict=True))
            for each, (wanted, _) in zip(found, tasks, strict=True)
        ]
        self.says = ""
        if self.same_again and self.right != [4, 4]:
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
    """Return whether a linear model gave these answers at the corners of a square, perhaps with
    tanh or a sigmoid applied to its result."""
    for undo in (float, math.atanh, lambda a: math.log(a / (1 - a))):
        try:
            a, b, c, d = map(undo, answers)
        except (ValueError, ZeroDivisionError):
            continue
        spread = max(a, b, c, d) - min(a, b, c, d)
        if spread and abs(a - b - c + d) < 1e-6 * spread + 1e-15:
            return True
    return False
