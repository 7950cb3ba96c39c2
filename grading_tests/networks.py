"""Networks as formulas, and recorded training loops, for the hidden tests of `mlp`.

The formulas take plain numbers as well as the reference engine's Values. A network's parameters are
one flat list of numbers, for each neuron its weights and then its bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from autograder.testing import Student, close, is_object, plain

_BENDS: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


def neuron_answer(numbers: Sequence[Any], x: Sequence[Any], activation: str = "tanh") -> Any:
    """Return the answer at the point x of a neuron with these weights and, last, this bias."""
    *w, b = numbers
    total = sum(a * c for a, c in zip(w, x, strict=True)) + b
    if activation == "linear":
        return total
    return getattr(total, activation)() if hasattr(total, "data") else _BENDS[activation](total)


def network_answer(
    numbers: Sequence[Any], x: Sequence[Any], sizes: Sequence[int], activations: Sequence[str]
) -> list[Any]:
    """Return a network's answer at the point x.

    Args:
        numbers: its parameters, layer by layer.
        x: the point.
        sizes: the number of inputs, then of neurons in each layer.
        activations: one for each layer.
    """
    left = list(numbers)
    for neurons, activation in zip(sizes[1:], activations, strict=True):
        rows = [[left.pop(0) for _ in range(len(x) + 1)] for _ in range(neurons)]
        x = [neuron_answer(row, x, activation) for row in rows]
    return list(x)


def parameter_count(sizes: Sequence[int]) -> int:
    """Return the number of parameters of a network of these sizes: a weight for each input, and a
    bias."""
    return sum((a + 1) * b for a, b in pairwise(sizes))


def parameters(model: Any) -> list[Any]:
    """Return a model's parameters as a list, for any kind of collection."""
    # `list(…)` would ask a generator for its length, and note the error.
    return [parameter for parameter in model.parameters()]


def answers(model: Any, points: Sequence[Sequence[float]]) -> list[float]:
    """Return a model's answers at some points as plain numbers, whether it gives Values or
    numbers."""
    found = [model(point) for point in points]
    found = [a[0] if isinstance(a, (list, tuple)) and len(a) == 1 else a for a in found]
    numbers = [answer.data if is_object(answer) else answer for answer in found]
    return [float(number) for number in numbers]


def trained(student: Student, name: str, *task: Any) -> tuple[Any, Any]:
    """Call the training function; return its result and the recorder.

    The training and the steps after it have as much time as a whole test, each of them.
    """
    student.renew_time()
    watch = student.inside.training.Watched(student.Value, student[name])
    found = watch(*task)
    student.renew_time()
    return found, watch


