# A right solution of `mlp`: loops with an index, other losses' forms, velocities in a dictionary.

# %% neuron
ACTIVATIONS = {
    "tanh": lambda z: z.tanh(),
    "relu": lambda z: z.relu(),
    "sigmoid": lambda z: z.sigmoid(),
    "linear": lambda z: z,
}


class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w = []
        for _ in range(n_inputs):
            self.w.append(Value(random.gauss(0, 0.5)))
        self.b = Value(random.gauss(0, 0.1))
        self.bend = ACTIVATIONS[activation]

    def __call__(self, x):
        z = self.b
        for i in range(len(self.w)):
            z = z + self.w[i] * x[i]
        return self.bend(z)

    def parameters(self):
        return self.w + [self.b]


# %% bce
def softplus(z):
    """log(1 + e to the power of z)."""
    if z.data > 0:
        return z + ((-z).exp() + 1).log()
    return (z.exp() + 1).log()


def bce(logits, targets):
    total = 0
    for z, t in zip(logits, targets):
        total = total + (softplus(-z) if t == 1 else softplus(z))
    return total / len(logits)


# %% cross_entropy
def cross_entropy(logits, target):
    top = max(logits, key=lambda z: z.data).data
    shifted = [z - top for z in logits]
    total = shifted[0].exp()
    for z in shifted[1:]:
        total = total + z.exp()
    return total.log() - shifted[target]


# %% sgd
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.params = parameters
        self.lr, self.mu, self.decay = lr, momentum, weight_decay
        self.velocity = {}

    def step(self):
        for i, p in enumerate(self.params):
            g = p.grad
            if self.decay:
                g += self.decay * p.data
            self.velocity[i] = self.mu * self.velocity.get(i, 0.0) + g
            p.data = p.data - self.lr * self.velocity[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = 0.0
