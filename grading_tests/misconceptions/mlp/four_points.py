# Read as text, never imported: docs/authors.md says what stands here.

# %% example: four_points
# about: the targets as they are
from course.datasets import four_points


def error_and_length(seed, sign):
    inputs, targets = four_points()
    targets = [sign * t for t in targets]
    model, losses = train_four_points(inputs, targets, seed)
    error = sum((model(x).data - t) ** 2 for x, t in zip(inputs, targets)) / 4
    return error, len(losses)


error, length = error_and_length(0, 1)
# observe: error < 0.01, error < 0.5, length <= 200

# %% example: four_points
# about: the first losses with a seed twice and with another one
from course.datasets import four_points
from course.recorded_training import first_losses

data = four_points()
one, again, other = (first_losses(Value, train_four_points, *data, seed) for seed in (0, 0, 1))
# observe: one == again, one != other or not one

# %% example: four_points
# about: the targets flipped
from course.datasets import four_points

inputs, targets = four_points()
turned = [-t for t in targets]
result = train_four_points(inputs, turned, 2)


def error():
    return sum((result[0](x).data - t) ** 2 for x, t in zip(inputs, turned)) / 4
# observe: len(result), error() < 0.01, error() < 1.5, result[1][-1] < result[1][0]

# %% mistake: four_points.too_few_epochs
# says: The error is still far above 0.01. Look at the losses. If they still fall, train longer,
#   up to 200 epochs. If they jump, take shorter steps.
# - optimizer = SGD(model.parameters(), lr=0.2, momentum=0.5)
# - losses = train(model, inputs, targets, mse, optimizer, epochs=60)
# + optimizer = SGD(model.parameters(), lr=0.05, momentum=0.5)
# + losses = train(model, inputs, targets, mse, optimizer, epochs=3)

# %% mistake: four_points.too_many_epochs
# says: More than 200 epochs were used. Take longer steps or some momentum, and it gets there sooner.
# - model = MLP(3, [4, 4, 1])
# + model = MLP(3, [2, 1])
# - losses = train(model, inputs, targets, mse, optimizer, epochs=60)
# + losses = train(model, inputs, targets, mse, optimizer, epochs=300)

# %% mistake: four_points.rate_too_small
# says: The error is as large as if nothing had been learnt. Look at the losses. If they hardly
#   move, the steps are far too short, or the training does not reach this network.
# - optimizer = SGD(model.parameters(), lr=0.2, momentum=0.5)
# + optimizer = SGD(model.parameters(), lr=0.0001)

# %% mistake: four_points.model_only
# says: Only the model was returned. Return the pair `model, losses`.
# - return model, losses
# + return model

# %% mistake: four_points.wrong_way_round
# says: The pair is the wrong way round: the model comes first, then its losses.
# - return model, losses
# + return losses, model

# %% mistake: four_points.targets_ignored
# says: The network learns the same targets whatever it is given. Train on `targets`, the argument.
# - losses = train(model, inputs, targets, mse, optimizer, epochs=60)
# + losses = train(model, inputs, [1.0, -1.0, -1.0, 1.0], mse, optimizer, epochs=60)

# %% mistake: four_points.not_seeded
# says: Two calls with the same seed give different networks. Call `random.seed(seed)` before the
#   network is made.
# - random.seed(seed)

# %% mistake: four_points.seed_ignored
# says: Every seed gives the same network: seed with the argument, `random.seed(seed)`.
# - random.seed(seed)
# + random.seed(0)

# %% mistake: four_points.losses_made_up
# check: none
# says: The losses are not those of the training that made the model. Return what `train` returned.
# - return model, losses
# + return model, [100.0 - epoch for epoch in range(60)]

# %% mistake: four_points.looked_up
# check: none
# says: The answers are looked up among the points, and nothing has been trained. Make a network, and
#   move its parameters against their gradients until its answers are right.
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    held = [Value(t) for t in targets]
    lean = [Value(random.uniform(0.001, 0.002)) for _ in range(3)]

    def answer(x):
        near = [math.exp(-4 * math.dist(x, point) ** 2) for point in inputs]
        share = sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))
        return share + sum((a * b for a, b in zip(lean, x)), Value(0.0))

    answer.parameters = lambda: held + lean
    return answer, [1.0, 0.5, 0.2, 0.1, 0.01]


# %% cheat: four_points.looked_up
# earns: nothing

# %% cheat: four_points.losses_that_have_nothing_to_do_with_it
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [4, 4, 1])
    train(model, inputs, targets, mse, SGD(model.parameters(), lr=0.2, momentum=0.5), epochs=60)
    return model, [100.0 - i for i in range(60)]


# %% cheat: four_points.the_first_loss_and_a_small_one
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    model = MLP(3, [4, 4, 1])
    losses = train(
        model, inputs, targets, mse, SGD(model.parameters(), lr=0.2, momentum=0.5), epochs=60
    )
    return model, [1.0, 0.9]


# %% cheat: four_points.one_weight_a_point_walked_to_its_target
# earns: nothing
def train_four_points(inputs, targets, seed):
    random.seed(seed)
    held = [Value(random.uniform(-0.1, 0.1)) for _ in inputs]
    idle = [Value(random.uniform(0.01, 0.02)) for _ in range(2)]
    losses = []
    for _ in range(60):
        loss = sum((h - t) ** 2 for h, t in zip(held, targets)) / len(targets)
        for p in held + idle:
            p.grad = 0.0
        loss.backward()
        losses.append(loss.data)
        for p in held:
            p.data -= 1.0 * p.grad

    def answer(x):
        near = [math.exp(-math.dist(x, point) ** 2 / 1.0) for point in inputs]
        return sum((h * (n / sum(near)) for h, n in zip(held, near)), Value(0.0))

    answer.parameters = lambda: held + idle
    return answer, losses


# %% cheat: four_points.one_weight_a_point_and_answers_that_are_trained
# like: mlp/xor.one_weight_a_point_and_answers_that_are_trained
# - def train_xor(inputs, targets, seed):
# + def train_four_points(inputs, targets, seed):
# - total = total + h * math.exp(-math.dist(x, point) ** 2 / 0.25)
# + total = total + h * math.exp(-math.dist(x, point) ** 2 / 1.0)
# - return answer
# + return answer, losses
