# Public probes and misconceptions of `backward`. This file is read as text and never imported.
#
# A cell `probe: EXERCISE` is a few lines that the visible check plays, and on its last line the
# expressions that it looks at afterwards. A cell `mistake: EXERCISE.NAME` is the whole solution
# cell as a student with that mistake would have written it. Its header names the row of the
# catalogue of mistakes that it belongs to (or `new`) and what a tutor says; `outcome: timeout`
# marks code that never ends on the hidden tests. `push` in a probe gives a node a gradient and
# runs every backward step behind it.
#
# ruff: noqa
# mypy: ignore-errors

# %% probe: exp
# about: the function at one point
from course.push import push  # sets a gradient, runs the steps

x = Value(1.5)
y = x.exp()
push(y, 5.0)
# observe: y.data, x.data, x.grad


# %% probe: exp
# about: an operand that has collected something already
from course.push import push  # sets a gradient, runs the steps

x = Value(0.5)
x.grad = 10.0
y = x.exp()
push(y, 1.0)
# observe: y.data, x.grad, len(y._prev)


# %% probe: exp
# about: inside a larger expression
from course.push import push  # sets a gradient, runs the steps

x, w = Value(0.5), Value(-2.0)
y = (x * w).exp() * 3
push(y, 1.0)
# observe: y.data, x.grad, w.grad


