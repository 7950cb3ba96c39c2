# Read as text, never imported: docs/authors.md says what stands here.

# %% example: sgd
# about: two steps without momentum
p, q = Value(1.0), Value(-2.0)
optimizer = SGD([p, q], lr=0.1)
for _ in range(2):
    p.grad, q.grad = 2.0, -3.0
    optimizer.step()
# observe: p.data, q.data

# %% example: sgd
# about: three steps with momentum
# part: extra
p, q = Value(1.0), Value(-2.0)
optimizer = SGD([p, q], lr=0.1, momentum=0.5)
for _ in range(3):
    p.grad, q.grad = 2.0, -3.0
    optimizer.step()
# observe: p.data, q.data

# %% example: sgd
# about: weight decay
# part: extra
p = Value(4.0)
optimizer = SGD([p], lr=0.1, momentum=0.5, weight_decay=0.25)
for _ in range(2):
    p.grad = 2.0
    optimizer.step()
# observe: p.data

# %% example: sgd
# about: zeroing between steps
# part: extra
p = Value(1.0)
optimizer = SGD([p], lr=0.1, momentum=0.5)
p.grad = 2.0
optimizer.step()
optimizer.zero_grad()
after_zero = p.grad
optimizer.step()
p.grad = 2.0
optimizer.step()
# observe: after_zero, p.data

# %% example: sgd
# about: a new rate between two steps
p = Value(1.0)
optimizer = SGD([p], lr=0.1)
p.grad = 2.0
optimizer.step()
optimizer.lr = 0.2
optimizer.step()
# observe: p.data

# %% example: sgd
# about: gradients back to zero
p, q = Value(1.0), Value(-2.0)
optimizer = SGD([p, q], lr=0.1)
p.grad, q.grad = 2.0, -3.0
optimizer.step()
optimizer.zero_grad()
# observe: p.grad, q.grad, p.data, q.data

# %% sweep: sgd
# about: one step without momentum and decay
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# q: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# lr: 0.1, 0.3, 0.05, 0.7, 0.2, 0.4, 0.15, 0.6
# regions: q > 0 | q < 0
# results: p.data = x - lr * q
# facts: p.grad == q | False: the step changed the gradient, and it is `data` that moves
p = Value(x)
optimizer = SGD([p, Value(0.0)], lr=lr)
p.grad = q
optimizer.step()

# %% sweep: sgd
# about: one step with weight decay d
# part: extra
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# q: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# lr: 0.1, 0.3, 0.05, 0.7, 0.2, 0.4, 0.15, 0.6
# d: 0.25, 0.4, 0.1, 0.35, 0.6, 0.15, 0.3, 0.45
# results: p.data = x - lr * (q + d * x)
p = Value(x)
optimizer = SGD([p], lr=lr, weight_decay=d)
p.grad = q
optimizer.step()

# %% sweep: sgd
# about: two steps with momentum m and gradients q and r
# part: extra
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# q: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# r: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# lr: 0.1, 0.3, 0.05, 0.7, 0.2, 0.4, 0.15, 0.6
# m: 0.5, 0.9, 0.3, 0.7, 0.85, 0.25, 0.6, 0.4
# results: p.data = x - lr * q - lr * (m * q + r)
p = Value(x)
optimizer = SGD([p], lr=lr, momentum=m)
for slope in (q, r):
    p.grad = slope
    optimizer.step()


# %% sweep: sgd
# about: zero_grad
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# results: p.data = x; p.grad = 0; q.grad = 0
p, q = Value(x), Value(x)
p.grad = q.grad = x
SGD([p, q], lr=0.1).zero_grad()

# %% mistake: sgd.uphill
# says: The steps go uphill: the gradient points to where the loss grows. Subtract.
# keeps: 0.75
# - p.data -= self.lr * v
# + p.data += self.lr * v

# %% mistake: sgd.number_for_gradient
# says: The step takes away a share of the parameter's own number, `p.data`. It is the gradient,
#   `p.grad`, that says where to go.
# keeps: 0.5
# - p.data -= self.lr * v
# + p.data -= self.lr * p.data

# %% mistake: sgd.rate_forgotten
# says: The whole gradient is taken away, whatever `lr` is. A step is the rate times the gradient.
# keeps: 0.75
# - p.data -= self.lr * v
# + p.data -= v

