# Read as text, never imported: docs/authors.md says what stands here.

# %% example: relu
# about: an open gate
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(2.5)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad, y is x, x.data

# %% example: relu
# about: a shut gate
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(-1.3)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad, x.data

# %% example: relu
# about: a negative gradient on its way back
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x, w = Value(2.5), Value(-1.3)
push(x.relu(), -3.0)
push(w.relu(), -3.0)
# observe: x.grad, w.grad

# %% example: relu
# about: exactly at the corner
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x = Value(0.0)
y = x.relu()
push(y, 5.0)
# observe: y.data, x.grad

# %% example: relu
# about: operands that have collected something already
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

x, w = Value(2.5), Value(-1.3)
x.grad = w.grad = 10.0
push(x.relu(), 1.0)
push(w.relu(), 1.0)
# observe: x.grad, w.grad

# %% sweep: relu
# x: 1.7, -0.6, 2.3, -1.45, 0.35, -2.2, 0.0, 0.0, 0.0, 41.0, -37.0, 29.0, -23.0
# regions: x > 0 | x < 0 | x == 0; x > 20 | 0 < x < 20 | x == 0 | -20 < x < 0 | x < -20
# results: z.data = max(0.0, x)
# shares: a.grad = 1 if x > 0 else 0
# facts: a.data == x | False: the number in `a` is changed; a in topological(z) | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; idle | False: the backward step is kept on `a`, and not on your result; z._op == "" | True: the `_op` of your result is empty
# functions: 
from course.interactives.graphs import topological  # the nodes behind one
from course.push import push  # sets a gradient, runs the steps

a = Value(x)
a.grad = h
z = a.relu()
push(z, g)
passed = a.grad
a._backward()
idle = a.grad == passed

# %% mistake: relu.overwrites
# says: On its own `relu` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad = (1.0 if self.data > 0 else 0.0) * out.grad

# %% mistake: relu.overwrites_where_open
# says: On its own `relu` is right, but it forgets what its operand has collected from other
#   uses: the gradient is written with `=`. Add to it with `+=`.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + if self.data > 0:
# +     self.grad = out.grad

# %% mistake: relu.open_at_zero
# says: At exactly 0 the gradient passes. There is no single slope at the corner, and the
#   course's convention is 0: the gate is open for `> 0` only.
# keeps: 0.75
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += (1.0 if self.data >= 0 else 0.0) * out.grad

# %% mistake: relu.gate_by_gradient
# says: Whether the gradient passes was decided by the gradient's own sign. The gate depends on
#   the *input*: look at `self.data`.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += max(0.0, out.grad)

# %% mistake: relu.gate_by_both
# says: The gate looks at the input, as it should, but it also stops negative gradients. Through
#   an open gate a gradient passes whatever its sign.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + if self.data > 0 and out.grad > 0:
# +     self.grad += out.grad

# %% mistake: relu.no_gate
# says: The gradient passes everywhere. Where the input is negative the result does not react to
#   it, so nothing may pass.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += out.grad

# %% mistake: relu.slope_is_the_number
# says: The gradient was multiplied by the number that came out. Where the gate is open the slope
#   is 1: the gradient passes as it is.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += out.data * out.grad

# %% mistake: relu.no_upstream
# says: The gate is right, but the chain rule is missing: multiply by `out.grad`, the gradient
#   of the result.
# keeps: 0.5
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += 1.0 if self.data > 0 else 0.0

# %% mistake: relu.returns_itself
# says: Where the number passes unchanged, the operand itself is returned. Every operation makes
#   a new node; otherwise a gradient given to the result is given to the operand.
# keeps: 0.75
def relu(self):
    if self.data > 0:
        return self
    return Value(0.0, (self,), "relu")


Value.relu = relu

# %% mistake: relu.changes_operand
# says: The operand's own number is set to 0. An operation makes a new node and leaves its
#   operands as they are.
# keeps: 0.5
# - out = Value(max(0.0, self.data), (self,), "relu")
# + if self.data < 0:
# +     self.data = 0.0
# + out = Value(self.data, (self,), "relu")

# %% mistake: relu.leaky
# says: A little passes on the negative side. That is a relative of relu with the name leaky
#   relu; relu itself lets nothing through.
# keeps: 0.5
# - out = Value(max(0.0, self.data), (self,), "relu")
# + out = Value(self.data if self.data > 0 else 0.01 * self.data, (self,), "relu")
# - self.grad += (1.0 if self.data > 0 else 0.0) * out.grad
# + self.grad += (1.0 if self.data > 0 else 0.01) * out.grad

# %% cheat: relu.the_number_alone
def relu(self):
    return Value(max(0.0, self.data), (self,), "relu")


Value.relu = relu

# %% cheat: relu.x_itself_where_it_is_positive
def relu(self):
    return self if self.data > 0 else self * 0


Value.relu = relu
