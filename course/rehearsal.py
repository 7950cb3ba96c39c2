"""A training that is small enough to follow, and that is written down while it runs."""

from __future__ import annotations

from typing import Any


class Line:
    """The model w · x, with one weight."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: float) -> Any:
        return self.w * x

    def parameters(self) -> list[Any]:
        return [self.w]

    def zero_grad(self) -> None:
        self.w.grad = 0.0


class Rehearsal:
    """What a training loop needs: a model, an optimizer and a loss, which keep a record.

    Attributes:
        model: a line whose weight `w` starts at 0.5.
        optimizer: takes steps with a learning rate of 0.1.
        samples: the targets that the loss was given, one after the other.
        losses: what the loss returned, a Value for each call.
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
        """The mean squared error."""
        self.samples.extend(targets)
        squares = [(p - t) * (p - t) for p, t in zip(predictions, targets, strict=False)]
        self.losses.append(sum(squares) / len(squares))
        return self.losses[-1]


class Steps:
    """The optimizer of a rehearsal."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def zero_grad(self) -> None:
        self._rehearsal.model.zero_grad()

    def step(self) -> None:
        w = self._rehearsal.model.w
        self._rehearsal.gradients.append(w.grad)
        self._rehearsal.went_backward.append(self._rehearsal.losses[-1].grad == 1.0)
        w.data -= 0.1 * w.grad