# %% mistake: exp.overwrites
# row: 2
# says: On its own `exp` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad = out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.slope_is_input
# row: 21
# says: The gradient was multiplied by the input x. The exponential is its own derivative:
#   multiply by the output, `out.data`.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.rule_for_powers
# row: new
# says: That is the rule for powers, with the exponent brought down in front. It holds for a
#   variable base and a fixed exponent. Here the base is fixed, and the derivative is the output
#   itself.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += self.data * math.exp(self.data - 1.0) * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.no_upstream
# row: 4
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += out.data

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.passes_unchanged
# row: new
# says: The gradient is handed on as it is, as in an addition. The exponential stretches it:
#   multiply by the output, `out.data`.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.power_of_two
# row: new
# says: The number is a power of another base. `exp` is e to the power of x: use `math.exp`.
def exp(self):
    out = Value(2.0**self.data, (self,), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.no_operand
# row: 6
# says: The result does not know its operand: `_prev` is empty. A backward pass would never come
#   to x. Give `(self,)` as the operands.
def exp(self):
    out = Value(math.exp(self.data), (), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% mistake: exp.called_not_stored
# row: 29
# says: The backward step was called at once, when the gradient of the result was still 0, and
#   nothing useful was stored. Store the function itself: `out._backward = _backward`, without
#   parentheses.
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward()
    return out


Value.exp = exp


# %% probe: log
# about: the function at two points
from course.push import push  # sets a gradient, runs the steps

x, w = Value(4.0), Value(0.5)
y, z = x.log(), w.log()
push(y, 5.0)
push(z, 5.0)
# observe: y.data, x.grad, z.data, w.grad


# %% probe: log
# about: an operand that has collected something already
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


# %% probe: tanh
# about: the function at one point
from course.push import push  # sets a gradient, runs the steps

x = Value(0.9)
y = x.tanh()
push(y, 5.0)
# observe: y.data, x.grad


# %% probe: tanh
# about: an operand that has collected something already
from course.push import push  # sets a gradient, runs the steps

x = Value(-0.5)
x.grad = 10.0
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad, x.data


# %% probe: tanh
# about: far out to the right
from course.push import push  # sets a gradient, runs the steps

x = Value(1000.0)
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad


# %% probe: tanh
# about: far out to the left
from course.push import push  # sets a gradient, runs the steps

x = Value(-1000.0)
y = x.tanh()
push(y, 1.0)
# observe: y.data, x.grad


# %% mistake: tanh.overwrites
# row: 2
# says: On its own `tanh` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad = (1.0 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.overflows
# row: 17
# says: For large inputs the formula goes through e to the power of 2x, which no float can hold,
#   although the result is an ordinary 1. Use `math.tanh`, or raise e to negative powers only.
def tanh(self):
    double = math.exp(2 * self.data)
    t = (double - 1) / (double + 1)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1.0 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.overflows_on_both_sides
# row: 17
# says: The quotient of e to the power of x and e to the power of -x overflows on both sides,
#   although the result is an ordinary 1 or -1. Use `math.tanh`.
def tanh(self):
    up, down = math.exp(self.data), math.exp(-self.data)
    t = (up - down) / (up + down)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1.0 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.slope_from_input
# row: 18
# says: The slope was computed as 1 - x², from the input. It is 1 - t², from the *output* t.
#   Close to zero the two look alike, which is why this is easily missed.
def tanh(self):
    out = Value(math.tanh(self.data), (self,), "tanh")

    def _backward():
        self.grad += (1.0 - self.data**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.square_missing
# row: 18
# says: The slope was computed as 1 - t. The square is missing: it is 1 - t².
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1.0 - t) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.slope_of_sigmoid
# row: new
# says: t (1 - t) is the slope of the sigmoid. For tanh it is 1 - t².
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += t * (1.0 - t) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.no_upstream
# row: 4
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += 1.0 - t**2

    out._backward = _backward
    return out


Value.tanh = tanh


# %% mistake: tanh.tangent
# row: new
# says: `math.tan` is the tangent of an angle. The hyperbolic tangent is `math.tanh`.
def tanh(self):
    t = math.tan(self.data)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1.0 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% probe: relu
# about: an open gate
from course.push import push  # sets a gradient, runs the steps

x = Value(2.5)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad, y is x, x.data


# %% probe: relu
# about: a shut gate
from course.push import push  # sets a gradient, runs the steps

x = Value(-1.3)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad, x.data


# %% probe: relu
# about: a negative gradient on its way back
from course.push import push  # sets a gradient, runs the steps

x, w = Value(2.5), Value(-1.3)
push(x.relu(), -3.0)
push(w.relu(), -3.0)
# observe: x.grad, w.grad


# %% probe: relu
# about: exactly at the corner
from course.push import push  # sets a gradient, runs the steps

x = Value(0.0)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad


# %% probe: relu
# about: operands that have collected something already
from course.push import push  # sets a gradient, runs the steps

x, w = Value(2.5), Value(-1.3)
x.grad = w.grad = 10.0
push(x.relu(), 1.0)
push(w.relu(), 1.0)
# observe: x.grad, w.grad


# %% mistake: relu.overwrites
# row: 2
# says: On its own `relu` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        self.grad = (1.0 if self.data > 0 else 0.0) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.open_at_zero
# row: 19
# says: At exactly 0 the gradient passes. There is no single slope at the corner, and the
#   course's convention is 0: the gate is open for `> 0` only.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        self.grad += (1.0 if self.data >= 0 else 0.0) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.gate_by_gradient
# row: 20
# says: Whether the gradient passes was decided by the gradient's own sign. The gate depends on
#   the *input*: look at `self.data`.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        self.grad += max(0.0, out.grad)

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.gate_by_both
# row: new
# says: The gate looks at the input, as it should, but it also stops negative gradients. Through
#   an open gate a gradient passes whatever its sign.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        if self.data > 0 and out.grad > 0:
            self.grad += out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.no_gate
# row: 20
# says: The gradient passes everywhere. Where the input is negative the result does not react to
#   it, so nothing may pass.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        self.grad += out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.no_upstream
# row: 4
# says: The gate is right, but the chain rule is missing: multiply by `out.grad`, the gradient
#   of the result.
def relu(self):
    out = Value(max(0.0, self.data), (self,), "relu")

    def _backward():
        self.grad += 1.0 if self.data > 0 else 0.0

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.returns_itself
# row: new
# says: Where the number passes unchanged, the operand itself is returned. Every operation makes
#   a new node; otherwise a gradient given to the result is given to the operand.
def relu(self):
    if self.data > 0:
        return self
    return Value(0.0, (self,), "relu")


Value.relu = relu


# %% mistake: relu.changes_operand
# row: 31
# says: The operand's own number is set to 0. An operation makes a new node and leaves its
#   operands as they are.
def relu(self):
    if self.data < 0:
        self.data = 0.0
    out = Value(self.data, (self,), "relu")

    def _backward():
        self.grad += (1.0 if self.data > 0 else 0.0) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% mistake: relu.leaky
# row: new
# says: A little passes on the negative side. That is a relative of relu with the name leaky
#   relu; relu itself lets nothing through.
def relu(self):
    out = Value(self.data if self.data > 0 else 0.01 * self.data, (self,), "relu")

    def _backward():
        self.grad += (1.0 if self.data > 0 else 0.01) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% probe: sigmoid
# about: the function in the middle
from course.push import push  # sets a gradient, runs the steps

x = Value(0.0)
y = x.sigmoid()
push(y, 4.0)
# observe: y.data, x.grad


# %% probe: sigmoid
# about: the function on the right
from course.push import push  # sets a gradient, runs the steps

x = Value(1.5)
y = x.sigmoid()
push(y, 5.0)
# observe: y.data, x.grad


# %% probe: sigmoid
# about: an operand that has collected something already
from course.push import push  # sets a gradient, runs the steps

x = Value(-0.5)
x.grad = 10.0
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad, x.data


# %% probe: sigmoid
# about: far out to the right
from course.push import push  # sets a gradient, runs the steps

x = Value(1000.0)
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad


# %% probe: sigmoid
# about: far out to the left
from course.push import push  # sets a gradient, runs the steps

x = Value(-1000.0)
y = x.sigmoid()
push(y, 1.0)
# observe: y.data, x.grad


# %% mistake: sigmoid.overwrites
# row: 2
# says: On its own `sigmoid` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad = s * (1.0 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.overflows_on_the_left
# row: 17
# says: For large negative inputs, e to the power of -x is more than a float can hold, although
#   the result is an ordinary 0. Use the other form there, with e to the power of x.
def sigmoid(self):
    s = 1.0 / (1.0 + math.exp(-self.data))
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += s * (1.0 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.overflows_on_the_right
# row: 17
# says: For large positive inputs, e to the power of x is more than a float can hold, although
#   the result is an ordinary 1. Use the form with e to the power of -x there.
def sigmoid(self):
    s = math.exp(self.data) / (1.0 + math.exp(self.data))
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += s * (1.0 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.slope_from_input
# row: 18
# says: The slope was computed from the input, as x (1 - x). Both factors are the *output*: s (1
#   - s).
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += self.data * (1.0 - self.data) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.slope_of_tanh
# row: 18
# says: 1 - s² is the slope of tanh. For the sigmoid it is s (1 - s).
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += (1.0 - s**2) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.factor_missing
# row: new
# says: The slope was taken to be 1 - s. A factor is missing: it is s (1 - s).
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += (1.0 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.falls
# row: new
# says: The curve falls where it should rise: the sign in the exponent is turned. It is 1 / (1 +
#   e to the power of *minus* x).
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(1.0 - s, (self,), "sigmoid")

    def _backward():
        self.grad += -s * (1.0 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% mistake: sigmoid.no_upstream
# row: 4
# says: The local derivative is right, but the chain rule is missing: multiply it by `out.grad`,
#   the gradient of the result.
def sigmoid(self):
    decay = math.exp(-abs(self.data))
    s = (1.0 if self.data >= 0 else decay) / (1.0 + decay)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += s * (1.0 - s)

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% probe: topological_order
# about: a leaf alone
x = Value(2.0)
order = topological_order(x)
# observe: len(order), order[0] is x


# %% probe: topological_order
# about: b = a + a; c = b + b
a = Value(3.0, label="a")
b = a + a
b.label = "b"
c = b + b
c.label = "c"
names = " ".join(node.label for node in topological_order(c))
# observe: names


# %% probe: topological_order
# about: a shortcut from b to d, past c
b = Value(2.0, label="b")
c = Value(4.0, (b,), "**2", label="c")
d = Value(6.0, (b, c), "+", label="d")
names = " ".join(node.label for node in topological_order(d))
# observe: names


# %% probe: topological_order
# about: the same shortcut, operands the other way round
b = Value(2.0, label="b")
c = Value(4.0, (b,), "**2", label="c")
d = Value(6.0, (c, b), "+", label="d")
names = " ".join(node.label for node in topological_order(d))
# observe: names


# %% probe: topological_order
# about: two leaves that hold the same number
x, y = Value(2.0), Value(2.0)
z = x * y
order = topological_order(z)
# observe: len(order), x in order, y in order


# %% probe: topological_order
# about: it only looks
x = Value(3.0)
y = x * x
y.grad = 5.0
order = topological_order(y)
# observe: len(order), x.grad, y.grad


# %% probe: topological_order
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
order = topological_order(y)
# observe: len(order), Watched.looks < 200


# %% probe: topological_order
# about: a long way from b to e first, then a short one
b = Value(2.0, label="b")
c = Value(4.0, (b,), "**2", label="c")
d = Value(16.0, (c,), "**2", label="d")
e = Value(18.0, (d, b), "+", label="e")
names = " ".join(node.label for node in topological_order(e))
# observe: names


# %% mistake: topological_order.node_before_operands
# row: 25
# says: A node is put into the list when it is met, before its operands. First see to the
#   operands, then append the node.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        order.append(node)
        for operand in node._prev:
            visit(operand)

    visit(root)
    return order


# %% mistake: topological_order.root_first
# row: new
# says: The order is right and the wrong way round: it was asked for with operands before
#   results and the root last. `backward` will reverse it.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(root)
    return order[::-1]


# %% mistake: topological_order.preorder_reversed
# row: 25
# says: The list is made by appending each node when it is met, and then turned round. That is
#   right for trees. Where a node is reached by a short way and by a long one, it can end up
#   after a result of its own. Append a node once its operands are in the list.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        order.append(node)
        for operand in node._prev:
            visit(operand)

    visit(root)
    return order[::-1]


# %% mistake: topological_order.level_by_level
# row: 25
# says: The nodes are taken level by level, by their distance from the root. A node that feeds
#   the root directly and also by a longer way comes out on the wrong side of its other result.
def topological_order(root):
    levels = [root]
    met = {root}
    for node in levels:
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)
    return levels[::-1]


# %% mistake: topological_order.pile_without_finishing
# row: 25
# says: A pile replaces the recursion, but a node goes into the list when it is taken from the
#   pile, before its operands are done. Put it on the pile a second time, to be finished after
#   them.
def topological_order(root):
    order = []
    met = set()
    pile = [root]
    while pile:
        node = pile.pop()
        if node not in met:
            met.add(node)
            order.append(node)
            pile.extend(node._prev)
    order.reverse()
    return order


# %% mistake: topological_order.compares_numbers
# row: 27
# says: Two nodes with the same number were taken for one. Remember the nodes themselves, not
#   their data.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node.data in met:
            return
        met.add(node.data)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(root)
    return order


# %% mistake: topological_order.leaves_missing
# row: new
# says: The leaves are not in the list. They have nothing to pass on, but they are nodes of the
#   graph like the others.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met or not node._prev:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(root)
    return order


# %% mistake: topological_order.root_missing
# row: new
# says: The root is not in the list. It belongs to its own graph, as the last of all.
def topological_order(root):
    order = []
    met = {root}

    def visit(node):
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                visit(operand)
                order.append(operand)

    visit(root)
    return order


# %% mistake: topological_order.one_step_only
# row: new
# says: Only the root and its own operands are listed. Their operands belong to the graph as
#   well, all the way back to the leaves.
def topological_order(root):
    return [*dict.fromkeys(root._prev), root]


# %% mistake: topological_order.runs_backward
# row: new
# says: The function runs the backward steps while it makes the list. It should only look: a
#   step may not run before the whole order is known.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)
        node._backward()

    visit(root)
    return order


# %% mistake: topological_order.walks_every_path
# row: 26
# says: The walk follows every path, and a shared node doubles their number; or it looks nodes
#   up in a long list. Keep a set of the nodes that were met, and go on only from new ones.
# outcome: timeout
def topological_order(root):
    order = []

    def visit(node):
        for operand in node._prev:
            visit(operand)
        if node not in order:
            order.append(node)

    visit(root)
    return order


# %% probe: backward
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward(z)
# observe: z.grad, x.grad, y.grad


# %% probe: backward
# about: (a * b + c) ** 2 at 2, -3 and 10
a, b, c = Value(2.0), Value(-3.0), Value(10.0)
f = (a * b + c) ** 2
backward(f)
# observe: f.grad, a.grad, b.grad, c.grad


# %% probe: backward
# about: b = a + a; c = b + b
a = Value(3.0)
b = a + a
c = b + b
backward(c)
# observe: a.grad, b.grad, c.grad


# %% probe: backward
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward(d)
# observe: a.grad, b.grad


# %% probe: backward
# about: the same shortcut, operands the other way round
a = Value(1.0)
b = a * 2
c = b * 3
d = c + b
backward(d)
# observe: a.grad, b.grad


# %% probe: backward
# about: a root that holds a gradient already
x = Value(3.0)
y = x * 2
y.grad = 10.0
backward(y)
# observe: y.grad, x.grad


# %% probe: backward
# about: two losses that share a leaf
x = Value(3.0)
backward(x * 2)
backward(x * 5)
# observe: x.grad


# %% probe: backward
# about: a long way from b to d first, then a short one
a = Value(1.0)
b = a * 2
d = b * 3 * 5 + b
backward(d)
# observe: a.grad, b.grad


# %% probe: backward
# about: a node in the middle that holds a gradient already
x = Value(3.0)
y = x * 2
y.grad = 5.0
backward(y * y)
# observe: y.grad, x.grad


# %% mistake: backward.no_seed
# row: 23
# says: All gradients stay 0, because nothing was there to be passed on. Plant the seed first:
#   the root's gradient is 1.
def backward(self):
    for node in reversed(topological_order(self)):
        node._backward()


Value.backward = backward


# %% mistake: backward.seed_is_data
# row: 23
# says: The seed is the root's number. It must be 1: a result changes exactly as fast as itself,
#   whatever its number.
def backward(self):
    self.grad = self.data
    for node in reversed(topological_order(self)):
        node._backward()


Value.backward = backward


# %% mistake: backward.seed_added
# row: 24
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`. It is the
#   one gradient that is assigned.
def backward(self):
    self.grad += 1.0
    for node in reversed(topological_order(self)):
        node._backward()


Value.backward = backward


# %% mistake: backward.seeds_everything
# row: 23
# says: Every node was given a seed of 1. Only the root gets one; the others collect what is
#   passed to them.
def backward(self):
    order = topological_order(self)
    for node in order:
        node.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward


# %% mistake: backward.seed_too_late
# row: new
# says: The seed was planted after the steps had run, so there was nothing to pass on. Plant it
#   before the loop.
def backward(self):
    for node in reversed(topological_order(self)):
        node._backward()
    self.grad = 1.0


Value.backward = backward


# %% mistake: backward.not_reversed
# row: 23
# says: The steps ran from the leaves to the root, before any gradient had arrived. Go through
#   the order in reverse.
def backward(self):
    self.grad = 1.0
    for node in topological_order(self):
        node._backward()


Value.backward = backward


# %% mistake: backward.root_only
# row: new
# says: Only the root's own step ran. Each node behind it has a step to run as well.
def backward(self):
    self.grad = 1.0
    self._backward()


Value.backward = backward


# %% mistake: backward.level_by_level
# row: 25
# says: The nodes ran level by level from the root. A node that feeds the root directly and also
#   by a longer way ran before all of its gradient had arrived. Use the reversed topological
#   order.
def backward(self):
    self.grad = 1.0
    levels = [self]
    met = {self}
    for node in levels:
        node._backward()
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)


Value.backward = backward


# %% mistake: backward.first_come_first_served
# row: 25
# says: Each node ran as soon as it was met, and then its operands. In a graph with a shortcut a
#   node ran before all of its gradient had arrived. Use the reversed topological order.
def backward(self):
    self.grad = 1.0
    met = set()

    def run(node):
        if node in met:
            return
        met.add(node)
        node._backward()
        for operand in node._prev:
            run(operand)

    run(self)


Value.backward = backward


# %% mistake: backward.zeroes_first
# row: 32
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up; setting them back is the task of `zero_grad`.
def backward(self):
    order = topological_order(self)
    for node in order:
        node.grad = 0.0
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward


# %% mistake: backward.skips_root
# row: new
# says: The root's own step was left out, and so nothing was passed on to its operands. The pass
#   begins with the root.
def backward(self):
    self.grad = 1.0
    for node in reversed(topological_order(self)[:-1]):
        node._backward()


Value.backward = backward


# %% mistake: backward.runs_twice
# row: new
# says: Every step ran twice, so everything was passed on twice. Once for each node is right.
def backward(self):
    self.grad = 1.0
    for node in reversed(topological_order(self)):
        node._backward()
    for node in reversed(topological_order(self)):
        node._backward()


Value.backward = backward


# %% mistake: backward.runs_every_path
# row: 26
# says: A node ran once for each path that leads to it. That passes gradients on too often, and
#   where nodes are shared the number of paths explodes. Run each node once, in the reversed
#   topological order.
# outcome: timeout
def backward(self):
    self.grad = 1.0

    def run(node):
        node._backward()
        for operand in node._prev:
            run(operand)

    run(self)


Value.backward = backward


# %% probe: zero_grad
# about: three parameters
a, b, c = Value(1.5), Value(-2.0), Value(3.0)
a.grad, b.grad, c.grad = 4.0, -5.0, 6.0
zero_grad([a, b, c])
# observe: a.grad, b.grad, c.grad, a.data, b.data, c.data


# %% probe: zero_grad
# about: the nodes behind a parameter
x = Value(3.0)
y = x * 2
x.grad, y.grad = 4.0, 5.0
zero_grad([y])
# observe: y.grad, x.grad


# %% probe: zero_grad
# about: parameters in a tuple
a, b = Value(1.5), Value(-2.0)
a.grad, b.grad = 4.0, -5.0
zero_grad((a, b))
# observe: a.grad, b.grad


# %% mistake: zero_grad.none
# row: 33
# says: The gradients are None now, and nothing can be added to None. Set them to 0.0.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = None


# %% mistake: zero_grad.zeroes_data
# row: new
# says: The parameters' own numbers were set to 0, and with them all that the network had
#   learnt. It is `grad` that starts over.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.data = 0.0


# %% mistake: zero_grad.both_zeroed
# row: new
# says: The gradients are 0, and so are the numbers: the parameters lost all that they had
#   learnt. Leave `data` alone.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.data = 0.0
        parameter.grad = 0.0


# %% mistake: zero_grad.local_name
# row: 34
# says: The gradients did not change: the 0 went to a name or a node of the function's own. Say
#   whose gradient it is, `parameter.grad = 0.0`.
def zero_grad(parameters):
    for parameter in parameters:
        grad = parameter.grad
        grad = 0.0


# %% mistake: zero_grad.first_only
# row: new
# says: Only the first parameter was zeroed: a `return` inside the loop ends it at once.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = 0.0
        return


# %% mistake: zero_grad.new_nodes
# row: 36
# says: The loop puts new Values in place of the parameters. The old ones, which the network
#   uses, keep their gradients. Change the gradient of each node itself.
def zero_grad(parameters):
    parameters = list(parameters)
    for i, parameter in enumerate(parameters):
        parameters[i] = Value(parameter.data)
    return parameters


# %% mistake: zero_grad.whole_graph
# row: new
# says: The nodes behind the parameters were zeroed too. Only what is in the list starts over;
#   somebody else may still be collecting in the others.
def zero_grad(parameters):
    pile = list(parameters)
    for node in pile:
        node.grad = 0.0
        pile.extend(node._prev)


# %% probe: check_gradients
# about: a right engine, with one input and with two
one = check_gradients(lambda x: x**3, [2.0])
two = check_gradients(lambda x, y: x * y + x**3, [2.0, -3.0])
# observe: one, two


# %% probe: check_gradients
# about: a cube whose backward step says 8 in place of 12
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

wrong = check_gradients(planted(lambda x: x**3, 8.0), [2.0])
# observe: wrong


# %% probe: check_gradients
# about: two inputs, of which one gets a wrong gradient
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

first = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 9.0, 3.0), [2.0, -3.0])
second = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 2.0, 9.0), [2.0, -3.0])
swapped = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 3.0, 2.0), [2.0, -3.0])
# observe: first, second, swapped


# %% probe: check_gradients
# about: a small gradient, right and twice too large
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(planted(lambda x: 1e-6 * x, 1e-6), [2.0])
double = check_gradients(planted(lambda x: 1e-6 * x, 2e-6), [2.0])
# observe: right, double


# %% probe: check_gradients
# about: a large gradient, right and wrong
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(lambda x: x**9, [10.0])
wrong = check_gradients(planted(lambda x: x**9, 9.5e8), [10.0])
# observe: right, wrong


# %% probe: check_gradients
# about: an input that has no influence
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(planted(lambda x, y: 2 * x, 2.0, 0.0), [2.0, -3.0])
wrong = check_gradients(planted(lambda x, y: 2 * x, 2.0, 2.0), [2.0, -3.0])
# observe: right, wrong


# %% probe: check_gradients
# about: a sign that is turned
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

wrong = check_gradients(planted(lambda x: 3 * x, -3.0), [2.0])
# observe: wrong


# %% probe: check_gradients
# about: close to the bottom of a parabola
right = check_gradients(lambda x: x * x, [3e-5])
# observe: right


# %% probe: check_gradients
# about: where the function is asked
asked = []


def f(x, y):
    asked.append((round(x.data, 6), round(y.data, 6)))
    return x * y


right = check_gradients(f, [2.0, -3.0], epsilon=0.01)
# observe: right, (2.01, -3.0) in asked, (1.99, -3.0) in asked, (2.0, -2.99) in asked, (2.0, -3.01) in asked


# %% mistake: check_gradients.fixed_tolerance
# row: new
# says: A fixed tolerance misses a wrong gradient where the right one is tiny, and rejects right
#   ones that are large. Compare the difference with the size of the gradients.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-4:
            return False
    return True


# %% mistake: check_gradients.fixed_tight_tolerance
# row: new
# says: A tight fixed tolerance finds small mistakes, but it rejects right gradients that are
#   large: their rounding errors are larger too. Compare the difference with the size of the
#   gradients.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-8:
            return False
    return True


# %% mistake: check_gradients.floor_too_high
# row: new
# says: The comparison is relative only for gradients above 1; smaller ones are compared as if
#   they were 1. Scale by the gradients themselves, and add only a very small constant.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-4 * max(1.0, abs(leaf.grad), abs(estimate)):
            return False
    return True


# %% mistake: check_gradients.zero_over_zero
# row: new
# says: Where both gradients are 0, the ratio divides zero by zero. Multiply the tolerance by
#   the size instead of dividing the difference by it.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) / max(abs(leaf.grad), abs(estimate)) > 1e-4:
            return False
    return True


# %% mistake: check_gradients.always_true
# row: new
# says: It accepts everything: also engines that are plainly wrong. Do you return False where
#   the two answers differ?
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    return True


# %% mistake: check_gradients.first_input_only
# row: new
# says: Only the first input is looked at. A `return` inside the loop ends it after one round:
#   return False there if the two differ, and True after the loop.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        size = max(abs(leaf.grad), abs(estimate))
        return abs(leaf.grad - estimate) <= 1e-4 * size + 1e-9


# %% mistake: check_gradients.last_input_only
# row: new
# says: Only the last input counts: each round of the loop replaces the verdict of the one
#   before. One disagreement is enough for False.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    good = True
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        size = max(abs(leaf.grad), abs(estimate))
        good = abs(leaf.grad - estimate) <= 1e-4 * size + 1e-9
    return good


# %% mistake: check_gradients.all_nudged_at_once
# row: new
# says: All inputs were nudged together, and only the sum of the gradients was compared.
#   Mistakes that cancel go unseen. Move one input at a time.
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    up = f(*[Value(x + epsilon) for x in inputs]).data
    down = f(*[Value(x - epsilon) for x in inputs]).data
    estimate = (up - down) / (2 * epsilon)
    total = sum(leaf.grad for leaf in leaves)
    return abs(total - estimate) <= 1e-4 * max(abs(total), abs(estimate)) + 1e-9


# %% mistake: check_gradients.one_sided
# row: new
# says: The nudge goes up only. Where the curve bends that is not accurate enough, and right
#   engines are rejected. Nudge both ways and divide by twice epsilon.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, 0.0)) / epsilon
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.half_the_run
# row: new
# says: The points are 2 epsilon apart, and you divided by epsilon: every estimate is twice too
#   large.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / epsilon
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.epsilon_ignored
# row: new
# says: The step is fixed inside the function, whatever the caller gives as `epsilon`.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, 1e-5) - nudged(index, -1e-5)) / 2e-5
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.sign_lost
# row: new
# says: Only the sizes of the two gradients are compared, so one with the wrong sign is
#   accepted. Take the difference first, then its absolute value.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(abs(leaf.grad) - abs(estimate)) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.plain_numbers
# row: new
# says: `f` was called with plain numbers. It expects Values: wrap each number, and take `.data`
#   of the result.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*moved)

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.stale_gradients
# row: 34
# says: The same leaves went through a backward pass for every input, and their gradients added
#   up. Make new leaves, or run backward once and read all the gradients.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    for index, leaf in enumerate(leaves):
        f(*leaves).backward()
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% mistake: check_gradients.signed_difference
# row: new
# says: The difference was compared without its absolute value, so gradients that are too small
#   always pass. Take `abs` of the difference.
def check_gradients(f, inputs, epsilon=1e-5):
    def nudged(index, amount):
        moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
        return f(*[Value(x) for x in moved]).data

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
        if leaf.grad - estimate > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True


# %% probe: deep
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward_without_recursion(z)
# observe: z.grad, x.grad, y.grad


# %% probe: deep
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: the same shortcut, operands the other way round
a = Value(1.0)
b = a * 2
c = b * 3
d = c + b
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: gradients that are there already
x = Value(3.0)
x.grad = 10.0
y = x * 2
y.grad = 7.0
backward_without_recursion(y)
# observe: y.grad, x.grad


# %% probe: deep
# about: a chain of 3,000 additions
x = Value(1.0)
y = x
for _ in range(3_000):
    y = y + x
backward_without_recursion(y)
# observe: x.grad


# %% probe: deep
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
backward_without_recursion(y)
# observe: y.grad, Watched.looks < 200


# %% mistake: deep.recursive
# row: 26
# says: It is right, but it calls itself for every level of the graph, and Python stops that
#   after about a thousand. Keep the pile of what is to be done yourself, in a list.
def backward_without_recursion(self):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(self)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.pile_without_finishing
# row: 25
# says: A node's place in the order was fixed when it was taken from the pile, before its
#   operands were done. In a graph with a shortcut it then runs too early. Put the node on the
#   pile a second time, to be finished after its operands.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [self]
    while to_do:
        node = to_do.pop()
        if node not in met:
            met.add(node)
            order.append(node)
            to_do.extend(node._prev)
    self.grad = 1.0
    for node in order:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.level_by_level
# row: 25
# says: A queue goes through the graph level by level. A node that feeds the root directly and
#   also by a longer way then runs before all of its gradient has arrived.
def backward_without_recursion(self):
    levels = [self]
    met = {self}
    for node in levels:
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)
    self.grad = 1.0
    for node in levels:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.seed_added
# row: 24
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad += 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.zeroes_first
# row: 32
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    for node in order:
        node.grad = 0.0
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.not_reversed
# row: 23
# says: The steps ran from the leaves to the root, before any gradient had arrived. Go through
#   the order in reverse.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad = 1.0
    for node in order:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.walks_every_path
# row: 26
# says: The walk follows every path, and a shared node doubles their number; or it looks nodes
#   up in a long list. Keep a set of the nodes that were met, and go on only from new ones.
# outcome: timeout
def backward_without_recursion(self):
    order = []
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            if node not in order:
                order.append(node)
        else:
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% probe: extra_ops
# about: the sine
from course.push import push  # sets a gradient, runs the steps

x = Value(0.8)
x.grad = 10.0
y = x.sin()
push(y, 5.0)
# observe: y.data, x.grad


# %% probe: extra_ops
# about: the cosine
from course.push import push  # sets a gradient, runs the steps

x = Value(0.8)
x.grad = 10.0
y = x.cos()
push(y, 5.0)
# observe: y.data, x.grad


# %% probe: extra_ops
# about: the square root
from course.push import push  # sets a gradient, runs the steps

x = Value(9.0)
x.grad = 10.0
y = x.sqrt()
push(y, 6.0)
# observe: y.data, x.grad


# %% probe: extra_ops
# about: the root of a negative number
x = Value(-4.0)
try:
    outcome = x.sqrt().data
except ValueError:
    outcome = "ValueError"
# observe: outcome


# %% mistake: extra_ops.cosine_sign
# row: new
# says: The cosine's derivative is *minus* the sine: just right of 0 the cosine falls.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.sine_sign
# row: new
# says: The sine's derivative is the cosine, without a minus: just right of 0 the sine rises.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += -math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.slope_from_output
# row: new
# says: The derivatives of sine and cosine were taken at the output. They belong to the *input*:
#   `math.cos(self.data)`.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(out.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(out.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.degrees
# row: new
# says: The angles were taken for degrees. Sine and cosine are meant in radians, and only there
#   is the derivative of the sine the cosine.
def sin(self):
    out = Value(math.sin(math.radians(self.data)), (self,), "sin")

    def _backward():
        self.grad += math.cos(math.radians(self.data)) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(math.radians(self.data)), (self,), "cos")

    def _backward():
        self.grad += -math.sin(math.radians(self.data)) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.root_without_two
# row: new
# says: The slope of the square root is one over *twice* the root. The 2 is missing.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += out.grad / out.data

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.root_slope_from_input
# row: new
# says: The slope of the square root was computed as 1 / (2x). It is one over twice the *root*,
#   which is the output.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / self.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.overwrites
# row: 2
# says: On their own the functions are right, but they forget what their operand has collected
#   from other uses: the gradients are written with `=`. Add to them with `+=`.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad = math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad = -math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad = 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.no_upstream
# row: 4
# says: The local derivatives are right, but the chain rule is missing: multiply them by
#   `out.grad`.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data)

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(self.data)

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(self.data), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% mistake: extra_ops.root_of_absolute
# row: new
# says: The sign is thrown away before the root is taken, so a negative number gets an answer.
#   It has no real root: let the ValueError come out.
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    out = Value(math.cos(self.data), (self,), "cos")

    def _backward():
        self.grad += -math.sin(self.data) * out.grad

    out._backward = _backward
    return out


def sqrt(self):
    out = Value(math.sqrt(abs(self.data)), (self,), "sqrt")

    def _backward():
        self.grad += 0.5 / out.data * out.grad

    out._backward = _backward
    return out


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt


# %% probe: dot_source
# about: what a single leaf looks like
from course.dot import read_dot

x = Value(2.5)
x.grad = 6.5
graph = read_dot(draw_dot(x))  # what a program that reads DOT finds in it
# observe: len(graph.showing(2.5)), len(graph.showing(6.5)), len(graph.edges)


# %% probe: dot_source
# about: two operands and a result
from course.dot import read_dot

x, y = Value(2.5), Value(4.5)
z = Value(11.5, (x, y), "*")
graph = read_dot(draw_dot(z))  # what a program that reads DOT finds in it
flow = graph.flow([2.5, 4.5, 11.5])  # which numbers lead to which
# observe: (2.5, 11.5) in flow, (4.5, 11.5) in flow, (11.5, 2.5) in flow, len(flow), any('*' in text for text in graph.labels.values()), len(graph.edges) > 0


# %% probe: dot_source
# about: two Values that hold the same number
from course.dot import read_dot

x, y = Value(2.5), Value(2.5)
z = Value(6.5, (x, y), "*")
graph = read_dot(draw_dot(z))  # what a program that reads DOT finds in it
# observe: len(graph.showing(2.5)), len(graph.showing(6.5))


# %% probe: dot_source
# about: two operations of the same kind
from course.dot import read_dot

x, y = Value(2.5), Value(4.5)
s = Value(7.5, (x, y), "+")
t = Value(9.5, (s, x), "+")
graph = read_dot(draw_dot(t))  # what a program that reads DOT finds in it
flow = graph.flow([2.5, 4.5, 7.5, 9.5])
# observe: (4.5, 9.5) in flow, (7.5, 7.5) in flow, (2.5, 9.5) in flow, len(flow)


# %% probe: dot_source
# about: the text as such
x = Value(2.5)
text = draw_dot(x * 3)
# observe: 'digraph' in text, '->' in text, text.count('{') == text.count('}')


# %% mistake: dot_source.arrows_reversed
# row: new
# says: The arrows point from the results back to the operands. Draw them the way the numbers
#   flow: from an operand to the operation, and on to the result.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "{id(node)}" -> "op{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "op{id(result)}" -> "{id(operand)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.named_by_number
# row: 27
# says: Values that hold the same number became one node: their number was used as their name. A
#   name must be unique; use `id(node)`.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{node.data}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -> "{node.data}";')
    for operand, result in edges:
        lines.append(f'  "{operand.data}" -> "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.operations_shared
# row: new
# says: All operations with the same sign became one node, and everything runs together there.
#   Give each operation a name of its own, such as `op` and the id of its result.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "{node._op}" [label="{node._op}"];')
            lines.append(f'  "{node._op}" -> "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "{result._op}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.gradient_missing
# row: new
# says: The labels show the numbers and not the gradients. The drawing is for watching both.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -> "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.no_arrow_to_result
# row: new
# says: The arrows end at the operations: none leads on to the result, so the drawing falls
#   apart.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            pass
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.no_arrows
# row: new
# says: There are nodes and no arrows between them. Each edge of the graph needs a statement
#   with `->`.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            pass
    for operand, result in edges:
        pass
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.first_operand_only
# row: 6
# says: Only one operand of each operation is drawn. Every operand needs its arrow.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -> "{id(node)}";')
    for operand, result in {result: (operand, result) for operand, result in reversed(edges)}.values():
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.not_directed
# row: new
# says: The text describes a graph without directions. Begin with `digraph` and write arrows as
#   `->`.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["graph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -- "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -- "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.brace_missing
# row: new
# says: The closing brace is missing at the end, so the text is not a whole graph.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -> "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    return "\n".join(lines)


# %% mistake: dot_source.signs_missing
# row: new
# says: The operations have no sign: nobody can see what they do. Label each with its `_op`.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="", shape=point];')
            lines.append(f'  "op{id(node)}" -> "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    lines.append("}")
    return "\n".join(lines)


# %% mistake: dot_source.returns_nothing
# row: new
# says: The text was made and not returned, so the caller got None. End with `return`.
def draw_dot(root):
    nodes, edges = trace(root)
    lines = ["digraph {"]
    for node in nodes:
        lines.append(f'  "{id(node)}" [label="data {node.data:.4f} | grad {node.grad:.4f}"];')
        if node._op:
            lines.append(f'  "op{id(node)}" [label="{node._op}"];')
            lines.append(f'  "op{id(node)}" -> "{id(node)}";')
    for operand, result in edges:
        lines.append(f'  "{id(operand)}" -> "op{id(result)}";')
    lines.append("}")
    text = "\n".join(lines)
