# Public probes and misconceptions of `value`. This file is read as text and never imported.
#
# A cell `probe: EXERCISE` is a few lines that the visible check plays, and on its last line the
# expressions that it looks at afterwards. A cell `mistake: EXERCISE.NAME` is the whole solution
# cell as a student with that mistake would have written it. Its header names the row of the
# catalogue of mistakes that it belongs to (or `new`) and what a tutor says; `outcome: timeout`
# marks code that never ends on the hidden tests.
#
# ruff: noqa
# mypy: ignore-errors

# %% probe: node
# about: a fresh leaf
x = Value(2.5)
# observe: x.data, x.grad, callable(x._backward)

# %% probe: node
# about: a node with operands and a label
x, y = Value(2.0), Value(3.0)
z = Value(5.0, (x, y), "+", label="total")
# observe: len(z._prev), z._op, z.label

# %% probe: node
# about: a node that is not told its operands
x, y = Value(2.0), Value(3.0)
shared = x._prev is y._prev and hasattr(x._prev, "clear")
# observe: len(x._prev), shared

# %% probe: node
# about: the backward step of a leaf
x = Value(2.0)
x._backward()
# observe: x.data, x.grad

# %% probe: node
# about: the text of a node
x = Value(2.5)
x.grad = 1.25
text = repr(x)
# observe: "Value" in text, "2.5" in text, "1.25" in text, "0.0" in text


