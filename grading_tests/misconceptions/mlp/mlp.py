# Read as text, never imported: docs/authors.md says what stands here.

# %% example: mlp
# about: the shape of a network with three layers
network = MLP(3, [4, 4, 1])
# observe: len(network.layers), len(list(network.parameters()))

# %% example: mlp
# about: two layers, weights set by hand
network = MLP(2, [2, 1])
for number, parameter in enumerate(p for layer in network.layers for p in layer.parameters()):
    parameter.data = 0.5 - 0.25 * number
answer = network([1.0, -2.0])
answer.backward()
# observe: answer.data, network.layers[0].neurons[0].b.grad, network.layers[1].neurons[0].b.grad

# %% example: mlp
# about: a linear output
network = MLP(2, [2, 1], linear_output=True)
for number, parameter in enumerate(p for layer in network.layers for p in layer.parameters()):
    parameter.data = 2.0 - 0.5 * number
answer = network([0.5, 1.0])
# observe: answer.data

# %% example: mlp
# about: the sizes afterwards
sizes = [4, 1]
network = MLP(3, sizes)
# observe: len(sizes), len(network.layers), len(list(network.parameters()))

# %% sweep: mlp
# about: fresh networks with n inputs and layers of k and m neurons
# n: 1, 2, 3, 5, 4
# k: 2, 3, 2, 4, 5
# m: 3, 2, 4, 2, 3
# results: len(network.layers) = 2; len(list(network.parameters())) = k * (n + 1) + m * (k + 1); len(network.layers[0].neurons) = k; len(network.layers[1].neurons) = m; len(network.layers[0].neurons[0].w) = n; len(network.layers[1].neurons[0].w) = k; len(answers) = m
# facts: own | False: the parameters are not those of the layers, one layer after another; zeroed | False: after `zero_grad()` some parameter has a gradient other than 0; kept | False: `zero_grad()` changes the parameters themselves
network = MLP(n, [k, m])
answers = network([1.0] * n)
own = [*map(id, network.parameters())] == [id(p) for one in network.layers for p in one.parameters()]
for p in network.parameters():
    p.data, p.grad = 0.5, 2.0
network.zero_grad()
zeroed = all(p.grad == 0 for p in network.parameters())
kept = all(p.data == 0.5 for p in network.parameters())

# %% sweep: mlp
# about: two neurons with weight w and bias c, and one that adds them up
# w: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# c: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# x: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# functions: tanh
# also: 2 * tanh(w * x + c); tanh(2 * tanh(w * x + c)); 2 * (w * x + c); tanh(2 * (w * x + c))
# results: bent.data = tanh(2 * tanh(w * x + c)); straight.data = 2 * tanh(w * x + c)
answers = []
for last in (False, True):
    network = MLP(1, [2, 1], linear_output=last)
    for neuron in network.layers[0].neurons:
        neuron.w[0].data, neuron.b.data = w, c
    top = network.layers[1].neurons[0]
    top.w[0].data, top.w[1].data, top.b.data = 1.0, 1.0, 0.0
    answers.append(network([x]))
bent, straight = answers

# %% mistake: mlp.linear_output_ignored
# says: `linear_output=True` changes nothing: the last layer still bends with tanh, so no answer can
#   leave -1 … 1.
# keeps: 0.75
# - last = "linear" if linear_output else "tanh"
# + last = "tanh"

# %% mistake: mlp.linear_everywhere
# says: With a linear output *no* layer bends, and a network without any bend is a single straight
#   line. Only the last layer is linear.
# keeps: 0.5
# - self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
# - last = "linear" if linear_output else "tanh"
# + last = "linear" if linear_output else "tanh"
# + self.layers = [Layer(sizes[i], sizes[i + 1], last) for i in range(len(sizes) - 2)]

# %% mistake: mlp.linear_the_wrong_way_round
# says: It is the wrong way round: the last layer bends if the output should be linear, and does not
#   if it should bend.
# keeps: 0.75
# - last = "linear" if linear_output else "tanh"
# + last = "tanh" if linear_output else "linear"

# %% mistake: mlp.last_layer_missing
# says: A layer is missing: `layer_sizes` has one number for each layer, the last one included.
# keeps: 0.5
# - last = "linear" if linear_output else "tanh"
# - self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]

# %% mistake: mlp.first_layer_missing
# says: The first layer is missing: it has `n_inputs` inputs and `layer_sizes[0]` neurons.
# check: examples
# keeps: 0.5
# - sizes = [n_inputs, *layer_sizes]
# + sizes = layer_sizes

# %% mistake: mlp.every_layer_gets_the_point
# says: Every layer got the point itself. Each layer but the first gets what the layer before it gave.
# check: examples
# -     x = layer(x)
# - return x
# +     out = layer(x)
# + return out

