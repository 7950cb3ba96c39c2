# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: mse
# about: a few samples
p = [Value(2.0), Value(-3.5)]
loss = mse(p, [0.5, -1.0])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad


# %% probe: mse
# about: a single sample
p = [Value(1.5)]
loss = mse(p, [1.0])
loss.backward()
# observe: loss.data, p[0].grad


# %% mistake: mse.sum_for_mean
# row: 41
# says: This is the sum of the squares. The mean divides it by the number of samples.
def mse(predictions, targets):
    squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
    return sum(squares)


# %% mistake: mse.halved
# row: 41
# says: There is a factor of one half too many. Some books put it there to make the derivative
#   prettier; the mean of the squares has none.
def mse(predictions, targets):
    squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
    return sum(squares) / (2 * len(squares))


# %% mistake: mse.cuts_the_graph
# row: 40
# says: The number is right, but no prediction gets a gradient: the loss was computed from `.data` and
#   has no parents. Compute with the Values.
def mse(predictions, targets):
    squares = [Value(p.data - t) ** 2 for p, t in zip(predictions, targets)]
    return sum(squares) / len(squares)


# %% mistake: mse.not_squared
# row: 41
# says: The differences are not squared, so misses on one side make up for those on the other.
def mse(predictions, targets):
    squares = [(p - t) for p, t in zip(predictions, targets)]
    return sum(squares) / len(squares)


# %% mistake: mse.square_of_the_mean
# row: 41
# says: The differences were averaged first and squared afterwards, so opposite misses cancel. Square
#   each of them, then take the mean.
def mse(predictions, targets):
    squares = [(p - t) for p, t in zip(predictions, targets)]
    return (sum(squares) / len(squares)) ** 2


# %% mistake: mse.root
# row: 41
# says: This is the root of the mean squared error. Leave the root out.
def mse(predictions, targets):
    squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
    return (sum(squares) / len(squares)) ** 0.5
