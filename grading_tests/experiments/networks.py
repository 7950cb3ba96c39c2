"""Experiments on networks, losses and training, in the manner of `experiments`."""

from __future__ import annotations

import random
from typing import Any

from course.datasets import four_points, moons, xor

from .engines import Experiment, Names

ACTIVATIONS = ("tanh", "relu", "sigmoid", "linear")


def _point(rng: random.Random, count: int) -> list[float]:
    return [rng.uniform(-1.5, 1.5) for _ in range(count)]


def _looked_at(model: Any, rng: random.Random, n_inputs: int) -> list[Any]:
    """A model's parameters, and with known numbers in them its answer and gradients."""
    parameters = list(model.parameters())
    start = [p.data for p in parameters]
    again = [id(p) for p in model.parameters()] == [id(p) for p in parameters]
    for parameter in parameters:
        parameter.data, parameter.grad = rng.uniform(-1, 1), rng.uniform(-1, 1)
    x = _point(rng, n_inputs)
    answer = model(x)
    values = answer if isinstance(answer, (list, tuple)) else [answer]
    total = sum(value * rng.uniform(-2, 2) for value in values)
    total.backward()
    grads = [p.grad for p in parameters]
    model.zero_grad()
    return [
        [len(parameters), len({id(p) for p in parameters}), len(set(start)) > len(start) // 2],
        [again, isinstance(answer, (list, tuple)), [value.data for value in values], grads],
        [p.grad for p in parameters],
    ]


def modules(names: Names, rng: random.Random) -> list[Any]:
    nodes = [names["Value"](rng.uniform(-2, 2)) for _ in range(4)]
    for node in nodes:
        node.grad = rng.uniform(-2, 2)
    ours = type("Ours", (names["Module"],), {"parameters": lambda self: nodes[:3]})
    ours().zero_grad()
    plain = names["Module"]()
    plain.zero_grad()
    return [[(node.data, node.grad) for node in nodes], len(list(plain.parameters()))]


def neurons(names: Names, rng: random.Random) -> list[Any]:
    count, activation = rng.randint(2, 5), rng.choice([*ACTIVATIONS, None])
    neuron = names["Neuron"](count, activation) if activation else names["Neuron"](count)
    order = [id(p) for p in neuron.parameters()] == [id(p) for p in [*neuron.w, neuron.b]]
    return [len(neuron.w), order, _looked_at(neuron, rng, count)]


def layers(names: Names, rng: random.Random) -> list[Any]:
    inputs, outputs = rng.randint(2, 4), rng.randint(1, 4)
    activation = rng.choice([*ACTIVATIONS, None])
    layer = names["Layer"](inputs, outputs, *([activation] if activation else []))
    order = [id(p) for neuron in layer.neurons for p in neuron.parameters()]
    same = order == [id(p) for p in layer.parameters()]
    return [len(layer.neurons), same, _looked_at(layer, rng, inputs)]


def networks(names: Names, rng: random.Random) -> list[Any]:
    inputs, sizes = rng.randint(2, 3), [rng.randint(2, 4) for _ in range(rng.randint(0, 2))]
    sizes.append(rng.randint(1, 4))
    linear = rng.choice([True, False, None])
    given = list(sizes)
    model = names["MLP"](inputs, given, *([linear] if linear is not None else []))
    shape = [len(layer.neurons) for layer in model.layers]
    return [shape, given == sizes, _looked_at(model, rng, inputs)]


def sequences(names: Names, rng: random.Random) -> list[Any]:
    sizes = [rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 3)]
    if sizes[1] == 1:
        # A single Value is no list, which the next Linear would need.
        return [_looked_at(names["Linear"](sizes[0], 1), rng, sizes[0])]
    parts = [names["Linear"](*sizes[:2]), names["Tanh"](), names["Linear"](*sizes[1:])]
    order = [id(p) for part in parts for p in part.parameters()]
    model = names["Sequential"](*parts)
    same = order == [id(p) for p in model.parameters()]
    return [same, _looked_at(model, rng, sizes[0]), _looked_at(parts[0], rng, sizes[0])]


def _logit(rng: random.Random) -> float:
    return rng.choice([rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(-1000, 1000), 0.0])


