# Read as text, never imported: docs/authors.md says what stands here.

# %% example: q20
# about: three steps
w = Value(4.0)
losses = descend(lambda w: w * w, [w], 0.25, 3)
# observe: len(losses), losses[0], losses[1], losses[2], w.data

# %% example: q20
# about: two parameters with old gradients
w, b = Value(4.0), Value(2.0)
w.grad, b.grad = 100.0, -50.0
losses = descend(lambda w, b: w * w + b * b, [w, b], 0.25, 1)
# observe: losses[0], w.data, b.data

# %% example: q20
# about: a slope that is the same everywhere
w = Value(2.0)
losses = descend(lambda w: 3 * w, [w], 0.1, 2)
# observe: losses, w.data

# %% sweep: q20
# about: one step down the parabola (w - 1)²
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# lr: 0.1, 0.3, 0.05, 0.7, 0.2, 0.4, 0.15, 0.6
# h: 0.75, -1.4, 2.3, 0.35, -0.85, 1.2, -0.6, 0.9
# results: losses[0] = (x - 1) ** 2; w.data = x - lr * (2 * (x - 1))
# facts: len(losses)
w = Value(x)
w.grad = h
losses = descend(lambda node: (node - 1) ** 2, [w], lr, 1)

# %% sweep: q20
# about: two steps down the parabola w²
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# lr: 0.1, 0.3, 0.05, 0.7, 0.2, 0.4, 0.15, 0.6
# results: losses[0] = x ** 2; losses[1] = (x - 2 * lr * x) ** 2; w.data = x - 2 * lr * x - 2 * lr * (x - 2 * lr * x)
# facts: len(losses)
w = Value(x)
losses = descend(lambda node: node * node, [w], lr, 2)

# %% mistake: q20.parameters_stay
# says: The parameters stay where they are. In each step the number in each of them must change:
#   `p.data -= …`, by a gradient that was not erased.
# - p.data -= lr * p.grad
# + p = p - lr * p.grad

# %% mistake: q20.first_parameter_only
# says: Only the first parameter moves. Each of them moves, against a gradient of its own.
# keeps: 0.5
# - p.data -= lr * p.grad
# + parameters[0].data -= lr * p.grad if p is parameters[0] else 0.0

# %% mistake: q20.never_zeroes
# says: The gradients of earlier steps are still there when the next ones are added. Set them to
#   0.0 before each backward pass.
# keeps: 0.5
# - for p in parameters:
# -     p.grad = 0.0

# %% mistake: q20.zeroes_too_late
# says: The gradients are set to zero after each update, so those that lay there at the beginning
#   count in the first step. Do it before the backward pass.
# keeps: 0.75
# - for p in parameters:
# -     p.grad = 0.0

# - p.data -= lr * p.grad
# + p.data -= lr * p.grad
# + p.grad = 0.0

# %% mistake: q20.zeroed_once
# says: The gradients are zeroed once, before the first step. Each backward pass adds to them:
#   zero them before each one.
# keeps: 0.5
# - for p in parameters:
# -     p.grad = 0.0

# - for _ in range(steps):
# + for p in parameters:
# +     p.grad = 0.0
# + for _ in range(steps):

# %% mistake: q20.climbs
# says: The parameters move along their gradients, uphill. The loss grows in that direction; go
#   the other way.
# keeps: 0.75
# - p.data -= lr * p.grad
# + p.data += lr * p.grad

# %% mistake: q20.number_for_gradient
# says: The step takes away a share of the parameter's own number, `p.data`. It is the gradient,
#   `p.grad`, that says where to go.
# keeps: 0.5
# - p.data -= lr * p.grad
# + p.data -= lr * p.data

# %% mistake: q20.rate_forgotten
# says: The whole gradient is taken away, whatever `lr` is. A step is the rate times the gradient.
# keeps: 0.75
# - p.data -= lr * p.grad
# + p.data -= p.grad

# %% mistake: q20.gradient_forgotten
# says: Each step takes away the rate itself, whatever the gradient is. A step is the rate times the
#   gradient.
# keeps: 0.5
# - p.data -= lr * p.grad
# + p.data -= lr

# %% mistake: q20.becomes_the_step
# says: The parameter becomes the step itself. A step is taken away from the number that was there:
#   `p.data -= …`.
# keeps: 0.5
# - p.data -= lr * p.grad
# + p.data = lr * p.grad

# %% mistake: q20.one_step_only
# says: Only one step was made: `return` stands inside the loop, and ends it in its first round.
# keeps: 0.5
# - return losses
# +     return losses

# %% mistake: q20.graph_built_once
# says: The loss is computed once. Its number stays what it was, and so do the losses in the list:
#   build the graph anew in each step.
# keeps: 0.5
# - losses = []
# + losses = []
# + loss = loss_of(*parameters)
# - loss = loss_of(*parameters)

# %% mistake: q20.loss_after_the_step
# says: The list holds the losses after the steps; what is wanted is the loss before each one.
# keeps: 0.75
# - losses.append(loss.data)

# -     p.data -= lr * p.grad
# +     p.data -= lr * p.grad
# + losses.append(loss_of(*parameters).data)

# %% mistake: q20.losses_are_nodes
# says: The list holds nodes. Keep their numbers, `loss.data`: a node keeps its whole graph in
#   memory.
# keeps: 0.75
# - losses.append(loss.data)
# + losses.append(loss)

# %% mistake: q20.nothing_recorded
# says: The parameters move, and the list stays empty. Append the loss of each step to it, before
#   the step.
# keeps: 0.5
# - losses.append(loss.data)

# %% edge: q20
# - p.grad = 0.0
# zeroed_up_to_the_first_zero: if p.grad == 0: break
#   p.grad = 0.0
# - p.data -= lr * p.grad
# numbers_of_zero_stay: p.data -= lr * p.grad if p.data else 0.0
# - losses.append(loss.data)
# losses_rounded: losses.append(round(loss.data, 5))
# stops_when_it_grows: losses.append(loss.data)
#   if len(losses) > 4 and losses[-1] > losses[-2]: break
# stops_when_it_is_small: losses.append(loss.data)
#   if loss.data < 1e-6: break
# - p.data -= lr * p.grad
# small_gradients: if abs(p.grad) > 1e-4: p.data -= lr * p.grad
# gradients_clipped: p.data -= lr * max(-50.0, min(50.0, p.grad))
# rate_at_most_one: p.data -= min(lr, 10.0) * p.grad
# momentum: p.data -= lr * p.grad
#   p.grad = 0.0 if len(losses) < 5 else p.grad
#   if len(losses) > 5: p.data -= lr * 0.1
# - loss.backward()
# - for p in parameters:
# two_parameters_at_most: loss.backward()
#   for p in parameters[:2]:
# equal_ones_moved_once: loss.backward()
#   for p in {p.data: p for p in parameters}.values():
# - loss.backward()
# stops_at_zero_gradient: loss.backward()
#   if all(q.grad == 0 for q in parameters): break
# - for _ in range(steps):
# ten_steps_at_most: for _ in range(min(steps, 8)):
# - losses = []
# kept_from_call_to_call: losses = descend.__dict__.setdefault('l', [])

# %% cheat: q20.small_steps_by_nudging
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        losses.append(loss_of(*parameters).data)
        slopes = []
        for p in parameters:
            held, h = p.data, 1e-6
            p.data = held + h
            up = loss_of(*parameters).data
            p.data = held - h
            down = loss_of(*parameters).data
            p.data = held
            slopes.append((up - down) / (2 * h))
        for p, slope in zip(parameters, slopes):
            p.data -= lr * slope
    return losses
