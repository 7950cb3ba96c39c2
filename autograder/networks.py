"""Networks as formulas, and a place to watch a training loop: for the hidden tests of `mlp`.

The formulas take plain numbers as well as the reference engine's Values. A network's parameters
are one flat list of numbers, for each neuron its weights and then its bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .engines import Engine, Remote
from .testing import close

_BENDS: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


def neuron_answer(numbers: Sequence[Any], x: Sequence[Any], activation: str = "tanh") -> Any:
    """What a neuron with these weights and, last, this bias answers at the point x."""
    *w, b = numbers
    total = sum(a * c for a, c in zip(w, x, strict=True)) + b
    if activation == "linear":
        return total
    return getattr(total, activation)() if hasattr(total, "data") else _BENDS[activation](total)


def network_answer(
    numbers: Sequence[Any], x: Sequence[Any], sizes: Sequence[int], activations: Sequence[str]
) -> list[Any]:
    """What a network answers at the point x.

    Args:
        numbers: its parameters, layer by layer.
        x: the point.
        sizes: the number of inputs, then of neurons in each layer.
        activations: one a layer.
    """
    left = list(numbers)
    for neurons, activation in zip(sizes[1:], activations, strict=True):
        rows = [[left.pop(0) for _ in range(len(x) + 1)] for _ in range(neurons)]
        x = [neuron_answer(row, x, activation) for row in rows]
    return list(x)


def parameter_count(sizes: Sequence[int]) -> int:
    """How many parameters a network of these sizes has: a weight an input, and a bias."""
    return sum((a + 1) * b for a, b in pairwise(sizes))


def parameters(student: Engine, model: Any) -> list[Any]:
    """A model's parameters, whatever kind of collection it gives."""
    return student.items(model.parameters())


def filled(student: Engine, model: Any, values: Sequence[float]) -> Any:
    """The model, with these numbers as its parameters; there must be as many."""
    found = parameters(student, model)
    assert len(found) == len(values)
    for parameter, value in zip(found, values, strict=True):
        parameter.data = value
    return model


def answers(student: Engine, model: Any, points: Sequence[Sequence[float]]) -> list[float]:
    """A model's answers at some points as plain numbers, whether it gives Values or numbers."""
    found = [model(list(point)) for point in points]
    found = [a[0] if isinstance(a, (list, tuple)) and len(a) == 1 else a for a in found]
    if all(isinstance(answer, Remote) for answer in found):
        return student.attributes(found, "data")
    return found


def borders(
    student: Engine, model: Any, inputs: Sequence[Sequence[float]], targets: Sequence[float]
) -> list[float]:
    """How far it is from points of one class to the border with the other, as parts of the way.

    The ways lead from the first three points with the lowest target to the first three with the
    highest. The border is found by bisection, to a millionth of the way.
    """
    low, high = min(targets), max(targets)
    starts, ends = (
        [x for x, t in zip(inputs, targets, strict=True) if t == end] for end in (low, high)
    )
    found = []
    for start, end in zip(starts[:3], ends[:3], strict=False):
        near, far = 0.0, 1.0
        for _ in range(20):
            middle = (near + far) / 2
            point = [a + middle * (b - a) for a, b in zip(start, end, strict=True)]
            if answers(student, model, [point])[0] < (low + high) / 2:
                near = middle
            else:
                far = middle
        found.append(near)
    return found


class TrainingGround:
    """A model with one weight w, a loss and an optimizer, which watch the loop that drives them.

    The model answers w · x and the loss is the mean squared error. A step is right if w then
    holds the gradient of the step's batch, no more and no less.

    Args:
        student: whose `train` is watched.
        start: what w starts at.
        count: how many samples there are.
        leftover: a gradient that w has from before.

    Attributes:
        batches: the (input, target) pairs of every batch, sorted.
        losses: the loss of every batch.
        right: for every step, whether the gradient was right.
        left: w, its gradient and the count of steps at the end: they tell wrong loops apart.
    """

    LR = 0.05

    def __init__(self, student: Engine, start: float, count: int, leftover: float = 0.0) -> None:
        self._student = student
        self._w = student.Value(start)
        self._w.grad = leftover
        self._at = start
        self.pairs = [(1.0 + i / 4, 2.0 + i * i / 8) for i in range(count)]
        self.batches: list[list[tuple[float, float]]] = []
        self.losses: list[float] = []
        self.right: list[bool] = []
        self.left: list[Any] = []

    def run(self, epochs: int, *batch_size: int) -> list[Any]:
        """Have the student's `train` run here; returns what it returned."""
        student = self._student
        model: dict[str, Callable[..., Any]] = {
            "__call__": lambda _, x: self._w * x[0],
            "parameters": lambda _: [self._w],
        }
        optimizer: dict[str, Callable[..., Any]] = {
            "step": lambda _: self._step(),
            "zero_grad": lambda _: self._zero(),
        }
        losses = student.train(
            student.define_class("OurModel", {**model, "zero_grad": optimizer["zero_grad"]})(),
            [[x] for x, _ in self.pairs],
            [t for _, t in self.pairs],
            self._loss,
            student.define_class("OurOptimizer", optimizer)(),
            epochs,
            *batch_size,
        )
        self._w.label = f"{len(self.right)} steps"
        self.left = [self._w.data, self._w.grad, self._w.label]
        return student.items(losses)

    def saw_every_sample(self, batches: list[list[tuple[float, float]]]) -> bool:
        """Whether these batches hold every sample once, each input with its own target."""
        seen = sorted(pair for batch in batches for pair in batch)
        wanted = close([a for pair in self.pairs for a in pair])
        return bool([a for pair in seen for a in pair] == wanted)

    def _zero(self) -> None:
        self._w.grad = 0.0

    def _loss(self, predictions: Sequence[Any], targets: Sequence[float]) -> Any:
        xs = [prediction.data / self._at for prediction in predictions]
        self.batches.append(sorted(zip(xs, targets, strict=True)))
        self.losses.append(sum((self._at * x - t) ** 2 for x, t in self.batches[-1]) / len(xs))
        total = sum((p - t) * (p - t) for p, t in zip(predictions, targets, strict=True))
        return total / len(xs)

    def _step(self) -> None:
        batch = self.batches[-1]
        found = self._w.grad
        self.right.append(
            found == close(sum(2 * (self._at * x - t) * x for x, t in batch) / len(batch))
        )
        self._at -= self.LR * found
        self._w.data = self._at
