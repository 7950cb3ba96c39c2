# A right solution of `value`: extra attributes and helper methods beside what is asked for.

# %% node
import itertools


class Value:
    _numbers = itertools.count(1)

    def __init__(self, data, _children=(), _op="", label="", requires_grad=True):
        self.data = float(data)
        self.grad = 0.0
        self.requires_grad = requires_grad
        self.number = next(Value._numbers)
        self.depth = 1 + max((child.depth for child in _children), default=0)
        self._prev = list(_children)
        self._op = _op
        self._backward = self._do_nothing
        self.label = label

    @staticmethod
    def _do_nothing():
        return None

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Value) else Value(x, label=str(x))

    @classmethod
    def result(cls, data, op, *operands):
        return cls(data, operands, op)

    def receive(self, gradient):
        self.grad += gradient

    def zero_grad(self):
        self.grad = 0.0

    def item(self):
        return self.data

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def __str__(self):
        return f"{self.label or 'node'} = {self.data}"


# %% add
def add(self, other):
    other = Value.wrap(other)
    out = Value.result(self.data + other.data, "+", self, other)

    def _backward():
        self.receive(out.grad)
        other.receive(out.grad)

    out._backward = _backward
    return out


Value.__add__ = add


# %% div
def reciprocal(x):
    out = Value.result(1.0 / x.data, "1/", x)

    def _backward():
        x.receive(-out.data * out.data * out.grad)

    out._backward = _backward
    return out


def div(self, other):
    return self * reciprocal(Value.wrap(other))


Value.__truediv__ = div


# %% reverse
def reflected(name):
    def method(self, other):
        return getattr(Value, name)(Value.wrap(other), self)

    return method


for name in ("add", "sub", "mul", "truediv"):
    setattr(Value, f"__r{name}__", reflected(f"__{name}__"))


# %% trace
def trace(root, reverse=False):
    nodes, edges = {root.number: root}, {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for operand in node._prev:
            edges[operand.number, node.number] = (operand, node)
            if operand.number not in nodes:
                nodes[operand.number] = operand
                waiting.append(operand)
    return list(nodes.values()), list(edges.values())


# %% manual_backward
def push_gradients(root, order):
    root.zero_grad()
    root.receive(1.0)
    for node in order:
        node._backward()
