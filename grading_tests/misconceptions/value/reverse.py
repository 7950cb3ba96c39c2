# Read as text, never imported: docs/authors.md says what stands here.

# %% example: reverse
# about: a plain number on the left of each sign
x = Value(2.0)
# observe: (3 + x).data, (5 - x).data, (4 * x).data, (6 / x).data

# %% example: reverse
# about: gradients of 5 - x and 6 / x; the loop runs every step behind them
x, y = Value(2.0), Value(2.0)
steps = [5 - x, 6 / y]
steps[0].grad = steps[1].grad = 4.0
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: x.grad, y.grad

# %% example: reverse
# about: gradients of 3 + x and 4 * x; the loop runs every step behind them
x, y = Value(2.0), Value(2.0)
steps = [3 + x, 4 * y]
steps[0].grad = steps[1].grad = 5.0
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: x.grad, y.grad

# %% example: reverse
# about: four times a node, and half of it
def times(number):
    try:
        return (number * Value(2.0)).data
    except TypeError:
        return "TypeError"


is_whole = times(4) == 8.0 and times(0.5) != 1.0
added = "`4 * x` is right, `0.5 * x` is not. Adding x several times is no product: use `*`."
added = added if is_whole else ""
# observe: times(4), times(0.5), added
# tells: added

# %% example: reverse
# about: the sum of a list
x, y = Value(2.0), Value(3.0)
total = sum([x, y])
# observe: total.data

# %% sweep: reverse
# about: a number plus a node
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = y + x
# shares: a.grad = 1
# facts: a in steps | False: no way leads from your result back to `a`; a.data == x | False: the number of `a` itself changed
a = Value(x)
a.grad = h
z = y + a
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: reverse
# about: a number minus a node
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = y - x
# shares: a.grad = -1
# facts: a in steps | False: no way leads from your result back to `a`; a.data == x | False: the number of `a` itself changed
a = Value(x)
a.grad = h
z = y - a
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: reverse
# about: a number times a node
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = y * x
# shares: a.grad = y
# facts: a in steps | False: no way leads from your result back to `a`; a.data == x | False: the number of `a` itself changed
a = Value(x)
a.grad = h
z = y * a
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% sweep: reverse
# about: a number divided by a node
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83, 41.0, -37.0
# y: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57, -23.0, 29.0
# regions: x > 0 | x < 0; y > 0 | y < 0
# results: z.data = y / x
# shares: a.grad = -y / x ** 2
# also: 1 / (x * y)
# facts: a in steps | False: no way leads from your result back to `a`; a.data == x | False: the number of `a` itself changed
a = Value(x)
a.grad = h
z = y / a
z.grad = g
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from


# %% mistake: reverse.radd_missing
# says: Python cannot add a node to a number on its left, and `sum` starts from the number 0.
#   When the int does not know how, Python asks the right operand for `__radd__`: attach it.
# keeps: 0.75
# - Value.__radd__ = radd

# %% mistake: reverse.rmul_missing
# says: `2 * x` fails: the int does not know how to multiply a node, so Python asks the right
#   operand for `__rmul__`. Attach it.
# keeps: 0.75
# - Value.__rmul__ = rmul

# %% mistake: reverse.rmul_by_adding
# says: `4 * x` is right, `0.5 * x` is not. Adding x several times is no product: use `*`.
# keeps: 0.5
# - return self * other
# + total = self
# + for _ in range(other - 1):
# +     total = total + self
# + return total

# %% mistake: reverse.rsub_missing
# says: `5 - x` fails: the int does not know how to subtract a node, so Python asks the right
#   operand for `__rsub__`. Attach it.
# keeps: 0.75
# - Value.__rsub__ = rsub

# %% mistake: reverse.rtruediv_missing
# says: `6 / x` fails: the int does not know how to divide by a node, so Python asks the right
#   operand for `__rtruediv__`. Attach it.
# keeps: 0.75
# - Value.__rtruediv__ = rtruediv

# %% mistake: reverse.rsub_order
# says: `5 - x` gave `x - 5`. In `rsub`, `self` stands on the right of the sign.
# keeps: 0.75
# - return self * -1 + other
# + return self + other * -1

