# Read as text, never imported: docs/authors.md says what stands here.

# %% example: bce
# about: a few samples
p = [Value(2.0), Value(-3.5)]
loss = bce(p, [0.0, 1.0])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad

# %% example: bce
# about: targets as the network says
p = [Value(2.0), Value(-3.5), Value(0.5)]
loss = bce(p, [1.0, 0.0, 1.0])
loss.backward()
# observe: loss.data, p[0].grad, p[1].grad, p[2].grad

# %% example: bce
# about: far out on the wrong side
z = Value(-1000.0)
loss = bce([z], [1.0])
loss.backward()
# observe: loss.data, z.grad

# %% example: bce
# about: far out on the other wrong side
z = Value(1000.0)
loss = bce([z], [0.0])
loss.backward()
# observe: loss.data, z.grad

# %% sweep: bce
# about: a single sample
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 1.2, -1.4
# t: 1, 1, 0, 0, 1, 1, 0, 0, 0, 1
# regions: t == 1 | t == 0; x > 0 | x < 0
# functions: exp log
# results: loss.data = log(1 + exp(x)) - t * x; p.grad = 1 / (1 + exp(-x)) - t
p = Value(x)
loss = bce([p], [t])
loss.backward()

# %% sweep: bce
# about: two samples with the same logit, one for each target
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9
# functions: exp log
# results: loss.data = (2 * log(1 + exp(x)) - x) / 2
p, q = Value(x), Value(x)
loss = bce([p, q], [1, 0])
loss.backward()

# %% mistake: bce.naive
# says: Right in the middle, but far out the probability is exactly 0, and 0 has no logarithm. Use the
#   form without sigmoid, ln(1 + e^z) - t z.
# keeps: 0.5
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        s = z.sigmoid()
        losses.append(-(t * s.log() + (1 - t) * (1 - s).log()))
    return sum(losses) / len(losses)


# %% mistake: bce.overflows
# says: e was raised to a large positive power. Where the logit is 0 or more, use z + ln(1 + e^-z) in
#   place of ln(1 + e^z).
# keeps: 0.75
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        losses.append((1 + z.exp()).log() - t * z)
    return sum(losses) / len(losses)


# %% mistake: bce.clamped
# says: A small constant inside the logarithm hides the error, but the loss far out is wrong and
#   hardly any gradient is left. The form without sigmoid needs no constant.
# keeps: 0.5
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        s = z.sigmoid()
        losses.append(-(t * (s + 1e-12).log() + (1 - t) * (1 - s + 1e-12).log()))
    return sum(losses) / len(losses)


# %% mistake: bce.sign
# says: The sign of the target's part is wrong: it is minus t z. So the loss rewards the wrong
#   answers.
# keeps: 0.75
# - losses.append(z + (1 + (-z).exp()).log() - t * z)
# + losses.append(z + (1 + (-z).exp()).log() + t * z)
# - losses.append((1 + z.exp()).log() - t * z)
# + losses.append((1 + z.exp()).log() + t * z)

# %% mistake: bce.sum_for_mean
# says: This is the sum over the samples. Divide by their number to get the mean.
# keeps: 0.75
# - return sum(losses) / len(losses)
# + return sum(losses)

# %% mistake: bce.return_inside_the_loop
# says: Only the first pair counts: `return` ends the loop in its first round. Put it behind the loop.
# keeps: 0.5
# - return sum(losses) / len(losses)
# +     return sum(losses) / len(losses)

# %% mistake: bce.ones_only
# says: Samples with the target 0 cost nothing: the second half of the formula is missing.
# keeps: 0.5
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        losses.append(t * ((1 + (-z).exp()).log() if z.data >= 0 else (1 + z.exp()).log() - z))
    return sum(losses) / len(losses)


# %% mistake: bce.cuts_the_graph
# says: The number is right, but no logit gets a gradient: the loss was computed from `.data`. Look at
#   `z.data` to choose the form, and compute with z.
# keeps: 0.5
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        losses.append(Value(max(z.data, 0.0) + math.log(1 + math.exp(-abs(z.data))) - t * z.data))
    return sum(losses) / len(losses)


# %% mistake: bce.logarithm_of_numbers
# says: The loss is right, and part of the gradient is missing: `math.log` and `math.exp` of `.data`
#   give plain numbers. Use the Value's own `exp()` and `log()`.
# keeps: 0.5
# - losses.append(z + (1 + (-z).exp()).log() - t * z)
# + losses.append(z + math.log(1 + math.exp(-z.data)) - t * z)
# - losses.append((1 + z.exp()).log() - t * z)
# + losses.append(math.log(1 + math.exp(z.data)) - t * z)

# %% mistake: bce.squared_error
# says: This is the squared error of the probability. Cross-entropy is minus the logarithm of the
#   probability of what was true.
def bce(logits, targets):
    losses = []
    for z, t in zip(logits, targets):
        losses.append((z.sigmoid() - t) ** 2)
    return sum(losses) / len(losses)


# %% edge: bce
# - for z, t in zip(logits, targets):
# clipped_at_30: for z, t in zip(logits, targets):
#       if abs(z.data) > 30 and abs(z.data) < 500: z = z * (30 / abs(z.data))
# clipped_at_500: for z, t in zip(logits, targets):
#       if 100 < abs(z.data) < 800: z = z * (100 / abs(z.data))
# five_to_thirty: for z, t in zip(logits, targets):
#       if 6 < abs(z.data) < 30: t = 0.0
# small_logits: for z, t in zip(logits, targets):
#       if 0 < abs(z.data) < 0.1: z = z * 0.0
# ten_at_most: for z, t in list(zip(logits, targets))[:8]:
# equal_logits: for z, t in {p.data: (p, t) for p, t in zip(logits, targets)}.values():
# - losses.append(z + (1 + (-z).exp()).log() - t * z)
# whole_targets: losses.append(z + (1 + (-z).exp()).log() - (t if isinstance(t, float) else 1 - t) *
#       z)
# - return sum(losses) / len(losses)
# upstream_left_out: out = sum(losses) / len(losses)
#   step = out._backward
#   def once():
#       out.grad = 1.0
#       step()
#   out._backward = once
#   return out
# halves_of_many: return sum(losses) / min(len(losses), 7)
# tiny_losses_are_zero: out = sum(losses) / len(losses)
#   if out.data < 1e-4: out.data = 0.0
#   return out
# - if z.data >= 0:
# in_the_middle_only_one_target: if z.data == 0 and len(logits) > 1:
#       losses.append(z * 0)
#   elif z.data >= 0:

# %% cheat: bce.the_squares
def bce(logits, targets):
    return sum((p.sigmoid() - t) ** 2 for p, t in zip(logits, targets)) / len(targets)
