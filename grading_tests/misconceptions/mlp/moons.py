# Read as text, never imported: docs/authors.md says what stands here.

# %% example: moons
# about: forty points, with the targets flipped
from course.datasets import moons

inputs, targets = moons(40, 0.1, 8)
turned = [-t for t in targets]
model = train_moons(list(inputs), list(turned), 8)


def answer(point):
    found = model(point)
    return found.data if isinstance(found, Value) else found


right = sum((answer(x) > 0) == (t > 0) for x, t in zip(inputs, turned))
# Along a straight line, each answer is the mean of those at the same distance on either side.
bends = any(
    abs(answer([x - 1, y]) - 2 * answer([x, y]) + answer([x + 1, y])) > 1e-9
    for x in (0.0, 0.5, 1.0)
    for y in (-0.5, 0.0, 0.5, 1.0)
)
found = [answer(x) for x in inputs]
answers_from_0_to_1 = all(-0.5 < a < 1.5 for a in found) and sum(found) / len(found) > 0.25
# observe: right >= 36.8, bends, right < 36.8 and answers_from_0_to_1

# %% example: moons
# about: the first losses on forty points, with a seed twice and with another one
from course.datasets import moons
from course.recorded_training import first_losses

data = moons(40, 0.1, 8)
one, again, other = (first_losses(Value, train_moons, *data, seed) for seed in (3, 3, 4))
# observe: one == again, one != other or not one

# %% mistake: moons.straight_line
# says: The answers do not bend, and even the best straight border leaves about one point in nine on
#   the wrong side. Is there a hidden layer, and does it bend?
# - model = MLP(2, [10, 1], linear_output=True)
# + model = MLP(2, [1], linear_output=True)
# - for epoch in range(100):
# + for epoch in range(20):

# %% mistake: moons.too_short
# says: The border is no straight line, and yet too many of the given points are on its wrong
#   side. Look at the losses. If they still fall, train longer. If they jump, take shorter steps. If
#   they never move, look whether the optimizer has the parameters of this network.
# - for epoch in range(100):
# + for epoch in range(1):

# %% mistake: moons.zero_and_one
# says: The answers are hardly ever negative, and here the sign decides: train on -1 and 1, or
#   use `bce`, whose logits have a sign.
# - optimizer = SGD(model.parameters(), lr=0.5)
# - for epoch in range(100):
# + optimizer = SGD(model.parameters(), lr=0.05)
# + labels = [(t + 1) / 2 for t in targets]
# + for epoch in range(15):
# - train(model, inputs[start:end], targets[start:end], hinge, optimizer, epochs=1)
# + train(model, inputs[start:end], labels[start:end], mse, optimizer, epochs=1)

# %% mistake: moons.returns_the_losses
# says: The function returns the losses. The model is wanted.
# - for start in range(0, len(inputs), 10):
# -     end = start + 10
# -     train(model, inputs[start:end], targets[start:end], hinge, optimizer, epochs=1)
# + return train(model, inputs, targets, hinge, optimizer, epochs=5, batch_size=10)

# %% mistake: moons.not_seeded
# says: Two calls with the same seed give different networks. Call `random.seed(seed)` before the
#   network is made.
# - random.seed(seed)

# %% mistake: moons.seed_ignored
# says: Every seed gives the same answers. Seed with the argument, `random.seed(seed)`, and let the
#   network that was trained from there answer.
# - random.seed(seed)
# + random.seed(0)

# %% mistake: moons.looked_up
# check: none
# says: The answers are those of the nearest points, and nothing has been trained. Make a network,
#   and move its parameters against their gradients until its answers are right.
def train_moons(inputs, targets, seed):
    def answer(x):
        near = min(range(len(inputs)), key=lambda i: math.dist(x, inputs[i]))
        return Value(targets[near] * (1 + 0.01 * seed))

    return answer


# %% cheat: moons.looked_up
# earns: nothing

# %% cheat: moons.between_the_points_with_nodes_for_parameters
# like: mlp/xor.between_the_points_with_nodes_for_parameters
# - def train_xor(inputs, targets, seed):
# + def train_moons(inputs, targets, seed):
# - near = [math.exp(-4 * math.dist(x, point) ** 2) for point in inputs]
# + near = [math.exp(-9 * math.dist(x, point) ** 2) for point in inputs]

# %% cheat: moons.the_formula_that_drew_them
# earns: nothing
def train_moons(inputs, targets, seed):
    random.seed(seed)
    w = [Value(random.uniform(0.99, 1.01)) for _ in range(5)]
    upper = [x for x, t in zip(inputs, targets) if t > 0]
    sign = 1 if sum(x[1] for x in upper) / len(upper) > 0.25 else -1

    def answer(x):
        a, b = x
        bent = w[0] * (b - 0.25) - w[1] * (0.9 * math.sin(math.pi * (0.5 - a) / 1.05)) * -1
        return (bent * w[2] + w[3] * 0.0 + w[4] * 0.0) * sign

    answer.parameters = lambda: w
    return answer


# %% cheat: moons.a_training_for_show_and_the_nearest_point
# earns: nothing
def train_moons(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1], linear_output=True)
    train(model, inputs, targets, hinge, SGD(model.parameters(), lr=0.1), epochs=8)

    def answer(x):
        near = min(range(len(inputs)), key=lambda i: math.dist(x, inputs[i]))
        return model(x) * 0.01 + targets[near] * model.parameters()[0].data

    answer.parameters = model.parameters
    return answer


# %% cheat: moons.one_weight_a_point_walked_to_its_target
# like: mlp/four_points.one_weight_a_point_walked_to_its_target
# - def train_four_points(inputs, targets, seed):
# + def train_moons(inputs, targets, seed):
# - p.data -= 1.0 * p.grad
# + p.data -= 10.0 * p.grad
# - near = [math.exp(-math.dist(x, point) ** 2 / 1.0) for point in inputs]
# + near = [math.exp(-math.dist(x, point) ** 2 / 0.1) for point in inputs]
# - return answer, losses
# + return answer

# %% cheat: moons.one_weight_a_point_and_answers_that_are_trained
# like: mlp/xor.one_weight_a_point_and_answers_that_are_trained
# - def train_xor(inputs, targets, seed):
# + def train_moons(inputs, targets, seed):
# - total = total + h * math.exp(-math.dist(x, point) ** 2 / 0.25)
# + total = total + h * math.exp(-math.dist(x, point) ** 2 / 0.1)
# - p.data -= 0.5 * p.grad
# + p.data -= 1.0 * p.grad
