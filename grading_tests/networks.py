"""Networks as formulas, and recorded trainings, for the hidden tests of `mlp`.

The formulas take plain numbers or the reference engine's Values. The parameters of a network are
one flat list of numbers: for each neuron its weights, then its bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from autograder.testing import Student, close, plain

_BENDS: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


def neuron_answer(numbers: Sequence[Any], x: Sequence[Any], activation: str = "tanh") -> Any:
    """Return the output of a neuron at the point x. The last of its numbers is the bias, the others
    are the weights."""
    *w, b = numbers
    total = sum(a * c for a, c in zip(w, x, strict=True)) + b
    if activation == "linear":
        return total
    return getattr(total, activation)() if hasattr(total, "data") else _BENDS[activation](total)


def network_answer(
    numbers: Sequence[Any], x: Sequence[Any], sizes: Sequence[int], activations: Sequence[str]
) -> list[Any]:
    """Return the output of a network at the point x.

    Args:
        numbers: the parameters of the network, layer by layer.
        x: the point.
        sizes: the number of inputs, then the number of neurons in each layer.
        activations: one for each layer.
    """
    left = list(numbers)
    for neurons, activation in zip(sizes[1:], activations, strict=True):
        rows = [[left.pop(0) for _ in range(len(x) + 1)] for _ in range(neurons)]
        x = [neuron_answer(row, x, activation) for row in rows]
    return list(x)


def parameter_count(sizes: Sequence[int]) -> int:
    """Return the number of parameters of a network with these sizes: each neuron has a weight for
    each input, and a bias."""
    return sum((a + 1) * b for a, b in pairwise(sizes))


def parameters(model: Any) -> list[Any]:
    """Return a model's parameters as a list, whatever collection `parameters()` returns."""
    # `list(…)` would ask a generator for its length, and note the error.
    return [parameter for parameter in model.parameters()]


def trained(student: Student, name: str, *task: Any) -> Any:
    """Return the record of a training by the student's function, a `Watched`.

    The tests that run in one process share the training of a task. The training has the time of a
    whole test, and so have the steps after it.
    """
    student.renew_time()
    training = student.remote.training.trained(student.Value, student[name], *task)
    student.renew_time()
    return training


