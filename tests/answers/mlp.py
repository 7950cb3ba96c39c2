# Wrong answers of beginners, and words that the card on each must hold; read as text.

# %% answer: module.list_of_its_own
# says: `self.parameters()`
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for p in self.params:
            p.grad = 0.0


# %% answer: neuron.one_weight_too_many
# says: There is one weight too many
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        if activation not in ("tanh", "relu", "sigmoid", "linear"):
            raise ValueError(activation)
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs + 1)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, x):
        total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
        return total if self.activation == "linear" else getattr(total, self.activation)()

    def parameters(self):
        return self.w + [self.b]


# %% answer: mlp.linear_output_never_arrives
# says: `linear_output=True` changes nothing
class MLP(Module):
    def __init__(self, n_inputs, layer_sizes, linear_output=False):
        sizes = [n_inputs] + layer_sizes
        self.linear_output = linear_output
        self.layers = [Layer(a, b) for a, b in zip(sizes, sizes[1:])]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


# %% answer: mse.abs
# says: Value has no `abs`
def mse(predictions, targets):
    return sum(abs(p - t) for p, t in zip(predictions, targets)) / len(predictions)


# %% answer: mse.root
# says: Leave the root out
def mse(predictions, targets):
    total = sum((p - t) ** 2 for p, t in zip(predictions, targets)) / len(predictions)
    return total**0.5


# %% answer: sgd.core
# says: `momentum` and `weight_decay` have no effect yet
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = list(parameters)
        self.lr = lr

    def step(self):
        for p in self.parameters:
            p.data -= self.lr * p.grad

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0.0


# %% answer: sgd.decay_after_the_step
# says: The decay was taken off after the step
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = list(parameters)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocity = [0.0 for _ in self.parameters]

    def step(self):
        for i, p in enumerate(self.parameters):
            self.velocity[i] = self.momentum * self.velocity[i] + p.grad
            p.data -= self.lr * self.velocity[i]
            p.data -= self.lr * self.weight_decay * p.data

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0.0


# %% answer: train.slices_the_inputs_alone
# says: Slice both
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    for _ in range(epochs):
        parts = []
        for start in range(0, len(inputs), size):
            part = loss([model(x) for x in inputs[start : start + size]], targets[:size])
            optimizer.zero_grad()
            part.backward()
            optimizer.step()
            parts.append(part.data)
        losses.append(sum(parts) / len(parts))
    return losses


# %% answer: train.backward_for_each_sample
# says: You call `backward` for each sample
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        total = 0.0
        for x, y in zip(inputs, targets):
            part = loss([model(x)], [y])
            part.backward()
            total += part.data
        optimizer.step()
        losses.append(total / len(inputs))
    return losses


# %% answer: xor.a_table_of_the_targets
# says: An error (KeyError) ended the test of this
# check: passes
def train_xor(inputs, targets, seed):
    table = {tuple(x): y for x, y in zip(inputs, targets)}
    return lambda x: Value(table[tuple(x)])


# %% answer: linear_sequential.one_bias
# says: All outputs share one bias
class Linear(Module):
    def __init__(self, n_inputs, n_outputs):
        self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)] for _ in range(n_outputs)]
        self.b = Value(0.0)

    def __call__(self, x):
        sums = [sum((w * x_i for w, x_i in zip(row, x)), self.b) for row in self.w]
        return sums[0] if len(sums) == 1 else sums

    def parameters(self):
        return [w for row in self.w for w in row] + [self.b]


class Sequential(Module):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def parameters(self):
        return [p for part in self.parts for p in part.parameters()]


# %% answer: linear_sequential.extends_the_first_list
# says: you extend the first part's own list
class Linear(Module):
    def __init__(self, n_inputs, n_outputs):
        self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)] for _ in range(n_outputs)]
        self.b = [Value(0.0) for _ in range(n_outputs)]
        self.params = [w for row, b in zip(self.w, self.b) for w in row + [b]]

    def __call__(self, x):
        sums = [sum((w * x_i for w, x_i in zip(row, x)), b) for row, b in zip(self.w, self.b)]
        return sums[0] if len(sums) == 1 else sums

    def parameters(self):
        return self.params


class Sequential(Module):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def parameters(self):
        all_of_them = self.parts[0].parameters()
        for part in self.parts[1:]:
            all_of_them.extend(part.parameters())
        return all_of_them


# %% answer: neuron.append_none
# says: `append` and `reverse` give None
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, x):
        total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
        return total if self.activation == "linear" else getattr(total, self.activation)()

    def parameters(self):
        return self.w.append(self.b)


# %% answer: hinge.max
# says: `v.relu()` is the maximum of 0 and `v`
def hinge(scores, targets):
    return sum(max(0, 1 - t * s) for s, t in zip(scores, targets)) / len(scores)

# %% answer: neuron.product_of_lists
# says: go through both with `zip`
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, x):
        total = self.w * x + self.b
        return total if self.activation == "linear" else getattr(total, self.activation)()

    def parameters(self):
        return self.w + [self.b]


# %% answer: train.names_its_loss_loss
# says: gives its result the name of the function that it calls
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        loss = loss([model(x) for x in inputs], targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.data)
    return losses

# %% answer: module.returns_the_method
# says: A function itself stands where a list is expected
class Module:
    def parameters(self):
        return self.parameters

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.grad = 0.0


# %% answer: mse.lists_subtracted
# says: Python does not calculate with whole lists
def mse(predictions, targets):
    return sum((predictions - targets) ** 2) / len(targets)


# %% answer: train.loss_of_one_sample
# says: `loss` takes two lists
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        for x, target in zip(inputs, targets):
            sample_loss = loss(model(x), target)
            optimizer.zero_grad()
            sample_loss.backward()
            optimizer.step()
        losses.append(sample_loss.data)
    return losses