# %% mistake: node.data_cut_to_int
# row: 33
# says: The number lost its fraction: int() cuts it off. Gradients need fractions, so keep the
#   data as a float.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = int(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.grad_starts_as_none
# row: 33
# says: A fresh node's gradient is None, and nothing can be added to None. Start it at 0.0.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = None
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.grad_starts_at_one
# row: new
# says: A fresh node's gradient is 1. Only the root of a backward pass is given a 1, and only
#   then; every node starts with nothing collected yet.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 1.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.shared_list
# row: 30
# says: All leaves share one collection of operands. A default such as `[]` is made once, when
#   Python reads the `def`. Use the empty tuple, or copy what you are given.
class Value:
    def __init__(self, data, _children=[], _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = _children
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.operands_dropped
# row: 6
# says: The node forgets its operands: `_prev` is empty although operands were given. Without
#   them there is no graph to go back along.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = ()
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.operands_nested
# row: new
# says: The operands sit one level too deep: `_prev` holds a tuple that holds the operands.
#   You were given a collection already, so there is no need to put it into another.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = (_children,)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.operation_dropped
# row: new
# says: The node forgets its operation: `_op` stays empty although one was given. Keep the
#   argument, not a constant.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = ""
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.label_ignored
# row: new
# says: The label that is given is lost: `label` stays empty. Keep the argument.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = ""

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.arguments_in_another_order
# row: new
# says: The third argument ends up as the label. The order of the arguments is part of the
#   contract: data, operands, operation, label.
class Value:
    def __init__(self, data, _children=(), label="", _op=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.backward_is_none
# row: new
# says: A leaf's `_backward` is None, and None cannot be called. Store a function that takes no
#   arguments and does nothing; then a backward pass need not ask what kind of node it has.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.backward_wants_an_argument
# row: new
# says: A leaf's `_backward` cannot be called without arguments. A function that is stored on
#   the object, rather than written as a method of the class, gets no `self`.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda self: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.backward_raises
# row: new
# says: A leaf's `_backward` raises an error. It will be called in every backward pass and has
#   nothing to pass on: let it do nothing at all.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label

    def _backward(self):
        raise RuntimeError("a leaf has no backward step")

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.no_backward
# row: new
# says: The node has no `_backward` at all. Every node needs one, leaves too: a function that
#   takes no arguments and does nothing.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mistake: node.text_without_gradient
# row: new
# says: The text shows the data but not the gradient. You will want to see both, at every step.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data})"


# %% mistake: node.text_printed
# row: new
# says: `__repr__` prints the text instead of returning it, so Python is handed None. Return the
#   string; Python does the printing.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        print(f"Value(data={self.data}, grad={self.grad})")


# %% mistake: node.text_is_fixed
# row: new
# says: The text always says the same gradient, whatever the node holds. Put the attribute into
#   the f-string, not the number it starts with.
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label
        self._text = f"Value(data={self.data}, grad={self.grad})"

    def __repr__(self):
        return self._text


# %% probe: add
# about: a sum of two nodes
x, y = Value(2.0), Value(-3.0)
z = x + y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad


# %% probe: add
# about: the graph behind a sum
x, y = Value(2.0), Value(-3.0)
z = x + y
# observe: x in z._prev, y in z._prev, z._op


# %% probe: add
# about: a node added to itself
x = Value(3.0)
y = x + x
y.grad = 2.0
y._backward()
# observe: y.data, x.grad


# %% probe: add
# about: a node plus a plain number; the last line is the step of a leaf
x = Value(2.0)
z = x + 1.5
z.grad = 4.0
z._backward()
x._backward()
# observe: z.data, x.grad


# %% probe: add
# about: a node under two names, one of them moved on
a = Value(2.0)
b = a
b += 1.0
# observe: a.data, b.data, b is a, b is None


# %% mistake: add.overwrites
# row: 1
# says: The second use overwrote the first. An operand may be used in several places, and every
#   use counts: write `+=`, not `=`.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad = 1.0 * out.grad
        other.grad = 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.upstream_dropped
# row: 4
# says: Each operand got 1, whatever the result's gradient was. The local derivative is right;
#   the chain rule is missing: multiply it by the gradient of the result.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0
        other.grad += 1.0

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.upstream_is_data
# row: new
# says: The operands got the result's number instead of its gradient. What flows backward is
#   `out.grad`, not `out.data`.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.data
        other.grad += 1.0 * out.data

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.other_forgotten
# row: 5
# says: The left operand learned, the right one did not. Both operands of a sum have a share in
#   the gradient.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.self_forgotten
# row: 5
# says: The right operand learned, the left one did not. Both operands of a sum have a share in
#   the gradient.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.right_operand_not_recorded
# row: 6
# says: The graph lost an edge: `_prev` of the sum holds the left operand only. A backward pass
#   would never reach the right one.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self,), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.left_operand_not_recorded
# row: 6
# says: The graph lost an edge: `_prev` of the sum holds the right operand only. A backward pass
#   would never reach the left one.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (other,), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.nothing_recorded
# row: 6
# says: The sum does not know what it was computed from: its `_prev` is empty. Hand both
#   operands to the new node.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, _op="+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.operation_not_recorded
# row: new
# says: The sum's `_op` is empty. Tell the new node which operation made it; drawings and your
#   own eyes will need it.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other))

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.numbers_not_wrapped
# row: 7
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
def add(self, other):
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.wraps_everything
# row: new
# says: A node was wrapped in another node. Only plain numbers need wrapping: ask with
#   `isinstance` first.
def add(self, other):
    other = Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.step_called_at_once
# row: 29
# says: The backward step ran at once, when no gradient had arrived, and what it returned, None,
#   was stored. Store the function itself: its name, without parentheses.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward()
    return out


Value.__add__ = add


# %% mistake: add.step_not_stored
# row: 29
# says: The backward step was written but never stored, so the operands get nothing. Put it on
#   the new node as its `_backward`.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    return out


Value.__add__ = add


# %% mistake: add.step_stored_on_operand
# row: new
# says: The backward step was stored on an operand. It belongs to the result: that is the node
#   whose gradient it passes on.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    self._backward = _backward
    return out


Value.__add__ = add


# %% mistake: add.not_returned
# row: new
# says: The sum came out as None: the function makes the node and then does not return it.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward


Value.__add__ = add


# %% mistake: add.returns_number
# row: new
# says: The sum is a plain number, so the graph ends there. Return a new node that holds it.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return self.data + other.data


Value.__add__ = add


# %% mistake: add.changes_left_operand
# row: 31
# says: Adding changed the left operand itself. A sum is a new node; the operands keep their
#   numbers.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    self.data += other.data
    return self


Value.__add__ = add


# %% mistake: add.in_place
# row: 31
# says: `b += 1` changed the node that `a` stands for as well. Do not define `__iadd__`: without
#   it, Python makes a new node with `__add__`. Take it out, then restart the kernel: the class
#   that is in memory keeps it.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 1.0 * out.grad
        other.grad += 1.0 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


def iadd(self, other):
    self.data += other.data if isinstance(other, Value) else other
    return self


Value.__iadd__ = iadd


# %% mistake: add.gradient_like_product
# row: 3
# says: Each operand got the other's number. That is the rule for a product; the slope of a sum
#   with respect to either operand is 1.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% probe: mul
# about: a product of two nodes
x, y = Value(2.0), Value(-3.0)
z = x * y
z.grad = 5.0
z._backward()
# observe: z.data, x.grad, y.grad


# %% probe: mul
# about: the graph behind a product
x, y = Value(2.0), Value(-3.0)
z = x * y
# observe: x in z._prev, y in z._prev, z._op


# %% probe: mul
# about: a node multiplied by itself
x = Value(3.0)
y = x * x
y.grad = 2.0
y._backward()
# observe: y.data, x.grad


# %% probe: mul
# about: a node times a plain number
x = Value(2.0)
z = x * 1.5
z.grad = 4.0
z._backward()
# observe: z.data, x.grad


# %% probe: mul
# about: a node under two names, one of them scaled
a = Value(2.0)
b = a
b *= 3.0
# observe: a.data, b.data, b is a


# %% mistake: mul.own_data
# row: 3
# says: Each operand got its own number. How a product reacts to one factor depends on the
#   other: the derivative of a·b with respect to a is b.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += self.data * out.grad
        other.grad += other.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.overwrites
# row: 2
# says: The second use overwrote the first. In `x * x` both factors are x, and both uses count:
#   write `+=`, not `=`.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad = other.data * out.grad
        other.grad = self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.upstream_dropped
# row: 4
# says: The local derivatives are right; the chain rule is missing. Multiply each of them by the
#   gradient of the result.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data
        other.grad += self.data

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.upstream_is_data
# row: new
# says: The gradients grow with the product itself. What flows backward is the result's
#   gradient, `out.grad`; its number is not needed.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.data
        other.grad += self.data * out.data

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.upstream_added
# row: new
# says: The local derivative and the result's gradient were added. Along a path slopes are
#   multiplied; only separate paths are added.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data + out.grad
        other.grad += self.data + out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.other_forgotten
# row: 5
# says: The left factor learned, the right one did not. Both factors have a share in the
#   gradient.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.both_shares_to_self
# row: 5
# says: Both shares of the gradient went to the left factor. The second one belongs to `other`.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        self.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.gradient_like_sum
# row: new
# says: Both factors got the result's gradient unchanged. That is the rule for a sum; in a
#   product each factor's share is scaled by the other factor.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.adds
# row: new
# says: The result is the sum. The operator inside is still the one of `add`.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.operation_copied
# row: new
# says: The product says that it is a sum: its `_op` was copied from `add`.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "+")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.right_operand_not_recorded
# row: 6
# says: The graph lost an edge: `_prev` of the product holds the left factor only. A backward
#   pass would never reach the right one.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self,), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.numbers_not_wrapped
# row: 7
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
def mul(self, other):
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mistake: mul.step_called_at_once
# row: 29
# says: The backward step ran at once, when no gradient had arrived, and what it returned, None,
#   was stored. Store the function itself: its name, without parentheses.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward()
    return out


Value.__mul__ = mul


# %% mistake: mul.step_not_stored
# row: 29
# says: The backward step was written but never stored, so the factors get nothing. Put it on
#   the new node as its `_backward`.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    return out


Value.__mul__ = mul


# %% mistake: mul.not_returned
# row: new
# says: The product came out as None: the function makes the node and then does not return it.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward


Value.__mul__ = mul


# %% mistake: mul.in_place
# row: 31
# says: `b *= 3` changed the node that `a` stands for as well. Do not define `__imul__`: without
#   it, Python makes a new node with `__mul__`. Take it out, then restart the kernel: the class
#   that is in memory keeps it.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


def imul(self, other):
    self.data *= other.data if isinstance(other, Value) else other
    return self


Value.__imul__ = imul


# %% probe: pow
# about: a cube, of a node that has collected a gradient already
x = Value(2.0)
x.grad = 10.0
y = x**3
y.grad = 5.0
y._backward()
# observe: y.data, x.grad, x in y._prev


# %% probe: pow
# about: negative and fractional powers
x = Value(4.0)
# observe: (x**-2).data, (x**0.5).data


# %% probe: pow
# about: powers at zero, each with a gradient of 5
x = Value(0.0)
for y in (x**0, x**1, x**2):
    y.grad = 5.0
    y._backward()
# observe: x.grad


# %% probe: pow
# about: an exponent that is a node
x, n = Value(2.0), Value(3.0)
try:
    outcome = f"a result, {(x**n).data}"
except TypeError:
    outcome = "TypeError"
# observe: outcome


# %% probe: pow
# about: a power that is not a real number
x = Value(-4.0)
try:
    outcome = f"a result, {(x**0.5).data:.1f}"
except (ValueError, TypeError, ArithmeticError):
    outcome = "an error"
# observe: outcome


# %% mistake: pow.factor_dropped
# row: 15
# says: The exponent in front is missing. Bring n down as a factor, then subtract 1 from the
#   exponent.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.exponent_kept
# row: 15
# says: The exponent stayed as it was. Bring n down as a factor, then subtract 1 from the
#   exponent.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data**exponent
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.parentheses_forgotten
# row: 15
# says: Python read `x ** n - 1` as `(x ** n) - 1`. Put the smaller exponent in parentheses.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data**exponent - 1
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.exponential_rule
# row: new
# says: That is the derivative of aˣ, where the variable is the exponent. Here the variable is
#   the base: n times x to the power n - 1.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = self.data**exponent * math.log(self.data)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.overwrites
# row: 2
# says: The power overwrote what its base had collected elsewhere. It is right alone and forgets
#   beside any other use: write `+=`, not `=`.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad = local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.upstream_dropped
# row: 4
# says: The local derivative is right; the chain rule is missing. Multiply it by the gradient of
#   the result.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.node_as_exponent
# row: 16
# says: A node was accepted as the exponent. It would get no gradient, and nobody would notice:
#   raise TypeError unless the exponent is an int or a float.
def power(self, exponent):
    exponent = exponent.data if isinstance(exponent, Value) else exponent
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.asserts
# row: 16
# says: A node as the exponent is refused with an assertion. Assertions are for your own doubts
#   and can be switched off; a wrong argument deserves a TypeError.
def power(self, exponent):
    assert isinstance(exponent, (int, float)), "the exponent must be an int or a float"
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.refuses_with_value_error
# row: 16
# says: A node as the exponent is refused with ValueError. The argument is of the wrong type,
#   whatever its value: raise TypeError.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise ValueError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.whole_exponents_only
# row: new
# says: Fractional exponents are refused. `isinstance` takes a tuple of types: an int and a
#   float are both welcome.
def power(self, exponent):
    if not isinstance(exponent, int):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.repeated_multiplication
# row: new
# says: Multiplying x by itself n times works for whole n above zero only. Python's own `**`
#   knows negative and fractional exponents too.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = 1.0
    for _ in range(exponent):
        result *= self.data
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.divides_by_zero
# row: new
# says: `x ** 0` at x = 0 fails in the backward step, where 0 ** -1 divides by zero. A power of
#   0 is constant, so its derivative is 0: treat it before the general rule.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.zero_base_is_flat
# row: new
# says: At x = 0 the derivative was set to 0 for every exponent. It is the exponent 0 that makes
#   a constant; `x ** 1` has the slope 1 everywhere.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if self.data == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.not_real_accepted
# row: new
# says: A negative number to a fractional power is not real, and no error said so. Look at the
#   power before you make the node, and raise ValueError.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        result = result.real
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.base_not_recorded
# row: 6
# says: The graph lost an edge: the base is missing from `_prev`, so no backward pass will go on
#   from there.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.step_not_stored
# row: 29
# says: The backward step was written but never stored, so the base gets nothing. Put it on the
#   new node as its `_backward`.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    return out


Value.__pow__ = power


# %% mistake: pow.step_called_at_once
# row: 29
# says: The backward step ran at once, when no gradient had arrived, and what it returned, None,
#   was stored. Store the function itself: its name, without parentheses.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward()
    return out


Value.__pow__ = power


# %% probe: neg_sub
# about: a difference; the loop runs every step behind it
x, y = Value(10.0), Value(4.0)
z = x - y
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad, y.grad, y in steps


# %% probe: neg_sub
# about: a node with its sign turned
x = Value(3.0)
z = -x
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.data, x.grad


# %% probe: neg_sub
# about: a node minus a plain number
x = Value(3.0)
z = x - 1.5
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad


# %% probe: neg_sub
# about: a node minus itself
x = Value(3.0)
z = x - x
z.grad = 5.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad


# %% mistake: neg_sub.negation_cut_off
# row: 11
# says: `-x` is a fresh leaf without operands: the graph is cut there, and x never learns. A
#   node made from `.data` alone remembers nothing.
def neg(self):
    return Value(-self.data)


def sub(self, other):
    return self + (-other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.difference_cut_off
# row: 11
# says: The difference is a fresh leaf without operands: the graph is cut there. A node made
#   from `.data` alone remembers nothing.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data - other.data)


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.negation_keeps_sign
# row: new
# says: The gradient of `-x` arrives at x with its sign unchanged. The slope of -x is -1.
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
# row: 12
# says: Both operands got the gradient with a plus. A larger second operand makes the difference
#   smaller, so its sign flips.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.minus_for_both
# row: 12
# says: Both operands got the gradient with a minus. Only the second one pulls the difference
#   down.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad -= out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.order_swapped
# row: 9
# says: `x - y` gave `y - x`. `self` stands on the left of the sign.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return other + (-self)


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.numbers_not_wrapped
# row: 7
# says: A plain number has no `data`. Wrap it in a Value before you use it as a node.
def neg(self):
    return self * -1


def sub(self, other):
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.negates_in_place
# row: 31
# says: `-x` turned the sign of x itself. The result is a new node; x keeps its number.
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
# row: 2
# says: The second use overwrote the first. In `x - x` both uses count: write `+=` and `-=`, not
#   `=`.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad = out.grad
        other.grad = -out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.upstream_dropped
# row: 4
# says: The operands got 1 and -1, whatever the result's gradient was. The signs are right; the
#   chain rule is missing.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += 1.0
        other.grad -= 1.0

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.other_forgotten
# row: 5
# says: The first operand learned, the second one did not. Both have a share in the gradient of
#   a difference.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.circular
# row: new
# says: `neg` ends up calling itself: a `-` inside it is `neg` again, or `sub`, which is written
#   with `neg`. One of the two must stand on its own.
def neg(self):
    return Value(0.0) - self


def sub(self, other):
    return self + (-other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% mistake: neg_sub.right_operand_not_recorded
# row: 6
# says: The graph lost an edge: the second operand is missing from `_prev`, so a backward pass
#   that goes on from there never reaches it.
def neg(self):
    return self * -1


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self,), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% probe: div
# about: a quotient; the loop runs every step behind it
x, y = Value(7.0), Value(2.0)
z = x / y
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad, y.grad, y in steps


# %% probe: div
# about: a node divided by a plain number
x = Value(6.0)
z = x / 4
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad


# %% probe: div
# about: a node divided by itself
x = Value(2.0)
z = x / x
z.grad = 4.0
steps = [z]
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: z.data, x.grad


# %% mistake: div.sign_lost
# row: 13
# says: The divisor's gradient has the wrong sign. A larger divisor makes the quotient smaller:
#   the derivative with respect to b is -a/b².
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.floor
# row: 14
# says: The fraction is gone: `//` rounds down to a whole number. True division is `/`.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data // other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.other_forgotten
# row: 5
# says: The numerator learned, the divisor did not. Both operands have a share in the gradient.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.numerator_like_product
# row: 3
# says: The numerator's gradient was multiplied by the divisor. That is the rule for a product;
#   the slope of a/b with respect to a is 1/b.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.inverted
# row: 10
# says: `x / y` gave `y / x`. `self` stands above the line.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return other * self**-1


Value.__truediv__ = div


# %% mistake: div.numerator_missing_below
# row: 13
# says: The divisor's gradient is that of 1/b. With a above the line, the slope is a times as
#   steep.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -1.0 / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.square_forgotten
# row: 13
# says: The divisor's gradient lacks a square: the derivative of a/b with respect to b is -a/b².
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -self.data / other.data * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.square_without_parentheses
# row: 13
# says: `a / b * b` divides by b and then multiplies by it again. Put the square in parentheses,
#   or write `b**2`.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -self.data / other.data * other.data * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.divisor_cut_off
# row: 11
# says: The divisor became a plain number on the way, so the graph does not know it and it never
#   learns. Work with the node, not with its `.data`.
def div(self, other):
    other = other.data if isinstance(other, Value) else other
    return self * (1.0 / other)


Value.__truediv__ = div


# %% mistake: div.cut_off
# row: 11
# says: The quotient is a fresh leaf without operands: the graph is cut there, and nobody
#   learns. A node made from `.data` alone remembers nothing.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data / other.data)


Value.__truediv__ = div


# %% mistake: div.overwrites
# row: 2
# says: The second use overwrote the first. In `x / x` both uses count: write `+=`, not `=`.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad = 1.0 / other.data * out.grad
        other.grad = -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.upstream_dropped
# row: 4
# says: The local derivatives are right; the chain rule is missing. Multiply each of them by the
#   gradient of the result.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data
        other.grad += -self.data / other.data**2

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.numbers_not_wrapped
# row: 7
# says: A plain number has no `data`. Look whether `other` is a Value, and wrap it in one if it
#   is not, before you use it.
def div(self, other):
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.shares_swapped
# row: new
# says: Each operand got the share that belongs to the other. The numerator's is 1/b, the
#   divisor's is -a/b².
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += -self.data / other.data**2 * out.grad
        other.grad += 1.0 / other.data * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% mistake: div.right_operand_not_recorded
# row: 6
# says: The graph lost an edge: the divisor is missing from `_prev`, so a backward pass that
#   goes on from there never reaches it.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self,), "/")

    def _backward():
        self.grad += 1.0 / other.data * out.grad
        other.grad += -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% probe: reverse
# about: a plain number on the left of each sign
x = Value(2.0)
# observe: (3 + x).data, (5 - x).data, (4 * x).data, (6 / x).data


# %% probe: reverse
# about: gradients of 5 - x and 6 / x; the loop runs every step behind them
x, y = Value(2.0), Value(2.0)
steps = [5 - x, 6 / y]
steps[0].grad = steps[1].grad = 4.0
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: x.grad, y.grad


# %% probe: reverse
# about: gradients of 3 + x and 4 * x; the loop runs every step behind them
x, y = Value(2.0), Value(2.0)
steps = [3 + x, 4 * y]
steps[0].grad = steps[1].grad = 5.0
for node in steps:
    node._backward()
    steps += node._prev  # next, what it was computed from
# observe: x.grad, y.grad


# %% probe: reverse
# about: the sum of a list
x, y = Value(2.0), Value(3.0)
total = sum([x, y])
# observe: total.data


# %% mistake: reverse.radd_missing
# row: 8
# says: Python cannot add a node to a number on its left, and `sum` starts from the number 0.
#   When the int does not know how, Python asks the right operand for `__radd__`: attach it.
def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rmul_missing
# row: 8
# says: `2 * x` fails: the int does not know how to multiply a node, so Python asks the right
#   operand for `__rmul__`. Attach it.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other) - self


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rsub_missing
# row: 9
# says: `5 - x` fails: the int does not know how to subtract a node, so Python asks the right
#   operand for `__rsub__`. Attach it.
def radd(self, other):
    return self + other


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rtruediv_missing
# row: 10
# says: `6 / x` fails: the int does not know how to divide by a node, so Python asks the right
#   operand for `__rtruediv__`. Attach it.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul


# %% mistake: reverse.rsub_order
# row: 9
# says: `5 - x` gave `x - 5`. In `rsub`, `self` stands on the right of the sign.
def radd(self, other):
    return self + other


def rsub(self, other):
    return self - other


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rtruediv_order
# row: 10
# says: `6 / x` gave `x / 6`. In `rtruediv`, `self` stands below the line.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return self / other


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.both_orders
# row: 9
# says: Both `5 - x` and `6 / x` came out the wrong way round. In the reflected methods `self`
#   stands on the right; only for sums and products does the order not matter.
def radd(self, other):
    return self + other


def rsub(self, other):
    return self - other


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return self / other


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.radd_ignores_number
# row: new
# says: `3 + x` gave x: the number was dropped. That is right for the 0 from which `sum` starts,
#   and for nothing else.
def radd(self, other):
    return self


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.radd_for_zero_only
# row: new
# says: `radd` knows what to do with the 0 from which `sum` starts and returns None for other
#   numbers. Any number may stand on the left.
def radd(self, other):
    if other == 0:
        return self


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.radd_cut_off
# row: 11
# says: `3 + x` is a fresh leaf: the graph is cut there, and x never learns. Add to the node,
#   not to its `.data`.
def radd(self, other):
    return Value(other + self.data)


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rmul_cut_off
# row: 11
# says: `4 * x` is a fresh leaf: the graph is cut there, and x never learns. Multiply the node,
#   not its `.data`.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return Value(other * self.data)


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rsub_cut_off
# row: 11
# says: `5 - x` is a fresh leaf: the graph is cut there, and x never learns. Subtract the node,
#   not its `.data`.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other - self.data)


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other) / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.rtruediv_cut_off
# row: 11
# says: `6 / x` is a fresh leaf: the graph is cut there, and x never learns. Divide by the node,
#   not by its `.data`.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other) - self


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other / self.data)


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.all_cut_off
# row: 11
# says: The results are right, but they are fresh leaves, and x never learns. Build them from
#   the node itself, not from its `.data`.
def radd(self, other):
    return Value(other + self.data)


def rsub(self, other):
    return Value(other - self.data)


def rmul(self, other):
    return Value(other * self.data)


def rtruediv(self, other):
    return Value(other / self.data)


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.calls_itself
# row: new
# says: `other + self` inside `radd` is the very expression that called it, so it goes round for
#   ever. Turn it about, or make the number a node first.
def radd(self, other):
    return other + self


def rsub(self, other):
    return other - self


def rmul(self, other):
    return other * self


def rtruediv(self, other):
    return other / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% mistake: reverse.numbers_not_wrapped
# row: 7
# says: The number on the left has no `data`: it is no node yet. Wrap it in a Value first.
def radd(self, other):
    return self + other


def rsub(self, other):
    return Value(other.data - self.data, (other, self), "-")


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return Value(other.data / self.data, (other, self), "/")


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% probe: trace
# about: a small graph
x, y, z = Value(2.0), Value(3.0), Value(10.0)
product = Value(6.0, (x, y), "*")
root = Value(16.0, (product, z), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), root in nodes, (x, product) in edges


# %% probe: trace
# about: x + x
x = Value(3.0)
root = Value(6.0, (x, x), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)


# %% probe: trace
# about: two paths that meet again
x = Value(3.0)
left, right = Value(9.0, (x,), "**2"), Value(27.0, (x,), "**3")
root = Value(36.0, (left, right), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), (x, left) in edges, (x, right) in edges


# %% probe: trace
# about: different nodes with the same number
x, y = Value(2.0), Value(2.0)
root = Value(4.0, (x, y), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)


# %% probe: trace
# about: a chain of 5000 operations
node = Value(1.0)
for step in range(5000):
    node = Value(1.0, (node,), "+")
nodes, edges = trace(node)
# observe: len(nodes), len(edges)


# %% probe: trace
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
nodes, edges = trace(y)
# observe: len(nodes), Watched.looks < 200


# %% mistake: trace.recursive
# row: 26
# says: The walk is right, but the function calls itself once for every level, and Python stops
#   it on a deep graph. Keep a list of the nodes that are still to be visited, and loop until it
#   is empty.
def trace(root):
    nodes, edges = set(), set()

    def visit(node):
        if node not in nodes:
            nodes.add(node)
            for operand in node._prev:
                edges.add((operand, node))
                visit(operand)

    visit(root)
    return nodes, edges


# %% mistake: trace.walks_every_path
# row: 26
# says: The walk follows every path, and a shared node doubles their number. Remember which
#   nodes you have met, and go on only from new ones.
# outcome: timeout
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((operand, node))
            nodes.add(operand)
            to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.met_by_number
# row: 27
# says: Two nodes with the same number were taken for one. Equal numbers are not the same node:
#   remember the nodes, not their data.
def trace(root):
    nodes = [root]
    edges = []
    met = {root.data}
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            if (operand, node) not in edges:
                edges.append((operand, node))
            if operand.data not in met:
                met.add(operand.data)
                nodes.append(operand)
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.edges_turned_round
# row: new
# says: The edges point the wrong way. An edge goes with the computation: (operand, result).
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((node, operand))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.root_missing
# row: new
# says: The root is not among the nodes. It is part of its own graph, also when it stands alone.
def trace(root):
    nodes = set()
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((operand, node))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.leaves_missing
# row: new
# says: Nodes without operands are not among the nodes. A leaf is a node like any other.
def trace(root):
    nodes = set()
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            nodes.add(node)
            edges.add((operand, node))
            if operand not in nodes:
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.second_edge_missing
# row: new
# says: An edge to a node that was met before is missing. A node is visited once, but every
#   arrow that leaves it counts: record the edge before you ask whether the operand is new.
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            if operand not in nodes:
                nodes.add(operand)
                edges.add((operand, node))
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.edge_for_each_use
# row: new
# says: `x + x` gave the same edge twice. An edge that is there already need not be recorded
#   again; a set takes care of it.
def trace(root):
    nodes = {root}
    edges = []
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.append((operand, node))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.node_for_each_use
# row: new
# says: A node that is used twice appears twice. Mark it as met when you put it on the list, not
#   only when you come to it.
def trace(root):
    nodes = []
    edges = set()
    expanded = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        nodes.append(node)
        if node in expanded:
            continue
        expanded.add(node)
        for operand in node._prev:
            edges.add((operand, node))
            to_visit.append(operand)
    return nodes, edges


# %% mistake: trace.one_level
# row: new
# says: Only the root's own operands were found. They have operands too: put each new node on
#   the list of those still to be visited.
def trace(root):
    nodes = {root}
    edges = set()
    for operand in root._prev:
        nodes.add(operand)
        edges.add((operand, root))
    return nodes, edges


# %% mistake: trace.first_operand_only
# row: new
# says: The walk follows the first operand only. Each operand of a node leads on to a part of
#   the graph.
def trace(root):
    nodes = {root}
    edges = set()
    node = root
    while node._prev:
        operand = list(node._prev)[0]
        nodes.add(operand)
        edges.add((operand, node))
        node = operand
    return nodes, edges


# %% mistake: trace.nodes_only
# row: new
# says: The function returns the nodes alone. It should return a pair: the nodes, and the edges.
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((operand, node))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)
    return nodes


