# A right solution of `mlp`: parts that are collections themselves.

# %% neuron
from typing import NamedTuple, Any
class Neuron(NamedTuple("Parts", [("w", list), ("b", Any), ("activation", str)])):
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    def __new__(cls, n_inputs, activation="tanh"):
        return super().__new__(cls, [Value(random.uniform(-1, 1)) for _ in range(n_inputs)], Value(0.0), activation)
    def __call__(self, x):
        total = self.b
        for w, a in zip(self.w, x):
            total = total + w * a
        return total if self.activation == "linear" else getattr(total, self.activation)()
    def parameters(self):
        return self.w + [self.b]
    zero_grad = Module.zero_grad


# %% layer
class Layer(Module, list):
    "a layer IS a list of neurons"
    __hash__ = object.__hash__
    def __init__(self, n_inputs, n_outputs, activation="tanh"):
        list.__init__(self, (Neuron(n_inputs, activation) for _ in range(n_outputs)))
    @property
    def neurons(self):
        return list(self)
    def __call__(self, x):
        answers = [neuron(x) for neuron in self]
        return answers if len(answers) > 1 else answers[0]
    def parameters(self):
        return [p for neuron in self for p in neuron.parameters()]
# %% mlp
class MLP(Module, list):
    "a network IS a list of layers"
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        list.__init__(self)
        last = len(layer_sizes) - 1
        for i, size in enumerate(layer_sizes):
            self.append(Layer(n_inputs, size, "linear" if linear_output and i == last else "tanh"))
            n_inputs = size
    layers = property(lambda self: list(self))
    def __call__(self, x):
        for layer in self: x = layer(x)
        return x
    def parameters(self):
        return sum((layer.parameters() for layer in self), [])
# %% linear_sequential
class Linear(Module):
    def __init__(self, n_inputs, n_outputs):
        self.rows = [[Value(random.gauss(0, 1)) for _ in range(n_inputs)] + [Value(0)] for _ in range(n_outputs)]
    def __call__(self, x):
        out = [sum((w * a for w, a in zip(row, x)), row[-1]) for row in self.rows]
        return out if out[1:] else out[0]
    def parameters(self):
        return sum(self.rows, [])
class Sequential(tuple):
    "a tuple of its parts"
    def __new__(cls, *parts):
        return super().__new__(cls, parts)
    def __call__(self, x):
        from functools import reduce
        return reduce(lambda x, part: part(x), self, x)
    def parameters(self):
        return [p for part in self for p in part.parameters()]
    zero_grad = Module.zero_grad
