# A right solution of `value`: assignment expressions, keyword arguments, numbers that are kept from
# the forward pass, recursion with a list of its own.

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
        """A leaf passes no gradient on."""

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