# %% mistake: trace.pair_swapped
# row: new
# says: The pair comes back to front. The nodes are first, the edges second.
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((operand, node))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)
    return edges, nodes


# %% mistake: trace.nothing_returned
# row: new
# says: The function collects everything and then does not return it.
def trace(root):
    nodes = {root}
    edges = set()
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        for operand in node._prev:
            edges.add((operand, node))
            if operand not in nodes:
                nodes.add(operand)
                to_visit.append(operand)


# %% probe: manual_backward
# about: two steps in a right order
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [c, b])
# observe: c.grad, b.grad, a.grad


# %% probe: manual_backward
# about: a root that holds a gradient already
a = Value(3.0)
b = a + a
b.grad = 5.0
push_gradients(b, [b])
# observe: b.grad, a.grad, b.data


# %% probe: manual_backward
# about: a wrong order, carried out as it is given
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [b, c])
# observe: c.grad, b.grad, a.grad


# %% probe: manual_backward
# about: a leaf that has collected a gradient already
a = Value(3.0)
a.grad = 10.0
b = a + a
push_gradients(b, [b, a])
# observe: b.grad, a.grad


# %% mistake: manual_backward.no_seed
# row: 23
# says: All gradients are as they were before: zero times anything is zero. The backward pass
#   starts from the root's gradient with respect to itself, which is 1.
def push_gradients(root, order):
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_is_data
# row: 23
# says: The root's gradient was set to the root's number. However large the root is, its
#   derivative with respect to itself is 1.
def push_gradients(root, order):
    root.grad = root.data
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_is_zero
# row: 23
# says: The root's gradient was set to 0, and zero times anything is zero. The derivative of the
#   root with respect to itself is 1.
def push_gradients(root, order):
    root.grad = 0.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_added
