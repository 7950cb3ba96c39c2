# A right solution of `value`: the stubs are untouched, and the last cell holds the whole class with
# all its methods.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        raise NotImplementedError()

    def __repr__(self):
        raise NotImplementedError()


# %% add
def add(self, other):
    raise NotImplementedError()


Value.__add__ = add


# %% mul
def mul(self, other):
    raise NotImplementedError()


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    raise NotImplementedError()


Value.__pow__ = power


# %% neg_sub
def neg(self):
    raise NotImplementedError()


def sub(self, other):
    raise NotImplementedError()


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    raise NotImplementedError()


Value.__truediv__ = div


# %% reverse
def radd(self, other):
    raise NotImplementedError()


def rsub(self, other):
    raise NotImplementedError()


def rmul(self, other):
    raise NotImplementedError()


def rtruediv(self, other):
    raise NotImplementedError()


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% manual_backward
def push_gradients(root, order):
    raise NotImplementedError()


# %% trace
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, exponent):
        if not isinstance(exponent, (int, float)):
            raise TypeError("the exponent must be an int or a float")
        value = self.data**exponent
        if isinstance(value, complex):
            raise ValueError("the power is not real")
        out = Value(value, (self,), f"**{exponent}")

        def _backward():
            if exponent != 0:
                self.grad += exponent * self.data ** (exponent - 1) * out.grad

        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * other**-1

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return (-self) + other

    def __rmul__(self, other):
        return self * other

    def __rtruediv__(self, other):
        return self**-1 * other


def trace(root):
    nodes, edges, stack = set(), set(), [root]
    while stack:
        node = stack.pop()
        if node not in nodes:
            nodes.add(node)
            edges |= {(operand, node) for operand in node._prev}
            stack += node._prev
    return nodes, edges


def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node._backward()
