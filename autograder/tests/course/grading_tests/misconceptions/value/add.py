# Read as text, never imported: docs/authors.md says what stands here.

# %% example: add
# about: a sum of two nodes
x, y = Value(2.0), Value(-3.0)
x.grad = 1.0  # collected elsewhere
z = x + y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad, z._op, x in z._prev, y in z._prev

# %% example: add
# about: a node and a plain number
x = Value(2.0)
z = x + 1.5
# observe: z.data

# %% mistake: add.overwrites
# says: The second use overwrote the first. Gradients are added up: use `+=`.
# - self.grad += out.grad
# - other.grad += out.grad
# + self.grad = out.grad
# + other.grad = out.grad

# %% mistake: add.operation_not_recorded
# says: The sum does not say that it is one. Give its node the sign "+".
# - out = Value(self.data + other.data, (self, other), "+")
# + out = Value(self.data + other.data, (self, other))

# %% mistake: add.numbers_not_wrapped
# says: A plain number has no `data`. Make it a Value first.
# - other = other if isinstance(other, Value) else Value(other)

# %% mistake: add.gradient_like_product
# says: That is the gradient of a product. A sum passes its gradient on as it is.
# - self.grad += out.grad
# - other.grad += out.grad
# + self.grad += other.data * out.grad
# + other.grad += self.data * out.grad
