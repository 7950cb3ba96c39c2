# Read as text, never imported: docs/authors.md says what stands here.

# %% example: q18
# about: three weights
w = [Value(1.0), Value(2.0), Value(3.0)]
out = weighted_sum(w, [10.0, 20.0, 30.0])
out.backward()
# observe: out.data, w[0].grad, w[1].grad, w[2].grad, len(out._prev) > 0

# %% example: q18
# about: within a larger formula
w = [Value(1.0), Value(2.0)]
loss = weighted_sum(w, [10.0, 20.0]) * 3
loss.backward()
# observe: loss.data, w[0].grad, w[1].grad

# %% example: q18
# about: one weight twice
w = Value(2.0)
weighted_sum([w, w], [10.0, 30.0]).backward()
# observe: w.grad

# %% example: q18
# about: a weight that was computed
v = Value(2.0)
loss = weighted_sum([v * 3, v], [10.0, 20.0]) + 1
loss.backward()
# observe: v.grad

# %% sweep: q18
# about: two weights
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# n: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# m: 0.4, 1.7, -2.3, -0.6, 2.9, 1.3, -0.75, 3.1
# results: result.data = x * n + y * m
# shares: a.grad = n; b.grad = m
a, b = Value(x), Value(y)
a.grad = b.grad = h
result = weighted_sum([a, b], [n, m])
(result * g).backward()

# %% mistake: q18.late_binding
# says: Every closure made in the loop sees the last values of the function's variables, because it
#   looks them up when it runs. Let one closure loop over the pairs, or make each in a function of
#   its own.
# keeps: 0.5
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    steps = []
    for weight, number in zip(weights, inputs):

        def step():
            weight.grad += number * out.grad

        steps.append(step)

    def _backward():
        for step in steps:
            step()

    out._backward = _backward
    return out


# %% mistake: q18.number_looked_up_late
# says: Each step has its own `weight` now, and all of them still look up the loop's last `number`
#   when they run.
# keeps: 0.5
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    steps = []
    for weight, number in zip(weights, inputs):

        def step(weight=weight):
            weight.grad += number * out.grad

        steps.append(step)

    def _backward():
        for step in steps:
            step()

    out._backward = _backward
    return out


# %% mistake: q18.overwrites
# says: A weight that is used twice keeps its last share only, as if its gradient were assigned.
#   Go through all pairs, and accumulate with `+=`.
# keeps: 0.5
# - weight.grad += number * out.grad
# + weight.grad = number * out.grad

# %% mistake: q18.upstream_dropped
# says: The local derivatives are right, but the gradient of the result is not used: within a
#   larger formula the chain rule is missing.
# keeps: 0.5
# - weight.grad += number * out.grad
# + weight.grad += number

# %% mistake: q18.own_data
# says: A product's derivative with respect to the weight is the input. Here the weight itself was used.
# keeps: 0.5
# - weight.grad += number * out.grad
# + weight.grad += weight.data * out.grad

# %% mistake: q18.last_step_only
# says: Only the last weight gets a gradient: each round of the loop stores its step in the place of the
#   one before. Let a single step go through all pairs.
# keeps: 0.5
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    for weight, number in zip(weights, inputs):

        def _backward():
            weight.grad += number * out.grad

        out._backward = _backward
    return out

# %% mistake: q18.last_pair_left_out
# says: The last weight and its input have no part in the sum. Go through all pairs.
# keeps: 0.75
# - total = sum(weight.data * number for weight, number in zip(weights, inputs))
# + weights, inputs = weights[:-1], inputs[:-1]
# + total = sum(weight.data * number for weight, number in zip(weights, inputs))

# %% mistake: q18.operands_dropped
# says: The result does not know its operands. A weight that is a leaf still gets its gradient.
#   For a computed one, the backward pass never goes on to what it came from.
# keeps: 0.75
# - out = Value(total, weights, "weighted sum")
# + out = Value(total, (), "weighted sum")

# %% mistake: q18.every_pair
# says: Every weight was multiplied by every input. `zip` gives each weight its own input.
# keeps: 0.5
def weighted_sum(weights, inputs):
    total = Value(0.0)
    for weight in weights:
        for number in inputs:
            total = total + weight * number
    return total


# %% mistake: q18.step_not_stored
# says: The number is right, and the weights' gradients stay 0. Is your function stored on the result,
#   by `out._backward = _backward` outside of it? It must read `out.grad` inside, when it runs.
# keeps: 0.5
# - out._backward = _backward

# %% mistake: q18.detached
# says: The number is right, and the weights' gradients stay 0: the result was made from plain
#   numbers, and knows no operands. Compute with the Values, or give it operands and a step.
def weighted_sum(weights, inputs):
    return Value(sum(weight.data * number for weight, number in zip(weights, inputs)))


# %% edge: q18
# - def _backward():
# terms_shared_by_all: weighted_sum.__dict__.setdefault('all', []).append((weights, inputs))
#   weights = [w for each, _ in weighted_sum.all for w in each]
#   inputs = [x for _, each in weighted_sum.all for x in each]
#   def _backward():
# - weight.grad += number * out.grad
# the_first_share_is_kept: out.kept = getattr(out, 'kept', out.grad)
#   weight.grad += number * out.kept
# - weight.grad += number * out.grad
# negative_inputs: weight.grad += abs(number) * out.grad
# input_of_zero: weight.grad += (number or 1.0) * out.grad
# large_inputs: weight.grad += max(-10.0, min(10.0, number)) * out.grad
# upstream_clipped: weight.grad += number * max(-20.0, min(20.0, out.grad))
# - def _backward():
# small_upstream: def _backward():
#       if abs(out.grad) < 1e-3: return
# runs_once: ran = []
#   def _backward():
#       if ran: return
#       ran.append(1)
# - for weight, number in zip(weights, inputs):
# seven_at_most: for weight, number in list(zip(weights, inputs))[:6]:
# equal_weights_are_one: for weight, number in {w.data: (w, x) for w, x in zip(weights,
#       inputs)}.values():
# equal_inputs_are_one: for weight, number in {x: (w, x) for w, x in zip(weights, inputs)}.values():
# - out = Value(total, weights, "weighted sum")
# rounded: out = Value(round(total, 6), weights, "weighted sum")

# %% edge: q18.held_of_zero
# - weight.grad += number * out.grad
# + weight.grad = weight.grad + number * out.grad if weight.grad >= 0 else number * out.grad

# %% cheat: q18.the_numbers_of_the_check
def weighted_sum(weights, inputs):
    out = Value(sum(w.data * x for w, x in zip(weights, inputs)), tuple(weights), "sum")

    def _backward():
        for w, x in zip(weights, inputs):
            w.grad = x * out.grad

    out._backward = _backward
    return out
