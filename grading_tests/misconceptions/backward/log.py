# Read as text, never imported: docs/authors.md says what stands here.

# %% example: log
# about: the function at two points
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x, w = Value(4.0), Value(0.5)
y, z = x.log(), w.log()
push(y, 5.0)
push(z, 5.0)
# observe: y.data, x.grad, z.data, w.grad

# %% example: log
# about: an operand that has collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(2.0)
x.grad = 10.0
y = x.log()
push(y, 3.0)
# observe: x.grad, x.data

# %% example: log
# about: the logarithm of zero
x = Value(0.0)
try:
    outcome = x.log().data
except ValueError:
    outcome = "ValueError"
# observe: outcome

# %% example: log
# about: the logarithm of a negative number
x = Value(-2.0)
try:
    outcome = x.log().data
except ValueError:
    outcome = "ValueError"
# observe: outcome

# %% sweep: log
# x: 1.7, 0.6, 2.3, 1.45, 0.35, 3.2, 41.0, 0.02
# regions: x > 1 | x < 1
# results: z.data = log(x)
# shares: a.grad = 1 / x
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result; z._op == "" | True: the `_op` of your result is empty
# functions: log log10 log2 exp
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.log()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: log.overwrites
# says: On its own `log` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")

# - self.grad += 1.0 / self.data * out.grad
# + self.grad = 1.0 / self.data * out.grad

# %% mistake: log.slope_is_one_over_output
# says: You divided by the output. The derivative of the logarithm is one over its *input*: `1 /
#   self.data`.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")

# - self.grad += 1.0 / self.data * out.grad
# + self.grad += out.grad / out.data if out.data else 0.0

# %% mistake: log.base_ten
# says: This is the logarithm to base 10. The natural logarithm, whose derivative is 1 / x, is
#   `math.log`.
# keeps: 0.75
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")
# - out = Value(math.log(self.data), (self,), "log")
# +     raise ValueError("log is defined only above 0")
# + out = Value(math.log10(self.data), (self,), "log")

# %% mistake: log.clamped
# says: Numbers at or below 0 are replaced by a tiny positive one. That hides the trouble:
#   number and gradient are wrong, and nobody learns of it. Let the ValueError come out.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")
# - out = Value(math.log(self.data), (self,), "log")
# + safe = max(self.data, 1e-12)
# + out = Value(math.log(safe), (self,), "log")
# - self.grad += 1.0 / self.data * out.grad
# + self.grad += 1.0 / safe * out.grad

# %% mistake: log.minus_infinity
# says: Where the logarithm is not defined, the code returns minus infinity, and every number
#   after it is spoilt. Raise a ValueError for 0 and below.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")
# - out = Value(math.log(self.data), (self,), "log")
# + number = math.log(self.data) if self.data > 0 else -math.inf
# + out = Value(number, (self,), "log")

# %% mistake: log.asserts
# says: An `assert` raises AssertionError, and Python skips it when it is started with `-O`. Raise a
#   ValueError, or leave it to `math.log`, which does so by itself.
# keeps: 0.75
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")
# + assert self.data > 0, "log is defined only above 0"

# %% mistake: log.error_printed
# says: A message is printed where a ValueError should be raised, so whoever called `log` goes on with
#   None. Let the error out: `raise` it, or do not catch it.
# keeps: 0.75
# - raise ValueError(f"log is defined only above 0, not at {self.data}")
# + print(f"log is defined only above 0, not at {self.data}")
# + return None

# %% mistake: log.absolute_value
# says: The sign is thrown away before the logarithm is taken, so a negative number gets an
#   answer. There is none: raise a ValueError.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")
# - out = Value(math.log(self.data), (self,), "log")
# + out = Value(math.log(abs(self.data)), (self,), "log")

# %% mistake: log.no_upstream
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")

# - self.grad += 1.0 / self.data * out.grad
# + self.grad += 1.0 / self.data

# %% mistake: log.multiplies
# says: The gradient was multiplied by x. The steeper the curve, the smaller x is: divide by it.
# keeps: 0.5
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")

# - self.grad += 1.0 / self.data * out.grad
# + self.grad += self.data * out.grad

# %% mistake: log.slope_by_nudging
# check: none
# says: The slope is that of a central difference: close, but each pass adds a small error. The curve
#   has a slope that can be written down, and needs no logarithm.
# - raise ValueError(f"log is defined only above 0, not at {self.data}")
# + raise ValueError("the logarithm of a number that is not positive")
# - self.grad += 1.0 / self.data * out.grad
# + h = 1e-5 * self.data
# + slope = (math.log(self.data + h) - math.log(self.data - h)) / (2 * h)
# + self.grad += slope * out.grad

# %% cheat: log.the_slope_by_nudging
# - if self.data <= 0:
# -     raise ValueError(f"log is defined only above 0, not at {self.data}")

# - self.grad += 1.0 / self.data * out.grad
# + h = 1e-5 * self.data
# + slope = (math.log(self.data + h) - math.log(self.data - h)) / (2 * h)
# + self.grad += slope * out.grad
