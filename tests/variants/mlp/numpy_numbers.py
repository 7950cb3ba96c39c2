# A right solution of `mlp`: random numbers and means from numpy.

# %% neuron
import numpy as np


class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        scale = 1 / np.sqrt(n_inputs)
        draw = np.random.default_rng(random.getrandbits(32))
        self.w = [Value(number) for number in draw.normal(0.0, scale, n_inputs)]
        self.b = Value(np.float64(0))
        self.activation = activation

    def __call__(self, x):
        total = sum((float(x_i) * w if not isinstance(x_i, Value) else w * x_i for w, x_i in zip(self.w, x)), self.b)
        return total if self.activation == "linear" else getattr(total, self.activation)()

    def parameters(self):
        return list(self.w) + [self.b]


# %% sgd
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = list(parameters)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.v = np.zeros(len(self.parameters))

    def step(self):
        grads = np.array([p.grad for p in self.parameters])
        data = np.array([p.data for p in self.parameters])
        self.v = self.momentum * self.v + grads + self.weight_decay * data
        for p, number in zip(self.parameters, data - self.lr * self.v):
            p.data = float(number)

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0.0


# %% schedule
def decayed(lr, step, decay=0.01):
    return np.float64(lr) / (1 + decay * step)


# %% train
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    history = []
    for _ in range(epochs):
        losses = []
        order = np.arange(len(inputs))
        for batch in np.array_split(order, range(batch_size or len(inputs), len(inputs), batch_size or len(inputs))):
            value = loss([model(inputs[i]) for i in batch], [targets[i] for i in batch])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            losses.append(value.data)
        history.append(np.mean(losses))
    return history


# %% four_points
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [4, 4, 1])
    optimizer = SGD(model.parameters(), lr=0.2, momentum=0.5)
    losses = train(model, inputs, targets, mse, optimizer, 100)
    return model, np.array(losses).tolist()
