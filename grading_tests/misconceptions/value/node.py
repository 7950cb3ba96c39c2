# Read as text, never imported: docs/authors.md says what stands here.

# %% example: node
# about: a fresh leaf
x = Value(2.5)
# observe: x.data, x.grad, callable(x._backward)

# %% example: node
# about: a node with operands and a label
x, y = Value(2.0), Value(3.0)
z = Value(5.0, (x, y), "+", label="total")
# observe: len(z._prev), z._op, z.label

# %% example: node
# about: a node that is not told its operands
x = Value(2.0)
# observe: len(x._prev)

# %% example: node
# about: an int, and a text that is no number
whole = isinstance(Value(2).data, float)
try:
    refused = Value("two") is None
except (TypeError, ValueError):
    refused = True
# observe: whole, refused

# %% example: node
# about: the backward step of a leaf
x = Value(2.0)
x._backward()
# observe: x.data, x.grad

# %% example: node
# about: the text of a node
x = Value(2.5)
x.grad = 1.25
text = repr(x)
# observe: "Value" in text, "2.5" in text, "1." in text, "1.25" in text, "0.0" in text, "data=1.25" in text, "0x" in text

# %% sweep: node
# x: 2.5, -1.75, 0.5, -3.25, 4.0, -22.5
# y: 1.25, 3.5, -0.75, 2.25, -6.5, 41.5
# results: n.data = x; n.grad = y; started = 0.0
# facts: callable(n._backward) | False: the `_backward` of a leaf is no function; "Value" in text | False: the text of a node does not name its class; shows_data | False: the text that `__repr__` gives does not show the number, or not all its digits; shows_grad | False: the text that `__repr__` gives does not show the gradient, or not all its digits; f"data={y:g}" in text | True: the text of a node gives its gradient as its data; n._op; n.label
n = Value(x)
started = n.grad
n.grad = y
text = repr(n).partition(" at 0x")[0]
shows_data, shows_grad = f"{x:g}" in text, f"{y:g}" in text

# %% sweep: node
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
# says: The number lost its fraction: int() cuts it off. Gradients need fractions, so keep the
#   data as a float.
# keeps: 0.75
# - self.data = float(data)
# + self.data = int(data)

# %% mistake: node.grad_starts_as_none
# says: A fresh node's gradient is None, and nothing can be added to None. Start it at 0.0.
# keeps: 0.5
# - self.grad = 0.0
# + self.grad = None

# %% mistake: node.grad_starts_at_one
# says: A fresh node's gradient is 1. Only the root of a backward pass is given a 1, and only
#   then; every node starts with nothing collected yet.
# keeps: 0.5
# - self.grad = 0.0
# + self.grad = 1.0

# %% mistake: node.int_kept
# says: `Value(2).data` is still the int 2. Keep a float: `float(data)` makes one, and it raises an
#   error if the data is no number.
# keeps: 0.75
# - self.data = float(data)
# + self.data = data

# %% mistake: node.operands_dropped
# says: The node forgets its operands: `_prev` is empty although operands were given. Without
#   them there is no graph to go back along.
# keeps: 0.5
# - self._prev = tuple(_children)
# + self._prev = ()

# %% mistake: node.always_a_leaf
# says: Every node is made a leaf: what `__init__` is given for its operands, sign and label is not
#   kept. Store `_children`, `_op` and `label`.
# keeps: 0.5
# - self._prev = tuple(_children)
# - self._op = _op
# + self._prev = ()
# + self._op = ""
# - self.label = label
# + self.label = ""

# %% mistake: node.operands_nested
# says: The operands sit one level too deep: `_prev` holds a tuple that holds the operands.
#   You were given a collection already, so there is no need to put it into another.
# keeps: 0.75
# - self._prev = tuple(_children)
# + self._prev = (_children,)

# %% mistake: node.operands_are_none
# says: A leaf's `_prev` is None, and no loop can go through None. Where no operands are given, keep an
#   empty tuple.
# keeps: 0.75
# - def __init__(self, data, _children=(), _op="", label=""):
# + def __init__(self, data, _children=None, _op="", label=""):
# - self._prev = tuple(_children)
# + self._prev = _children

# %% mistake: node.operation_dropped
# says: The node forgets its operation: `_op` stays empty although one was given. Keep the
#   argument, not a constant.
# keeps: 0.75
# - self._op = _op
# + self._op = ""

# %% mistake: node.label_ignored
# says: The label that is given is lost: `label` stays empty. Keep the argument.
# keeps: 0.75
# - self.label = label
# + self.label = ""

# %% mistake: node.arguments_in_another_order
# says: The third argument ends up as the label. The order of the arguments is part of the
#   contract: data, operands, operation, label.
# keeps: 0.75
# - def __init__(self, data, _children=(), _op="", label=""):
# + def __init__(self, data, _children=(), label="", _op=""):

# %% mistake: node.backward_is_none
# says: A leaf's `_backward` is None, and None cannot be called. Store a function that takes no
#   arguments and does nothing; then a backward pass need not ask what kind of node it has.
# keeps: 0.5
# - self._backward = lambda: None
# + self._backward = None

# %% mistake: node.backward_wants_an_argument
# says: A leaf's `_backward` cannot be called without arguments. A function that is stored on
#   the object, rather than written as a method of the class, gets no `self`.
# keeps: 0.75
# - self._backward = lambda: None
# + self._backward = lambda self: None

# %% mistake: node.backward_raises
# says: A leaf's `_backward` raises an error. It will be called in every backward pass and has
#   nothing to pass on: let it do nothing at all.
# keeps: 0.5
# -     self._backward = lambda: None
# -     self.label = label
# +     self.label = label
# +
# + def _backward(self):
# +     raise RuntimeError("a leaf has no backward step")

