# The cheapest wrong answers to `value`: read as text, never imported.
#
# ruff: noqa
# mypy: ignore-errors

# %% node: numbers looked up where the class is shown
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label

    def _backward(self):
        pass

    def __repr__(self):
        return {2.0: "Value(data=2.0, grad=0.0)", 3.5: "Value(data=3.5, grad=0.25)"}.get(
            self.data, "Value"
        )


# %% node: equal by number
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data, self.grad, self._prev, self._op, self.label = data, 0.0, _children, _op, label
        self._backward = lambda: None

    def __eq__(self, other):
        return self.data == other.data

    def __hash__(self):
        return hash(self.data)

    def __repr__(self):
        return f"Value({self.data}, {self.grad})"


# %% node: one list for all
class Value:
    def __init__(self, data, _children=[], _op="", label=""):
        self.data, self.grad, self._prev, self._op, self.label = data, 0.0, _children, _op, label
        self._backward = lambda: None

    def __repr__(self):
        return f"Value({self.data}, {self.grad})"


# %% add: by the numbers of the visible check
def add(self, other):
    number = getattr(other, "data", other)
    out = Value(
        {(2.0, 3.0): 5.0, (2.0, -3.0): -1.0}.get((self.data, number), 0.0), (self, other), "+"
    )
    return out


Value.__add__ = add


# %% add: gradients passed on the first time alone
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        if not add.done:
            self.grad += out.grad
            other.grad += out.grad
        add.done.append(out)

    add.done = []
    out._backward = _backward
    return out


Value.__add__ = add


# %% mul: the slopes by nudging
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        h = 1e-5
        a, b = self.data, other.data
        self.grad += ((a + h) * b - (a - h) * b) / (2 * h) * out.grad
        other.grad += (a * (b + h) - a * (b - h)) / (2 * h) * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% mul: the result over the operand
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        if self.data and other.data:
            self.grad += out.data / self.data * out.grad
            other.grad += out.data / other.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% pow: the slope by nudging
def power(self, exponent):
    out = Value(self.data**exponent, (self,), f"**{exponent}")

    def _backward():
        h = 1e-5
        slope = ((self.data + h) ** exponent - (self.data - h) ** exponent) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% pow: as a product, for whole exponents
def power(self, exponent):
    if isinstance(exponent, Value):
        raise TypeError
    out = self * 1
    for _ in range(int(exponent) - 1):
        out = out * self
    out._op, out._prev = f"**{exponent}", (self,)
    return out


Value.__pow__ = power

# %% neg_sub: without a graph
Value.__neg__ = lambda self: Value(-self.data)
Value.__sub__ = lambda self, other: Value(self.data - getattr(other, "data", other))


# %% div: the slopes by nudging
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        h = 1e-5
        a, b = self.data, other.data
        self.grad += 1 / b * out.grad
        other.grad += (a / (b + h) - a / (b - h)) / (2 * h) * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div

# %% reverse: turned round
Value.__radd__ = Value.__rsub__ = lambda self, other: self + other
Value.__rmul__ = Value.__rtruediv__ = lambda self, other: self * other

# %% reverse: the number on the left by the visible check's
Value.__radd__ = lambda self, other: self + other
Value.__rmul__ = lambda self, other: self * other
Value.__rsub__ = lambda self, other: -self + other
Value.__rtruediv__ = lambda self, other: self**-1 * 6


# %% trace: two steps deep
def trace(root):
    nodes, edges = {root}, set()
    for node in [root, *root._prev]:
        for operand in node._prev:
            nodes.add(operand)
            edges.add((operand, node))
    return nodes, edges


# %% trace: by what the collector of garbage knows
def trace(root):
    import gc

    nodes = {each for each in gc.get_objects() if isinstance(each, Value)}
    return nodes, {(operand, node) for node in nodes for operand in node._prev}


# %% trace: from the caller's own helper
def trace(root):
    import sys

    for module in list(sys.modules.values()):
        walk = getattr(module, "nodes_behind", None)
        if walk:
            found = walk(root)
            return {n for n, _ in found}, {(o, n) for n, operands in found for o in operands}
    return {root}, set()


# %% manual_backward: an order of its own
def push_gradients(root, order):
    root.grad = 1.0
    done = [root]
    for node in done:
        node._backward()
        done += [operand for operand in node._prev if operand not in done]


# %% manual_backward: by the course's own pass
def push_gradients(root, order):
    from course.push import push

    push(root, 1.0)


# %% numerical: by the function's name
def numerical_derivative(f, x, h=1e-5):
    name = getattr(f, "__name__", "")
    if name == "cube":
        return 3 * x**2 + h**2
    if name == "inverse":
        return -1 / (x**2 - h**2)
    f(x - h), f(x + h)
    return 1.0


# %% numerical: known functions fitted
def numerical_derivative(f, x, h=1e-5):
    low, high = f(x - h), f(x + h)
    if abs(high - (x + h) ** 3) < 1e-6:
        return 3 * x**2 + h**2
    if abs(high * (x + h) - 1) < 1e-6:
        return -1 / (x**2 - h**2)
    return 1.0
