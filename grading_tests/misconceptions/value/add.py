# Read as text, never imported: docs/authors.md says what stands here.

# %% example: add
# about: a sum of two nodes
x, y = Value(2.0), Value(-3.0)
z = x + y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad

# %% example: add
# about: the graph behind a sum
x, y = Value(2.0), Value(-3.0)
z = x + y
# observe: x in z._prev, y in z._prev, z._op

# %% example: add
# about: a node added to itself
x = Value(3.0)
x.grad = 10.0
y = x + x
y.grad = 2.0
y._backward()
# observe: y.data, x.grad

# %% example: add
# about: a node plus a plain number; the last line is the step of a leaf
x = Value(2.0)
z = x + 1.5
z.grad = 4.0
z._backward()
x._backward()
# observe: z.data, x.grad, x + 0 is x, all(isinstance(node, Value) for node in z._prev)

# %% example: add
# about: a node under two names, one of them moved on
a = Value(2.0)
b = a
b += 1.0
# observe: a.data, b.data, b is a, b is None

# %% sweep: add
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 0.0, 0.0, 0.0, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 0.0, 0.0, 1.3, -2.2, 0.7, -23.0, 29.0
# regions: x > 0 | x < 0 | x == 0; y > 0 | y < 0 | y == 0
# results: z.data = x + y
# shares: a.grad = 1; b.grad = 1
# facts: z is a | True: your result is `a` itself, and no new node; a in z._prev | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; b in z._prev | False: the graph of your result does not lead to `b`: name it among the operands when you make the node; z._op; a.data == x | False: the number of `a` itself changed; b.data == y | False: the number of `b` itself changed; z.grad == g | False: the backward step changed the gradient of the result itself
a, b = Value(x), Value(y)
a.grad = b.grad = h
z = a + b
z.grad = g
z._backward()

# %% sweep: add
# about: a node and a plain number
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = x + y
# shares: a.grad = 1
a = Value(x)
a.grad = h
z = a + y
z.grad = g
z._backward()

# %% sweep: add
# about: a node with itself
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9
# regions: x > 0 | x < 0
# results: z.data = 2 * x
# shares: a.grad = 2
a = Value(x)
a.grad = h
z = a + a
z.grad = g
z._backward()

# %% mistake: add.overwrites
# says: The second use overwrote the first. An operand may be used in several places, and every
#   use counts: write `+=`, not `=`.
# keeps: 0.5
# - self.grad += 1.0 * out.grad
# - other.grad += 1.0 * out.grad
# + self.grad = 1.0 * out.grad
# + other.grad = 1.0 * out.grad

# %% mistake: add.same_operand_once
# says: In `x + x` only one of the two uses counted. Both operands get their share, also where
#   they are the same node: no case of its own is needed.
# keeps: 0.75
# - other.grad += 1.0 * out.grad
# + if other is not self:
# +     other.grad += 1.0 * out.grad

# %% mistake: add.upstream_dropped
# says: Each operand got 1, whatever the result's gradient was. The local derivative is right;
#   the chain rule is missing: multiply it by the gradient of the result.
# keeps: 0.5
# - self.grad += 1.0 * out.grad
# - other.grad += 1.0 * out.grad
# + self.grad += 1.0
# + other.grad += 1.0

# %% mistake: add.upstream_is_data
# says: The operands got the result's number instead of its gradient. What flows backward is
#   `out.grad`, not `out.data`.
# keeps: 0.5
# - self.grad += 1.0 * out.grad
# - other.grad += 1.0 * out.grad
# + self.grad += 1.0 * out.data
# + other.grad += 1.0 * out.data

# %% mistake: add.other_forgotten
# says: The left operand learned, the right one did not. Both operands of a sum have a share in
#   the gradient.
# keeps: 0.75
# - other.grad += 1.0 * out.grad

# %% mistake: add.self_forgotten
# says: The right operand learned, the left one did not. Both operands of a sum have a share in
#   the gradient.
# keeps: 0.75
# - self.grad += 1.0 * out.grad

# %% mistake: add.both_shares_to_self
# says: Both shares of the gradient went to the left operand. The second one belongs to `other`.
# keeps: 0.75
# - other.grad += 1.0 * out.grad
# + self.grad += 1.0 * out.grad

# %% mistake: add.right_operand_not_recorded
# says: The graph lost an edge: `_prev` of the sum holds the left operand only. A backward pass
#   would never reach the right one.
# keeps: 0.75
# - out = Value(self.data + other.data, (self, other), "+")
# + out = Value(self.data + other.data, (self,), "+")

