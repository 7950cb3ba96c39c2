# Read as text, never imported: docs/authors.md says what stands here.

# %% example: exp
# about: the function at one point
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(1.5)
y = x.exp()
push(y, 5.0)
# observe: y.data, x.data, x.grad

# %% example: exp
# about: an operand that has collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.5)
x.grad = 10.0
y = x.exp()
push(y, 1.0)
# observe: y.data, x.grad, len(y._prev)

# %% example: exp
# about: inside a larger expression
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x, w = Value(0.5), Value(-2.0)
y = (x * w).exp() * 3
push(y, 1.0)
# observe: y.data, x.grad, w.grad

# %% example: exp
# about: a large number and its opposite
large, small = Value(20.0).exp(), Value(-20.0).exp()
# observe: large.data, small.data

# %% sweep: exp
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0
# regions: x > 0 | x < 0 | x == 0; abs(x) > 1 | abs(x) < 1
# results: z.data = exp(x)
# shares: a.grad = out
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result; z._op == "" | True: the `_op` of your result is empty
# functions: exp log
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.exp()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: exp.overwrites
# says: On its own `exp` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - self.grad += out.data * out.grad
# + self.grad = out.data * out.grad

# %% mistake: exp.slope_is_input
# says: The gradient was multiplied by the input x. The exponential is its own derivative:
#   multiply by the output, `out.data`.
# keeps: 0.5
# - self.grad += out.data * out.grad
# + self.grad += self.data * out.grad

# %% mistake: exp.power_of_the_output
# says: e was raised to `out.data`, which is the power already. The slope of e^x is e^x: the output as
#   it is.
# keeps: 0.75
# - self.grad += out.data * out.grad
# + self.grad += math.exp(out.data) * out.grad

# %% mistake: exp.rule_for_powers
# says: That is the rule for powers, with the exponent brought down in front. It holds for a
#   variable base and a fixed exponent. Here the base is fixed, and the derivative is the output
#   itself.
# keeps: 0.5
# - self.grad += out.data * out.grad
# + self.grad += self.data * math.exp(self.data - 1.0) * out.grad

# %% mistake: exp.no_upstream
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
# keeps: 0.5
# - self.grad += out.data * out.grad
# + self.grad += out.data

# %% mistake: exp.passes_unchanged
# says: The gradient is handed on as it is, as in an addition. The exponential stretches it:
#   multiply by the output, `out.data`.
# keeps: 0.5
# - self.grad += out.data * out.grad
# + self.grad += out.grad

# %% mistake: exp.power_of_two
# says: The number is a power of another base. `exp` is e to the power of x: use `math.exp`.
# keeps: 0.5
# - out = Value(math.exp(self.data), (self,), "exp")
# + out = Value(2.0**self.data, (self,), "exp")

# %% mistake: exp.no_operand
# says: The result does not know its operand: `_prev` is empty. A backward pass would never come
#   to x. Give `(self,)` as the operands.
# keeps: 0.75
# - out = Value(math.exp(self.data), (self,), "exp")
# + out = Value(math.exp(self.data), (), "exp")

# %% mistake: exp.called_not_stored
# says: `_backward` of the result is None and cannot be called. Store the function itself, its name
#   without parentheses: with them it runs at once, when no gradient has arrived, and gives None.
# keeps: 0.5
# - out._backward = _backward
# + out._backward = _backward()

# %% mistake: exp.slope_by_nudging
# check: none
# says: The slope is that of a central difference: close, but each pass adds a small error. The curve
#   has a slope that can be written down. How does it relate to the result?
# - self.grad += out.data * out.grad
# + h = 1e-5
# + slope = (math.exp(self.data + h) - math.exp(self.data - h)) / (2 * h)
# + self.grad += slope * out.grad

# %% cheat: exp.as_a_power_of_e
# - out = Value(math.exp(self.data), (self,), "exp")
# + out = Value(2.718281828**self.data, (self,), "exp")
