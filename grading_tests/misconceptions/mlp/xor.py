# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: xor
# about: two seeds, one of them twice, and the opposite of XOR
from course.datasets import xor

inputs, targets = xor()
opposite = [1 - t for t in targets]


def answers(wanted, seed):
    model = train_xor(list(inputs), list(wanted), seed)
    found = [model(x) for x in inputs]
    return [x.data if isinstance(x, Value) else x for x in found]


one, again, other = (answers(targets, seed) for seed in (0, 0, 1))


def right(found, wanted):
    # Where the seed does not decide, how many are right is luck.
    return one == again and sum((a > 0.5) == (t == 1) for a, t in zip(found, wanted))


# Rounded answers may be the same at these points, and not elsewhere.
is_rounded = len(set(one)) <= 2
turned = answers(opposite, 2)
# observe: right(one, targets), right(other, targets), right(turned, opposite), one == again, one != other or is_rounded


# %% mistake: xor.no_hidden_layer
# row: new
# says: The answers are those of a single neuron, on the two sides of one straight line, and no line
#   parts the ones of XOR from its zeros. Is there a hidden layer?
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.no_bend
# row: new
# says: The answers are those of a straight line. Two linear layers in a row are one linear layer:
#   between them there must be something that bends, such as `Tanh()`.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = Sequential(Linear(2, 4), Linear(4, 1))
    optimizer = SGD(model.parameters(), lr=0.05)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.too_short
# row: new
# says: The training ends long before the network has learnt anything. Look at the losses: are they
#   still falling?
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=20)
    return model


# %% mistake: xor.rate_too_small
# row: new
# says: The network has learnt next to nothing. For so few epochs the learning rate is much too
#   small, or it is so large that the steps overshoot: look at the losses.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.0005)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.targets_ignored
# row: new
# says: The network learns XOR whatever targets it is given. Train on `targets`, the argument: the
#   opposite must work as well.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, [0.0, 1.0, 1.0, 0.0], mse, optimizer, epochs=120)
    return model


# %% mistake: xor.not_seeded
# row: new
# says: The same seed gives another network each time. Call `random.seed(seed)` before the network is
#   made.
def train_xor(inputs, targets, seed):
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.seed_ignored
# row: new
# says: Every seed gives the same network: seed with the argument, `random.seed(seed)`.
def train_xor(inputs, targets, seed):
    random.seed(0)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    train(model, inputs, targets, mse, optimizer, epochs=120)
    return model


# %% mistake: xor.returns_the_losses
# row: new
# says: The function returns the losses. The model is wanted.
def train_xor(inputs, targets, seed):
    random.seed(seed)
    model = MLP(2, [4, 1])
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.5)
    return train(model, inputs, targets, mse, optimizer, epochs=120)
    return model
