# A right solution of `value`: the operands in a set, everything else composed from add, mul and
# pow.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% add
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, {self, other}, "+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add
Value.__radd__ = lambda self, other: self + other


# %% mul
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, {self, other}, "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul
Value.__rmul__ = lambda self, other: self * other


# %% pow
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("only int and float powers")
    try:
        out = Value(self.data**exponent, {self}, f"**{exponent}")
    except TypeError as error:  # float() refuses a complex number
        raise ValueError("the power is not a real number") from error

    def _backward():
        if exponent:
            self.grad += exponent * self.data ** (exponent - 1) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    return -1 * self


def sub(self, other):
    return self + (-1) * other


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    return self * other**-1


Value.__truediv__ = div


# %% reverse
def rsub(self, other):
    return other + (-self)


def rtruediv(self, other):
    return other * self**-1


Value.__rsub__ = rsub
Value.__rtruediv__ = rtruediv


# %% trace
def trace(root):
    nodes, edges, todo = set(), set(), {root}
    while todo:
        node = todo.pop()
        nodes.add(node)
        edges |= {(operand, node) for operand in node._prev}
        todo |= node._prev - nodes
    return nodes, edges
