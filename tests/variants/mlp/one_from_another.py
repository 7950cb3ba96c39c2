# A right solution of `mlp`: each part made from parts that are there already.

# %% neuron
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        super().__init__()
        self.everything = [Value(random.gauss(0, 0.5)) for _ in range(n_inputs)] + [Value(0.0)]
        self.activation = activation

    @property
    def w(self):
        return self.everything[:-1]

    @property
    def b(self):
        return self.everything[-1]

    def __call__(self, x):
        total = sum(w * x for w, x in zip(self.everything, [*x, 1.0]))
        return total if self.activation == "linear" else getattr(Value, self.activation)(total)

    def parameters(self):
        return self.everything


# %% linear_sequential
class Linear(Layer):
    def __init__(self, n_inputs, n_outputs):
        super().__init__(n_inputs, n_outputs, "linear")


class Sequential(MLP):
    def __init__(self, *parts):
        self.layers = parts


# %% mse
def mean_of(losses):
    losses = list(losses)
    return sum(losses) * (1 / len(losses))


def mse(predictions, targets):
    return mean_of((t - p) ** 2 for p, t in zip(predictions, targets))


# %% bce
def bce(logits, targets):
    def softplus(z):
        # At 0 both forms agree, and so do their slopes.
        return z.relu() + (1 + (-(z.relu() + (-z).relu())).exp()).log() if z.data else (1 + z.exp()).log()

    return mean_of(softplus(z) - z * t for z, t in zip(logits, targets))


# %% hinge
def hinge(scores, targets):
    return mean_of((1 - s * t).relu() for s, t in zip(scores, targets))


# %% cross_entropy
def cross_entropy(logits, target):
    top = max(logits, key=lambda z: z.data)
    return sum((z - top).exp() for z in logits).log() + top - logits[target]


# %% schedule
def decayed(lr, step, decay=0.01):
    return (1 + step * decay) ** -1 * lr


# %% moons
def train_moons(inputs, targets, seed):
    random.seed(seed)
    model = Sequential(Linear(2, 8), Tanh(), Linear(8, 1))
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.9)
    for _ in range(8):
        train(model, inputs, targets, hinge, optimizer, 10, 10)
        if all(model(x).data * t > 0.2 for x, t in zip(inputs, targets)):
            break
    return model
