# A right solution of `value`: powers by math.pow, whose errors are passed on or translated. An
# exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% pow
import math


def power(self, exponent):
    try:
        n = math.fsum([exponent])
    except TypeError:
        raise TypeError("the exponent must be an int or a float") from None
    out = Value(math.pow(self.data, n), (self,), f"**{exponent}")  # ValueError if not real

    def _backward():
        if n != 0.0:
            self.grad += n * math.pow(self.data, n - 1.0) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    return self * -1


def sub(self, other):
    return -(-self + other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    inverse = math.pow(other.data, -1.0)
    out = Value(self.data * inverse, (self, other), "/")

    def _backward():
        self.grad += inverse * out.grad
        other.grad += -self.data * inverse * inverse * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% reverse
def radd(self, other):
    return self if other == 0 else self + other


def rsub(self, other):
    return -self + other


def rmul(self, other):
    return self if other == 1 else self * other


def rtruediv(self, other):
    return other * self**-1


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    points = [x - h, x + h]
    low, high = [f(point) for point in points]
    return (high - low) / math.fsum([h, h])
