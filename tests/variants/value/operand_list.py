# A right solution of `value`: operands copied into a list of each node, with None as the default.
# An exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% node
class Value:
    def __init__(self, data, _children=None, _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = []
        if _children is not None:
            for child in _children:
                self._prev.append(child)
        self._op = str(_op)
        self.label = str(label)

    def _backward(self):
        return None

    def __repr__(self):
        return "Value(data=" + repr(self.data) + ", grad=" + repr(self.grad) + ")"


# %% add
def add(self, other):
    if isinstance(other, (int, float)):
        other = Value(other)
    result = Value(self.data + other.data, [self, other], "+")

    def pass_on():
        self.grad += result.grad
        other.grad += result.grad

    result._backward = pass_on
    return result


Value.__add__ = add


# %% mul
def mul(self, other):
    if isinstance(other, (int, float)):
        other = Value(other)
    result = Value(self.data * other.data, [self, other], "*")

    def pass_on():
        upstream = result.grad
        from_self = other.data * upstream
        from_other = self.data * upstream
        self.grad += from_self
        other.grad += from_other

    result._backward = pass_on
    return result


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if not isinstance(exponent, int) and not isinstance(exponent, float):
        raise TypeError(exponent)
    value = self.data**exponent
    if type(value) is complex:
        raise ValueError(value)
    result = Value(value, [self], "**%s" % exponent)

    def slope():
        if exponent == 0:
            return 0.0
        if exponent == 1:
            return 1.0
        return exponent * self.data ** (exponent - 1)

    def pass_on():
        self.grad += slope() * result.grad

    result._backward = pass_on
    return result


Value.__pow__ = power


# %% neg_sub
def neg(self):
    result = Value(-self.data, [self], "-")

    def pass_on():
        self.grad += -1.0 * result.grad

    result._backward = pass_on
    return result


def sub(self, other):
    if isinstance(other, (int, float)):
        other = Value(other)
    result = Value(self.data - other.data, [self, other], "-")

    def pass_on():
        self.grad += 1.0 * result.grad
        other.grad += -1.0 * result.grad

    result._backward = pass_on
    return result


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    if isinstance(other, (int, float)):
        other = Value(other)
    result = Value(self.data / other.data, [self, other], "/")

    def pass_on():
        self.grad += result.grad / other.data
        other.grad -= result.grad * self.data / (other.data * other.data)

    result._backward = pass_on
    return result


Value.__truediv__ = div


# %% reverse
def radd(self, other):
    return self + other


def rsub(self, other):
    return -(self - other)


def rmul(self, other):
    return self * other


def rtruediv(self, other):
    return self**-1 * other


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% trace
def trace(root):
    nodes, edges = [], []
    seen_nodes, seen_edges = set(), set()
    waiting = [root]
    while len(waiting) > 0:
        node = waiting.pop(0)
        if id(node) in seen_nodes:
            continue
        seen_nodes.add(id(node))
        nodes.append(node)
        for child in node._prev:
            if (id(child), id(node)) not in seen_edges:
                seen_edges.add((id(child), id(node)))
                edges.append((child, node))
            waiting.append(child)
    return nodes, edges


# %% manual_backward
def push_gradients(root, order):
    root.grad = 1.0
    i = 0
    while i < len(order):
        order[i]._backward()
        i += 1


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    up = f(x + h)
    down = f(x - h)
    return 0.5 * (up - down) / h
