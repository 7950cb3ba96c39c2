# A right solution of `value`: decorators wrap plain operands and attach each function to the class.

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
