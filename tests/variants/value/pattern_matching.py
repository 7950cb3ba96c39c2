# A right solution of `value`: pattern matching instead of isinstance, f-strings that spell the form
# out.

# %% node
class Value:
    __match_args__ = ("data",)

    def __init__(self, data, _children=(), _op="", label=""):
        match data:
            case int() | float():
                self.data = data * 1.0
            case _:
                self.data = float(data)
        self.grad, self.label, self._op = 0.0, label, _op
        self._prev = list(_children)
        self._backward = self._nothing

    def _nothing(self):
        return None

    def __repr__(self):
        return "Value(data={!r}, grad={!r})".format(self.data, self.grad)


# %% add
def node_of(thing):
    match thing:
        case Value():
            return thing
        case int() | float():
            return Value(thing)
        case _:
            raise TypeError(f"{thing!r} is not a number")


def add(self, other):
    other = node_of(other)
    out = Value(self.data + other.data, (self, other), "+")

    def step():
        for operand in (self, other):
            operand.grad += out.grad

    out._backward = step
    return out


Value.__add__ = add
