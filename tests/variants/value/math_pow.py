# A right solution of `value`: powers by math.pow, whose errors are passed on or translated.

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
