# A right solution of `backward`: other formulas for the same functions, recursion with a generator,
# gradients kept aside until a node's turn comes.

# %% exp
def exp(self):
    out = Value(math.e**self.data, (self,), "exp")
    slope = out.data

    def _backward():
        self.grad = out.grad * slope + self.grad

    out._backward = _backward
    return out


Value.exp = exp


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


# %% backward
def backward(self):
    order = topological_order(self)
    self.grad = 1.0
    while order:
        order.pop()._backward()


Value.backward = backward


# %% zero_grad
def zero_grad(parameters):
    list(map(lambda p: setattr(p, "grad", 0.0), parameters))


# %% check_gradients
def check_gradients(f, inputs, epsilon=1e-5):
    inputs = [float(x) for x in inputs]
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    analytic = [leaf.grad for leaf in leaves]
    numeric = []
    for i in range(len(inputs)):
        shifted = []
        for move in (epsilon, -epsilon):
            point = inputs[:i] + [inputs[i] + move] + inputs[i + 1 :]
            shifted.append(f(*map(Value, point)).data)
        numeric.append((shifted[0] - shifted[1]) / (2 * epsilon))
    return all(math.isclose(a, n, rel_tol=1e-3, abs_tol=1e-8) for a, n in zip(analytic, numeric))


# %% extra_ops
def unary(name, function, slope):
    def operation(self):
        out = Value(function(self.data), (self,), name)

        def _backward():
            self.grad += slope(self.data) * out.grad

        out._backward = _backward
        return out

    return operation


Value.sin = unary("sin", math.sin, math.cos)
Value.cos = unary("cos", math.cos, lambda x: -math.sin(x))
Value.sqrt = lambda self: unary("sqrt", math.sqrt, lambda x: 0.5 * x**-0.5)(self)


# %% dot_source
def draw_dot(root):
    nodes, edges = trace(root)
    text = 'digraph G {\n'
    for n in nodes:
        text += f'"{id(n)}" [shape=record, label="{{ {n.label} | data {n.data:.4f} | grad {n.grad:.4f} }}"]\n'
        if n._op:
            text += f'"{id(n)}{n._op}" [label="{n._op}"]\n"{id(n)}{n._op}" -> "{id(n)}"\n'
    for a, b in edges:
        text += f'"{id(a)}" -> "{id(b)}{b._op}"\n'
    return text + "}"
