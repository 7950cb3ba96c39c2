# A right solution of `value`: numbers kept as numpy scalars.

# %% node
import numpy as np


class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = np.float64(data)
        self.grad = np.float64(0.0)
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% mul
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(np.multiply(self.data, other.data), (self, other), "*")

    def _backward():
        shares = np.array([other.data, self.data]) * out.grad
        self.grad = self.grad + shares[0]
        other.grad = other.grad + shares[1]

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    with np.errstate(invalid="ignore"):
        result = np.power(self.data, float(exponent))
    if np.isnan(result):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = np.float64(0) if exponent == 0 else exponent * np.power(self.data, exponent - 1.0)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% div
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(np.divide(self.data, other.data), (self, other), "/")

    def _backward():
        self.grad += out.grad / other.data
        other.grad += -self.data / np.square(other.data) * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% manual_backward
def push_gradients(root, order):
    root.grad = np.ones(1)[0]
    for node in order:
        node._backward()


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    return np.float64((f(x + h) - f(x - h)) / (2 * h))
