# A right solution of `mlp`: classes that do not build on Module, and generators of parameters.

# %% module
class Module(object):
    def __init__(self, name=""):
        self.name = name

    def parameters(self):
        yield from ()

    def zero_grad(self):
        for p in self.parameters():
            setattr(p, "grad", 0.0)


# %% neuron
class Neuron:
    def __init__(self, n_inputs, activation="tanh"):
        self.w = tuple(Value(random.choice([-1, 1]) * random.random()) for _ in range(n_inputs))
        self.b = Value(0)
        self.bend = {"tanh": Value.tanh, "relu": Value.relu, "sigmoid": Value.sigmoid,
                     "linear": lambda total: total}[activation]

    def __call__(self, x):
        return self.bend(self.b + sum(a * c for a, c in zip(x, self.w)))

    def parameters(self):
        yield from self.w
        yield self.b

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0


# %% layer
class Layer:
    def __init__(self, n_inputs, n_outputs, activation="tanh"):
        self.neurons = tuple(Neuron(n_inputs, activation) for _ in range(n_outputs))

    def __call__(self, x):
        if len(self.neurons) == 1:
            (neuron,) = self.neurons
            return neuron(x)
        return tuple(neuron(x) for neuron in self.neurons)

    def parameters(self):
        for neuron in self.neurons:
            yield from neuron.parameters()

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0


# %% mlp
class MLP:
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        ends = zip([n_inputs] + layer_sizes, layer_sizes)
        self.layers = [Layer(a, b) for a, b in ends]
        if linear_output:
            for neuron in self.layers[-1].neurons:
                neuron.bend = lambda total: total

    def __call__(self, x):
        out = x
        for layer in self.layers:
            out = layer(out)
        return out

    def parameters(self):
        for layer in self.layers:
            yield from layer.parameters()

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0
