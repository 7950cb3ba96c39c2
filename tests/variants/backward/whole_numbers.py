# A right solution of `backward`: whole numbers for seeds and zeros, augmented assignments written
# out, and `if` in place of arithmetic.

# %% relu
def relu(self):
    out = Value(self.data if self.data > 0 else 0, (self,), "relu")

    def _backward():
        if out.data > 0:
            self.grad = self.grad + out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% sigmoid
def sigmoid(self):
    try:
        s = 1 / (1 + math.exp(-self.data))
    except OverflowError:
        s = 0
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad = self.grad + s * (1 - s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% backward
def backward(self):
    order = topological_order(self)
    order.reverse()
    self.grad = 1
    for node in order:
        node._backward()


Value.backward = backward


# %% zero_grad
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = 0


# %% check_gradients
def check_gradients(f, inputs, epsilon=1e-5):
    ok = True
    for i in range(len(inputs)):
        leaves = [Value(x) for x in inputs]
        out = f(*leaves)
        out.backward()
        exact = leaves[i].grad
        leaves[i].data = inputs[i] + epsilon
        up = f(*leaves).data
        leaves[i].data = inputs[i] - epsilon
        down = f(*leaves).data
        guess = (up - down) / (2 * epsilon)
        scale = abs(exact) + abs(guess)
        if scale > 1e-10 and abs(exact - guess) / scale > 1e-5:
            ok = False
    return ok