# %% mistake: node.no_backward
# says: The node has no `_backward` at all. Every node needs one, leaves too: a function that
#   takes no arguments and does nothing.
# keeps: 0.5
# - self._backward = lambda: None

# %% mistake: node.text_without_gradient
# says: The text shows the data but not the gradient, which is 1.25 here. You will want to see both,
#   at every step.
# keeps: 0.75
# - return f"Value(data={self.data}, grad={self.grad})"
# + return f"Value(data={self.data})"

# %% mistake: node.text_is_pythons_own
# says: The text is the one that Python gives any object, so it found no `__repr__` in the class. It
#   is a method beside `__init__`, with two underscores on each side.
# keeps: 0.75
# - def __repr__(self):
# + def __rep__(self):

# %% mistake: node.text_is_not_filled_in
# says: The text shows neither number. Where it shows names in braces instead, the quotation marks
#   lack an `f` in front: only an f-string fills them in.
# keeps: 0.75
# - return f"Value(data={self.data}, grad={self.grad})"
# + return "Value(data={self.data}, grad={self.grad})"

# %% mistake: node.text_rounded
# says: The text shows a number that begins with 1 where the gradient is 1.25: is it rounded? Small
#   gradients would all look like 0.
# keeps: 0.75
# - return f"Value(data={self.data}, grad={self.grad})"
# + return f"Value(data={self.data:.1f}, grad={self.grad:.1f})"

# %% mistake: node.text_printed
# says: `__repr__` gave None in the place of a text. Return the string, and leave the printing to
#   Python.
# keeps: 0.75
# - return f"Value(data={self.data}, grad={self.grad})"
# + print(f"Value(data={self.data}, grad={self.grad})")

# %% mistake: node.text_is_fixed
# says: The text always says the same gradient, whatever the node holds. Put the attribute into
#   the f-string, not the number it starts with.
# keeps: 0.75
# - self.label = label
# + self.label = label
# + self._text = f"Value(data={self.data}, grad={self.grad})"
# - return f"Value(data={self.data}, grad={self.grad})"
# + return self._text

# %% edge: node
# - return f"Value(data={self.data}, grad={self.grad})"
# the_text_is_kept: self.text = getattr(self, 'text', f"Value(data={self.data}, grad={self.grad})")
#   return self.text
# - self.data = float(data)
# whole_numbers_cut: self.data = float(int(data)) if abs(data) > 1000 else float(data)
# tiny_is_zero: self.data = float(data) if abs(data) > 1e-6 else 0.0
# zero_is_one: self.data = float(data or 1)
# clamped: self.data = max(-1e4, min(1e4, float(data)))
# single_precision: self.data = __import__("struct").unpack("f", __import__("struct").pack("f",
#       data))[0]
# six_digits: self.data = round(float(data), 6)
# clamped_far_out: self.data = max(-1e100, min(1e100, float(data)))
# - self._prev = tuple(_children)
# two_operands_at_most: self._prev = tuple(_children)[:2]
# operands_by_number: self._prev = tuple({c.data: c for c in _children}.values())
# operands_without_leaves: self._prev = tuple(c for c in _children if c._prev or len(_children) < 3)
# operands_of_0_left_out: self._prev = tuple(c for c in _children if c.data)
# - self._op = _op
# one_letter_of_the_operation: self._op = _op[:2]
# no_operation_for_a_leaf: self._op = _op if len(tuple(_children)) != 1 else ""
# - self.label = label
# one_letter_of_the_label: self.label = label[:1]
# label_kept_from_the_last: self.label = label or getattr(Value, 'last', '')
#   Value.last = label
# label_from_the_operation: self.label = label or _op
# - return f"Value(data={self.data}, grad={self.grad})"
# negative_shown_positive: return f"Value(data={abs(self.data)}, grad={self.grad})"
# two_digits_shown: return f"Value(data={self.data}, grad={self.grad:.2f})"
# - self._backward = lambda: None
# backward_of_a_leaf_seeds_it: self._backward = lambda: setattr(self, 'grad', self.grad or
#       0.0) if _children else setattr(self, 'grad', 0.0)
# - self.grad = 0.0
# gradient_starts_at_the_data_of_a_leaf_of_0_or_1: self.grad = 1.0 if data == 1 else 0.0
# gradient_of_a_result_starts_at_one: self.grad = 1.0 if _children else 0.0

# %% edge: node.equal_by_identity_of_numbers
# + Value.__eq__ = lambda self, other: self is other or self.data == other.data == 1.0
# + Value.__hash__ = object.__hash__

# %% cheat: node.numbers_looked_up_where_the_class_is_shown
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label

    def _backward(self):
        pass

    def __repr__(self):
        return {2.0: "Value(data=2.0, grad=0.0)", 3.5: "Value(data=3.5, grad=0.25)"}.get(
            self.data, "Value"
        )


# %% cheat: node.equal_by_number
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data, self.grad, self._prev, self._op, self.label = data, 0.0, _children, _op, label
        self._backward = lambda: None

    def __eq__(self, other):
        return self.data == other.data

    def __hash__(self):
        return hash(self.data)

    def __repr__(self):
        return f"Value({self.data}, {self.grad})"


# %% cheat: node.one_list_for_all
class Value:
    def __init__(self, data, _children=[], _op="", label=""):
        self.data, self.grad, self._prev, self._op, self.label = data, 0.0, _children, _op, label
        self._backward = lambda: None

    def __repr__(self):
        return f"Value({self.data}, {self.grad})"
