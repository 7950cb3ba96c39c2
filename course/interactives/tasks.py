"""The data sets of the training panel (`training.py`), and the form of targets for each loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from course.datasets import circle, clouds, four_points, moons, spiral, xor

POINTS = 48  # size of a data set with random points; as many other points are held out
SEED, SEED_HELD_OUT = 0, 1
Sample = tuple[list[float], int]


@dataclass(frozen=True)
class Task:
    """A data set to learn.

    Attributes:
        samples: the points to train on, each with the index of its class.
        held_out: other points of the same kind, which are not used for training; [] if there are no
            other points.
        classes: the number of classes.
    """

    samples: list[Sample]
    held_out: list[Sample]
    classes: int = 2

    @property
    def n_inputs(self) -> int:
        return len(self.samples[0][0])


def _samples(data: tuple[list[list[float]], list[float]]) -> list[Sample]:
    """Return the points of a data set, each with the index of its class. A target of -1 or 0 means
    class 0; any other target is the index of the class."""
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
    """Return the number of outputs that the network needs: one for two classes, except with
    cross-entropy; otherwise one for each class."""
    return 1 if classes == 2 and loss != "cross_entropy" else classes


def is_linear(loss: str, activation: str) -> bool:
    """Return whether the last layer is linear. It is always so, except with the loss mse and the
    activation tanh."""
    return loss in ("hinge", "bce", "cross_entropy") or activation != "tanh"


def apply_loss(
    name: str, loss: Callable[..., Any], outputs: Sequence[list[Any]], classes: Sequence[int]
) -> Any:
    """Return the loss of a batch, computed by the student's function, as one Value.

    Args:
        name: the loss's name. "cross_entropy" is called for each sample with the index of its
            class, and the mean of the results is returned. Any other loss is called once, with all
            outputs; the target of an output is high if the sample is of the output's class, and low
            otherwise: 1 and 0 for "bce", 1 and -1 for all others.
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
    """Return a score for each class; the network decides for the class with the highest score."""
    return list(output) if len(output) > 1 else [-output[0], output[0]]


def decided(output: Sequence[float]) -> int:
    """Return the index of the class for which the network decides; 0 if its outputs are NaN."""
    each = scores(output)
    return max(range(len(each)), key=lambda k: each[k] if each[k] == each[k] else float("-inf"))
