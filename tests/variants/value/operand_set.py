# A right solution of `value`: the operands in a set, differences composed with products of -1.

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


# %% trace
def trace(root):
    nodes, edges, todo = set(), set(), {root}
    while todo:
        node = todo.pop()
        nodes.add(node)
        edges |= {(operand, node) for operand in node._prev}
        todo |= node._prev - nodes
    return nodes, edges