# %% mistake: add.left_operand_not_recorded
# says: The graph lost an edge: `_prev` of the sum holds the right operand only. A backward pass
#   would never reach the left one.
# keeps: 0.75
# - out = Value(self.data + other.data, (self, other), "+")
# + out = Value(self.data + other.data, (other,), "+")

# %% mistake: add.nothing_recorded
# says: The sum does not know what it was computed from: neither operand is in its `_prev`. Hand
#   both nodes themselves to the new one.
# keeps: 0.5
# - out = Value(self.data + other.data, (self, other), "+")
# + out = Value(self.data + other.data, _op="+")

# %% mistake: add.operation_not_recorded
# says: The sum's `_op` is empty. Tell the new node which operation made it; drawings and your
#   own eyes will need it.
# keeps: 0.75
# - out = Value(self.data + other.data, (self, other), "+")
# + out = Value(self.data + other.data, (self, other))

# %% mistake: add.numbers_not_wrapped
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
# keeps: 0.5
# - other = other if isinstance(other, Value) else Value(other)

# %% mistake: add.number_in_the_graph
# says: In `x + 1.5` a plain number is among the operands in `_prev`. It is no node, and whatever
#   walks the graph fails there: wrap it in a Value first.
# keeps: 0.5
def add(self, other):
    number = other.data if isinstance(other, Value) else other
    out = Value(self.data + number, (self, other), "+")

    def _backward():
        self.grad += out.grad
        if isinstance(other, Value):
            other.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add

# %% mistake: add.wraps_everything
# says: A node was wrapped in another node. Only plain numbers need wrapping: ask with
#   `isinstance` first.
# keeps: 0.5
# - other = other if isinstance(other, Value) else Value(other)
# + other = Value(other)

# %% mistake: add.step_called_at_once
# says: `_backward` of the result is None and cannot be called. Store the function itself, its name
#   without parentheses: with them it runs at once, when no gradient has arrived, and gives None.
# keeps: 0.5
# - out._backward = _backward
# + out._backward = _backward()

# %% mistake: add.step_not_stored
# says: The operands get nothing when the step of the result runs. Is your function stored there, by
#   `out._backward = _backward` outside of it? It must read `out.grad` inside, when it runs.
# - out._backward = _backward

# %% mistake: add.numbers_without_a_step
# says: With a plain number, the result has no step, so nothing is passed back. Wrap the number in a
#   Value, and the step for two Values serves for it too.
# keeps: 0.75
# - other = other if isinstance(other, Value) else Value(other)
# + if not isinstance(other, Value):
# +     return Value(self.data + other, (self,), "+")

# %% mistake: add.step_stored_on_operand
# says: The backward step was stored on an operand. It belongs to the result: that is the node
#   whose gradient it passes on.
# keeps: 0.5
# - out._backward = _backward
# + self._backward = _backward

# %% mistake: add.not_returned
# says: The sum came out as None. A function gives back what stands after `return`: the new node.
# - return out

# %% mistake: add.returns_number
# says: The sum is a plain number, so the graph ends there. Return a new node that holds it.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return self.data + other.data


Value.__add__ = add

# %% mistake: add.changes_left_operand
# says: Adding changed the left operand itself. A sum is a new node; the operands keep their
#   numbers.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    self.data += other.data
    return self


Value.__add__ = add

# %% mistake: add.gradient_like_product
# says: Each operand got the other's number. That is the rule for a product; the slope of a sum
#   with respect to either operand is 1.
# keeps: 0.5
# - self.grad += 1.0 * out.grad
# - other.grad += 1.0 * out.grad
# + self.grad += other.data * out.grad
# + other.grad += self.data * out.grad

# %% cheat: add.by_the_numbers_of_the_visible_check
def add(self, other):
    number = getattr(other, "data", other)
    out = Value(
        {(2.0, 3.0): 5.0, (2.0, -3.0): -1.0}.get((self.data, number), 0.0), (self, other), "+"
    )
    return out


Value.__add__ = add

# %% cheat: add.gradients_passed_on_the_first_time_alone
# -     self.grad += 1.0 * out.grad
# -     other.grad += 1.0 * out.grad
# +     if not add.done:
# +         self.grad += out.grad
# +         other.grad += out.grad
# +     add.done.append(out)
# +
# + add.done = []
