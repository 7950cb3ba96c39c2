# A right solution of `value`: the backward step is functools.partial of one function. An exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% add
from functools import partial


def pass_on(out, *shares):
    for operand, slope in shares:
        operand.grad = operand.grad + slope * out.grad


def add(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    out = Value(self.data + other.data, [self, other], "+")
    out._backward = partial(pass_on, out, (self, 1.0), (other, 1.0))
    return out


Value.__add__ = add


# %% mul
def mul(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    out = Value(self.data * other.data, [self, other], "*")
    out._backward = partial(pass_on, out, (self, other.data), (other, self.data))
    return out


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if isinstance(exponent, Value):
        raise TypeError("the exponent is a Value")
    if self.data < 0 and exponent != int(exponent):
        raise ValueError("not a real number")
    out = Value(self.data**exponent, [self], f"**{exponent}")
    slope = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
    out._backward = partial(pass_on, out, (self, slope))
    return out


Value.__pow__ = power


# %% div
def div(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    out = Value(self.data / other.data, [self, other], "/")
    shares = (self, 1 / other.data), (other, -out.data / other.data)
    out._backward = partial(pass_on, out, *shares)
    return out


Value.__truediv__ = div


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    above, below = map(f, (x + h, x - h))
    return (above - below) / h / 2
