# A right solution of `mlp`: networks without a class of their own, as closures, a partial function
# and an object, trained by other rules.

# %% xor
def train_xor(inputs, targets, seed):
    assert len(inputs) == len(targets) == 4
    draw = random.Random(seed)
    hidden = [[Value(draw.gauss(0, 1.5)) for _ in range(3)] for _ in range(6)]
    last = [Value(draw.gauss(0, 1)) for _ in range(7)]

    def forward(x):
        inner = [(a * x[0] + b * x[1] + c).tanh() for a, b, c in hidden]
        return (sum(a * b for a, b in zip(last, inner)) + last[6]).sigmoid()

    weights = [weight for row in (*hidden, last) for weight in row]
    for _ in range(400):
        loss = sum((forward(x) - t) ** 2 for x, t in zip(inputs, targets))
        for weight in weights:
            weight.grad = 0
        Value.backward(loss)
        for weight in weights:
            weight.data -= 1.0 * weight.grad
        if loss.data < 0.05:
            break
    return forward


# %% four_points
class Net:
    """Two layers of weights, found by their names."""

    def __init__(self, draw):
        self.weights = {
            (layer, row, column): Value(draw.uniform(-1, 1))
            for layer, rows, columns in ((0, 5, 4), (1, 1, 6))
            for row in range(rows)
            for column in range(columns)
        }

    def __call__(self, x):
        for layer, rows in ((0, 5), (1, 1)):
            x = [
                sum(
                    (self.weights[layer, row, place] * each for place, each in enumerate([*x, 1.0])),
                    Value(0),
                ).tanh()
                for row in range(rows)
            ]
        return x[0]


def train_four_points(inputs, targets, seed):
    model, losses, slow = Net(random.Random(seed)), [], {}
    while len(losses) < 150 and (not losses or losses[-1] > 0.003):
        total = mse([model(x) for x in inputs], targets)
        for weight in model.weights.values():
            weight.grad = 0.0
        total.backward()
        for name, weight in model.weights.items():
            slow[name] = 0.9 * slow.get(name, 0.0) + 0.1 * weight.grad**2
            weight.data -= 0.05 * weight.grad / (slow[name] ** 0.5 + 1e-3)
        losses += [total.data]
    return model, losses


# %% moons
from functools import partial


def answer(weights, x):
    rows = [weights[i : i + 3] for i in range(0, 30, 3)]
    bent = [(a * x[0] + b * x[1] + c).tanh() for a, b, c in rows]
    return sum((a * b for a, b in zip(weights[30:40], bent)), weights[40])


def train_moons(inputs, targets, seed):
    draw = random.Random(seed)
    weights = [Value(draw.gauss(0, 1)) for _ in range(41)]
    speed = [0.0] * len(weights)
    for epoch in range(60):
        for i in range(0, len(inputs), 8):
            batch = zip(inputs[i : i + 8], targets[i : i + 8])
            loss = sum((1 - answer(weights, x) * t).relu() for x, t in batch) / 8
            for weight in weights:
                weight.grad = 0.0
            loss.backward()
            for place, weight in enumerate(weights):
                speed[place] = 0.8 * speed[place] + weight.grad
                weight.data -= 0.1 * speed[place]
    return partial(answer, weights)
