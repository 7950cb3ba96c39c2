# A right solution of `mlp`: training that goes on, or starts again, until it is done.

# %% xor
def train_xor(inputs, targets, seed):
    random.seed(seed)
    while True:
        model = MLP(2, [3, 1], linear_output=True)
        optimizer = SGD(model.parameters(), 0.5, momentum=0.8)
        for _ in range(6):
            train(model, inputs, targets, bce, optimizer, 20)
            if all(abs(model(x).sigmoid().data - t) < 0.2 for x, t in zip(inputs, targets)):
                return model


# %% four_points
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.2)
    losses = []
    while len(losses) < 200 and (not losses or losses[-1] > 0.004):
        losses += train(model, inputs, targets, mse, optimizer, 1)
    return [model, losses]


# %% moons
def train_moons(inputs, targets, seed):
    random.seed(seed)
    for _ in range(5):
        model = MLP(2, [8, 1], linear_output=True)
        optimizer = SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)
        for _ in range(12):
            train(model, inputs, targets, hinge, optimizer, 5, 10)
            if all(model(x).data * t > 0 for x, t in zip(inputs, targets)):
                return model
    return model
