# Read as text, never imported: docs/authors.md says what stands here.

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


# %% sample: node
# x: 2.5, -1.75, 0.5, -3.25, 4.0, -22.5
# y: 1.25, 3.5, -0.75, 2.25, -6.5, 41.5
# results: n.data = x; n.grad = y; started = 0.0
# facts: "Value" in text | False: the text of a node does not name its class; shows_data | False: the text of a node does not show its number; shows_grad | False: the text of a node does not show its gradient; n._op; n.label
n = Value(x)
started = n.grad
n.grad = y
text = repr(n)
shows_data, shows_grad = f"{x:g}" in text, f"{y:g}" in text


# %% sample: node
# about: a node that is made from two operands
# x: 2.5, -1.75, 0.5, -3.25, 4.0, -22.5
# y: 1.25, 3.5, -0.75, 2.25, -6.5, 41.5
# results: z.data = x; z.grad = 0.0; len(z._prev) = 2; x1.grad = y
# facts: x1 in z._prev | False: the first operand is not in `_prev`; x2 in z._prev | False: the second operand is not in `_prev`; z._op; z.label; x1 == x2 | True: two nodes with equal numbers are equal
x1, x2 = Value(y), Value(y)
z = Value(x, (x1, x2), "+", "total")
x1.grad = y
x1._backward()


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
