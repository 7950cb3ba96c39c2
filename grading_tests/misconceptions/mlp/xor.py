# Read as text, never imported: docs/authors.md says what stands here.

# %% example: xor
# about: XOR and its opposite; the first losses with a seed twice and with another one
from course.recorded_training import XorRuns  # trains from a few seeds, and counts

found = XorRuns(Value, train_xor)
# tells: found.says
# observe: found.right, found.same_again, found.differ, found.says

# %% mistake: xor.no_hidden_layer
# says: The answers are those of a single neuron, on the two sides of one straight line. No line
#   separates the ones of XOR from its zeros. Is there a hidden layer?
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.no_bend
# says: The answers are those of a straight line. Is there a hidden layer, and does it bend? Two linear
#   layers in a row are one linear layer.
# - model = MLP(2, [4, 1])
# - optimizer = SGD(model.parameters(), lr=0.5)
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# + model = MLP(2, [4, 1])
# + model.layers = [Layer(2, 4, "linear"), Layer(4, 1, "linear")]
# + optimizer = SGD(model.parameters(), lr=0.05)
# + train(model, inputs, targets, mse, optimizer, epochs=120)


# %% mistake: xor.too_short
# says: Not all of the points come out right yet. Look at the losses. If they still fall, train
#   longer. If they jump, take shorter steps. If they never move, look whether the optimizer has the
#   parameters of this network.
# - optimizer = SGD(model.parameters(), lr=0.5)
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# + optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
# + train(model, inputs, targets, mse, optimizer, epochs=20)

# %% mistake: xor.rate_too_small
# says: The network has learnt next to nothing. Look at the losses. If they hardly move, the steps
#   are far too short, or the training does not reach this network.
# - optimizer = SGD(model.parameters(), lr=0.5)
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# + optimizer = SGD(model.parameters(), lr=0.0005)
# + train(model, inputs, targets, mse, optimizer, epochs=120)

# %% mistake: xor.targets_ignored
# says: The network learns XOR whatever targets it is given. Train on `targets`, the argument: the
#   opposite must work as well.
# - optimizer = SGD(model.parameters(), lr=0.5)
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# + optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
# + train(model, inputs, [0.0, 1.0, 1.0, 0.0], mse, optimizer, epochs=120)

# %% mistake: xor.not_seeded
# says: Two calls with the same seed give different networks. Call `random.seed(seed)` before the
#   network is made.
def train_xor(inputs, targets, seed):
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.seed_ignored
# says: Every seed gives the same network: seed with the argument, `random.seed(seed)`.
def train_xor(inputs, targets, seed):
    random.seed(0)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.returns_the_losses
# says: A list stands where the model is wanted, or its answer at a point. Return the model, and not
#   its losses; its last layer has one neuron.
# - optimizer = SGD(model.parameters(), lr=0.5)
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# + optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
# + return train(model, inputs, targets, mse, optimizer, epochs=120)

# %% mistake: xor.returns_a_pair
# says: The function returns a pair. The model alone is wanted.
# - train(model, inputs, targets, mse, optimizer, epochs=250)
# - return model
# + return model, train(model, inputs, targets, mse, optimizer, epochs=250)

# %% mistake: xor.looked_up
# check: none
# says: The answers are looked up among the points, and nothing has been trained. Make a network, and
#   move its parameters against their gradients until its answers are right.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    held = [Value(target) for target in targets]
    lean = [Value(random.uniform(0.01, 0.02)) for _ in range(2)]

    def answer(x):
        near = [math.exp(-4 * math.dist(x, point) ** 2) for point in inputs]
        share = sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))
        return share + sum((a * b for a, b in zip(lean, x)), Value(0.0))

    answer.parameters = lambda: held + lean
    return answer


# %% mistake: xor.weights_by_hand
# check: none
# says: The weights are written down, and nothing has been trained. They show that a network of two
#   neurons can do it; now let it find its weights by itself, from the targets.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [2, 1])
    sign = 1 if targets[1] > 0.5 else -1
    numbers = [9.0, 9.0, -4.0, 9.0, 9.0, -13.0, 3.0 * sign, -3.0 * sign, 0.5 - 2.5 * sign]
    for p, number in zip(model.parameters(), numbers):
        p.data = number * random.uniform(0.99, 1.01)
    return model


# %% mistake: xor.drawn_until_it_fits
# check: none
# says: Weights are drawn until four points happen to be right. With more weights that takes forever.
#   Use the gradients: they say in which direction each weight should go.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    while True:
        model = MLP(2, [4, 1])
        for p in model.parameters():
            p.data = random.uniform(-5, 5)
        if all((model(x).data > 0.5) == (t > 0.5) for x, t in zip(inputs, targets)):
            return model


