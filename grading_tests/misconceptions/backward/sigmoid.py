# Read as text, never imported: docs/authors.md says what stands here.

# %% example: sigmoid
# about: the function in the middle
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.0)
y = x.sigmoid()
push(y, 4.0)
# observe: y.data, x.grad

# %% example: sigmoid
# about: the function on the right
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(1.5)
y = x.sigmoid()
push(y, 5.0)
# observe: y.data, x.grad

# %% example: sigmoid
# about: an operand that has collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(-0.5)
x.grad = 10.0
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad, x.data

# %% example: sigmoid
# about: far out to the right
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(1000.0)
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad

# %% example: sigmoid
# about: far out to the left
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(-1000.0)
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad

# %% sweep: sigmoid
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0, 33.0, 470.0, 1000.0, -35.0, -520.0, -1000.0
# regions: x > 0 | x < 0 | x == 0; abs(x) > 20 | 0 < abs(x) < 20 | x == 0; x > 20 | 0 < x < 20 | x == 0 | -20 < x < 0 | x < -20
# results: z.data = 1 / (1 + exp(-x))
# shares: a.grad = out * (1 - out)
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result; z._op == "" | True: the `_op` of your result is empty
# functions: tanh exp
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.sigmoid()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: sigmoid.overwrites
# says: On its own `sigmoid` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad = s * (1.0 - s) * out.grad

# %% mistake: sigmoid.overflows_on_the_left
# says: For large negative inputs, e to the power of -x is more than a float can hold, although
#   the result is an ordinary 0. Use the other form there, with e to the power of x.
# keeps: 0.75
# - decay = math.exp(-abs(self.data))
# - s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
# + s = 1.0 / (1.0 + math.exp(-self.data))

# %% mistake: sigmoid.overflows_on_the_right
# says: For large positive inputs, e to the power of x is more than a float can hold, although
#   the result is an ordinary 1. Use the form with e to the power of -x there.
# keeps: 0.75
# - decay = math.exp(-abs(self.data))
# - s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
# + s = math.exp(self.data) / (1.0 + math.exp(self.data))

# %% mistake: sigmoid.slope_from_input
# says: The slope was computed from the input, as x (1 - x). Both factors are the *output*: s (1
#   - s).
# keeps: 0.5
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += self.data * (1.0 - self.data) * out.grad

# %% mistake: sigmoid.sigmoid_of_the_output
# says: The slope took the sigmoid of `out.data`, which is a sigmoid already. It is s (1 - s), with s
#   the output as it is.
# keeps: 0.75
# - self.grad += s * (1.0 - s) * out.grad
# + again = 1.0 / (1.0 + math.exp(-s))
# + self.grad += again * (1.0 - again) * out.grad

# %% mistake: sigmoid.slope_of_tanh
# says: 1 - s² is the slope of tanh. For the sigmoid it is s (1 - s).
# keeps: 0.5
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += (1.0 - s**2) * out.grad

# %% mistake: sigmoid.factor_missing
# says: The slope was taken to be 1 - s. A factor is missing: it is s (1 - s).
# keeps: 0.75
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += (1.0 - s) * out.grad

# %% mistake: sigmoid.slope_without_parentheses
# says: `s * 1 - s * g` multiplies before it subtracts. Put the second factor in parentheses:
#   s (1 - s).
# keeps: 0.75
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += s * 1.0 - s * out.grad

# %% mistake: sigmoid.falls_as_it_stands
# says: The curve falls where it should rise: the sign in the exponent is wrong. It is 1 / (1 +
#   e to the power of *minus* x).
# keeps: 0.5
# - decay = math.exp(-abs(self.data))
# - s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
# + s = 1 / (1 + math.exp(self.data))

# %% mistake: sigmoid.falls
# says: The curve falls where it should rise: the sign in the exponent is wrong. It is 1 / (1 +
#   e to the power of *minus* x).
# keeps: 0.75
# - out = Value(s, (self,), "sigmoid")
# + out = Value(1.0 - s, (self,), "sigmoid")
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += -s * (1.0 - s) * out.grad

# %% mistake: sigmoid.no_upstream
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
# keeps: 0.5
# - self.grad += s * (1.0 - s) * out.grad
# + self.grad += s * (1.0 - s)

# %% cheat: sigmoid.the_slope_by_nudging
def sigmoid(self):
    def s(x):
        return 0.5 + 0.5 * math.tanh(x / 2)

    out = Value(s(self.data), (self,), "sigmoid")

    def _backward():
        h = 1e-4
        self.grad += (s(self.data + h) - s(self.data - h)) / (2 * h) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid
