# Read as text, never imported: docs/authors.md says what stands here.

# %% example: mse
# about: a few samples
p = [Value(2.0), Value(-3.5)]
loss = mse(p, [0.5, -1.0])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad

# %% example: mse
# about: a single sample
p = [Value(1.5)]
loss = mse(p, [1.0])
loss.backward()
# observe: loss.data, p[0].grad

# %% sweep: mse
# about: a single sample
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# t: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# regions: x > t | x < t
# results: loss.data = (x - t) ** 2; p.grad = 2 * (x - t)
p = Value(x)
loss = mse([p], [t])
loss.backward()

# %% sweep: mse
# about: two samples with targets 0
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# results: loss.data = (x ** 2 + y ** 2) / 2; p.grad = x; q.grad = y
p, q = Value(x), Value(y)
loss = mse([p, q], [0.0, 0.0])
loss.backward()

# %% sweep: mse
# about: three samples with targets 0
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# z: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# results: loss.data = (x ** 2 + y ** 2 + z ** 2) / 3; p.grad = 2 * x / 3
p, q, r = Value(x), Value(y), Value(z)
loss = mse([p, q, r], [0.0, 0.0, 0.0])
loss.backward()

# %% mistake: mse.sum_for_mean
# says: This is the sum of the squares. The mean divides it by the number of samples.
# keeps: 0.75
# - return sum(squares) / len(squares)
# + return sum(squares)

# %% mistake: mse.return_inside_the_loop
# says: Only the first pair counts: `return` ends the loop in its first round. Put it behind the loop.
def mse(predictions, targets):
    total = 0
    for p, t in zip(predictions, targets):
        total = total + (p - t) ** 2
        return total / len(predictions)


# %% mistake: mse.last_pair_only
# says: Only the last pair counts: each round puts its square in place of the sum. Add up, with `+=`.
# keeps: 0.5
def mse(predictions, targets):
    for p, t in zip(predictions, targets):
        total = (p - t) ** 2
    return total / len(predictions)

# %% mistake: mse.halved
# says: There is a factor of one half too many. Some books put it there to make the derivative
#   prettier; the mean of the squares has none.
# keeps: 0.75
# - return sum(squares) / len(squares)
# + return sum(squares) / (2 * len(squares))

# %% mistake: mse.cuts_the_graph
# says: The number is right, but no prediction gets a gradient: the loss was computed from `.data` and
#   has no operands. Compute with the Values.
# keeps: 0.5
# - squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
# + squares = [Value(p.data - t) ** 2 for p, t in zip(predictions, targets)]

# %% mistake: mse.not_squared
# says: The differences are not squared, so misses on one side make up for those on the other.
# keeps: 0.5
# - squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
# + squares = [(p - t) for p, t in zip(predictions, targets)]

# %% mistake: mse.square_of_the_mean
# says: The differences were averaged first and squared afterwards, so opposite misses cancel. Square
#   each of them, then take the mean.
# keeps: 0.5
def mse(predictions, targets):
    squares = [(p - t) for p, t in zip(predictions, targets)]
    return (sum(squares) / len(squares)) ** 2


# %% mistake: mse.root
# says: This is the root of the mean squared error. Leave the root out.
# keeps: 0.75
# - return sum(squares) / len(squares)
# + return (sum(squares) / len(squares)) ** 0.5

# %% edge: mse
# - return sum(squares) / len(squares)
# predictions_of_zero_are_left_out: return sum([s for s, p in zip(squares, predictions) if p.data], 0 *
#       predictions[0]) / len(squares)
# - squares = [(p - t) ** 2 for p, t in zip(predictions, targets)]
# large_differences: squares = [((p - t) ** 2 if abs(p.data - getattr(t, 'data', t)) < 5 else
#       abs(p.data - getattr(t, 'data', t)) * 5 + 0 * p) for p, t in zip(predictions, targets)]
# small_differences: squares = [((p - t) ** 2 if abs(p.data - getattr(t, 'data', t)) > 0.1 else 0 *
#       p) for p, t in zip(predictions, targets)]
# no_difference: squares = [((p - t) ** 2 if p.data != getattr(t, 'data', t) else p * 1.0) for p, t
#       in zip(predictions, targets)]
# equal_predictions: squares = [(p - t) ** 2 for p, t in dict(zip([p.data for p in predictions],
#       zip(predictions, targets))).values()]
# target_of_zero: squares = [(p - (t or 1e-3)) ** 2 for p, t in zip(predictions, targets)]
# whole_targets: squares = [(p - (t if not isinstance(t, int) else t + 0.1)) ** 2 for p, t in
#       zip(predictions, targets)]
# ten_at_most: squares = [(p - t) ** 2 for p, t in list(zip(predictions, targets))[:8]]
# negative_targets: squares = [(p - (t if not isinstance(t, float) or t > -5 else -5.0)) ** 2 for p,
#       t in zip(predictions, targets)]
# lists_emptied: squares = [(predictions.pop() - targets.pop()) ** 2 for _ in list(targets)]
# - return sum(squares) / len(squares)
# halves_of_many: return sum(squares) / min(len(squares), 7)
# rounded: out = sum(squares) / len(squares)
#   out.data = round(out.data, 5)
#   return out
# upstream_left_out: out = sum(squares) / len(squares)
#   step = out._backward
#   def once():
#       out.grad = 1.0
#       step()
#   out._backward = once
#   return out

# %% cheat: mse.the_number_alone
def mse(predictions, targets):
    return Value(sum((p.data - t) ** 2 for p, t in zip(predictions, targets)) / len(targets))
