# A right solution of `value`: nodes with slots, the steps as nested functions that read from short
# names.

# %% node
class Value:
    __slots__ = ("data", "grad", "_prev", "_op", "_backward", "label")

    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label
        self._backward = _nothing

    def __repr__(self):
        return "Value(data={}, grad={})".format(self.data, self.grad)


def _nothing():
    pass


# %% add
def add(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def step():
        for operand in (self, other):
            operand.grad += out.grad

    out._backward = step
    return out


Value.__add__ = add


# %% mul
def mul(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    a, b = self.data, other.data
    out = Value(a * b, (self, other), "*")

    def step():
        self.grad += b * out.grad
        other.grad += a * out.grad

    out._backward = step
    return out


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if type(exponent) not in (int, float):
        raise TypeError("only plain numbers may be exponents")
    x = self.data
    if x < 0 and exponent != int(exponent):
        raise ValueError("not a real number")
    out = Value(x**exponent, (self,), "**" + str(exponent))

    def step():
        if exponent != 0:
            self.grad += exponent * x ** (exponent - 1) * out.grad

    out._backward = step
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    out = Value(-self.data, (self,), "neg")

    def step():
        self.grad -= out.grad

    out._backward = step
    return out


def sub(self, other):
    return self + -other


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    return self * (other if isinstance(other, Value) else Value(other)) ** -1


Value.__truediv__ = div


# %% reverse
Value.__radd__ = Value.__add__
Value.__rmul__ = Value.__mul__


def rsub(self, other):
    return -self + other


def rtruediv(self, other):
    return self**-1 * other


Value.__rsub__ = rsub
Value.__rtruediv__ = rtruediv


# %% trace
def trace(root):
    nodes, edges = set(), set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in nodes:
            continue
        nodes.add(node)
        for operand in node._prev:
            edges.add((operand, node))
            stack.append(operand)
    return nodes, edges


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    rise = f(x + h) - f(x - h)
    run = 2 * h
    return rise / run
