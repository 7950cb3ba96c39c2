# A right solution of `value`: a class for every operation, whose objects are called to run the
# backward step.

# %% add
class Step:
    def __init__(self, out, *operands):
        self.out, self.operands = out, operands
        out._backward = self

    def __call__(self):
        for operand, slope in zip(self.operands, self.slopes(*[o.data for o in self.operands])):
            operand.grad += self.out.grad * slope


class Add(Step):
    def slopes(self, a, b):
        return 1.0, 1.0


class Mul(Step):
    def slopes(self, a, b):
        return b, a


def coerce(other):
    return other if hasattr(other, "_backward") else Value(other)


def add(self, other):
    other = coerce(other)
    out = Value(self.data + other.data, (self, other), "+")
    Add(out, self, other)
    return out


Value.__add__ = add


# %% mul
def mul(self, other):
    other = coerce(other)
    out = Value(self.data * other.data, (self, other), "*")
    Mul(out, self, other)
    return out


Value.__mul__ = mul
