# A right solution of `mlp`: nothing but loops and lists.

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
