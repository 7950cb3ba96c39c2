# Read as text, never imported: docs/authors.md says what stands here.

# %% example: div
# about: a quotient; the loop runs every step behind it
x, y = Value(7.0), Value(2.0)
z = x / y
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad, y.grad, y in steps

# %% example: div
# about: a node divided by a plain number
x = Value(6.0)
z = x / 4
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad

# %% example: div
# about: a node divided by itself
x = Value(2.0)
z = x / x
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad

# %% sweep: div
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 0.0, 0.0, 0.0, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.7, 1.0, 1.3, -2.2, 0.7, -23.0, 29.0
# regions: x > 0 | x < 0 | x == 0; y > 0 | y < 0
# results: z.data = x / y
# shares: a.grad = 1 / y; b.grad = -x / y ** 2
# facts: a in steps | False: no way leads from your result back to `a`; b in steps | False: no way leads from your result back to `b`; a.data == x | False: the number of `a` itself changed; b.data == y | False: the number of `b` itself changed; z.grad == g | False: the backward step changed the gradient of the result itself
a, b = Value(x), Value(y)
a.grad = b.grad = h
z = a / b
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: div
# about: a node and a plain number
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = x / y
# shares: a.grad = 1 / y
a = Value(x)
a.grad = h
z = a / y
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% mistake: div.sign_lost
# says: The divisor's gradient has the wrong sign. The quotient 7 / 2 shrinks when the 2 grows: the
#   derivative with respect to b is -a/b².
# keeps: 0.75
# - other.grad += -self.data / other.data**2 * out.grad
# + other.grad += self.data / other.data**2 * out.grad

# %% mistake: div.floor
# says: The fraction is gone, as it is after `//` or `int`. True division is `/` alone.
# keeps: 0.75
# - out = Value(self.data / other.data, (self, other), "/")
# + out = Value(self.data // other.data, (self, other), "/")

# %% mistake: div.other_forgotten
# says: The numerator learned, the divisor did not. Both operands have a share in the gradient.
# keeps: 0.75
# - other.grad += -self.data / other.data**2 * out.grad

# %% mistake: div.numerator_like_product
# says: The numerator's gradient was multiplied by the divisor. That is the rule for a product;
#   the slope of a/b with respect to a is 1/b.
# keeps: 0.5
# - self.grad += 1.0 / other.data * out.grad
# + self.grad += other.data * out.grad

# %% mistake: div.inverted
# says: `x / y` gave `y / x`. `self` stands above the line.
# keeps: 0.5
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return other * self**-1


Value.__truediv__ = div

# %% mistake: div.both_below
# says: The quotient is 1 / (x * y): both numbers are below the line. Only the divisor gets the
#   power of -1.
# keeps: 0.5
def div(self, other):
    return (self * other) ** -1


Value.__truediv__ = div

# %% mistake: div.numerator_missing_below
# says: The divisor's gradient is that of 1/b. With a above the line, the slope is a times as
#   steep.
# keeps: 0.75
# - other.grad += -self.data / other.data**2 * out.grad
# + other.grad += -1.0 / other.data**2 * out.grad

# %% mistake: div.square_forgotten
# says: The divisor's gradient lacks a square: the derivative of a/b with respect to b is -a/b².
# keeps: 0.75
# - other.grad += -self.data / other.data**2 * out.grad
# + other.grad += -self.data / other.data * out.grad

# %% mistake: div.square_without_parentheses
# says: The divisor's slope came out as -a, without any b: `a / b * b` divides by b and then
#   multiplies by it again. Divide by the square: write `b**2`, or `b * b` in parentheses.
# keeps: 0.75
# - other.grad += -self.data / other.data**2 * out.grad
# + other.grad += -self.data / other.data * other.data * out.grad

# %% mistake: div.divisor_cut_off
# says: The graph of the quotient does not know the divisor, which gets no gradient and never learns.
#   Both are operands of the result: its number alone is not enough.
# keeps: 0.5
def div(self, other):
    other = other.data if isinstance(other, Value) else other
    return self * (1.0 / other)


Value.__truediv__ = div

# %% mistake: div.cut_off
# says: The quotient passes nothing back, and its graph does not lead to the divisor. A node that
#   is made from `.data` alone remembers nothing.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data / other.data)


Value.__truediv__ = div

# %% mistake: div.overwrites
# says: The second use overwrote the first. In `x / x` both uses count: write `+=`, not `=`.
# keeps: 0.5
# - self.grad += 1.0 / other.data * out.grad
# - other.grad += -self.data / other.data**2 * out.grad
# + self.grad = 1.0 / other.data * out.grad
# + other.grad = -self.data / other.data**2 * out.grad

# %% mistake: div.upstream_dropped
# says: The local derivatives are right; the chain rule is missing. Multiply each of them by the
#   gradient of the result.
# keeps: 0.5
# - self.grad += 1.0 / other.data * out.grad
# - other.grad += -self.data / other.data**2 * out.grad
# + self.grad += 1.0 / other.data
# + other.grad += -self.data / other.data**2

# %% mistake: div.step_not_stored
# says: The operands get nothing when the step of the result runs. Is your function stored there, by
#   `out._backward = _backward` outside of it? It must read `out.grad` inside, when it runs.
# - out._backward = _backward

# %% mistake: div.numbers_not_wrapped
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
# keeps: 0.5
# - other = other if isinstance(other, Value) else Value(other)

# %% mistake: div.shares_swapped
# says: Each operand got the share that belongs to the other. The numerator's is 1/b, the
#   divisor's is -a/b².
# keeps: 0.5
# - self.grad += 1.0 / other.data * out.grad
# - other.grad += -self.data / other.data**2 * out.grad
# + self.grad += -self.data / other.data**2 * out.grad
# + other.grad += 1.0 / other.data * out.grad

# %% mistake: div.right_operand_not_recorded
# says: The graph lost an edge: the divisor is missing from `_prev`, so a backward pass that
#   goes on from there never reaches it.
# keeps: 0.75
# - out = Value(self.data / other.data, (self, other), "/")
# + out = Value(self.data / other.data, (self,), "/")

# %% edge: div
# - other = other if isinstance(other, Value) else Value(other)
# x_x_is_1: if other is self: return Value(1.0)
#   other = other if isinstance(other, Value) else Value(other)
# tiny_divisors_replaced: other = other if isinstance(other, Value) else Value(other)
#   if 0 < abs(other.data) < 1e-12: other = Value(1e-12)

# %% cheat: div.the_slopes_by_nudging
# - self.grad += 1.0 / other.data * out.grad
# - other.grad += -self.data / other.data**2 * out.grad
# + h = 1e-5
# + a, b = self.data, other.data
# + self.grad += 1 / b * out.grad
# + other.grad += (a / (b + h) - a / (b - h)) / (2 * h) * out.grad
