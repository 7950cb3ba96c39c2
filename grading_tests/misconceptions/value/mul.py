# Read as text, never imported: docs/authors.md says what stands here.

# %% example: mul
# about: a product of two nodes
x, y = Value(2.0), Value(-3.0)
z = x * y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad

# %% example: mul
# about: the graph behind a product
x, y = Value(2.0), Value(-3.0)
z = x * y
# observe: x in z._prev, y in z._prev, z._op

# %% example: mul
# about: a node multiplied by itself
x = Value(3.0)
x.grad = 1.0  # collected elsewhere
y = x * x
y.grad = 2.0
y._backward()
# observe: y.data, x.grad

# %% example: mul
# about: a node times a plain number
x = Value(2.0)
z = x * 1.5
z.grad = 4.0
z._backward()
# observe: z.data, x.grad, x * 1 is x, all(isinstance(node, Value) for node in z._prev)

# %% example: mul
# about: a node under two names, one of them scaled
a = Value(2.0)
b = a
b *= 3.0
# observe: a.data, b.data, b is a

# %% sweep: mul
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 0.0, 0.0, 0.0, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 0.0, 0.0, 1.3, -2.2, 0.7, -23.0, 29.0
# regions: x > 0 | x < 0 | x == 0; y > 0 | y < 0 | y == 0
# results: z.data = x * y
# shares: a.grad = y; b.grad = x
# also: h + y * g; h + x * g
# facts: z is a | True: your result is `a` itself, and no new node; a in z._prev | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; b in z._prev | False: the graph of your result does not lead to `b`: name it among the operands when you make the node; z._op; a.data == x | False: the number of `a` itself changed; b.data == y | False: the number of `b` itself changed; z.grad == g | False: the backward step changed the gradient of the result itself
a, b = Value(x), Value(y)
a.grad = b.grad = h
z = a * b
z.grad = g
z._backward()

# %% sweep: mul
# about: a node and a plain number
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = x * y
# shares: a.grad = y
a = Value(x)
a.grad = h
z = a * y
z.grad = g
z._backward()

# %% sweep: mul
# about: a node with itself
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9
# regions: x > 0 | x < 0
# results: z.data = x * x
# shares: a.grad = 2 * x
a = Value(x)
a.grad = h
z = a * a
z.grad = g
z._backward()

# %% mistake: mul.own_data
# says: Each operand got its own number. How a product reacts to one factor depends on the
#   other: the derivative of a·b with respect to a is b.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += self.data * out.grad
# + other.grad += other.data * out.grad

# %% mistake: mul.overwrites
# says: The second use overwrote the first. In `x * x` both factors are x, and both uses count:
#   write `+=`, not `=`.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad = other.data * out.grad
# + other.grad = self.data * out.grad

# %% mistake: mul.upstream_dropped
# says: The local derivatives are right; the chain rule is missing. Multiply each of them by the
#   gradient of the result.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += other.data
# + other.grad += self.data

# %% mistake: mul.upstream_is_data
# says: The gradients grow with the product itself. What flows backward is the result's
#   gradient, `out.grad`; its number is not needed.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += other.data * out.data
# + other.grad += self.data * out.data

# %% mistake: mul.gradient_of_the_other
# says: Each factor's share was computed from the other's gradient. What scales it is the other's
#   number: `other.data`.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += other.grad * out.grad
# + other.grad += self.grad * out.grad

# %% mistake: mul.upstream_added
# says: The local derivative and the result's gradient were added. Along a path slopes are
#   multiplied; only separate paths are added.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += other.data + out.grad
# + other.grad += self.data + out.grad

# %% mistake: mul.other_forgotten
# says: The left factor learned, the right one did not. Both factors have a share in the
#   gradient.
# keeps: 0.75
# - other.grad += self.data * out.grad

# %% mistake: mul.both_shares_to_self
# says: Both shares of the gradient went to the left factor. The second one belongs to `other`.
# keeps: 0.75
# - other.grad += self.data * out.grad
# + self.grad += self.data * out.grad

# %% mistake: mul.gradient_like_sum
# says: Both factors got the result's gradient unchanged. That is the rule for a sum; in a
#   product each factor's share is scaled by the other factor.
# keeps: 0.5
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += out.grad
# + other.grad += out.grad

# %% mistake: mul.adds
# says: The result is the sum. The operator inside is still the one of `add`.
# keeps: 0.5
# - out = Value(self.data * other.data, (self, other), "*")
# + out = Value(self.data + other.data, (self, other), "*")

# %% mistake: mul.operation_copied
# says: The product says that it is a sum: its `_op` was copied from `add`.
# keeps: 0.75
# - out = Value(self.data * other.data, (self, other), "*")
# + out = Value(self.data * other.data, (self, other), "+")

# %% mistake: mul.right_operand_not_recorded
# says: The graph lost an edge: `_prev` of the product holds the left factor only. A backward
#   pass would never reach the right one.
# keeps: 0.75
# - out = Value(self.data * other.data, (self, other), "*")
# + out = Value(self.data * other.data, (self,), "*")

# %% mistake: mul.number_in_the_graph
# says: In `x * 1.5` a plain number is among the operands in `_prev`. It is no node, and whatever
#   walks the graph fails there: wrap it in a Value first.
# keeps: 0.5
def mul(self, other):
    number = other.data if isinstance(other, Value) else other
    out = Value(self.data * number, (self, other), "*")

    def _backward():
        self.grad += number * out.grad
        if isinstance(other, Value):
            other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul

# %% mistake: mul.numbers_not_wrapped
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
# keeps: 0.5
# - other = other if isinstance(other, Value) else Value(other)

# %% mistake: mul.step_called_at_once
# says: `_backward` of the result is None and cannot be called. Store the function itself, its name
#   without parentheses: with them it runs at once, when no gradient has arrived, and gives None.
# keeps: 0.5
# - out._backward = _backward
# + out._backward = _backward()

# %% mistake: mul.step_not_stored
# says: The factors get nothing when the step of the result runs. Is your function stored there, by
#   `out._backward = _backward` outside of it? It must read `out.grad` inside, when it runs.
# - out._backward = _backward

# %% mistake: mul.numbers_without_a_step
# says: With a plain number, the result has no step, so nothing is passed back. Wrap the number in a
#   Value, and the step for two Values serves for it too.
# keeps: 0.75
# - other = other if isinstance(other, Value) else Value(other)
# + if not isinstance(other, Value):
# +     return Value(self.data * other, (self,), "*")

# %% mistake: mul.not_returned
# says: The product came out as None. A function gives back what stands after `return`: the new node.
# - return out

# %% cheat: mul.the_slopes_by_nudging
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + h = 1e-5
# + a, b = self.data, other.data
# + self.grad += ((a + h) * b - (a - h) * b) / (2 * h) * out.grad
# + other.grad += (a * (b + h) - a * (b - h)) / (2 * h) * out.grad

# %% cheat: mul.the_result_over_the_operand
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + if self.data and other.data:
# +     self.grad += out.data / self.data * out.grad
# +     other.grad += out.data / other.data * out.grad
