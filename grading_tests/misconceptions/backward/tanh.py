# Read as text, never imported: docs/authors.md says what stands here.

# %% example: tanh
# about: the function at one point
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.9)
y = x.tanh()
push(y, 5.0)
# observe: y.data, x.grad

# %% example: tanh
# about: an operand that has collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(-0.5)
x.grad = 10.0
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad, x.data

# %% example: tanh
# about: far out to the right
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(1000.0)
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad

# %% example: tanh
# about: far out to the left
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(-1000.0)
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad

# %% sweep: tanh
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0, 33.0, 470.0, 1000.0, -35.0, -520.0, -1000.0
# regions: x > 0 | x < 0 | x == 0; abs(x) > 20 | 0 < abs(x) < 20 | x == 0; x > 20 | 0 < x < 20 | x == 0 | -20 < x < 0 | x < -20
# results: z.data = tanh(x)
# shares: a.grad = 1 - out ** 2
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result; z._op == "" | True: the `_op` of your result is empty
# functions: tanh tan exp
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.tanh()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: tanh.overwrites
# says: On its own `tanh` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad = (1.0 - t**2) * out.grad

# %% mistake: tanh.overflows
# says: For large inputs the formula goes through a power of e that no float can hold, although
#   the result is an ordinary 1. Use `math.tanh`, or raise e to negative powers only.
# keeps: 0.75
# - t = math.tanh(self.data)
# + double = math.exp(2 * self.data)
# + t = (double - 1) / (double + 1)

# %% mistake: tanh.overflows_on_both_sides
# says: Far out, on either side, something overflows, in the number or in the slope, although
#   both results are ordinary: 1 or -1, and 0. Take t from `math.tanh`, and the slope from t.
# keeps: 0.75
# - t = math.tanh(self.data)
# + up, down = math.exp(self.data), math.exp(-self.data)
# + t = (up - down) / (up + down)

# %% mistake: tanh.slope_from_input
# says: The slope was computed as 1 - x², from the input. It is 1 - t², from the *output* t.
#   Close to zero the two look alike, which is why this is easily missed.
# keeps: 0.5
# - t = math.tanh(self.data)
# - out = Value(t, (self,), "tanh")
# + out = Value(math.tanh(self.data), (self,), "tanh")
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += (1.0 - self.data**2) * out.grad

# %% mistake: tanh.tanh_of_the_output
# says: The slope took the tanh of `out.data`, which is a tanh already. It is 1 - t², with t the output
#   as it is.
# keeps: 0.75
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += (1.0 - math.tanh(t) ** 2) * out.grad

# %% mistake: tanh.square_missing
# says: The slope was computed as 1 - t. The square is missing: it is 1 - t².
# keeps: 0.75
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += (1.0 - t) * out.grad

# %% mistake: tanh.slope_without_parentheses
# says: `1 - t**2 * g` multiplies before it subtracts, so that the 1 is added whatever the gradient
#   of the result is. Put the slope in parentheses.
# keeps: 0.75
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += 1.0 - t**2 * out.grad

# %% mistake: tanh.square_of_the_difference
# says: The slope was computed as (1 - t)². Square t alone: it is 1 - t².
# keeps: 0.75
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += (1.0 - t) ** 2 * out.grad

# %% mistake: tanh.slope_is_the_output
# says: The gradient was multiplied by t itself. The slope is 1 - t².
# keeps: 0.5
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += t * out.grad

# %% mistake: tanh.slope_of_sigmoid
# says: t (1 - t) is the slope of the sigmoid. For tanh it is 1 - t².
# keeps: 0.5
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += t * (1.0 - t) * out.grad

# %% mistake: tanh.no_upstream
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
# keeps: 0.5
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += 1.0 - t**2

# %% mistake: tanh.tangent
# says: `math.tan` is the tangent of an angle. The hyperbolic tangent is `math.tanh`.
# keeps: 0.5
# - t = math.tanh(self.data)
# + t = math.tan(self.data)

# %% edge: tanh
# - t = math.tanh(self.data)
# one_result_for_all_nodes: global t
#   t = math.tanh(self.data)

# %% cheat: tanh.the_slope_by_nudging
# - t = math.tanh(self.data)
# - out = Value(t, (self,), "tanh")
# + out = Value(math.tanh(self.data), (self,), "tanh")
# - self.grad += (1.0 - t**2) * out.grad
# + h = 1e-4
# + slope = (math.tanh(self.data + h) - math.tanh(self.data - h)) / (2 * h)
# + self.grad += slope * out.grad
