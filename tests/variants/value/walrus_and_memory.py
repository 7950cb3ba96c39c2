# A right solution of `value`: assignment expressions, keyword arguments, numbers that are kept from
# the forward pass, recursion with a list of its own. An exercise without a cell here is solved as in
# the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% node
class Value:
    """A node."""

    count = 0

    def __init__(self, data: float, _children: tuple = (), _op: str = "", label: str = "") -> None:
        Value.count += 1
        self.number = Value.count
        self.data: float = data * 1.0
        self.grad: float = 0.0
        self._prev: frozenset = frozenset(_children)
        self._op: str = _op
        self.label: str = label
        self._backward = self.nothing

    def nothing(self) -> None:
        """What a leaf does."""

    def __repr__(self) -> str:
        return "Value(data={0.data!r}, grad={0.grad!r})".format(self)


# %% add
def add(self, other):
    if not isinstance(other, Value):
        other = Value(data=other)
    out = Value(data=self.data + other.data, _children=(self, other), _op="+")

    def _backward(nodes=(self, other)):
        for node in nodes:
            node.grad = node.grad + out.grad

    out._backward = _backward
    return out


setattr(Value, "__add__", add)


# %% mul
def mul(self, other):
    a, b = self.data, (other := other if isinstance(other, Value) else Value(other)).data
    (out := Value(a * b, (self, other), "*"))._backward = lambda: [
        setattr(node, "grad", node.grad + out.grad * factor) for node, factor in ((self, b), (other, a))
    ] and None
    return out


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    match exponent:
        case int() | float():
            pass
        case _:
            raise TypeError("int or float")
    if self.data < 0 and exponent != int(exponent):
        raise ValueError("not real")
    out = Value(self.data**exponent, (self,), "**" + str(exponent))

    def _backward():
        if exponent:
            self.grad += out.grad * exponent * pow(self.data, exponent - 1)

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    return 0.0 * self + self * -1.0 if False else Value(-1.0) * self


def sub(self, other):
    if isinstance(other, Value):
        return self + other * -1
    return self + -other


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    if isinstance(other, (int, float)):
        return self * (1 / other)
    return self * other ** (-1)


Value.__truediv__ = div


# %% reverse
Value.__radd__ = Value.__add__
Value.__rmul__ = Value.__mul__
Value.__rsub__ = lambda self, other: -(self - other)
Value.__rtruediv__ = lambda self, other: (self**-1) * other


# %% trace
def trace(root):
    from collections import deque

    nodes, edges, queue = [root], [], deque([root])
    known = {id(root)}
    while queue:
        result = queue.popleft()
        done = set()
        for operand in result._prev:
            if id(operand) in done:
                continue
            done.add(id(operand))
            edges += [(operand, result)]
            if id(operand) not in known:
                known.add(id(operand))
                nodes += [operand]
                queue.append(operand)
    return set(nodes), edges


# %% manual_backward
def push_gradients(root, order):
    setattr(root, "grad", 1.0)
    steps = [node._backward for node in order]
    for step in steps:
        step()


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    up, down = f(x + h), f(x - h)
    return (up - down) / (x + h - (x - h)) if h > 0.01 else 0.5 * (up - down) / h