# row: 24
# says: The 1 was added to what the root held before. The seed is the one gradient that is set,
#   with `=`.
def push_gradients(root, order):
    root.grad += 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_overwrites_data
# row: new
# says: The 1 went into the root's `data`. The number stays as it is; the seed is a gradient.
def push_gradients(root, order):
    root.data = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_too_late
# row: 23
# says: The root got its 1 after the steps had run, so they passed on what was there before.
#   Seed first.
def push_gradients(root, order):
    for node in order:
        node._backward()
    root.grad = 1.0


# %% mistake: manual_backward.seeds_all
# row: 23
# says: Every node was given a gradient of 1. Only the root is; the others collect theirs from
#   the nodes that they feed.
def push_gradients(root, order):
    for node in order:
        node.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.order_turned_round
# row: 25
# says: The order was carried out backward. It is given with the root first: go through it as it
#   comes.
def push_gradients(root, order):
    root.grad = 1.0
    for node in reversed(order):
        node._backward()


# %% mistake: manual_backward.own_order
# row: new
# says: The function finds an order of its own. The order is an argument here: carry it out as
#   it is given, even if it looks wrong.
def push_gradients(root, order):
    topological = []
    visited = set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for operand in node._prev:
                visit(operand)
            topological.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(topological):
        node._backward()


