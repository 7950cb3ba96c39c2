# A right solution of `value`: no closures: a node keeps its local derivatives, and one method
# passes gradients on.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label="", _slopes=()):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._slopes = tuple(_slopes)
        self.label = label

    def _backward(self):
        for operand, slope in zip(self._prev, self._slopes):
            operand.grad += slope * self.grad

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% add
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data + other.data, (self, other), "+", _slopes=(1.0, 1.0))


Value.__add__ = add


# %% mul
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    a, b = self.data, other.data
    return Value(a * b, (self, other), "*", _slopes=(b, a))


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    slope = exponent * self.data ** (exponent - 1) if exponent != 0 else 0.0
    return Value(result, (self,), f"**{exponent}", _slopes=(slope,))


Value.__pow__ = power


# %% neg_sub
def neg(self):
    return Value(-self.data, (self,), "neg", _slopes=(-1.0,))


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data - other.data, (self, other), "-", _slopes=(1.0, -1.0))


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    a, b = self.data, other.data
    return Value(a / b, (self, other), "/", _slopes=(1 / b, -a / b / b))


Value.__truediv__ = div
