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