# %% mistake: manual_backward.zeroes_first
# row: 32
# says: Gradients that were collected before are gone: the function set them back to zero.
#   Whoever calls it may want to add up several passes, so reset nothing.
def push_gradients(root, order):
    for node in order:
        node.grad = 0.0
    root.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.zeroes_after
# row: 35
# says: The gradients were erased after the pass. They are its result: leave them in the nodes.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node._backward()
        node.grad = 0.0


# %% mistake: manual_backward.root_skipped
# row: 23
# says: The root's own step did not run, so its gradient went nowhere. The root is the first
#   node of the order, and its step counts too.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order[1:]:
        node._backward()


# %% mistake: manual_backward.root_only
# row: new
# says: Only the root's step ran. Its operands have gradients to pass on as well: go through the
#   whole order.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()


# %% mistake: manual_backward.root_twice
# row: new
# says: The root's step ran twice, and everything behind it was counted twice. The root is in
#   the order already.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()
    for node in order:
        node._backward()


# %% mistake: manual_backward.step_not_called
# row: 29
# says: The steps were mentioned and not called: without parentheses, `node._backward` is only
#   the function's name.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node._backward


# %% probe: numerical
# about: the slope of x³ with a large step
slope = numerical_derivative(lambda x: x**3, 2.0, 0.5)
# observe: slope


