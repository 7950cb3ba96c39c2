# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: log
# about: the function at two points
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x, w = Value(4.0), Value(0.5)
y, z = x.log(), w.log()
push(y, 5.0)
push(z, 5.0)
# observe: y.data, x.grad, z.data, w.grad


# %% probe: log
# about: an operand that has collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(2.0)
x.grad = 10.0
y = x.log()
push(y, 3.0)
# observe: x.grad, x.data


# %% probe: log
# about: the logarithm of zero
x = Value(0.0)
try:
    outcome = x.log().data
except ValueError:
    outcome = "ValueError"
# observe: outcome


# %% probe: log
# about: the logarithm of a negative number
x = Value(-2.0)
try:
    outcome = x.log().data
except ValueError:
    outcome = "ValueError"
# observe: outcome


# %% sample: log
# x: 1.7, 0.6, 2.3, 1.45, 0.35, 3.2, 41.0, 0.02
# regions: x > 1 | x < 1
# results: z.data = log(x)
# shares: a.grad = 1 / x
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`; idle | False: the backward step is kept on `a`, and not on your result
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
# row: 2
# says: On its own `log` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
def log(self):
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        self.grad = 1.0 / self.data * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.slope_is_one_over_output
# row: 22
# says: You divided by the output. The derivative of the logarithm is one over its *input*: `1 /
#   self.data`.
def log(self):
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        self.grad += out.grad / out.data if out.data else 0.0

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.base_ten
# row: 22
# says: This is the logarithm to base 10. The natural logarithm, whose derivative is 1 / x, is
#   `math.log`.
def log(self):
    if self.data <= 0:
        raise ValueError("log is defined only above 0")
    out = Value(math.log10(self.data), (self,), "log")

    def _backward():
        self.grad += 1.0 / self.data * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.clamped
# row: 22
# says: Numbers at or below 0 are replaced by a tiny positive one. That hides the trouble:
#   number and gradient are wrong, and nobody is told. Let the ValueError come out.
def log(self):
    safe = max(self.data, 1e-12)
    out = Value(math.log(safe), (self,), "log")

    def _backward():
        self.grad += 1.0 / safe * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.minus_infinity
# row: 22
# says: Where the logarithm is not defined, the code returns minus infinity, and every number
#   after it is spoilt. Raise a ValueError for 0 and below.
def log(self):
    number = math.log(self.data) if self.data > 0 else -math.inf
    out = Value(number, (self,), "log")

    def _backward():
        self.grad += 1.0 / self.data * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.asserts
# row: 22
# says: An `assert` raises AssertionError, and Python can be told to skip it. Raise a
#   ValueError, or leave it to `math.log`, which does so by itself.
def log(self):
    assert self.data > 0, "log is defined only above 0"
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        self.grad += 1.0 / self.data * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.absolute_value
# row: new
# says: The sign is thrown away before the logarithm is taken, so a negative number gets an
#   answer. There is none: raise a ValueError.
def log(self):
    out = Value(math.log(abs(self.data)), (self,), "log")

    def _backward():
        self.grad += 1.0 / self.data * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.no_upstream
# row: 4
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
def log(self):
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        self.grad += 1.0 / self.data

    out._backward = _backward
    return out


Value.log = log


# %% mistake: log.multiplies
# row: new
# says: The gradient was multiplied by x. The steeper the curve, the smaller x is: divide by it.
def log(self):
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        self.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.log = log

# %% mistake: log.slope_by_nudging
# row: new
# check: none
# says: The slope is that of a central difference: close, but each pass adds a small error. The curve
#   has a slope that can be written down, and needs no logarithm.
def log(self):
    if self.data <= 0:
        raise ValueError("the logarithm of a number that is not positive")
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        h = 1e-5 * self.data
        slope = (math.log(self.data + h) - math.log(self.data - h)) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.log = log
