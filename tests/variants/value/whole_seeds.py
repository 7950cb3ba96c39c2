# A right solution of `value`: gradients that start from the integer 0, and the seed an integer 1.
# An exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

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


# %% mul
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        left, right = out._prev
        left.grad += right.data * out.grad
        right.grad += left.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% manual_backward
def push_gradients(root, order):
    root.grad = 1
    for node in iter(order):
        node._backward()


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    total = 0
    for sign in (1, -1):
        total += sign * f(x + sign * h)
    return total / (2 * h)
