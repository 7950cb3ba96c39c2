# A right solution of `backward`: other formulas for the same functions.

# %% exp
def exp(self):
    out = Value(math.e**self.data, (self,), "exp")
    slope = out.data

    def _backward():
        self.grad = out.grad * slope + self.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% log
def log(self):
    if self.data <= 0.0:
        raise ValueError(f"the logarithm of {self.data} is not defined")
    out = Value(math.log2(self.data) * math.log(2.0), (self,), "log")

    def _backward():
        self.grad += out.grad * self.data**-1

    out._backward = _backward
    return out


Value.log = log


# %% tanh
def tanh(self):
    x = self.data
    decay = math.exp(-2 * abs(x))
    t = math.copysign(-math.expm1(-2 * abs(x)) / (1 + decay), x)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1 - t) * (1 + t) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% relu
def relu(self):
    out = Value((self.data + abs(self.data)) / 2, [self], "relu")

    def _backward():
        if out.data > 0:
            self.grad += out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% sigmoid
def sigmoid(self):
    s = 0.5 + 0.5 * math.tanh(self.data / 2)
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += out.data * (1 - out.data) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid
