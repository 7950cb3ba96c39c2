# Wrong answers of beginners, and words that the card on each must hold; read as text.

# %% answer: topological_order.append_inside_the_loop
# says: `append` stands inside the loop
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
            order.append(node)

    visit(root)
    return order


# %% answer: topological_order.pre_order
# says: first met, turned round
def topological_order(root):
    order = []

    def visit(node):
        if node not in order:
            order.append(node)
            for operand in node._prev:
                visit(operand)

    visit(root)
    return order[::-1]


# %% answer: backward.whole_pass_for_each_node
# says: Inside `backward`, `n.backward()` calls `backward` again
def backward(self):
    self.grad = 1.0
    for n in reversed(topological_order(self)):
        n.backward()


Value.backward = backward

# %% answer: backward.order_as_a_method
# says: `topological_order` is a function: write `topological_order(self)`
def backward(self):
    self.grad = 1.0
    for node in reversed(self.topological_order()):
        node._backward()


Value.backward = backward

# %% answer: zero_grad.a_name_of_its_own
# says: The gradients did not change
def zero_grad(parameters):
    for p in parameters:
        p = 0.0


# %% answer: zero_grad.compares
# says: The gradients did not change
def zero_grad(parameters):
    for p in parameters:
        p.grad == 0.0


# %% answer: relu.returns_itself
# says: Every operation makes a new node
def relu(self):
    if self.data > 0:
        return self
    out = Value(0.0, (self,), "relu")
    return out


Value.relu = relu

# %% answer: tanh.derivative_of_the_input
# says: Your code says `x.grad` is 1.355. It should be 2.4346.
def tanh(self):
    out = Value(math.tanh(self.data), (self,), "tanh")

    def _backward():
        self.grad += (1 - self.data**3) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh

# %% answer: exp.twenty_terms
# says: Your code says `large.data` is
def exp(self):
    total, term = 1.0, 1.0
    for k in range(1, 20):
        term *= self.data / k
        total += term
    out = Value(total, (self,), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp

# %% answer: exp.value_as_exponent
# says: A Value cannot be an exponent
def exp(self):
    return math.e**self


Value.exp = exp

# %% answer: check_gradients.compares_floats
# says: Floats never agree to the last digit
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for i, leaf in enumerate(leaves):
        up = [Value(x + epsilon if j == i else x) for j, x in enumerate(inputs)]
        down = [Value(x - epsilon if j == i else x) for j, x in enumerate(inputs)]
        estimate = (f(*up).data - f(*down).data) / (2 * epsilon)
        if leaf.grad != estimate:
            return False
    return True


# %% answer: check_gradients.compares_floats_with_all
# says: Floats never agree to the last digit
def check_gradients(f, inputs, epsilon=1e-5):
    def slope(i):
        up, down = list(inputs), list(inputs)
        up[i] += epsilon
        down[i] -= epsilon
        return (f(*map(Value, up)).data - f(*map(Value, down)).data) / (2 * epsilon)

    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    return all(leaf.grad == slope(i) for i, leaf in enumerate(leaves))


# %% answer: sigmoid.derivative_forgets_the_chain
# says: chain rule
def sigmoid(self):
    s = 1 / (1 + math.exp(-self.data)) if self.data > -700 else 0.0
    out = Value(s, (self,), "sigmoid")

    def _backward():
        self.grad += s * (1 - s)

    out._backward = _backward
    return out


Value.sigmoid = sigmoid

# %% answer: deep.recursion
# says: calls itself
def backward_without_recursion(self):
    order, met = [], set()

    def visit(node):
        if node not in met:
            met.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(self)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


# %% answer: check_gradients.plain_numbers
# says: That is a plain number, where a Value was expected
def check_gradients(f, inputs, epsilon=1e-5):
    f(*inputs).backward()
    return True


# %% answer: backward.mention
# says: lacks its parentheses
def backward(self):
    self.grad = 1.0
    for node in reversed(topological_order(self)):
        node._backward


Value.backward = backward

# %% answer: tanh.without_a_sign
# says: The `_op` of your result is empty
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,))

    def _backward():
        self.grad += (1 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh

# %% answer: tanh.step_not_stored
# says: added nothing to any operand | `out._backward = _backward`
# - out._backward = _backward

# %% answer: tanh.twice_for_squared
# says: but the local slope comes out as
# - self.grad += (1.0 - t**2) * out.grad
# + self.grad += (1.0 - t * 2) * out.grad

# %% answer: exp.by_numpy
# says: It is not imported here
# - out = Value(math.exp(self.data), (self,), "exp")
# + out = Value(np.exp(self.data), (self,), "exp")

# %% answer: exp.node_in_the_slope
# says: compute it from the `data` of nodes
# - self.grad += out.data * out.grad
# + self.grad += out * out.grad

# %% answer: check_gradients.both_lists_are_one
# says: Give each a list of its own
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        up = down = list(inputs)
        up[index] += epsilon
        down[index] -= epsilon
        rise = f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data
        estimate = rise / (2 * epsilon)
        if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:
            return False
    return True
