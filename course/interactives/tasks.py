"""The data sets of the training panel (`sandbox.py`), and the form of targets for each loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from course.datasets import circle, clouds, four_points, moons, spiral, xor

POINTS = 48  # points of a data set that can have any number, and as many again held out
SEED, SEED_HELD_OUT = 0, 1
Sample = tuple[list[float], int]


@dataclass(frozen=True)
class Task:
    """A data set to learn.

    Attributes:
        samples: each point with the index of its class.
        held_out: points of the same kind that are not trained on; empty if `samples` are all.
        classes: how many classes there are.
    """

    samples: list[Sample]
    held_out: list[Sample]
    classes: int = 2

    @property
    def n_inputs(self) -> int:
        return len(self.samples[0][0])


def _samples(data: tuple[list[list[float]], list[float]]) -> list[Sample]:
    """Return samples: of two targets, -1 or 0 is class 0; others are numbers of classes."""
    return [(point, max(0, int(target))) for point, target in zip(*data, strict=True)]


def _drawn(make: Callable[..., Any], classes: int = 2) -> Task:
    train, held_out = (_samples(make(POINTS, seed=seed)) for seed in (SEED, SEED_HELD_OUT))
    return Task(train, held_out, classes)


TASKS: dict[str, Callable[[], Task]] = {
    "xor": lambda: Task(_samples(xor()), []),
    "four points": lambda: Task(_samples(four_points()), []),
    "moons": lambda: _drawn(moons),
    "circle": lambda: _drawn(circle),
    "spiral": lambda: _drawn(spiral),
    "three clouds": lambda: _drawn(clouds, 3),
}


def n_outputs(loss: str, classes: int) -> int:
    """Return the number of outputs: one decides between two classes, except for a cross-entropy."""
    return 1 if classes == 2 and loss != "cross_entropy" else classes


def is_linear(loss: str, activation: str) -> bool:
    """Return whether the last layer is linear: for mse it is tanh, if the others are tanh."""
    return loss in ("hinge", "bce", "cross_entropy") or activation != "tanh"


def apply_loss(
    name: str, loss: Callable[..., Any], outputs: Sequence[list[Any]], classes: Sequence[int]
) -> Any:
    """Return the student's loss of a batch, one Value.

    Args:
        name: "cross_entropy" is called once a sample with the index of the class, and the mean is
            taken; "bce" gets targets 0 and 1; any other -1 and 1. With several outputs, the target
            of each is whether the sample is of its class.
        loss: the student's function.
        outputs: for each sample the network's outputs.
        classes: for each sample the index of its class.
    """
    if name == "cross_entropy":
        losses = [loss(output, k) for output, k in zip(outputs, classes, strict=True)]
        return sum(losses[1:], losses[0]) * (1 / len(losses))
    low = 0.0 if name == "bce" else -1.0
    predictions, targets = [], []
    for output, wanted in zip(outputs, classes, strict=True):
        for k, each in enumerate(output):
            predictions.append(each)
            targets.append(1.0 if wanted == (k if len(output) > 1 else 1) else low)
    return loss(predictions, targets)


def scores(output: Sequence[float]) -> list[float]:
    """Return a score for each class, the highest of which decides."""
    return list(output) if len(output) > 1 else [-output[0], output[0]]


def decided(output: Sequence[float]) -> int:
    """Return the class that the outputs decide for; 0 if they are no numbers."""
    each = scores(output)
    return max(range(len(each)), key=lambda k: each[k] if each[k] == each[k] else float("-inf"))
