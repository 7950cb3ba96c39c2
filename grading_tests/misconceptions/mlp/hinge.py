# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: hinge
# about: a few samples
p = [Value(0.25), Value(2.0), Value(3.0)]
loss = hinge(p, [1, -1, 1])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad, p[2].grad


# %% probe: hinge
# about: a single sample on the wrong side
p = [Value(-0.5)]
loss = hinge(p, [1])
loss.backward()
# observe: loss.data, p[0].grad


# %% mistake: hinge.sign
# row: 41
# says: It is 1 *minus* target times score. With a plus, right answers are punished.
def hinge(scores, targets):
    losses = [(1 + t * s).relu() for s, t in zip(scores, targets)]
    return sum(losses) / len(losses)


# %% mistake: hinge.sum_for_mean
# row: 41
# says: This is the sum over the samples. Divide by their number to get the mean.
def hinge(scores, targets):
    losses = [(1 - t * s).relu() for s, t in zip(scores, targets)]
    return sum(losses)


# %% mistake: hinge.no_margin
# row: 41
# says: There is no margin: the loss is 0 as soon as the side is right. It should be 0 only at a
#   distance of 1.
def hinge(scores, targets):
    losses = [(-t * s).relu() for s, t in zip(scores, targets)]
    return sum(losses) / len(losses)


# %% mistake: hinge.not_cut_off
# row: 41
# says: Samples that are right and clear of the border *reduce* the loss. The maximum with 0 is
#   missing: `relu`.
def hinge(scores, targets):
    losses = [1 - t * s for s, t in zip(scores, targets)]
    return sum(losses) / len(losses)


# %% mistake: hinge.cuts_the_graph
# row: 40
# says: The number is right, but no score gets a gradient: `max` on `.data` is outside the graph. Use
#   `relu` on the Value.
def hinge(scores, targets):
    losses = [Value(max(0.0, 1 - t * s.data)) for s, t in zip(scores, targets)]
    return sum(losses) / len(losses)


# %% mistake: hinge.squared
# row: 41
# says: The hinge is squared. That is a loss as well, but another one: leave the square out.
def hinge(scores, targets):
    losses = [(1 - t * s).relu() ** 2 for s, t in zip(scores, targets)]
    return sum(losses) / len(losses)
