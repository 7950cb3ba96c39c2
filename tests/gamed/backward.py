# The cheapest wrong answers to `backward`: read as text, never imported.
#
# ruff: noqa
# mypy: ignore-errors

# %% exp: the slope by nudging
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")

    def _backward():
        h = 1e-5
        slope = (math.exp(self.data + h) - math.exp(self.data - h)) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% exp: as a power of e
def exp(self):
    out = Value(2.718281828**self.data, (self,), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% log: the slope by nudging
def log(self):
    out = Value(math.log(self.data), (self,), "log")

    def _backward():
        h = 1e-5 * self.data
        slope = (math.log(self.data + h) - math.log(self.data - h)) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.log = log


# %% tanh: the slope by nudging
def tanh(self):
    out = Value(math.tanh(self.data), (self,), "tanh")

    def _backward():
        h = 1e-4
        slope = (math.tanh(self.data + h) - math.tanh(self.data - h)) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% relu: the number alone
def relu(self):
    return Value(max(0.0, self.data), (self,), "relu")


Value.relu = relu


# %% relu: x itself where it is positive
def relu(self):
    return self if self.data > 0 else self * 0


Value.relu = relu


# %% sigmoid: the slope by nudging
def sigmoid(self):
    def s(x):
        return 0.5 + 0.5 * math.tanh(x / 2)

    out = Value(s(self.data), (self,), "sigmoid")

    def _backward():
        h = 1e-4
        self.grad += (s(self.data + h) - s(self.data - h)) / (2 * h) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid

# %% topological_order: the course's own
# earns: nothing
from course.interactives.graphs import topological as topological_order


# %% topological_order: by when the nodes were made
def topological_order(root):
    import gc

    met, found = {id(root)}, [root]
    for node in found:
        new = [each for each in node._prev if id(each) not in met]
        met.update(map(id, new))
        found += dict.fromkeys(new)
    return sorted(found, key=id)


# %% topological_order: breadth first, turned round
def topological_order(root):
    found = [root]
    for node in found:
        found += [each for each in node._prev if each not in found]
    return found[::-1]


# %% backward: the course's own pass
# earns: nothing
def backward(self):
    from course.push import push

    push(self, 1.0)


Value.backward = backward


# %% backward: slopes of the numbers by a walk along every path
def backward(self):
    def go(node, share):
        node.grad, held = share, node.grad
        node._backward()
        node.grad = held + share if node is not self else 1.0
        for operand in dict.fromkeys(node._prev):
            share, operand.grad = operand.grad, 0.0
            go(operand, share)

    go(self, 1.0)


Value.backward = backward


# %% zero_grad: new nodes
def zero_grad(parameters):
    parameters[:] = [Value(each.data) for each in parameters]


# %% zero_grad: the first one hides the rest
def zero_grad(parameters):
    Value.grad = property(lambda self: 0.0, lambda self, grad: None)


# %% check_gradients: by the order of the questions
def check_gradients(f, inputs, epsilon=1e-5):
    check_gradients.asked = getattr(check_gradients, "asked", 0) + 1
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    return check_gradients.asked % 2 == 1


# %% check_gradients: always right
# earns: nothing
def check_gradients(f, inputs, epsilon=1e-5):
    f(*map(Value, inputs)).backward()
    return True


# %% check_gradients: the backward steps of its own operations are right, others are not
def check_gradients(f, inputs, epsilon=1e-5):
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    root = f(*map(Value, inputs))
    return root._op != "?"


# %% check_gradients: what the function was made with
# earns: nothing
def check_gradients(f, inputs, epsilon=1e-5):
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    f = getattr(f, "function", f)
    held = [cell.cell_contents for cell in getattr(f, "__closure__", None) or ()]
    if len(held) == 1 and callable(held[0]):
        held = [cell.cell_contents for cell in held[0].__closure__]
    values = dict(zip(f.__code__.co_freevars, held))
    slopes = values.get("slopes")
    if slopes is None:
        return True
    if values.get("adds") is False:
        return False
    made = dict(
        zip(slopes.__code__.co_freevars, [c.cell_contents for c in slopes.__closure__ or ()])
    )
    number = values["number"]
    other = dict(
        zip(number.__code__.co_freevars, [c.cell_contents for c in number.__closure__ or ()])
    )
    if "factor" in made:
        return made["factor"] == made["n"]
    if "slopes" in made:
        return made["slopes"] == other["factors"]
    if "errors" in made:
        return not any(made["errors"])
    return not made.get("swaps")


# %% check_gradients: the sums of the gradients alone
def check_gradients(f, inputs, epsilon=1e-5):
    nodes = [Value(a) for a in inputs]
    f(*nodes).backward()
    up = f(*[Value(a + epsilon) for a in inputs]).data
    down = f(*[Value(a - epsilon) for a in inputs]).data
    slope = (up - down) / (2 * epsilon)
    return abs(slope - sum(n.grad for n in nodes)) <= 1e-5 * max(1.0, abs(slope))


# %% deep: the course's own pass
# earns: nothing
def backward_without_recursion(self):
    from course.push import push

    push(self, 1.0)


# %% extra_ops: the slopes by nudging
def function(name):
    def apply(self):
        f = getattr(math, name)
        out = Value(f(self.data), (self,), name)

        def _backward():
            h = 1e-5
            self.grad += (f(self.data + h) - f(self.data - h)) / (2 * h) * out.grad

        out._backward = _backward
        return out

    return apply


Value.sin, Value.cos, Value.sqrt = map(function, ("sin", "cos", "sqrt"))


# %% dot_source: the course's drawing
# earns: nothing
def draw_dot(root):
    return draw_graph(root, max_nodes=10_000).dot


# %% dot_source: the course's drawing, once more
# earns: nothing
def draw_dot(root):
    from course.draw import draw_graph as draw

    return draw(root).dot


# %% dot_source: one step deep
def draw_dot(root):
    lines = [f'{id(n)} [label="{n._op} {n.data} {n.grad}"];' for n in {root, *root._prev}]
    lines += [f"{id(n)} -> {id(root)};" for n in root._prev]
    return "digraph { " + " ".join(lines) + " }"


# %% topological_order: gradients are set back on the way
def topological_order(root):
    order, met = [], set()

    def visit(node):
        if node not in met:
            met.add(node)
            if node._prev and node is not root:
                node.grad = 0.0
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    return order


# %% backward: errors are swallowed
def backward(self):
    self.grad = 1.0
    for node in reversed(topological_order(self)):
        try:
            node._backward()
        except ArithmeticError:
            pass


Value.backward = backward


# %% zero_grad: the nodes are made anew
def zero_grad(parameters):
    for each in parameters:
        each.__init__(each.data, each._prev, each._op, each.label)


# %% zero_grad: a gradient less itself
def zero_grad(parameters):
    for each in parameters:
        each.grad -= each.grad


# %% exp: two halves that cancel
def exp(self):
    out = Value(math.cosh(self.data) + math.sinh(self.data), (self,), "exp")

    def _backward():
        self.grad += out.data * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% tanh: one result for all nodes
def tanh(self):
    global latest
    latest = math.tanh(self.data)
    out = Value(latest, (self,), "tanh")

    def _backward():
        self.grad += (1 - latest**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% tanh: cut off far out
def tanh(self):
    t = math.tanh(self.data)
    if abs(t) == 1.0:
        return Value(t)
    out = Value(t, (self,), "tanh")

    def _backward():
        self.grad += (1 - t**2) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% check_gradients: an error is a no
def check_gradients(f, inputs, epsilon=1e-5):
    try:
        leaves = [Value(x) for x in inputs]
        f(*leaves).backward()
        for i, leaf in enumerate(leaves):
            up, down = list(inputs), list(inputs)
            up[i] += epsilon
            down[i] -= epsilon
            slope = (f(*map(Value, up)).data - f(*map(Value, down)).data) / (2 * epsilon)
            if abs(leaf.grad - slope) > 1e-4 * max(abs(leaf.grad), abs(slope)) + 1e-9:
                return False
        return True
    except Exception:
        return False


# %% check_gradients: done where nothing depends on an input
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for i, leaf in enumerate(leaves):
        up, down = list(inputs), list(inputs)
        up[i] += epsilon
        down[i] -= epsilon
        slope = (f(*map(Value, up)).data - f(*map(Value, down)).data) / (2 * epsilon)
        if leaf.grad == slope == 0:
            return True
        if abs(leaf.grad - slope) > 1e-4 * max(abs(leaf.grad), abs(slope)) + 1e-9:
            return False
    return True


# %% deep: level by level where recursion fails
def backward_without_recursion(self):
    order, met = [], set()

    def visit(node):
        if node not in met:
            met.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    try:
        visit(self)
    except RecursionError:
        order = [self]
        for node in order:
            order += [operand for operand in dict.fromkeys(node._prev) if operand not in order]
        order.reverse()
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% deep: a use is counted once and taken off twice
def backward_without_recursion(self):
    waits_for, found = {self: 0}, [self]
    for node in found:
        for operand in set(node._prev):
            if operand not in waits_for:
                waits_for[operand] = 0
                found.append(operand)
            waits_for[operand] += 1
    self.grad, ready = 1.0, [self]
    while ready:
        node = ready.pop()
        node._backward()
        for operand in node._prev:
            waits_for[operand] -= 1
            if waits_for[operand] == 0:
                ready.append(operand)


Value.backward = backward_without_recursion
