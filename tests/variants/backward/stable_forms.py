# A right solution of `backward`: other forms that do not overflow: log1p and expm1, a guarded
# quotient for tanh, the sigmoid by way of tanh as a node.

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
    e = math.expm1(-2.0 * abs(self.data))
    t = -e / (e + 2.0)
    t = t if self.data >= 0 else -t
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1.0 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% relu
def relu(self):
    out = Value((self.data + abs(self.data)) / 2, (self,), "relu")

    def _backward():
        self.grad += (self.data > 0) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% sigmoid
def sigmoid(self):
    return 0.5 * (self / 2).tanh() + 0.5


Value.sigmoid = sigmoid


# %% deep
def backward_without_recursion(self):
    order, state = [], {}
    pile = [self]
    while pile:
        node = pile[-1]
        if node not in state:
            state[node] = "open"
            pile += [operand for operand in node._prev if operand not in state]
        else:
            pile.pop()
            if state[node] == "open":
                state[node] = "done"
                order.append(node)
    self.grad = 1.0
    for node in order[::-1]:
        node._backward()


Value.backward = backward_without_recursion