# %% mistake: sgd.gradient_forgotten
# says: Each step takes away the rate itself, whatever the gradient is. A step is the rate times the
#   gradient.
# keeps: 0.5
# - p.data -= self.lr * v
# + p.data -= self.lr

# %% mistake: sgd.becomes_the_step
# says: The parameter becomes the step itself. A step is taken away from the number that was there:
#   `p.data -= …`.
# keeps: 0.5
# - p.data -= self.lr * v
# + p.data = self.lr * v

# %% mistake: sgd.only_a_name
# says: A step leaves the parameters where they are. Change their `data`, as in `p.data -= …`. After
#   `p = …`, `p` is only a name for a new node.
# - p.data -= self.lr * v
# + p = p - self.lr * v

# %% mistake: sgd.momentum_times_gradient
# says: Without momentum the parameters stay where they are: the gradient is multiplied by
#   `momentum`, which is 0. Leave both dials out until the extra part.
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * p.grad

# %% mistake: sgd.new_values
# says: New Values were put into the optimizer's list, and the network never hears of them. Change the
#   `data` of the parameters that you were given.
# - for p, v in zip(parameters, self.velocities):
# -     p.data -= self.lr * v
# + self.parameters = [
# +     Value(p.data - self.lr * v) for p, v in zip(parameters, self.velocities)
# + ]

# %% mistake: sgd.velocity_forgotten
# says: Momentum has no effect: of one step's velocity nothing is left in the next. Keep
#   one velocity for each parameter from step to step.
# - self.velocities = [
# -     self.momentum * v + p.grad + self.weight_decay * p.data
# -     for p, v in zip(parameters, self.velocities)
# - ]
# + self.velocities = [p.grad + self.weight_decay * p.data for p in parameters]

# %% mistake: sgd.nothing_forgotten
# says: Each step goes along the sum of all gradients so far, whatever `momentum` is. Before the new
#   gradient joins it, the velocity is multiplied by `momentum`.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + v + p.grad + self.weight_decay * p.data

# %% mistake: sgd.one_velocity
# says: All parameters share one velocity. Each needs its own.
# keeps: 0.5
# - self.velocities = [
# -     self.momentum * v + p.grad + self.weight_decay * p.data
# -     for p, v in zip(parameters, self.velocities)
# - ]
# - for p, v in zip(parameters, self.velocities):
# + for p in parameters:
# +     v = self.momentum * self.velocities[0] + p.grad + self.weight_decay * p.data
# +     self.velocities[0] = v

# %% mistake: sgd.damped
# says: The gradient was multiplied by 1 - momentum, as in a moving average. In this formula it joins
#   the velocity in full.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + (1 - self.momentum) * (p.grad + self.weight_decay * p.data)

# %% mistake: sgd.decay_doubled
# says: Weight decay is twice as strong as it should be: there is no factor 2, because the penalty has
#   a factor of one half.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + p.grad + 2 * self.weight_decay * p.data

# %% mistake: sgd.plain_step
# says: `momentum` and `weight_decay` have no effect yet.
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + p.grad

# %% mistake: sgd.decay_after_the_step
# says: The decay was taken off after the step. It joins the gradient before momentum, in the same
#   sum.
# keeps: 0.75
# - p.data -= self.lr * v
# + p.data -= self.lr * (v + self.weight_decay * (p.data - self.lr * v))

# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + p.grad

# %% mistake: sgd.decay_missing
# says: Weight decay has no effect: weight_decay times the parameter joins the gradient.
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + p.grad

# %% mistake: sgd.decay_outside_the_velocity
# says: The decay was taken off the parameter directly. In this formula it joins the gradient first,
#   and so becomes part of the velocity.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + p.grad
# - p.data -= self.lr * v
# + p.data -= self.lr * (v + self.weight_decay * p.data)

# %% mistake: sgd.decay_without_the_rate
# says: The decay was taken off the parameter directly, and without the learning rate. In this formula
#   it joins the gradient first, and so becomes part of the velocity.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + p.grad
# - p.data -= self.lr * v
# + p.data -= self.lr * v
# + p.data -= self.weight_decay * p.data

# %% mistake: sgd.zeroing_stops_the_ball
# says: `zero_grad()` also set the velocities back to 0, and momentum with them. It zeroes the
#   gradients only.
# keeps: 0.75
# - for p in self.parameters:
# + self.velocities = [0.0] * len(self.parameters)
# + for p in self.parameters:

