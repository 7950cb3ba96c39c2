# A right solution of `mlp`: the trained models answer with the class itself, as a plain number.

# %% xor
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return lambda x: 1.0 if model(x).data > 0.5 else 0.0


# %% four_points
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [4, 4, 1])
    optimizer = SGD(model.parameters(), lr=0.2, momentum=0.5)
    losses = train(model, inputs, targets, mse, optimizer, epochs=60)

    def side(x):
        return Value(1.0 if model(x).data > 0 else -1.0)

    return side, losses


# %% moons
def train_moons(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [6, 1], linear_output=True)
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.9)
    for _ in range(20):
        train(model, inputs, targets, hinge, optimizer, epochs=5, batch_size=10)
        if all(model(x).data * t > 0 for x, t in zip(inputs, targets)):
            break
    return lambda x: 1 if model(x).data > 0 else -1