def network_answers(
    student: Student,
    model: Any,
    watch: Any,
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
) -> list[float]:
    """Return the answers of a model at its inputs, which must be those of a network that has
    learnt.

    Its parameters must have been moved in a training whose losses fell, and have met one another
    behind these. With all of them at 0 it answers the same everywhere. With each a little larger or
    smaller the border between the classes lies elsewhere. With their old numbers it answers as
    before. Unless answers are rounded, they change smoothly with the parameters, and without a jump
    from one point to another.
    """
    found, border = answers(model, inputs), borders(model, inputs, targets)
    training = student.inside.training
    held_in = training.parameters_behind(model)
    moved = [parameter for parameter in held_in]
    assert len(moved) > 4
    ways = [float(way) for way in watch.moved(held_in)]
    assert sum(way > _FAR for way in ways) >= len(ways) / 3
    losses = [float(loss) for loss in watch.losses]
    part = max(1, len(losses) // 16)
    # Several networks may be trained, and the best of them be kept: later losses may be higher.
    first, *later = (fmean(losses[i : i + part]) for i in range(0, len(losses), part))
    assert later and min(later) < 0.8 * first
    assert float(watch.coupled(held_in)) > 0.5
    asked = [parameter.data for parameter in moved]
    held = [float(number) for number in asked]

    def move(numbers: Sequence[float]) -> None:
        for parameter, number in zip(moved, numbers, strict=True):
            parameter.data = number

    move([0.0] * len(held))
    flat = answers(model, inputs)
    assert flat == close([flat[0]] * len(flat))
    # Not drawn: whether an untrained network's border moves must not depend on the key.
    move([number * (0.95 if i % 2 else 1.05) for i, number in enumerate(held)])
    assert borders(model, inputs, targets) != border
    move(held)
    assert answers(model, inputs) == close(found)
    ends = [inputs[targets.index(end)] for end in (min(targets), max(targets))]
    middle = [(a + b) / 2 for a, b in zip(*ends, strict=True)]
    if len({*found, *answers(model, [middle])}) > 2:
        some = moved[:: 1 + len(moved) // 40]
        assert_smooth(training.nudged(model, some, inputs[:4]))
        leap = float(training.largest_jump(model, *ends))
        assert leap < (max(found) - min(found)) / 3
    return found


def assert_one_network_for_all_points(
    student: Student,
    name: str,
    inputs: Sequence[Sequence[float]],
    targets: Sequence[float],
    more: tuple[Sequence[Sequence[float]], Sequence[float]],
    seed: int,
) -> None:
    """Assert that a training has as many parameters for more points, that its losses depend on the
    points, and that another target at one of them changes most parameters.

    Args:
        name: the training function, whose model answers as a network does.
        more: points with their targets, twice as many.
    """

    def beginning(
        inputs: Sequence[Sequence[float]],
        targets: Sequence[float],
        passes: int,
        refusals: tuple[str, ...] = (),
    ) -> Any:
        student.renew_time()
        task, found = [[list(x) for x in inputs], list(targets), seed], []
        begin = student.inside.training.beginning
        error = student.error_of(
            lambda: found.extend(begin(student.Value, student[name], task, passes))
        )
        assert error is None or error in refusals
        return [[float(number) for number in part] for part in found]

    # A training may insist on the points that the notebook names.
    refusals = ("AssertionError", "ValueError")
    # A loop over single points has met all of them by then, also if there are more. The number of
    # passes is the same each time, for loops that start again with a new network.
    passes = 2 * len(inputs) + 4
    losses, numbers = beginning(inputs, targets, passes)
    if of_more := beginning(*more, passes, refusals):
        assert 4 < len(of_more[1]) < 1.5 * len(numbers)
    # A weight that starts at 0 hides the inputs from the first loss, and from that alone.
    elsewhere = [[a + 0.25 for a in x] for x in inputs]
    if of_others := beginning(elsewhere, targets, 8, refusals):
        assert of_others[0] != losses[:8]
    turned = [min(targets) + max(targets) - targets[0], *targets[1:]]
    _, others = beginning(inputs, turned, passes)
    assert len({*others} - {*numbers}) > len(others) / 2


_FAR = 1e-3
"""Least distance that a parameter moves in a training, if it moves at all."""


def assert_smooth(rows: Any) -> None:
    """Assert that two steps of a parameter change an answer about twice as much as one, for most of
    those parameters that change any, and that these are a third of them at least."""
    counted, smooth = 0, []
    for row in rows:
        as_it_is, once, twice = ([float(answer) for answer in each] for each in row)
        changes = [(b - a, c - a) for a, b, c in zip(as_it_is, once, twice, strict=True)]
        changes = [change for change in changes if abs(change[0]) > 1e-12]
        counted += bool(changes)
        smooth += [abs(two - 2 * one) <= 0.1 * abs(one) + 1e-12 for one, two in changes]
    assert counted >= len(rows) / 3 and sum(smooth) >= 0.8 * len(smooth)


def borders(model: Any, inputs: Sequence[Sequence[float]], targets: Sequence[float]) -> list[float]:
    """Return the distance from points of one class to the border with the other, as shares of the
    way.

    The ways lead from the first three points with the lowest target to the first three with the
    highest. The borders are found by bisection, to a millionth of the way.
    """
    low, high = min(targets), max(targets)
    starts, ends = (
        [x for x, t in zip(inputs, targets, strict=True) if t == end] for end in (low, high)
    )
    ways = list(zip(starts[:3], ends[:3], strict=False))
    near, far = [0.0] * len(ways), [1.0] * len(ways)
    for _ in range(20):
        middles = [(a + b) / 2 for a, b in zip(near, far, strict=True)]
        points = [
            [a + middle * (b - a) for a, b in zip(start, end, strict=True)]
            for middle, (start, end) in zip(middles, ways, strict=True)
        ]
        # Each step asks about all ways at once.
        for i, answer in enumerate(answers(model, points)):
            if answer < (low + high) / 2:
                near[i] = middles[i]
            else:
                far[i] = middles[i]
    return near


class TrainingGround:
    """Runs a student's `train` on a model with one weight w, and records it.

    The model answers w · x and the loss is the mean squared error times `scale`. A step is right if
    the gradient of w is then the slope of the loss of the step's batch.

    Args:
        student: the owner of `train`.
        start: the first number of w.
        count: how many samples there are.
        scale: of the loss, so that it cannot be guessed.
        leftover: a gradient that w has from before.
        alike: whether every sample is there twice.
        bare: whether the model is a function, without parameters, that answers with a list.

    Attributes:
        samples: the pairs of an input and its target, sorted.
        batches: the samples of every batch.
        losses: the loss of every batch.
        gradients: the gradient of w at every step.
        slopes: the right gradient at every step.
        left: w and its gradient at the end.
        unchanged: whether the lists of inputs and of targets are as they were.
    """

    RATE = 0.05

    def __init__(
        self,
        student: Student,
        start: float,
        count: int,
        scale: float,
        leftover: float = 0.0,
        alike: bool = False,
        bare: bool = False,
    ) -> None:
        self._student = student
        self._start = start
        self._scale = scale
        self._leftover = leftover
        self._bare = bare
        places = [i // 2 if alike else i for i in range(count)]
        # The targets go up and down, so that they are in order neither by size nor backwards.
        self.samples = [(1.0 + i / 4, 2.0 + 3 * i % 7 / 4) for i in places]
        self.batches: list[list[tuple[float, float]]] = []
        self.losses: list[float] = []
        self.gradients: list[float] = []
        self.slopes: list[float] = []
        self.left: list[Any] = []
        self.unchanged = False

    def run(self, epochs: int, *batch_size: int) -> list[Any]:
        """Run the student's `train` here; return its result."""
        student = self._student
        ground = student.inside.training.Ground(
            student.Value, self._start, self._leftover, self.RATE, self._scale, self._bare
        )
        data = [[[x] for x, _ in self.samples], [t for _, t in self.samples]]
        inputs, targets = (student.inside.builtins.list(each) for each in data)
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
        """Return whether these batches hold every sample once, each input with its own target."""
        return bool(sorted(pair for batch in batches for pair in batch) == close(self.samples))

    def _replay(self, record: Any) -> None:
        """Replay the events, with w as the steps have moved it."""
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
"""Greatest number of losses and steps in a record: more than any of the trainings needs."""


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan
