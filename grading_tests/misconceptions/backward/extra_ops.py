# Read as text, never imported: docs/authors.md says what stands here.

# %% example: extra_ops
# about: the sine
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.8)
x.grad = 10.0
y = x.sin()
push(y, 5.0)
# observe: y.data, x.grad

# %% example: extra_ops
# about: the cosine
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.8)
x.grad = 10.0
y = x.cos()
push(y, 5.0)
# observe: y.data, x.grad

# %% example: extra_ops
# about: the square root
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(9.0)
x.grad = 10.0
y = x.sqrt()
push(y, 6.0)
# observe: y.data, x.grad

# %% example: extra_ops
# about: the root of a negative number
x = Value(-4.0)
try:
    outcome = x.sqrt().data
except ValueError:
    outcome = "ValueError"
# observe: outcome

# %% sweep: extra_ops
# about: sin
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0
# regions: x > 0 | x < 0 | x == 0
# results: z.data = sin(x)
# shares: a.grad = cos(x)
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result
# functions: sin cos
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.sin()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% sweep: extra_ops
# about: cos
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0
# regions: x > 0 | x < 0 | x == 0
# results: z.data = cos(x)
# shares: a.grad = -sin(x)
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result
# functions: sin cos
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.cos()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% sweep: extra_ops
# about: sqrt
# x: 1.7, 0.6, 2.3, 1.45, 0.35, 3.2, 41.0, 0.02
# regions: x > 1 | x < 1
# results: z.data = sqrt(x)
# shares: a.grad = 0.5 / out
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result
# functions: sqrt log exp
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.sqrt()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: extra_ops.cosine_sign
# says: The cosine's derivative is *minus* the sine: just right of 0 the cosine falls.
# keeps: 0.75
# - self.grad += -math.sin(self.data) * out.grad
# + self.grad += math.sin(self.data) * out.grad

# %% mistake: extra_ops.sine_sign
# says: The sine's derivative is the cosine, without a minus: just right of 0 the sine rises.
# keeps: 0.75
# - self.grad += math.cos(self.data) * out.grad
# + self.grad += -math.cos(self.data) * out.grad

# %% mistake: extra_ops.slope_from_output
# says: The slope was taken at the output. The derivatives of sine and cosine are those at the
#   *input*: `math.cos(self.data)`.
# keeps: 0.5
# - self.grad += math.cos(self.data) * out.grad
# + self.grad += math.cos(out.data) * out.grad
# - self.grad += -math.sin(self.data) * out.grad
# + self.grad += -math.sin(out.data) * out.grad

# %% mistake: extra_ops.degrees
# says: The angles were taken for degrees. Sine and cosine are meant in radians, and only there
#   is the derivative of the sine the cosine.
# keeps: 0.5
# - out = Value(math.sin(self.data), (self,), "sin")
# + out = Value(math.sin(math.radians(self.data)), (self,), "sin")
# - self.grad += math.cos(self.data) * out.grad
# + self.grad += math.cos(math.radians(self.data)) * out.grad
# - out = Value(math.cos(self.data), (self,), "cos")
# + out = Value(math.cos(math.radians(self.data)), (self,), "cos")
# - self.grad += -math.sin(self.data) * out.grad
# + self.grad += -math.sin(math.radians(self.data)) * out.grad

# %% mistake: extra_ops.root_without_two
# says: The slope of the square root is one over *twice* the root. The 2 is missing.
# keeps: 0.75
# - self.grad += 0.5 / out.data * out.grad
# + self.grad += out.grad / out.data

# %% mistake: extra_ops.root_slope_from_input
# says: The slope of the square root was computed as 1 / (2x). It is one over twice the *root*,
#   which is the output.
# keeps: 0.75
# - self.grad += 0.5 / out.data * out.grad
# + self.grad += 0.5 / self.data * out.grad

# %% mistake: extra_ops.overwrites
# says: On their own the functions are right, but they forget what their operand has collected
#   from other uses: the gradients are written with `=`. Add to them with `+=`.
# keeps: 0.5
# - self.grad += math.cos(self.data) * out.grad
# + self.grad = math.cos(self.data) * out.grad
# - self.grad += -math.sin(self.data) * out.grad
# + self.grad = -math.sin(self.data) * out.grad
# - self.grad += 0.5 / out.data * out.grad
# + self.grad = 0.5 / out.data * out.grad

# %% mistake: extra_ops.no_upstream
# says: The local derivatives are right, but the chain rule is missing: multiply them by
#   `out.grad`.
# keeps: 0.5
# - self.grad += math.cos(self.data) * out.grad
# + self.grad += math.cos(self.data)
# - self.grad += -math.sin(self.data) * out.grad
# + self.grad += -math.sin(self.data)
# - self.grad += 0.5 / out.data * out.grad
# + self.grad += 0.5 / out.data

# %% mistake: extra_ops.root_of_absolute
# says: The sign is thrown away before the root is taken, so a negative number gets an answer.
#   It has no real root: let the ValueError come out.
# keeps: 0.75
# - out = Value(math.sqrt(self.data), (self,), "sqrt")
# + out = Value(math.sqrt(abs(self.data)), (self,), "sqrt")

# %% mistake: extra_ops.all_roots
# says: All three compute the square root. If a loop makes them, they share its variables, and see
#   what these hold at the end: let a function make each of them.
# keeps: 0.5
rules = {
    "sin": (math.sin, math.cos),
    "cos": (math.cos, lambda x: -math.sin(x)),
    "sqrt": (math.sqrt, lambda x: 0.5 / math.sqrt(x)),
}
for name, (number, slope) in rules.items():

    def function(self):
        out = Value(number(self.data), (self,), name)

        def _backward():
            self.grad += slope(self.data) * out.grad

        out._backward = _backward
        return out

    setattr(Value, name, function)


# %% cheat: extra_ops.the_slopes_by_nudging
def function(name):
    def apply(self):
        f = getattr(math, name)
        out = Value(f(self.data), (self,), name)

        def _backward():
            h = 1e-5
            self.grad += (f(self.data + h) - f(self.data - h)) / (2 * h) * out.grad

        out._backward = _backward
        return out

    return apply


Value.sin, Value.cos, Value.sqrt = map(function, ("sin", "cos", "sqrt"))
