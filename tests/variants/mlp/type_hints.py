# A right solution of `mlp`: type hints, keyword arguments and the functional style.

# %% module
from functools import reduce
from itertools import chain, pairwise
from operator import mul
from typing import Callable, Iterable, Sequence as Row


class Module:
    def parameters(self) -> list["Value"]:
        return list()

    def zero_grad(self) -> None:
        any(map(lambda p: setattr(p, "grad", 0.0), self.parameters()))


# %% neuron
class Neuron(Module):
    ACTIVATIONS: dict[str, Callable] = {
        "linear": lambda total: total,
        **{name: (lambda total, name=name: getattr(total, name)()) for name in ("tanh", "relu", "sigmoid")},
    }

    def __init__(self, n_inputs: int, activation: str = "tanh") -> None:
        self.w: list[Value] = list(map(Value, (random.triangular(-1, 1) for _ in range(n_inputs))))
        self.b: Value = Value(data=0.1)
        self.f = self.ACTIVATIONS[activation]

    def __call__(self, x: Row) -> "Value":
        return self.f(reduce(lambda a, b: a + b, map(mul, self.w, x), self.b))

    def parameters(self) -> list["Value"]:
        return list(chain(self.w, [self.b]))

    def __repr__(self) -> str:
        return f"Neuron({len(self.w)})"


# %% mlp
class MLP(Module):
    def __init__(self, n_inputs: int, layer_sizes: list[int], linear_output: bool = False) -> None:
        names = ["tanh"] * (len(layer_sizes) - 1) + ["linear" if linear_output else "tanh"]
        pairs = pairwise([n_inputs, *layer_sizes])
        self.layers = [Layer(a, b, activation=name) for (a, b), name in zip(pairs, names)]

    def __call__(self, x: Row):
        return reduce(lambda x, layer: layer(x), self.layers, x)

    def parameters(self) -> list["Value"]:
        return list(chain.from_iterable(layer.parameters() for layer in self.layers))


# %% train
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None) -> list[float]:
    def batches():
        size = batch_size or len(inputs)
        for begin in range(0, len(inputs), size):
            yield inputs[begin : begin + size], targets[begin : begin + size]

    def one_step(points, wanted) -> float:
        out = loss(list(map(model, points)), wanted)
        optimizer.zero_grad()
        out.backward()
        optimizer.step()
        return out.data

    def one_epoch() -> float:
        losses = [one_step(*batch) for batch in batches()]
        return sum(losses) / len(losses)

    return [one_epoch() for _ in range(epochs)]