def losses(name: str) -> Experiment:
    """A mean over samples, and its gradients."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        count = rng.randint(1, 4)
        draw = _logit if name == "bce" else lambda rng: rng.uniform(-2, 2)
        nodes = [names["Value"](draw(rng)) for _ in range(count)]
        choice: dict[str, tuple[float, ...]] = {"bce": (0, 1), "hinge": (-1, 1)}
        targets = [
            rng.choice(choice[name]) if name in choice else rng.uniform(-2, 2) for _ in nodes
        ]
        loss = names[name](nodes, targets)
        loss.backward()
        return [loss.data, [node.grad for node in nodes]]

    return experiment


def cross_entropies(names: Names, rng: random.Random) -> list[Any]:
    nodes = [names["Value"](_logit(rng)) for _ in range(rng.randint(2, 4))]
    loss = names["cross_entropy"](nodes, rng.randrange(len(nodes)))
    loss.backward()
    return [loss.data, [node.grad for node in nodes]]


def descents(names: Names, rng: random.Random) -> list[Any]:
    nodes = [names["Value"](rng.uniform(-2, 2)) for _ in range(rng.randint(1, 3))]
    options = {}
    if rng.random() < 0.7:
        options["momentum"] = rng.uniform(0.1, 0.9)
    if rng.random() < 0.7:
        options["weight_decay"] = rng.uniform(0.01, 0.5)
    optimizer = names["SGD"](nodes, rng.uniform(0.01, 0.5), **options)
    seen: list[Any] = []
    for _ in range(4):
        for node in nodes:
            node.grad = rng.uniform(-2, 2)
        optimizer.step()
        seen.append([node.data for node in nodes])
        if rng.random() < 0.3:
            optimizer.zero_grad()
            seen.append([(node.data, node.grad) for node in nodes])
        if "momentum" not in options and rng.random() < 0.3:
            # With momentum the rate may stand in the velocity or before it.
            optimizer.lr = rng.uniform(0.01, 0.5)
    return seen


def rates(names: Names, rng: random.Random) -> list[Any]:
    options = {"decay": rng.uniform(0, 0.5)} if rng.random() < 0.6 else {}
    return [names["decayed"](rng.uniform(0.01, 1), rng.randint(0, 200), **options)]


def trainings(names: Names, rng: random.Random) -> list[Any]:
    """A line that is fitted, with old gradients lying about, and every call written down.

    Samples may be taken in any order. So if there are several batches, either the samples are
    all alike or the steps have no length, and then it must not matter.
    """
    Value = names["Value"]
    w, b = Value(rng.uniform(-1, 1)), Value(rng.uniform(-1, 1))
    w.grad = b.grad = rng.uniform(1, 2)
    count, size, rate = rng.randint(1, 7), rng.choice([None, 1, 2, 3, 10]), 0.05
    inputs, targets = [_point(rng, 1) for _ in range(count)], _point(rng, count)
    if size is not None and rng.random() < 0.5:
        inputs, targets = [list(inputs[0]) for _ in inputs], [targets[0]] * count
    elif size is not None:
        rate = 0.0
    even = size is None or rate > 0 or count % size == 0
    batches: list[int] = []
    met: list[tuple[float, float]] = []

    def loss(predictions: list[Any], wanted: list[float]) -> Any:
        batches.append(len(predictions))
        pairs = list(zip(predictions, wanted, strict=True))
        met.extend((p.data, t) for p, t in pairs)
        return sum((p - t) ** 2 for p, t in pairs) / len(pairs)

    class Optimizer:
        def zero_grad(self) -> None:
            w.grad = b.grad = 0.0

        def step(self) -> None:
            for parameter in (w, b):
                parameter.data -= rate * parameter.grad

    options = {} if size is None else {"batch_size": size}
    model = _Line(w, b)
    found = names["train"](model, inputs, targets, loss, Optimizer(), rng.randint(1, 4), **options)
    seen = [sorted(batches), sorted(met), w.data, b.data, len(inputs), len(targets)]
    return [len(found), list(found) if even else None, *seen]


class _Line:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b

    def __call__(self, x: list[float]) -> Any:
        return self.w * x[0] + self.b

    def parameters(self) -> list[Any]:
        return [self.w, self.b]


# Whole tasks: whether the network learns them from the seeds that students are told of.


def learned(task: str, seed: int) -> Experiment:
    """Whether training works from this seed, with the targets turned round for odd ones."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        if task == "xor":
            inputs, targets = xor()
            targets = [1.0 - t for t in targets] if seed % 2 else targets
            model = names["train_xor"](inputs, targets, seed)
            pairs = zip(inputs, targets, strict=True)
            return [(_number(model(x)) > 0.5) == (t > 0.5) for x, t in pairs]
        sign = -1 if seed % 2 else 1
        if task == "four_points":
            inputs, targets = four_points()
            model, fell = names["train_four_points"](inputs, [sign * t for t in targets], seed)
            pairs = zip(inputs, targets, strict=True)
            error = sum((_number(model(x)) - sign * t) ** 2 for x, t in pairs) / 4
            return [error < 0.01, 2 <= len(fell) <= 200, fell[-1] < fell[0]]
        inputs, targets = moons(40, 0.1, seed)
        model = names["train_moons"](inputs, [sign * t for t in targets], seed)
        return [
            sum((_number(model(x)) > 0) == (sign * t > 0) for x, t in zip(*points, strict=True))
            >= 0.92 * len(points[0])
            for points in ((inputs, targets), moons(200, 0.1, 1000 + seed))
        ]

    return experiment


def seeded(task: str) -> Experiment:
    """Whether a seed gives the same network again, and another seed the same as well."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        given = {"xor": xor(), "four_points": four_points(), "moons": moons(12, 0.1, 5)}
        models = [names[f"train_{task}"](*given[task], seed) for seed in (3, 4, 3)]
        if task == "four_points":
            models = [model for model, _ in models]
        points = given[task][0][:8]
        one, other, again = ([_number(model(x)) for x in points] for model in models)
        # Rounded answers may be the same there: then others are looked for in between.
        many = [[rng.uniform(-1, 2) for _ in points[0]] for _ in range(1000)]
        is_same = one == other and all(_number(models[0](x)) == _number(models[1](x)) for x in many)
        return [one == again, is_same]

    return experiment


def _number(answer: Any) -> float:
    """A model's answer, which may be a node or a plain number."""
    return float(getattr(answer, "data", answer))
