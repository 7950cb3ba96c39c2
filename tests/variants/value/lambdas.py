# A right solution of `value`: a functional style: one helper makes every node from its local
# slopes.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data, self.grad = float(data), 0.0
        self._prev, self._op, self.label = (*_children,), _op, label
        self._backward = lambda: None

    __repr__ = lambda self: f"Value(data={self.data}, grad={self.grad})"


# %% add
def node(data, op, *shares):
    out = Value(data, [operand for operand, _ in shares], op)

    def give(operand, slope):
        operand.grad += slope() * out.grad

    out._backward = lambda: [give(*share) for share in shares] and None
    return out


as_value = lambda x: x if isinstance(x, Value) else Value(x)


def add(self, other):
    other = as_value(other)
    return node(self.data + other.data, "+", (self, lambda: 1.0), (other, lambda: 1.0))


Value.__add__ = add


# %% mul
def mul(self, other):
    other = as_value(other)
    return node(self.data * other.data, "*", (self, lambda: other.data), (other, lambda: self.data))


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("not a plain number")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("not real")
    slope = lambda: exponent * self.data ** (exponent - 1) if exponent else 0.0
    return node(result, f"**{exponent}", (self, slope))


Value.__pow__ = power


# %% neg_sub
Value.__neg__ = lambda self: node(-self.data, "neg", (self, lambda: -1.0))


def sub(self, other):
    other = as_value(other)
    return node(self.data - other.data, "-", (self, lambda: 1.0), (other, lambda: -1.0))


Value.__sub__ = sub


# %% div
def div(self, other):
    other = as_value(other)
    return node(
        self.data / other.data,
        "/",
        (self, lambda: 1.0 / other.data),
        (other, lambda: -self.data / other.data**2),
    )


Value.__truediv__ = div


# %% reverse
Value.__radd__ = lambda self, other: as_value(other) + self
Value.__rsub__ = lambda self, other: as_value(other) - self
Value.__rmul__ = lambda self, other: as_value(other) * self
Value.__rtruediv__ = lambda self, other: as_value(other) / self


# %% trace
def trace(root):
    def reachable():
        met, rest = {root}, [root]
        while rest:
            yield (here := rest.pop())
            new = set(here._prev) - met
            met |= new
            rest += new

    nodes = list(reachable())
    return nodes, {(operand, node) for node in nodes for operand in node._prev}


# %% manual_backward
from operator import methodcaller


def push_gradients(root, order):
    root.grad = 1.0
    list(map(methodcaller("_backward"), order))


# %% numerical
numerical_derivative = lambda f, x, h=1e-5: (f(x + h) - f(x - h)) / (2 * h)
