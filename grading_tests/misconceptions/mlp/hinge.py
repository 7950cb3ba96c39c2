# Read as text, never imported: docs/authors.md says what stands here.

# %% example: hinge
# about: a few samples
p = [Value(0.25), Value(2.0), Value(3.0)]
loss = hinge(p, [1, -1, 1])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad, p[2].grad

# %% example: hinge
# about: a single sample on the wrong side
p = [Value(-0.5)]
loss = hinge(p, [1])
loss.backward()
# observe: loss.data, p[0].grad

# %% sweep: hinge
# about: a single sample
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# t: 1, 1, 1, 1, -1, -1, -1, -1
# regions: t * x < 1 | t * x > 1; t == 1 | t == -1
# results: loss.data = max(0.0, 1 - t * x); p.grad = -t if t * x < 1 else 0
p = Value(x)
loss = hinge([p], [t])
loss.backward()

# %% sweep: hinge
# about: two samples with target 1, both inside the margin
# x: 0.3, -1.7, 0.6, -0.45, 0.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 0.7, -3.1, -0.35, -0.62, 0.33, 0.57
# results: loss.data = (1 - x + 1 - y) / 2; p.grad = -0.5
p, q = Value(x), Value(y)
loss = hinge([p, q], [1, 1])
loss.backward()

# %% sweep: hinge
# about: three samples with target 1, all inside the margin
# x: 0.3, -1.7, 0.6, -0.45, 0.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 0.7, -3.1, -0.35, -0.62, 0.33, 0.57
# z: 0.1, -0.35, 0.2, 0.9, -1.6, -2.4, 0.35, 0.7
# results: loss.data = (3 - x - y - z) / 3; p.grad = -1 / 3
p, q, r = Value(x), Value(y), Value(z)
loss = hinge([p, q, r], [1, 1, 1])
loss.backward()

# %% sweep: hinge
# about: two samples with target 1, the first inside the margin and the second beyond it
# x: 0.3, -1.7, 0.6, -0.45, 0.4, -2.9, 0.27, -0.83
# y: 1.9, 2.8, 3.7, 1.35, 5.2, 1.6, 2.33, 4.57
# results: loss.data = (1 - x) / 2; p.grad = -0.5; q.grad = 0.0
p, q = Value(x), Value(y)
loss = hinge([p, q], [1, 1])
loss.backward()

# %% mistake: hinge.sign
# says: It is 1 *minus* target times score. With a plus, right answers are punished.
# keeps: 0.75
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [(1 + t * s).relu() for s, t in zip(scores, targets)]

# %% mistake: hinge.turned_round
# says: It is 1 minus target times score, not the other way round: what counts is by how much the
#   margin of 1 is missed.
# keeps: 0.75
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [(t * s - 1).relu() for s, t in zip(scores, targets)]

# %% mistake: hinge.sum_for_mean
# says: This is the sum over the samples. Divide by their number to get the mean.
# keeps: 0.75
# - return sum(losses) / len(losses)
# + return sum(losses)

# %% mistake: hinge.no_margin
# says: There is no margin: the loss is 0 as soon as the side is right. It should be 0 only at a
#   distance of 1.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [(-t * s).relu() for s, t in zip(scores, targets)]

# %% mistake: hinge.not_cut_off
# says: Samples that are right and clear of the border *reduce* the loss. The loss of each
#   sample is cut off at 0, with `relu`, before the mean is taken.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [1 - t * s for s, t in zip(scores, targets)]

# %% mistake: hinge.relu_of_the_score
# says: `relu` was taken of the score alone. The whole miss is cut off at 0: `(1 - t * s).relu()`.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [1 - t * s.relu() for s, t in zip(scores, targets)]

# %% mistake: hinge.relu_of_the_mean
# says: The mean was taken first and cut off at 0, so a sample that is right by far makes up for one
#   that is wrong. Cut off each sample's loss at 0, then take the mean.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# - return sum(losses) / len(losses)
# + losses = [1 - t * s for s, t in zip(scores, targets)]
# + return (sum(losses) / len(losses)).relu()

# %% mistake: hinge.cuts_the_graph
# says: The number is right, but no score gets a gradient: the loss was computed from `.data`, outside
#   the graph. In place of `max` use `relu` on the Value.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [Value(max(0.0, 1 - t * s.data)) for s, t in zip(scores, targets)]

# %% mistake: hinge.mean_of_the_misses
# says: The mean is over those samples alone that cost something. The ones that cost nothing count as
#   0: divide by the number of all samples.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [1 - t * s for s, t in zip(scores, targets) if t * s.data < 1]

# %% mistake: hinge.squared
# says: The hinge is squared. That is a loss as well, but another one: leave the square out.
# keeps: 0.5
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# + losses = [(1 - t * s).relu() ** 2 for s, t in zip(scores, targets)]

# %% edge: hinge
# - losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
# large_scores: losses = [((1 - t * s).relu() if abs(s.data) < 5 else 5 + 0 * s) for s, t in
#       zip(scores, targets)]
# small_scores: losses = [((1 - t * s).relu() if abs(s.data) > 0.1 else 1 + 0 * s) for s, t in
#       zip(scores, targets)]
# score_of_zero: losses = [((1 - t * s).relu() if s.data else 0 * s) for s, t in zip(scores,
#       targets)]
# whole_targets: losses = [(1 - (t if isinstance(t, float) else abs(t)) * s).relu() for s, t in
#       zip(scores, targets)]
# ten_at_most: losses = [(1 - t * s).relu() for s, t in list(zip(scores, targets))[:8]]
# equal_scores: losses = [(1 - t * s).relu() for s, t in {p.data: (p, t) for p, t in zip(scores,
#       targets)}.values()]
# close_to_the_margin: losses = [((1 if abs(1 - t * s.data) > 0.1 else 0.9) - t * s).relu() for s, t
#       in zip(scores, targets)]
# large_margins_learn_on: losses = [((1 - t * s).relu() if t * s.data < 4 else s * -0.01) for s, t
#       in zip(scores, targets)]
# - return sum(losses) / len(losses)
# upstream_left_out: out = sum(losses) / len(losses)
#   step = out._backward
#   def once():
#       out.grad = 1.0
#       step()
#   out._backward = once
#   return out
# those_with_a_loss_count: return sum(losses) / max(1, len([l for l in losses if
#       l.data])) if len(losses) > 6 else len(losses)
# halves_of_many: return sum(losses) / min(len(losses), 7)

# %% cheat: hinge.without_the_bend
def hinge(predictions, targets):
    return sum((1 - p * t for p, t in zip(predictions, targets)), Value(0.0)) / len(targets)
