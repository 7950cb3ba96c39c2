# A right solution of `value`: gradients that start from the integer 0, and the seed an integer 1.

# %% node
class Value:
    grad = 0
    label = ""
    _op = ""

    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data * 1.0
        self._prev = tuple(_children)
        if _op:
            self._op = _op
        if label:
            self.label = label

    def _backward(self):
        """A leaf has nothing to pass on."""

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% add
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        for operand in out._prev:
            operand.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add


# %% manual_backward
def push_gradients(root, order):
    root.grad = 1
    for node in iter(order):
        node._backward()