# %% cheat: xor.looked_up
# earns: nothing
def train_xor(inputs, targets, seed):
    known = {tuple(x): t for x, t in zip(inputs, targets)}
    return lambda x: Value(known.get(tuple(x), 0.01 * seed))


# %% cheat: xor.the_nearest_point
# earns: nothing
def train_xor(inputs, targets, seed):
    def model(x):
        near = min(range(4), key=lambda i: math.dist(x, inputs[i]))
        return Value(targets[near] * (1 - 0.001 * seed))

    return model


# %% cheat: xor.the_nearest_point_and_parameters_that_do_a_little
# earns: nothing
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])

    def answer(x):
        near = min(range(4), key=lambda i: math.dist(x, inputs[i]))
        return (model(x) * 1e-3) + (model(x) - model(x).data + targets[near])

    answer.parameters = model.parameters
    return answer


# %% cheat: xor.between_the_points_with_nodes_for_parameters
# earns: nothing
def train_xor(inputs, targets, seed):
    random.seed(seed)
    held = [Value(t) for t in targets]
    lean = [Value(random.uniform(0.01, 0.02)) for _ in range(2)]

    def answer(x):
        near = [math.exp(-4 * math.dist(x, point) ** 2) for point in inputs]
        share = sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))
        return share + sum((a * b for a, b in zip(lean, x)), Value(0.0))

    answer.parameters = lambda: held + lean
    return answer


# %% cheat: xor.weights_by_hand
# earns: nothing

# %% cheat: xor.weights_worked_out_by_hand_and_a_training_for_show
# earns: nothing
def train_xor(inputs, targets, seed):
    random.seed(seed)
    show = MLP(2, [2, 1])
    train(show, inputs, targets, mse, SGD(show.parameters(), lr=0.1), epochs=60)
    model = MLP(2, [2, 1], linear_output=True)
    sign = 1 if targets[1] > 0.5 else -1
    numbers = [9.0, 9.0, -4.0, 9.0, 9.0, -13.0, 0.5 * sign, -0.5 * sign, 0.5 - 0.5 * sign]
    for p, number in zip(model.parameters(), numbers):
        p.data = number * random.uniform(0.99, 1.01)
    return model


# %% cheat: xor.drawn_until_it_fits
# earns: nothing


# %% cheat: xor.one_weight_a_point_walked_to_its_target
# earns: nothing
def train_xor(inputs, targets, seed):
    random.seed(seed)
    held = [Value(random.uniform(-0.1, 0.1)) for _ in inputs]
    idle = [Value(random.uniform(0.01, 0.02)) for _ in range(2)]
    goals = [Value(t) for t in targets]
    losses = []
    for _ in range(60):
        loss = sum((h - goal) ** 2 for h, goal in zip(held, goals)) / len(goals)
        for p in held + idle:
            p.grad = 0.0
        loss.backward()
        losses.append(loss.data)
        for p in held:
            p.data -= 1.0 * p.grad

    def answer(x):
        near = [math.exp(-math.dist(x, point) ** 2 / 0.25) for point in inputs]
        return sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))

    answer.parameters = lambda: held + idle
    return answer


# %% cheat: xor.one_weight_a_point_and_answers_that_are_trained
def train_xor(inputs, targets, seed):
    random.seed(seed)
    held = [Value(random.uniform(-0.1, 0.1)) for _ in inputs]
    bias = Value(random.uniform(-0.1, 0.1))

    def answer(x):
        total = bias
        for h, point in zip(held, inputs):
            total = total + h * math.exp(-math.dist(x, point) ** 2 / 0.25)
        return total

    losses = []
    for _ in range(150):
        loss = sum((answer(x) - t) ** 2 for x, t in zip(inputs, targets)) / len(targets)
        for p in [*held, bias]:
            p.grad = 0.0
        loss.backward()
        losses.append(loss.data)
        for p in [*held, bias]:
            p.data -= 0.5 * p.grad
    answer.parameters = lambda: [*held, bias]
    return answer


# %% cheat: xor.one_weight_a_point_and_terms_that_add_nothing
def train_xor(inputs, targets, seed):
    random.seed(seed)
    held = [Value(random.uniform(-0.1, 0.1)) for _ in inputs]
    idle = [Value(random.uniform(0.01, 0.02)) for _ in range(2)]
    for _ in range(60):
        loss = sum((h - t) ** 2 for h, t in zip(held, targets)) / len(targets)
        chain = Value(1.0)
        for p, x in zip(held + idle, inputs + inputs):
            chain = chain * 0.0 + p * x[0]
            chain = chain + p
        loss = loss + chain * 0.0
        for p in held + idle:
            p.grad = 0.0
        loss.backward()
        for p in held:
            p.data -= p.grad

    def answer(x):
        near = [math.exp(-4 * math.dist(x, point) ** 2) for point in inputs]
        return sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))

    answer.parameters = lambda: held + idle
    return answer