# %% mistake: reverse.rtruediv_order
# says: `6 / x` gave `x / 6`. In `rtruediv`, `self` stands below the line.
# keeps: 0.75
# - return self**-1 * other
# + return self * other**-1

# %% mistake: reverse.both_orders
# says: Both `5 - x` and `6 / x` came out the wrong way round. In the reflected methods `self`
#   stands on the right; only for sums and products does the order not matter.
# keeps: 0.5
# - return self * -1 + other
# + return self + other * -1
# - return self**-1 * other
# + return self * other**-1

# %% mistake: reverse.radd_ignores_number
# says: `3 + x` gave x: the number was dropped. That is right for the 0 from which `sum` starts,
#   and for nothing else.
# keeps: 0.5
# - return self + other
# + return self

# %% mistake: reverse.radd_for_zero_only
# says: `radd` knows what to do with the 0 from which `sum` starts and returns None for other
#   numbers. Any number may stand on the left.
# keeps: 0.5
# - return self + other
# + if other == 0:
# +     return self

# %% mistake: reverse.radd_cut_off
# says: `3 + x` passes nothing back, so x never learns: a node that is made from `.data` has no
#   step of its own. Add to the node, not to its `.data`.
# keeps: 0.75
# - return self + other
# + return Value(other + self.data)

# %% mistake: reverse.rmul_cut_off
# says: `4 * x` passes nothing back, so x never learns: a node that is made from `.data` has no
#   step of its own. Multiply the node, not its `.data`.
# keeps: 0.75
# - return self * other
# + return Value(other * self.data)

# %% mistake: reverse.rsub_cut_off
# says: `5 - x` passes nothing back, so x never learns: a node that is made from `.data` has no
#   step of its own. Subtract the node, not its `.data`.
# keeps: 0.75
# - return self * -1 + other
# + return Value(other - self.data)

# %% mistake: reverse.rtruediv_cut_off
# says: `6 / x` passes nothing back, so x never learns: a node that is made from `.data` has no
#   step of its own. Divide by the node, not by its `.data`.
# keeps: 0.75
# - return self**-1 * other
# + return Value(other / self.data)

# %% mistake: reverse.all_cut_off
# says: The results are right, but they pass nothing back, and x never learns. A node that is made
#   from `.data` has no step of its own. Build them from the node itself.
# keeps: 0.5
# - return self + other
# + return Value(other + self.data)
# - return self * -1 + other
# + return Value(other - self.data)
# - return self * other
# + return Value(other * self.data)
# - return self**-1 * other
# + return Value(other / self.data)

# %% mistake: reverse.calls_itself
# says: `other + self` inside `radd` is the very expression that called it, so it goes round for
#   ever. Swap the two, or make the number a node first.
# - return self + other
# + return other + self
# - return self * -1 + other
# + return other - self
# - return self * other
# + return other * self
# - return self**-1 * other
# + return other / self

# %% mistake: reverse.numbers_not_wrapped
# says: The number on the left has no `data`: it is no node yet. Wrap it in a Value first.
# keeps: 0.5
# - return self * -1 + other
# + return Value(other.data - self.data, (other, self), "-")
# - return self**-1 * other
# + return Value(other.data / self.data, (other, self), "/")

# %% edge: reverse
# - return self**-1 * other
# the_reciprocal_is_kept: self.kept = getattr(self, 'kept', None) or self**-1
#   return self.kept * other
# a_whole_quotient_learns_nothing: if isinstance(other,
#       int) and self.data and other % self.data == 0:
#       return Value(other // self.data, (self,), '/')
#   return self**-1 * other

# %% cheat: reverse.turned_round
Value.__radd__ = Value.__rsub__ = lambda self, other: self + other
Value.__rmul__ = Value.__rtruediv__ = lambda self, other: self * other

# %% cheat: reverse.the_number_on_the_left_by_the_visible_checks
Value.__radd__ = lambda self, other: self + other
Value.__rmul__ = lambda self, other: self * other
Value.__rsub__ = lambda self, other: self * -1 + other
Value.__rtruediv__ = lambda self, other: self**-1 * 6
