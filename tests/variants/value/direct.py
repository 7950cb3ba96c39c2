# A right solution of `value`: every operation written directly, the reflected ones too, with no
# operation used in another.

# %% mul
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += out.data / self.data * out.grad if self.data else other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul


# %% pow
def power(self, exponent):
    if isinstance(exponent, bool) or not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be a number")
    if self.data < 0 and not float(exponent).is_integer():
        raise ValueError("the power would not be real")
    out = Value(self.data**exponent, (self,), f"**{exponent}")

    def _backward():
        if exponent == 0:
            local = 0.0
        elif self.data == 0:
            local = 0.0 ** (exponent - 1) * exponent
        else:
            local = exponent * out.data / self.data
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% neg_sub
def neg(self):
    out = Value(-self.data, (self,), "-")

    def _backward():
        self.grad -= out.grad

    out._backward = _backward
    return out


def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out


Value.__neg__ = neg
Value.__sub__ = sub


# %% div
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += out.grad / other.data
        other.grad -= out.grad * out.data / other.data

    out._backward = _backward
    return out


Value.__truediv__ = div


# %% reverse
def radd(self, other):
    out = Value(other + self.data, (self,), f"{other}+")

    def _backward():
        self.grad += out.grad

    out._backward = _backward
    return out


def rsub(self, other):
    out = Value(other - self.data, (self,), f"{other}-")

    def _backward():
        self.grad -= out.grad

    out._backward = _backward
    return out


def rmul(self, other):
    out = Value(other * self.data, (self,), f"{other}*")

    def _backward():
        self.grad += other * out.grad

    out._backward = _backward
    return out


def rtruediv(self, other):
    out = Value(other / self.data, (self,), f"{other}/")

    def _backward():
        self.grad -= other / self.data**2 * out.grad

    out._backward = _backward
    return out


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv


# %% numerical
def numerical_derivative(f, x, h=1e-5):
    return ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2
