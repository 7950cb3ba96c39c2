# Read as text, never imported: docs/authors.md says what stands here.

# %% example: neg_sub
# about: a difference; the loop runs every step behind it
x, y = Value(10.0), Value(4.0)
z = x - y
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad, y.grad, y in steps

# %% example: neg_sub
# about: a node with its sign turned
x = Value(3.0)
z = -x
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.data, x.grad

# %% example: neg_sub
# about: a node minus a plain number
x = Value(3.0)
z = x - 1.5
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad

# %% example: neg_sub
# about: a node minus itself
x = Value(3.0)
z = x - x
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad

# %% sweep: neg_sub
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 0.0, 0.0, 0.0, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 0.0, 0.0, 1.3, -2.2, 0.7, -23.0, 29.0
# regions: x > 0 | x < 0 | x == 0; y > 0 | y < 0 | y == 0
# results: z.data = x - y
# shares: a.grad = 1; b.grad = -1
# facts: a in steps | False: no way leads from your result back to `a`; b in steps | False: no way leads from your result back to `b`; a.data == x | False: the number of `a` itself changed; b.data == y | False: the number of `b` itself changed; z.grad == g | False: the backward step changed the gradient of the result itself
a, b = Value(x), Value(y)
a.grad = b.grad = h
z = a - b
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: neg_sub
# about: a node and a plain number
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = x - y
# shares: a.grad = 1
a = Value(x)
a.grad = h
z = a - y
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: neg_sub
# about: minus in front of a node
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.0, 0.0, 0.0
# regions: x > 0 | x < 0 | x == 0
# results: z.data = -x
# shares: a.grad = -1
# facts: a in steps | False: no way leads from your result back to `a`; a.data == x | False: the number of `a` itself changed; z.grad == g | False: the backward step changed the gradient of the result itself
a = Value(x)
a.grad = h
z = -a
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% mistake: neg_sub.negation_cut_off
# says: `-x` passes nothing back. A node that is made from `.data` alone remembers nothing.
# keeps: 0.5
# - return self * -1
# + return Value(-self.data)

# %% mistake: neg_sub.difference_cut_off
# says: The difference passes nothing back, and its graph does not lead to `y`. A node that is
#   made from `.data` alone remembers nothing.
# keeps: 0.5
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + return Value(self.data - other.data)

# %% mistake: neg_sub.negation_keeps_sign
# says: The gradient of `-x` arrives at x with its sign unchanged. The slope of -x is -1.
# keeps: 0.75
def neg(self):
    out = Value(-self.data, (self,), "neg")

    def _backward():
        self.grad += out.grad

    out._backward = _backward
    return out


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub

# %% mistake: neg_sub.plus_for_both
# says: Both operands got the gradient with a plus. A larger second operand makes the difference
#   smaller, so its sign flips.
# keeps: 0.75
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad += out.grad
# +     other.grad += out.grad
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.minus_for_both
# says: Both operands got the gradient with a minus. Only the second one pulls the difference
#   down.
# keeps: 0.75
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad -= out.grad
# +     other.grad -= out.grad
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.order_swapped
# says: `x - y` gave `y - x`. `self` stands on the left of the sign.
# keeps: 0.5
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + return other + (-self)

# %% mistake: neg_sub.numbers_not_wrapped
# says: A plain number has no `data`. Wrap it in a Value before you use it as a node.
# keeps: 0.5
# - return self + (-other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad += out.grad
# +     other.grad -= out.grad
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.negates_in_place
# says: `-x` turned the sign of x itself. The result is a new node; x keeps its number.
# keeps: 0.5
def neg(self):
    self.data = -self.data
    return self


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub

# %% mistake: neg_sub.overwrites
# says: The second use overwrote the first. In `x - x` both uses count: write `+=` and `-=`, not
#   `=`.
# keeps: 0.5
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad = out.grad
# +     other.grad = -out.grad
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.upstream_dropped
# says: The operands got 1 and -1, whatever the result's gradient was. The signs are right; the
#   chain rule is missing.
# keeps: 0.5
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad += 1.0
# +     other.grad -= 1.0
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.other_forgotten
# says: The first operand learned, the second one did not. Both have a share in the gradient of
#   a difference.
# keeps: 0.75
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self, other), "-")
# +
# + def _backward():
# +     self.grad += out.grad
# +
# + out._backward = _backward
# + return out

# %% mistake: neg_sub.circular
# says: `-x` or `x - y` calls itself without end. Inside the two functions a minus sign in front
#   is `neg` again, and one in between is `sub`. One of the two must stand on its own.
# - return self * -1
# + return Value(0.0) - self

# %% mistake: neg_sub.right_operand_not_recorded
# says: The graph lost an edge: the second operand is missing from `_prev`, so a backward pass
#   that goes on from there never reaches it.
# keeps: 0.75
# - return self + (-other)
# + other = other if isinstance(other, Value) else Value(other)
# + out = Value(self.data - other.data, (self,), "-")
# +
# + def _backward():
# +     self.grad += out.grad
# +     other.grad -= out.grad
# +
# + out._backward = _backward
# + return out

# %% edge: neg_sub
# - return self * -1
# the_gradient_is_copied: out = self * -1
#   out.grad = self.grad
#   return out
# - return self + (-other)
# nothing_left_of_x_x: return Value(0.0) if other is self else self + (-other)

# %% cheat: neg_sub.without_a_graph
Value.__neg__ = lambda self: Value(-self.data)
Value.__sub__ = lambda self, other: Value(self.data - getattr(other, "data", other))
