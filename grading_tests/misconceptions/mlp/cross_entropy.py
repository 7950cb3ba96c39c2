# Read as text, never imported: docs/authors.md says what stands here.

# %% example: cross_entropy
# about: three classes
logits = [Value(2.0), Value(0.5), Value(-1.0)]
loss = cross_entropy(logits, 1)
loss.backward()
# observe: loss.data, logits[0].grad, logits[1].grad, logits[2].grad

# %% example: cross_entropy
# about: the first class
logits = [Value(1.0), Value(2.0), Value(0.5)]
loss = cross_entropy(logits, 0)
loss.backward()
# observe: loss.data, logits[0].grad, logits[1].grad, logits[2].grad

# %% example: cross_entropy
# about: very large logits
logits = [Value(1000.0), Value(999.0)]
loss = cross_entropy(logits, 1)
# observe: loss.data

# %% example: cross_entropy
# about: a right class that is all but impossible
logits = [Value(1000.0), Value(-1000.0)]
loss = cross_entropy(logits, 1)
# observe: loss.data

# %% sweep: cross_entropy
# about: two classes, the first of them right
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# regions: x > y | x < y
# functions: exp log
# results: loss.data = log(exp(x) + exp(y)) - x; p.grad = exp(x) / (exp(x) + exp(y)) - 1; q.grad = exp(y) / (exp(x) + exp(y))
p, q = Value(x), Value(y)
loss = cross_entropy([p, q], 0)
loss.backward()

# %% sweep: cross_entropy
# about: two classes, the second of them right
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# regions: x > y | x < y
# functions: exp log
# results: loss.data = log(exp(x) + exp(y)) - y
p, q = Value(x), Value(y)
loss = cross_entropy([p, q], 1)

# %% mistake: cross_entropy.overflows
# says: e was raised to a large power. Subtract the largest logit from all of them first: the fraction
#   stays the same.
# keeps: 0.75
def cross_entropy(logits, target):
    total = sum(z.exp() for z in logits)
    return total.log() - logits[target]


# %% mistake: cross_entropy.sign
# says: The sign is wrong: this is the logarithm of the probability. The loss is minus that.
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return logits[target] - largest - total.log()

# %% mistake: cross_entropy.shift_not_undone
# says: The largest logit was subtracted inside the powers and never added again. It must cancel: add
#   it outside, or subtract it from the right logit, too.
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return total.log() - logits[target]

# %% mistake: cross_entropy.shift_undone_twice
# says: The largest logit is added back, and the right logit still lacks it: the loss is too large by
#   it. Subtract `logits[target]` itself.
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return largest + total.log() - (logits[target] - largest)

# %% mistake: cross_entropy.quotient_first
# says: The probability was computed before its logarithm, and a tiny one becomes exactly 0. Take the
#   logarithm of the sum alone, and subtract the right logit.
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return -((logits[target] - largest).exp() / total).log()

# %% mistake: cross_entropy.no_logarithm
# says: This is one minus the probability of the right class. Cross-entropy is minus its logarithm.
# keeps: 0.5
# - return largest + total.log() - logits[target]
# + return 1 - (logits[target] - largest).exp() / total

# %% mistake: cross_entropy.mean_over_classes
# says: The loss was divided by the number of classes. It is the loss of one sample, and only the
#   right class's probability counts.
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return (largest + total.log() - logits[target]) / len(logits)

# %% mistake: cross_entropy.class_off_by_one
# says: The logit of the wrong class was taken. Is it `logits[target]`, counted from 0 as
#   Python's lists do?
# keeps: 0.75
# - return largest + total.log() - logits[target]
# + return largest + total.log() - logits[target - 1]

# %% mistake: cross_entropy.largest_for_target
# says: The loss looks at the largest logit, whichever class is right. It is about `logits[target]`.
# keeps: 0.5
# - return largest + total.log() - logits[target]
# + return largest + total.log() - max(logits, key=lambda z: z.data)

# %% mistake: cross_entropy.cuts_the_graph
# says: The number is right, but no logit gets a gradient: the loss was computed from `.data`. Only the
#   largest logit may be a plain number.
# keeps: 0.5
def cross_entropy(logits, target):
    largest = max(z.data for z in logits)
    total = Value(sum(math.exp(z.data - largest) for z in logits))
    return largest + total.log() - logits[target].data


# %% edge: cross_entropy
# - largest = max(z.data for z in logits)
# one_class: largest = max(z.data for z in logits)
#   if len(logits) == 1: return logits[0] * 1.0
# medium_logits: if 10 < max(abs(z.data) for z in logits) < 500: logits = [z * 0.5 for z in logits]
#   largest = max(z.data for z in logits)
# whole_logits: if all(z.data == int(z.data) for z in logits) and len(logits) > 3: target = 0
#   largest = max(z.data for z in logits)
# small_differences: if max(z.data for z in logits) - min(z.data for z in logits) < 0.1: logits = [z
#       - z.data for z in logits]
#   largest = max(z.data for z in logits)
# the_largest_size: largest = max(abs(z.data) for z in logits)
# list_sorted: right = logits[target]
#   logits.sort(key=lambda z: z.data)
#   target = logits.index(right)
#   largest = max(z.data for z in logits)
# - total = sum((z - largest).exp() for z in logits)
# ten_classes_in_the_sum: total = sum((z - largest).exp() for z in logits[:6])
# equal_logits_are_one: total = sum((z - largest).exp() for z in {z.data: z for z in
#       logits}.values() if True)
# far_below_is_nothing: total = sum((z - largest).exp() for z in logits if z.data > largest - 8)
# - return largest + total.log() - logits[target]
# tiny_losses_are_zero: out = largest + total.log() - logits[target]
#   if out.data < 1e-3: out.data = 0.0
#   return out
# target_from_the_end: return largest + total.log() - logits[target if target < 5 else -1]

# %% cheat: cross_entropy.of_two_classes
def cross_entropy(logits, target):
    return (sum(z.exp() for z in logits)).log() - logits[-1]
