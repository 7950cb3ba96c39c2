# A right solution of `mlp`: nothing but loops and lists. An exercise
# without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% module
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        found = self.parameters()
        i = 0
        while i < len(found):
            found[i].grad = 0.0
            i += 1


# %% neuron
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w = []
        for _ in range(n_inputs):
            self.w.append(Value(random.random() * 2 - 1))
        self.b = Value(random.uniform(-0.5, 0.5))
        self.activation = activation

    def __call__(self, x):
        total = self.b
        for i in range(len(self.w)):
            total = total + x[i] * self.w[i]
        if self.activation == "tanh":
            return total.tanh()
        if self.activation == "relu":
            return total.relu()
        if self.activation == "sigmoid":
            return total.sigmoid()
        return total

    def parameters(self):
        found = []
        for w in self.w:
            found.append(w)
        found.append(self.b)
        return found


# %% layer
class Layer(Module):
    def __init__(self, n_inputs, n_outputs, activation="tanh"):
        self.neurons = []
        for _ in range(n_outputs):
            self.neurons.append(Neuron(n_inputs, activation))

    def __call__(self, x):
        answers = []
        for neuron in self.neurons:
            answers.append(neuron(x))
        if len(answers) == 1:
            return answers[0]
        return answers

    def parameters(self):
        found = []
        for neuron in self.neurons:
            found.extend(neuron.parameters())
        return found


# %% mlp
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        self.layers = []
        before = n_inputs
        for number, size in enumerate(layer_sizes):
            activation = "tanh"
            if linear_output and number == len(layer_sizes) - 1:
                activation = "linear"
            self.layers.append(Layer(before, size, activation))
            before = size

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        found = []
        for layer in self.layers:
            found += layer.parameters()
        return found


# %% mse
def mse(predictions, targets):
    total = 0.0
    for i in range(len(predictions)):
        difference = predictions[i] - targets[i]
        total = total + difference * difference
    return total / len(predictions)


# %% cross_entropy
def cross_entropy(logits, target):
    largest = logits[0].data
    for z in logits:
        if z.data > largest:
            largest = z.data
    total = 0.0
    for z in logits:
        total = total + (z - largest).exp()
    return total.log() - (logits[target] - largest)


# %% sgd
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = parameters
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.velocity = []
        for _ in parameters:
            self.velocity.append(0.0)

    def step(self):
        for i in range(len(self.parameters)):
            p = self.parameters[i]
            p.grad += self.weight_decay * p.data
            self.velocity[i] *= self.momentum
            self.velocity[i] += p.grad
            p.data = p.data - self.lr * self.velocity[i]

    def zero_grad(self):
        for i in range(len(self.parameters)):
            self.parameters[i].grad = 0


# %% train
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    if batch_size is None or batch_size > len(inputs):
        batch_size = len(inputs)
    history = []
    for epoch in range(epochs):
        total, batches, i = 0.0, 0, 0
        while i < len(inputs):
            predictions, wanted = [], []
            while i < len(inputs) and len(predictions) < batch_size:
                predictions.append(model(inputs[i]))
                wanted.append(targets[i])
                i += 1
            value = loss(predictions, wanted)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total += value.data
            batches += 1
        history.append(total / batches)
    return history
