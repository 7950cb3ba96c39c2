# Read as text, never imported: docs/authors.md says what stands here.

# %% example: node
# about: a number, and what it was computed from
x = Value(2.5)
y = Value(3, (x,), "?")
# observe: x.data, x.grad, x._op, len(x._prev), x in y._prev, y._op, callable(x._backward)

# %% mistake: node.data_cut_to_int
# says: The number was cut to a whole one. Keep it with `float`.
# - self.data = float(data)
# + self.data = int(data)

# %% mistake: node.operands_dropped
# says: The operands were not kept. Put them into `_prev`.
# - self._prev = tuple(operands)
# + self._prev = ()

# %% mistake: node.no_backward
# says: There is no `_backward`. Every Value needs one, if it does nothing.
# - self._backward = lambda: None