# %% mistake: sgd.nothing_zeroed
# says: `zero_grad()` leaves the gradients as they are, so each step would add to the ones before.
# - p.grad = 0.0
# + grad = 0.0

# %% mistake: sgd.zeroes_the_numbers
# says: `zero_grad()` set the parameters themselves to 0. Only their gradients start over.
# keeps: 0.5
# - p.grad = 0.0
# + p.data = 0.0

# %% mistake: sgd.none_for_zero
# says: `zero_grad()` leaves None as the gradients, and nothing can be added to None. Set them to 0.0.
# keeps: 0.5
# - p.grad = 0.0
# + p.grad = None

# %% mistake: sgd.first_only
# says: A step moves the first parameter only. All of them have gradients.
# keeps: 0.5
# - for p, v in zip(parameters, self.velocities):
# + for p, v in zip(parameters[:1], self.velocities):

# %% mistake: sgd.rate_in_velocity
# check: none
# says: The rate went into the velocity, so when `lr` changes, the old velocity keeps its old rate.
#   Leave the rate out of it: a step is `lr` times the whole velocity.
# keeps: 0.75
# - self.momentum * v + p.grad + self.weight_decay * p.data
# + self.momentum * v + self.lr * (p.grad + self.weight_decay * p.data)
# - p.data -= self.lr * v
# + p.data -= v

# %% mistake: sgd.rate_frozen
# says: A new value of `lr` has no effect: the step uses the rate from the beginning. Read `self.lr`
#   in `step`.
# keeps: 0.75
# - self.lr = lr
# + self.lr = lr
# + self.rate = lr
# - p.data -= self.lr * v
# + p.data -= self.rate * v

# %% edge: sgd
# - p.grad = 0.0
# zeroes_once: if getattr(self, 'zeroed', 0) >= len(self.parameters): return
#   self.zeroed = getattr(self, 'zeroed', 0) + 1
#   p.grad = 0.0
# - self.momentum * v + p.grad + self.weight_decay * p.data
# small_gradients: self.momentum * v + (p.grad if abs(p.grad) > 1e-3 else
#       0.0) + self.weight_decay * p.data
# gradients_clipped: self.momentum * v + max(-5.0, min(5.0, p.grad)) + self.weight_decay * p.data
# large_parameters_decay_less: self.momentum * v + p.grad + self.weight_decay * max(-2.0, min(2.0,
#       p.data))
# small_parameters_do_not_decay: self.momentum * v + p.grad + self.weight_decay * (p.data if
#       abs(p.data) > 0.1 else 0.0)
# decay_without_momentum: self.momentum * v + p.grad + (self.weight_decay if self.lr < 0.5 else
#       0.0) * p.data
# gradients_clipped_far: self.momentum * v + max(-1e3, min(1e3,
#       p.grad)) + self.weight_decay * p.data
# - p.data -= self.lr * v
# zero_gradients_stand_still: p.data -= self.lr * v if p.grad else 0.0
# rate_at_most_one: p.data -= min(self.lr, 1.0) * v
# tiny_rates: p.data -= (self.lr if self.lr > 1e-3 else 1e-3) * v
# tiny_parameters_gone: p.data -= self.lr * v
#   if abs(p.data) < 1e-4: p.data = 0.0
# - for p, v in zip(parameters, self.velocities):
# equal_parameters: for p, v in {p.data: (p, v) for p, v in zip(parameters,
#       self.velocities)}.values():
# ten_at_most: for p, v in list(zip(parameters, self.velocities))[:8]:
# - parameters = self.parameters
# velocity_gone_after_five: parameters = self.parameters
#   self.n = getattr(self, 'n', 0) + 1
#   if self.n == 6: self.velocities = [0.0] * len(parameters)
# - p.grad = 0.0
# zero_grad_halves_tiny: p.grad = 0.0 if abs(p.grad) > 1e-3 else p.grad

# %% cheat: sgd.by_the_first_gradients
class SGD:
    def __init__(self, parameters, lr=0.1, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr

    def step(self):
        self.grads = getattr(self, "grads", None) or [p.grad for p in self.parameters]
        for p, g in zip(self.parameters, self.grads):
            p.data -= self.lr * g

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0.0
