# A right solution of `mlp`: training in random order, gradients zeroed twice, and velocities that
# point downhill.

# %% sgd
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = list(parameters)
        self.lr = lr
        self.mu = momentum
        self.wd = weight_decay
        self.moved = {}

    def step(self):
        for p in self.parameters:
            move = self.mu * self.moved.get(id(p), 0.0) - p.grad - self.wd * p.data
            self.moved[id(p)] = move
            p.data += self.lr * move

    def zero_grad(self):
        [setattr(p, "grad", 0.0) for p in self.parameters]


# %% train
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    samples = list(zip(inputs, targets))
    size = len(samples) if batch_size is None else batch_size
    history = []
    for _ in range(epochs):
        random.shuffle(samples)
        total, count = 0.0, 0
        for start in range(0, len(samples), size):
            batch = samples[start : start + size]
            optimizer.zero_grad()
            value = loss([model(x) for x, _ in batch], [t for _, t in batch])
            value.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += value.data
            count += 1
        history.append(total / count)
    return history
