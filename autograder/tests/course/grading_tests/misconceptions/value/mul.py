# Read as text, never imported: docs/authors.md says what stands here.

# %% example: mul
# about: a product of two nodes
x, y = Value(2.0), Value(-3.0)
x.grad = 1.0  # collected elsewhere
z = x * y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad, z._op, x in z._prev, y in z._prev

# %% example: mul
# about: a node and a plain number
x = Value(2.0)
z = x * 1.5
# observe: z.data

# %% mistake: mul.own_data
# says: Each operand got its own number. Its part of the gradient is the other's number.
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad += self.data * out.grad
# + other.grad += other.data * out.grad

# %% mistake: mul.overwrites
# says: The second use overwrote the first. Gradients are added up: use `+=`.
# - self.grad += other.data * out.grad
# - other.grad += self.data * out.grad
# + self.grad = other.data * out.grad
# + other.grad = self.data * out.grad

# %% mistake: mul.divides
# says: The numbers were divided.
# - out = Value(self.data * other.data, (self, other), "*")
# + out = Value(self.data / other.data, (self, other), "*")
