# A right solution of `backward`: tanh, relu, sigmoid and the bonus functions are composed of other
# operations, in forms that do not overflow.

# %% tanh
def tanh(self):
    sign = 1.0 if self.data >= 0 else -1.0
    decay = (self * (-2.0 * sign)).exp()
    return sign * (1 - decay) / (1 + decay)


Value.tanh = tanh


# %% relu
def relu(self):
    return self * (1.0 if self.data > 0 else 0.0)


Value.relu = relu


# %% sigmoid
def sigmoid(self):
    if self.data >= 0:
        return 1 / (1 + (-self).exp())
    growth = self.exp()
    return growth / (1 + growth)


Value.sigmoid = sigmoid


# %% check_gradients
def check_gradients(f, inputs, epsilon=1e-5):
    def slope(i):
        def along(x):
            return f(*[Value(x if j == i else y) for j, y in enumerate(inputs)]).data

        return numerical_derivative(along, inputs[i], epsilon)

    nodes = list(map(Value, inputs))
    result = f(*nodes)
    result.backward()
    return all(
        math.isclose(node.grad, slope(i), rel_tol=1e-4, abs_tol=1e-9)
        for i, node in enumerate(nodes)
    )


# %% extra_ops
def sin(self):
    out = Value(math.sin(self.data), (self,), "sin")

    def _backward():
        self.grad += math.cos(self.data) * out.grad

    out._backward = _backward
    return out


def cos(self):
    return (self + math.pi / 2).sin()


def sqrt(self):
    return self**0.5


Value.sin = sin
Value.cos = cos
Value.sqrt = sqrt