# %% probe: numerical
# about: the slope of x³ with the step left out
slope = numerical_derivative(lambda x: x**3, 2.0)
# observe: round(slope, 4)


# %% probe: numerical
# about: the slope of 1 / x, which falls
slope = numerical_derivative(lambda x: 1 / x, 3.0)
# observe: round(slope, 7)


# %% mistake: numerical.forward_difference
# row: new
# says: That is the slope between x and x + h. The central difference looks to both sides and
#   leaves out the middle.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h) - f(x)) / h


# %% mistake: numerical.backward_difference
# row: new
# says: That is the slope between x - h and x. The central difference looks to both sides and
#   leaves out the middle.
def numerical_derivative(f, x, h=1e-5):
    return (f(x) - f(x - h)) / h


# %% mistake: numerical.divides_by_h
# row: new
# says: The slope is twice what it should be. From x - h to x + h is further than h.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / h


# %% mistake: numerical.run_without_parentheses
# row: new
# says: `/ 2 * h` divides by 2 and then multiplies by h. Put the run in parentheses.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / 2 * h


# %% mistake: numerical.rise_without_parentheses
# row: new
# says: Only the second value was divided by the run. Python divides before it subtracts: put
#   the rise in parentheses.
def numerical_derivative(f, x, h=1e-5):
    return f(x + h) - f(x - h) / (2 * h)


