# A right solution of `value`: as much as possible composed: a - b as a + (-1) * b, a / b as a * b
# ** -1.

# %% pow
def wrap(x):
    return x if isinstance(x, Value) else Value(x)


def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        return NotImplemented  # Python turns it into a TypeError
    value = self.data**exponent
    if isinstance(value, complex):
        raise ValueError("the base is negative and the exponent is not whole")
    out = Value(value, (self,), f"**{exponent}")

    def _backward():
        self.grad += (exponent and exponent * self.data ** (exponent - 1)) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    return Value(0.0) + self * -1.0


def sub(self, other):
    return self + Value(-1) * wrap(other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    return self * wrap(other) ** -1


Value.__truediv__ = div


# %% reverse
def radd(self, other):
    return wrap(other) + self


def rsub(self, other):
    return wrap(other) + (-1) * self


def rmul(self, other):
    return wrap(other) * self


def rtruediv(self, other):
    return wrap(other) * self**-1.0


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% manual_backward
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        if node._prev:
            node._backward()
