"""A network, a loss and an optimizer as a student may write them, for any engine."""

from __future__ import annotations

import random
from typing import Any


def classes(Value: Any) -> tuple[Any, Any, Any]:
    """Return `MLP`, `mse` and `SGD` on the given class."""

    class Neuron:
        def __init__(self, n_inputs: int) -> None:
            self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
            self.b = Value(0.0)

        def __call__(self, x: Any) -> Any:
            return sum((w * each for w, each in zip(self.w, x, strict=True)), self.b).tanh()

    class MLP:
        def __init__(
            self, n_inputs: int, layer_sizes: list[int], linear_output: bool = False
        ) -> None:
            sizes = zip([n_inputs, *layer_sizes], layer_sizes, strict=False)
            self.layers = [[Neuron(before) for _ in range(size)] for before, size in sizes]

        def __call__(self, x: Any) -> Any:
            for layer in self.layers:
                x = [neuron(x) for neuron in layer]
            return x[0] if len(x) == 1 else x

        def parameters(self) -> list[Any]:
            return [p for layer in self.layers for neuron in layer for p in [*neuron.w, neuron.b]]

    class SGD:
        def __init__(
            self, parameters: Any, lr: float, momentum: float = 0.0, weight_decay: float = 0.0
        ) -> None:
            self.parameters, self.lr = parameters, lr

        def step(self) -> None:
            for parameter in self.parameters:
                parameter.data -= self.lr * parameter.grad

        def zero_grad(self) -> None:
            for parameter in self.parameters:
                parameter.grad = 0.0

    def mse(predictions: Any, targets: Any) -> Any:
        return sum((p - t) ** 2 for p, t in zip(predictions, targets, strict=True)) / len(targets)

    return MLP, mse, SGD
