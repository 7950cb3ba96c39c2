# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: mlp
# about: the shape of a network with three layers
network = MLP(3, [4, 4, 1])
# observe: len(network.layers), len(list(network.parameters()))


# %% probe: mlp
# about: two layers, weights set by hand
network = MLP(2, [2, 1])
for number, parameter in enumerate(p for layer in network.layers for p in layer.parameters()):
    parameter.data = 0.5 - 0.25 * number
answer = network([1.0, -2.0])
answer.backward()
# observe: answer.data, network.layers[0].neurons[0].b.grad, network.layers[1].neurons[0].b.grad


# %% probe: mlp
# about: a linear output
network = MLP(2, [2, 1], linear_output=True)
for number, parameter in enumerate(p for layer in network.layers for p in layer.parameters()):
    parameter.data = 2.0 - 0.5 * number
answer = network([0.5, 1.0])
# observe: answer.data


# %% probe: mlp
# about: the sizes afterwards
sizes = [4, 1]
network = MLP(3, sizes)
# observe: len(sizes), len(network.layers), len(list(network.parameters()))


# %% mistake: mlp.linear_output_ignored
# row: 39
# says: `linear_output=True` changes nothing: the last layer still bends with tanh, so no answer can
#   leave -1 … 1.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "tanh"
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.linear_everywhere
# row: 39
# says: With a linear output *no* layer bends, and a network without any bend is a single straight
#   line. Only the last layer is linear.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        last = "linear" if linear_output else "tanh"
        self.layers = [Layer(sizes[i], sizes[i + 1], last) for i in range(len(sizes) - 2)]
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.linear_the_wrong_way_round
# row: 39
# says: It is the wrong way round: the last layer bends if the output should be linear, and does not
#   if it should bend.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "tanh" if linear_output else "linear"
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.last_layer_missing
# row: 39
# says: A layer is missing: `layer_sizes` has one number for each layer, the last one included.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.every_layer_gets_the_point
# row: 39
# says: Every layer got the point itself. Each layer but the first gets what the layer before it gave.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "linear" if linear_output else "tanh"
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            out = layer(x)
        return out

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.last_layers_parameters
# row: 37
# says: `parameters()` holds those of the last layer only. The hidden layers would never learn.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "linear" if linear_output else "tanh"
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return self.layers[-1].parameters()


# %% mistake: mlp.sizes_changed
# row: new
# says: The caller's list of sizes has become longer: `insert` changes it in place. Make a new list,
#   as in `[n_inputs] + layer_sizes`.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        layer_sizes.insert(0, n_inputs)
        sizes = layer_sizes
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "linear" if linear_output else "tanh"
        self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


# %% mistake: mlp.inputs_everywhere
# row: 39
# says: Every layer was made for the inputs of the network. A later layer has as many inputs as the
#   layer before it has neurons.
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs, *layer_sizes]
        self.layers = [Layer(n_inputs, sizes[i + 1]) for i in range(len(sizes) - 2)]
        last = "linear" if linear_output else "tanh"
        self.layers = [*self.layers, Layer(n_inputs, sizes[-1], last)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]
