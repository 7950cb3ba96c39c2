# A right solution of `value`: decorators wrap plain operands and attach each function to the
# class. An exercise without a cell here is solved as in the notebook.
#
# ruff: noqa
# mypy: ignore-errors

# %% node
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


# %% add
import functools


def method(name):
    def attach(function):
        setattr(Value, f"__{name}__", function)
        return function

    return attach


def operands_wrapped(function):
    @functools.wraps(function)
    def wrapped(self, other):
        if isinstance(other, (int, float)):
            other = Value(other)
        if not isinstance(other, Value):
            return NotImplemented
        return function(self, other)

    return wrapped


@method("add")
@operands_wrapped
def add(self, other):
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


# %% mul
@method("mul")
@operands_wrapped
def mul(self, other):
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


# %% pow
@method("pow")
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        return NotImplemented
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("not a real number")
    out = Value(result, (self,), f"**{exponent}")

    @functools.partial(setattr, out, "_backward")
    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    return out


# %% neg_sub
@method("neg")
def neg(self):
    return self * -1


@method("sub")
@operands_wrapped
def sub(self, other):
    return self + -other


# %% div
@method("truediv")
@operands_wrapped
def div(self, other):
    return self * other**-1


# %% reverse
@method("radd")
@operands_wrapped
def radd(self, other):
    return other + self


@method("rsub")
@operands_wrapped
def rsub(self, other):
    return other - self


@method("rmul")
@operands_wrapped
def rmul(self, other):
    return other * self


@method("rtruediv")
@operands_wrapped
def rtruediv(self, other):
    return other / self


# %% trace
def collected(generator):
    @functools.wraps(generator)
    def run(root):
        nodes, edges = {root}, set()
        for operand, node in generator(root):
            nodes.add(operand)
            edges.add((operand, node))
        return nodes, edges

    return run


@collected
def trace(root):
    met, stack = {root}, [root]
    while stack:
        node = stack.pop()
        for operand in node._prev:
            yield operand, node
            if operand not in met:
                met.add(operand)
                stack.append(operand)