# %% mistake: numerical.ignores_h
# row: new
# says: The step that is given makes no difference. Use the argument h, not a number of your
#   own.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + 1e-5) - f(x - 1e-5)) / (2 * 1e-5)


# %% mistake: numerical.step_too_large
# row: new
# says: Without h, the step is too large to be accurate. The default is 1e-5.
def numerical_derivative(f, x, h=0.01):
    return (f(x + h) - f(x - h)) / (2 * h)


# %% mistake: numerical.half_step
# row: new
# says: The nudges are half as large as they should be. The step h is the nudge to either side,
#   so the two points are 2h apart.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h / 2) - f(x - h / 2)) / h


# %% mistake: numerical.wrong_way_round
# row: new
# says: The slope has the wrong sign. Take the value on the right minus the value on the left.
def numerical_derivative(f, x, h=1e-5):
    return (f(x - h) - f(x + h)) / (2 * h)


# %% mistake: numerical.size_only
# row: new
# says: A falling function has a negative slope. Keep the sign: it tells the way.
def numerical_derivative(f, x, h=1e-5):
    return abs(f(x + h) - f(x - h)) / (2 * h)


# %% mistake: numerical.rounded
# row: new
# says: The slope was rounded, and its later digits are lost. Return it as it is; whoever prints
#   it can round.
def numerical_derivative(f, x, h=1e-5):
    return round((f(x + h) - f(x - h)) / (2 * h), 3)


# %% mistake: numerical.floor
# row: 14
# says: The slope is a whole number: `//` rounds down. True division is `/`.
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) // (2 * h)


# %% mistake: numerical.rise_only
# row: new
# says: That is the rise alone. A slope is rise over run: divide by how far apart the two points
#   are.
def numerical_derivative(f, x, h=1e-5):
    return f(x + h) - f(x - h)
