# A right solution of `mlp`: the best of several networks is trained on, and one sample is enough
# for a step.

# %% xor
def train_xor(inputs, targets, seed):
    random.seed(seed)
    found = []
    for number in range(4):
        model = MLP(2, [3, 1])
        optimizer = SGD(model.parameters(), lr=0.4, momentum=0.8)
        losses = train(model, inputs, targets, mse, optimizer, 60)
        found.append((losses[-1], number, model, optimizer))
    _, _, model, optimizer = min(found)
    for _ in range(10):
        if all(abs(model(x).data - t) < 0.3 for x, t in zip(inputs, targets)):
            break
        train(model, inputs, targets, mse, optimizer, 40, batch_size=2)
    return model


# %% four_points
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [6, 1])
    optimizer = SGD(model.parameters(), lr=0.3)
    losses = []
    while len(losses) < 200 and (not losses or losses[-1] > 0.003):
        losses += train(model, inputs, targets, mse, optimizer, 1, batch_size=1)
    return model, losses