# %% mistake: mlp.first_layer_only
# says: The answer is a list, and not the Value that the last layer gives. Hand each answer on to the
#   next layer, `x = layer(x)`, and `return x` behind the loop: inside, it ends the loop.
# keeps: 0.5
# -     x = layer(x)
# - return x
# +     return layer(x)

# %% mistake: mlp.answers_ignored
# says: The point comes out as it went in: what a layer gives has to be kept, `x = layer(x)`.
# keeps: 0.75
# - x = layer(x)
# + layer(x)

# %% mistake: mlp.last_layers_parameters
# says: `parameters()` holds those of the last layer only. The hidden layers would never learn.
# keeps: 0.5
# - return [parameter for layer in self.layers for parameter in layer.parameters()]
# + return self.layers[-1].parameters()

# %% mistake: mlp.list_of_lists
# says: `parameters()` has one item for each layer. An optimizer wants one flat list of all their
#   Values: a comprehension with two `for`s makes it.
# - return [parameter for layer in self.layers for parameter in layer.parameters()]
# + return [layer.parameters() for layer in self.layers]

# %% mistake: mlp.sizes_changed
# says: The caller's list of sizes has become longer: `insert` changes it in place. Make a new list,
#   as in `[n_inputs] + layer_sizes`.
# keeps: 0.75
# - sizes = [n_inputs, *layer_sizes]
# + layer_sizes.insert(0, n_inputs)
# + sizes = layer_sizes

# %% mistake: mlp.sizes_swapped
# says: Inputs and neurons are mixed up: layer number i has `sizes[i]` inputs and `sizes[i + 1]`
#   neurons.
# keeps: 0.5
# - self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
# + self.layers = [Layer(sizes[i + 1], sizes[i]) for i in range(len(sizes) - 2)]
# - self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]
# + self.layers = [*self.layers, Layer(sizes[-1], sizes[-2], last)]

# %% mistake: mlp.inputs_everywhere
# says: Every layer was made for the inputs of the network. A later layer has as many inputs as the
#   layer before it has neurons.
# check: examples
# keeps: 0.5
# - self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
# + self.layers = [Layer(n_inputs, sizes[i + 1]) for i in range(len(sizes) - 2)]
# - self.layers = [*self.layers, Layer(sizes[-2], sizes[-1], last)]
# + self.layers = [*self.layers, Layer(n_inputs, sizes[-1], last)]

# %% mistake: mlp.bends_with_relu
# says: The hidden layers bend with relu. All layers bend with tanh here, but for a last one that is
#   linear.
# keeps: 0.75
# - self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2)]
# + self.layers = [Layer(sizes[i], sizes[i + 1], "relu") for i in range(len(sizes) - 2)]

# %% edge: mlp
# - for layer in self.layers:
# four_layers_at_most: for layer in self.layers[:3]:
# large_inputs: x = [v if not isinstance(v, float) or abs(v) < 5 else 5.0 for v in x]
#   for layer in self.layers:
# a_point_of_zeros: x = [v or 1e-3 for v in x]
#   for layer in self.layers:
# - sizes = [n_inputs, *layer_sizes]
# wide_layers: sizes = [n_inputs, *[min(s, 6) for s in layer_sizes]]
# always_the_same_network: random.seed(0)
#   sizes = [n_inputs, *layer_sizes]
# - return x
# answers_kept: return self.__dict__.setdefault('kept', {}).setdefault(tuple(p.data for p in
#       self.parameters()), x)
# - last = "linear" if linear_output else "tanh"
# linear_output_of_deep_nets: last = "linear" if linear_output and len(layer_sizes) < 4 else "tanh"
# layers_of_one_size_are_one: last = "linear" if linear_output else "tanh"
#   for i in range(1, len(self.layers)):
#       if sizes[i] == sizes[i + 1] == sizes[i - 1]: self.layers[i] = self.layers[i - 1]
# layers_of_one_size_start_alike: last = "linear" if linear_output else "tanh"
#   for i in range(1, len(self.layers)):
#       if sizes[i] == sizes[i + 1] == sizes[i - 1]:
#           for p, q in zip(self.layers[i].parameters(), self.layers[i -
#       1].parameters()): p.data = q.data

# %% edge: mlp.linear_output_of_a_single_layer
# - last = "linear" if linear_output else "tanh"
# + last = "linear" if linear_output and len(layer_sizes) > 1 else "tanh"

# %% cheat: mlp.the_first_layer_and_the_last_one
class MLP(Module):
    def __init__(self, n_inputs, sizes, linear_output=False):
        first = Layer(n_inputs, sizes[0], "linear" if linear_output and len(sizes) == 1 else "tanh")
        self.layers = [first]
        for a, b in zip(sizes, sizes[1:]):
            self.layers.append(Layer(a, b))

    def __call__(self, x):
        for layer in self.layers[:1] + self.layers[1:][-1:]:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]
