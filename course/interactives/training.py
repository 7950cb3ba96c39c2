"""The training panel: trains a network of the student's own classes on a data set, a few batches at
a time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from html import escape
from typing import Any

from course.drawing.chart import CLASSES, in_rows
from course.drawing.network import Weights, network_drawing, network_in_words, weights_of
from course.drawing.operands import as_number
from course.interactives.formatting import brief, table
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show
from course.interactives.tasks import (
    TASKS,
    Sample,
    apply_loss,
    decided,
    is_linear,
    n_outputs,
    scores,
)
from course.interactives.training_charts import (
    answers_chart,
    gradient_chart,
    gradients_in_words,
    loss_chart,
    plane_chart,
)
from course.plots import axis_of

LAYERS = {
    "none": [],
    "2": [2],
    "4": [4],
    "8": [8],
    "4, 4": [4, 4],
    "8, 8": [8, 8],
    "4, 4, 4, 4, 4": [4, 4, 4, 4, 4],
}
ACTIVATIONS = ["tanh", "relu", "sigmoid", "linear"]
RATES = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
MOMENTA = [0.0, 0.5, 0.9]
BATCHES: list[str | int] = ["all", 16, 4, 1]
SCALES = [0.1, 0.5, 1.0, 2.0, 5.0]
GOAL = 0.001  # training stops at this loss, since nothing more happens below it
AT_MOST = 2000  # greatest number of epochs after one press of "Run"
PREVIEW = 150  # epochs before the picture for pages without controls is made
WORK = 20_000  # limit of points times parameters times epochs before that picture
TICK = 0.12  # seconds of training between two pictures
LOOK = 0.08  # seconds for evaluating the network for one picture while it trains
FINE, COARSE = 21, 9  # points along each side of the plane: normally, and at least while training


def training_panel(
    MLP: Callable[..., Any],
    SGD: Callable[..., Any],
    *losses: Callable[..., Any],
    Layer: Callable[..., Any] | None = None,
    data: str = "xor",
) -> None:
    """Choose a data set and a network, train the network, and watch it learn.

    You see the network's weights, its gradients, its loss, and the border between the classes.

    Args:
        MLP: your class `MLP`; the panel makes networks with it, such as `MLP(2, [4, 1])`.
        SGD: your optimizer; it is called with the parameters and the learning rate, and with
            `momentum=` if you choose one.
        losses: your loss functions: one or several of mse, hinge, bce and cross_entropy. Each is
            called as its exercise says: cross_entropy once for each sample, the others once for
            each batch.
        Layer: your class `Layer`, if you want to choose the activation: the hidden layers are then
            made as `Layer(n_inputs, n_outputs, activation)`.
        data: the data set to begin with: "xor", "four points", "moons", "circle", "spiral" or
            "three clouds".

    Raises:
        TypeError: an argument that should be a class or a function is not, or there is no loss.
        ValueError: there is no such data set.
        YourCodeFailed: your code raised an error while it was tried out, or did not give numbers.
    """
    show(TrainingPanel(MLP, SGD, list(losses), Layer, data))


class TrainingPanel:
    """The model of the panel: a data set, a network, an optimizer, and the losses so far.

    Attributes:
        settings: the present value of each choice, by the control's name.
        task: the data set.
        network: the network.
        losses: the loss of each epoch: the mean over its points, each before its batch's update.
        gradients: for each layer the root mean square of its gradients in the last batch.
        right: the number of training points, and of held-out points, that the network has right.
    """

    title = "Sandbox"

    def __init__(self, MLP: Any, SGD: Any, losses: list[Any], Layer: Any, data: str) -> None:
        given = [("MLP", MLP), ("SGD", SGD), *(("a loss", loss) for loss in losses)]
        for name, thing in [*given, *([("Layer", Layer)] if Layer is not None else [])]:
            if not callable(thing):
                raise TypeError(
                    "training_panel takes your MLP, SGD and losses: "
                    "`training_panel(MLP, SGD, mse)`. "
                    f"In place of {name} it was given {brief(thing)}."
                )
        if not losses:
            raise TypeError(
                "training_panel needs a loss to train with: `training_panel(MLP, SGD, mse)`"
            )
        if data not in TASKS:
            raise ValueError(f"there is no data set {data!r}: choose one of {', '.join(TASKS)}")
        self._MLP, self._SGD, self._Layer = MLP, SGD, Layer
        self._losses = {getattr(loss, "__name__", "loss"): loss for loss in losses}
        self.settings: dict[str, Any] = {
            "data": data,
            "layers": "4",
            "activation": "tanh",
            "loss": next(iter(self._losses)),
            "rate": 0.3,
            "momentum": 0.0,
            "batch": "all",
            "scale": 1.0,
            "seed": 1,
        }
        self.running = False
        self.news = ""
        self.losses: list[float] = []
        self._order: list[int] = []
        self.reset()
        cost = max(1, len(self.task.samples) * len(self._parameters))
        self.train(max(1, min(PREVIEW, WORK // cost)))

    def begin(self) -> None:
        self.reset()

    def controls(self) -> list[Control]:
        now = self.settings
        choices: list[tuple[str, str, list[Any]]] = [
            ("data", "Data", list(TASKS)),
            ("layers", "Hidden layers", list(LAYERS)),
            ("activation", "Activation", ACTIVATIONS if self._Layer else ["tanh"]),
            ("loss", "Loss", list(self._losses)),
            ("rate", "Learning rate", RATES),
            ("momentum", "Momentum", MOMENTA),
            ("batch", "Batch", BATCHES),
            ("scale", "Weights at the start ×", SCALES),
        ]
        return [
            Control("step", "Step: 1 epoch", enabled=not self.running),
            Control("run", "Pause" if self.running else "Run ▶"),
            Control("reset", "Reset"),
            *(
                Control(name, label, "choice", now[name], options=options)
                for name, label, options in choices
            ),
            Control("seed", "Seed", "slider", now["seed"], low=0, high=99),
        ]

    def act(self, name: str, value: Any) -> None:
        try:
            if name == "step":
                self.train(1)
                self.news = self.summary()
            elif name == "run":
                self.running = not self.running
                self._until = self.epoch + AT_MOST
                if not self.running:
                    self._look()
                self.news = "Training." if self.running else f"Paused. {self.summary()}"
            elif name == "tick":
                self._tick()
            elif name in ("rate", "momentum"):
                self.settings[name] = float(value)
                self._new_optimizer()
                what = "learning rate" if name == "rate" else "momentum"
                self.news = f"The {what} is {float(value):g} from now on."
            elif name == "batch":
                self.settings[name] = value
                self._order = []
                self.news = f"A batch is {self._batch_in_words()} from now on."
            else:
                if name != "reset":
                    self.settings[name] = int(value) if name == "seed" else value
                self.reset()
        except YourCodeFailed:
            self.running = False
            raise

    @property
    def epoch(self) -> int:
        return len(self.losses)

    def reset(self) -> None:
        """Make a new network and clear the losses."""
        self.running = False
        self.losses = []
        self.task = TASKS[self.settings["data"]]()
        before = random.getstate()
        random.seed(self.settings["seed"])
        try:
            self.network = self._new_network()
        finally:
            random.setstate(before)
        with your_code("MLP.parameters()"):
            self._parameters = list(self.network.parameters())
            for parameter in self._parameters:
                parameter.data *= self.settings["scale"]
        self._new_optimizer()
        self._order = []
        self._shuffle = random.Random(self.settings["seed"])
        self.gradients: list[float] = []
        self._forward_and_backward(self.task.samples[:16])
        self._look()
        self.news = f"A new network. {self._setting()} {self.summary()}"

    def _new_network(self) -> Any:
        now = self.settings
        hidden = LAYERS[now["layers"]]
        sizes = [*hidden, n_outputs(now["loss"], self.task.classes)]
        linear = is_linear(now["loss"], now["activation"])
        arguments = f"{self.task.n_inputs}, {sizes}{', linear_output=True' if linear else ''}"
        with your_code(f"MLP({arguments})"):
            extra = {"linear_output": True} if linear else {}
            network = self._MLP(self.task.n_inputs, sizes, **extra)
        if now["activation"] != "tanh" and hidden:
            with your_code(f'Layer(…, "{now["activation"]}")'):
                inputs = [self.task.n_inputs, *hidden[:-1]]
                made = [
                    self._Layer(n_in, n_out, now["activation"])
                    for n_in, n_out in zip(inputs, hidden, strict=True)
                ]
                network.layers = [*made, network.layers[-1]]
        return network

    def train(self, epochs: int, seconds: float = math.inf) -> None:
        """Train, and evaluate the network for the next picture.

        Args:
            epochs: the greatest number of epochs.
            seconds: the time after which training stops, even in the middle of an epoch.
        """
        stop = time.monotonic() + seconds
        until = self.epoch + epochs
        while self.epoch < until:
            self._train_batch()
            if time.monotonic() > stop:
                break
        # While training runs, the network is not evaluated each time: that would take too long.
        if not self.running or time.monotonic() > self._next_look:
            self._look()

    def _train_batch(self) -> None:
        """Train on the next batch; an epoch ends when none of its points is left."""
        samples = self.task.samples
        if not self._order:
            self._order = list(range(len(samples)))
            if self.settings["batch"] != "all":
                self._shuffle.shuffle(self._order)
            self._sum = 0.0
        size = len(samples) if self.settings["batch"] == "all" else self.settings["batch"]
        chosen, self._order = self._order[:size], self._order[size:]
        number = self._forward_and_backward([samples[i] for i in chosen])
        with your_code("A training step"):
            self._optimizer.step()
        self._sum += number * len(chosen)
        if not self._order:
            self.losses.append(self._sum / len(samples))

    def _forward_and_backward(self, samples: list[Sample]) -> float:
        """Compute the gradients of the loss of these samples; return the loss."""
        name = self.settings["loss"]
        with your_code("A training step"):
            outputs = [self._outputs(point) for point, _ in samples]
            loss = apply_loss(name, self._losses[name], outputs, [k for _, k in samples])
        number = as_number(getattr(loss, "data", None))
        if number is None or not math.isfinite(number):
            raise YourCodeFailed(
                f"The loss is {brief(getattr(loss, 'data', loss))} in epoch {self.epoch + 1}. "
                "If it was a number before, the learning rate or the first weights are too large: "
                "choose others, and press Reset."
            )
        with your_code("A training step"):
            self._optimizer.zero_grad()
            loss.backward()
        self.gradients = self._gradient_sizes()
        return number

    def _gradient_sizes(self) -> list[float]:
        """Return the root mean square of each layer's gradients; [] if the layers are unknown.

        This relies on `parameters()` listing the parameters layer by layer.
        """
        weights = weights_of(self.network)
        if weights is None:
            return []
        sizes, start = [], 0
        for layer in weights:
            count = sum(map(len, layer))
            grads = [as_number(p.grad) for p in self._parameters[start : start + count]]
            squares = [math.nan if grad is None else grad * grad for grad in grads]
            sizes.append(math.sqrt(sum(squares) / count))
            start += count
        return sizes

    def _outputs(self, point: list[float]) -> list[Any]:
        answer = self.network(point)
        wanted = n_outputs(self.settings["loss"], self.task.classes)
        outputs = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        if len(outputs) != wanted or (wanted == 1 and isinstance(answer, (list, tuple))):
            one = "one output gives one Value" if wanted == 1 else f"{wanted} outputs gives a list"
            raise YourCodeFailed(
                f"The network answers {brief(answer)} to one point. A network with {one}."
            )
        return outputs

    def _predict(self, point: list[float]) -> list[float]:
        with your_code("A prediction"):
            outputs = self._outputs(point)
        numbers = [as_number(getattr(each, "data", None)) for each in outputs]
        if any(number is None for number in numbers):
            raise YourCodeFailed(f"The network answers {brief(outputs)}, which holds no Value.")
        return [number for number in numbers if number is not None]

    def _look(self) -> None:
        """Evaluate the network at the training points, at the held-out points, and on a grid."""
        start = time.monotonic()
        task = self.task
        self.answers = [self._predict(point) for point, _ in task.samples]
        unseen = [self._predict(point) for point, _ in task.held_out]
        right = [decided(a) == k for a, (_, k) in zip(self.answers, task.samples, strict=True)]
        held = [decided(a) == k for a, (_, k) in zip(unseen, task.held_out, strict=True)]
        self.right = sum(right), sum(held)
        points = FINE
        if self.running:  # the grid is as fine as the time `LOOK` allows
            each = (time.monotonic() - start) / (len(right) + len(held))
            points = min(FINE, max(COARSE, int(math.sqrt(LOOK / max(each, 1e-6)))))
        if task.n_inputs == 2:
            self._side = [axis_of([point[i] for point, _ in task.samples], points) for i in (0, 1)]
            self._grid = [[self._predict([x, y]) for x in self._side[0]] for y in self._side[1]]
        now = time.monotonic()
        self._next_look = now + 3 * (now - start)

    def summary(self) -> str:
        right, held = self.right
        shown = f"{right} of {len(self.task.samples)} right"
        if self.task.held_out:
            shown += f", of the held-out points {held} of {len(self.task.held_out)}"
        if not self.losses:
            return f"It has not been trained yet: {shown}."
        return f"Epoch {self.epoch}, loss {self.losses[-1]:.4f}, {shown}."

    def html(self) -> str:
        weights = weights_of(self.network)
        charts = [self._plane(), loss_chart(self.losses)]
        if weights is not None:
            charts += [self._drawing(weights), gradient_chart(self.gradients)]
        return (
            f"<p><strong>{escape(self._setting())}</strong><br>{escape(self.summary())}</p>"
            f"{in_rows(charts, 1.0)}<p>{escape(gradients_in_words(self.gradients))}</p>"
            f"<details><summary>The network in words</summary>"
            f"<p>{escape(self._network_in_words())}</p></details>"
            f"{table(('point', 'wanted', 'network', 'verdict'), self._rows())}"
        )

    def text(self) -> str:
        lines = [self._setting(), self.summary(), gradients_in_words(self.gradients)]
        lines.append(self._network_in_words())
        lines += [", ".join(row) for row in self._rows()]
        return "\n".join(lines)

    def _plane(self) -> Any:
        if self.task.n_inputs == 2:
            return plane_chart(self._side, self._grid, self.task.samples)
        return answers_chart(self.task.samples, self.answers)

    def _drawing(self, weights: Weights) -> Any:
        inputs = [f"x{i + 1}" for i in range(self.task.n_inputs)]
        last = len(weights[-1])
        outputs = [CLASSES[k][0] for k in range(last)] if last > 1 else []
        return network_drawing(weights, inputs, outputs, "Network")

    def _network_in_words(self) -> str:
        weights = weights_of(self.network)
        if weights is None:
            return "The network cannot be drawn: it has no `layers` with neurons that have w and b."
        return network_in_words(weights)

    def _rows(self) -> list[tuple[str, ...]]:
        """Return a table row for each training point; [] if there are more than four points."""
        if len(self.task.samples) > 4:
            return []
        rows: list[tuple[str, ...]] = []
        for (point, k), output in zip(self.task.samples, self.answers, strict=True):
            said = "✓ right" if decided(output) == k else "✗ wrong"
            numbers = ", ".join(f"{number:g}" for number in point)
            rows.append((f"({numbers})", f"class {k}", f"score {scores(output)[1]:.3f}", said))
        return rows

    def _setting(self) -> str:
        now = self.settings
        layers = "no hidden layer" if now["layers"] == "none" else f"hidden layers {now['layers']}"
        momentum = f", momentum {now['momentum']:g}" if now["momentum"] else ""
        scale = f", first weights times {now['scale']:g}" if now["scale"] != 1 else ""
        return (
            f"{now['data']}: {layers}, {now['activation']}, {now['loss']}, learning rate "
            f"{now['rate']:g}{momentum}, a batch is {self._batch_in_words()}, seed {now['seed']}"
            f"{scale}."
        )

    def _batch_in_words(self) -> str:
        batch = self.settings["batch"]
        return {"all": "all points", 1: "1 point"}.get(batch, f"{batch} points")

    def _new_optimizer(self) -> None:
        now = self.settings
        extra = {"momentum": now["momentum"]} if now["momentum"] else {}
        with your_code(f"SGD(parameters, lr{', momentum' if extra else ''})"):
            self._optimizer = self._SGD(self._parameters, now["rate"], **extra)

    def _tick(self) -> None:
        """Train for a moment, and stop at the limit of epochs or when the loss falls below
        `GOAL`."""
        if not self.running:
            return
        were_right, above = self._all_right(), not self.losses or self.losses[-1] >= GOAL
        self.train(self._until - self.epoch, TICK)
        if self._all_right() and not were_right:
            self.news = f"All points are right. {self.summary()}"
        if self.epoch >= self._until or (above and self.losses and self.losses[-1] < GOAL):
            self.running = False
            self._look()
            self.news = f"Stopped. {self.summary()}"

    def _all_right(self) -> bool:
        return self.right[0] == len(self.task.samples)
