# A right solution of `value`: the backward step is functools.partial of one function.

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