def network_answers(
    student: Student,
    model: Any,
    training: Any,
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
) -> list[float]:
    """Return the outputs of a model at its inputs; assert that the model is a trained network.

    In the training, the losses must have fallen and the parameters must have moved, and most
    parameters must be combined with others in a loss. With all parameters 0, the output must be the
    same everywhere. With each parameter a little larger or smaller, the decision boundary must be
    elsewhere. With the old parameters, the outputs must be as before. Unless outputs are rounded,
    they must change smoothly with the parameters, and must have no jump between two points.
    """
    remote = student.remote.training
    found, border = answers(student, model, inputs), _borders(student, model, inputs, targets)
    held_in = remote.parameters_behind(model)
    held = [float(parameter.data) for parameter in held_in]
    assert len(held) > 4
    ways = [float(way) for way in training.moved(held_in)]
    assert sum(way > _FAR for way in ways) >= len(ways) / 3
    losses = [float(loss) for loss in training.losses]
    part = max(1, len(losses) // 16)
    # Several networks may be trained, and the best of them be kept: later losses may be higher.
    first, *later = (fmean(losses[i : i + part]) for i in range(0, len(losses), part))
    assert later and min(later) < 0.8 * first
    assert float(training.coupled(held_in)) > 0.5
    flat = answers(student, remote.With(model, held_in, [0.0] * len(held)), inputs)
    assert flat == close([flat[0]] * len(flat))
    # Fixed factors: whether an untrained network's border moves must not depend on the key.
    nudged = [number * (0.95 if i % 2 else 1.05) for i, number in enumerate(held)]
    assert _borders(student, remote.With(model, held_in, nudged), inputs, targets) != border
    assert answers(student, model, inputs) == close(found)
    ends = [inputs[targets.index(end)] for end in (min(targets), max(targets))]
    middle = [(a + b) / 2 for a, b in zip(*ends, strict=True)]
    if len({*found, *answers(student, model, [middle])}) > 2:
        _assert_smooth(remote.nudged(model, held_in, 1 + len(held) // 24, inputs[:4]))
        leap = float(remote.largest_jump(model, *ends))
        assert leap < (max(found) - min(found)) / 3
    return found


def answers(student: Student, model: Any, points: Sequence[Sequence[float]]) -> list[float]:
    """Return a model's outputs at some points as plain numbers; the model may return Values or
    numbers."""
    return [float(answer) for answer in student.remote.training.answers(model, points)]


Data = tuple[Sequence[Sequence[float]], Sequence[float]]
"""Points, and their targets."""


def assert_the_seed_decides(student: Student, name: str, data: Data, seed: int, other: int) -> None:
    """Assert that trainings with one seed have the same first losses, and that a training with
    another seed has other ones."""
    first, others, again = (
        _beginning(student, name, data, each, 4)[0] for each in (seed, other, seed)
    )
    assert again == close(first)
    assert others != close(first, relative=1e-6)


def assert_one_network_for_all_points(student: Student, name: str, seed: int, *data: Data) -> None:
    """Assert that a training uses one network for all points: with more points it has as many
    parameters, its losses depend on the points, and another target of one point changes most
    parameters.

    Args:
        name: the student's training function, which returns a network.
        data: points and targets. The first counts that the function takes: it may insist on as
            many points as the notebook names.
    """
    for inputs, targets in data:
        # A loop over single points has met all of them by then, also if there are more. The number
        # of passes is the same each time, for loops that start again with a new network.
        passes = 2 * len(inputs) + 4
        losses, numbers = _beginning(student, name, (inputs, targets), seed, passes)
        beside = [[a + 0.125 for a in x] for x in inputs]
        more = ([*inputs, *beside], [*targets, *targets])
        _, of_more = _beginning(student, name, more, seed, passes)
        if losses:
            break
    assert numbers
    assert not of_more or 4 < len(of_more) < 1.5 * len(numbers)
    # A weight whose first value is 0 hides the inputs from the first loss only.
    elsewhere = [[a + 0.25 for a in x] for x in inputs]
    of_others, _ = _beginning(student, name, (elsewhere, targets), seed, 4)
    assert of_others != losses[:4]
    turned = [min(targets) + max(targets) - targets[0], *targets[1:]]
    _, others = _beginning(student, name, (inputs, turned), seed, passes)
    assert len({*others} - {*numbers}) > len(others) / 2


def _beginning(
    student: Student, name: str, data: Data, seed: int, passes: int
) -> tuple[list[float], list[float]]:
    """Return the losses of a training's first `passes` backward passes, and the numbers of the
    parameters that moved; two empty lists if the training raises an error."""
    student.renew_time()
    found: list[Any] = []
    begin = student.remote.training.beginning
    student.error_of(
        lambda: found.extend(begin(student.Value, student[name], [*data, seed], passes))
    )
    losses, numbers = found or ([], [])
    return [float(loss) for loss in losses], [float(number) for number in numbers]


_FAR = 1e-3
"""Least change of a parameter in a training that counts as a move."""


def _assert_smooth(rows: Any) -> None:
    """Assert that at least a third of the parameters change an output, and that most changes are
    about twice as large for two steps of the parameter as for one.

    Args:
        rows: the outputs that `training.nudged` returns.
    """
    counted, smooth = 0, []
    for row in rows:
        as_it_is, once, twice = ([float(answer) for answer in each] for each in row)
        changes = [(b - a, c - a) for a, b, c in zip(as_it_is, once, twice, strict=True)]
        changes = [change for change in changes if abs(change[0]) > 1e-12]
        counted += bool(changes)
        smooth += [abs(two - 2 * one) <= 0.1 * abs(one) + 1e-12 for one, two in changes]
    assert counted >= len(rows) / 3 and sum(smooth) >= 0.8 * len(smooth)


def _borders(
    student: Student, model: Any, inputs: Sequence[Sequence[float]], targets: Sequence[float]
) -> list[float]:
    """Return where the decision boundary is, as shares of the ways from the first three points with
    the lowest target to the first three with the highest."""
    low, high = min(targets), max(targets)
    starts, ends = (
        [x for x, t in zip(inputs, targets, strict=True) if t == end] for end in (low, high)
    )
    found = student.remote.training.borders(model, starts[:3], ends[:3], (low + high) / 2)
    return [float(part) for part in found]


class TrainingGround:
    """Runs a student's `train` on a model with one weight w, and records the training.

    The model returns w · x, and the loss is the mean squared error times `scale`. A step is right
    if the gradient of w is then the derivative of the loss of the step's batch.

    Args:
        student: the student's names, including `train`.
        start: the first value of w.
        count: the number of samples.
        scale: a factor of the loss, so that the loss cannot be guessed.
        leftover: the gradient that w has before the training.
        bare: whether the model is a function without parameters that returns a list.

    Attributes:
        samples: the pairs of an input and its target, sorted.
        batches: the samples of every batch.
        losses: the loss of every batch.
        gradients: the gradient of w at every step.
        slopes: the right gradient at every step.
        left: w and its gradient at the end.
        unchanged: whether the lists of inputs and targets are unchanged.
    """

    RATE = 0.05

    def __init__(
        self,
        student: Student,
        start: float,
        count: int,
        scale: float,
        leftover: float = 0.0,
        bare: bool = False,
    ) -> None:
        self._student = student
        self._start = start
        self._scale = scale
        self._leftover = leftover
        self._bare = bare
        # The targets go up and down, so that they are in order neither by size nor backwards.
        self.samples = [(1.0 + i / 4, 2.0 + 3 * i % 7 / 4) for i in range(count)]
        self.batches: list[list[tuple[float, float]]] = []
        self.losses: list[float] = []
        self.gradients: list[float] = []
        self.slopes: list[float] = []
        self.left: list[Any] = []
        self.unchanged = False

    def run(self, epochs: int, *batch_size: int) -> list[Any]:
        """Run the student's `train`, and return the losses that it returned."""
        student = self._student
        ground = student.remote.training.Ground(
            student.Value, self._start, self._leftover, self.RATE, self._scale, self._bare
        )
        data = [[[x] for x, _ in self.samples], [t for _, t in self.samples]]
        inputs, targets = (student.remote.builtins.list(each) for each in data)
        losses = student.train(
            ground.model,
            inputs,
            targets,
            ground.loss,
            ground.optimizer,
            epochs,
            *batch_size,
        )
        record, left = ground.record, [ground.w.data, ground.w.grad]
        self._replay(record)
        # Compared since loops that make the same steps may differ in their final state.
        self.left = [plain(each) for each in left]
        self.unchanged = [plain(inputs), plain(targets)] == data
        return [loss for loss in losses]

    def saw_every_sample(self, batches: list[list[tuple[float, float]]]) -> bool:
        """Return whether these batches contain every sample once, each input with its own
        target."""
        return bool(sorted(pair for batch in batches for pair in batch) == close(self.samples))

    def _replay(self, record: Any) -> None:
        """Compute the batches, losses and right gradients from a record, with w changed by its
        steps."""
        w = self._start
        assert len(record) <= _MOST_EVENTS
        for event, what in record:
            if event == "loss":
                assert len(what) <= len(self.samples)
                pairs = [(float(prediction), float(target)) for prediction, target in what]
                # Each prediction is w · x.
                self.batches.append([(p / w, t) for p, t in pairs])
                self.losses.append(self._scale * _mean([(p - t) * (p - t) for p, t in pairs]))
            else:
                batch = self.batches[-1] if self.batches else []
                self.gradients.append(float(what))
                self.slopes.append(self._scale * _mean([2 * (w * x - t) * x for x, t in batch]))
                w -= self.RATE * self.gradients[-1]


_MOST_EVENTS = 250
"""Greatest number of losses and steps in a record; no training in the tests needs as many."""


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan
