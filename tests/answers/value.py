# Wrong answers of beginners, and words that the card on each must hold; read as text.

# %% answer: node.text_without_gradient_and_no_step
# says: `_backward` of a leaf is no function
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self.label = label
        self._backward = None

    def __repr__(self):
        return f"Value(data={self.data})"


# %% answer: node.text_without_gradient
# says: text shows the data but not the gradient
# - return f"Value(data={self.data}, grad={self.grad})"
# + return f"Value({self.data})"

# %% answer: add.changes_itself
# says: Your result is `a` itself, and no new node
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    self.data += other.data

    def _backward():
        self.grad += self.grad
        other.grad += self.grad

    self._backward = _backward
    return self


Value.__add__ = add

# %% answer: add.calls_itself
# says: Inside `add`, `self + other` calls `add` again
def add(self, other):
    return self + other


Value.__add__ = add

# %% answer: add.calls_itself_for_the_number
# says: calls `add` again
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value((self + other).data, (self, other), "+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add

# %% answer: add.prints
# says: The sum came out as None
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")
    print(out)


Value.__add__ = add

# %% answer: add.half
# says: Your code says `x.grad` is 2.5. It should be 5.0.
def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, (self, other), "+")

    def _backward():
        self.grad += 0.5 * out.grad
        other.grad += 0.5 * out.grad

    out._backward = _backward
    return out


Value.__add__ = add

# %% answer: mul.calls_itself
# says: Inside `mul`, `self * other` calls `mul` again
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = self * other

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul

# %% answer: mul.squares_the_other
# says: Your code says `x.grad` is 45.0. It should be -15.0.
def mul(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, (self, other), "*")

    def _backward():
        self.grad += other.data**2 * out.grad
        other.grad += self.data**2 * out.grad

    out._backward = _backward
    return out


Value.__mul__ = mul

# %% answer: pow.rule_for_squares
# says: rule for squares
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be a number")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("not real")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        self.grad += 2 * self.data * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power

# %% answer: pow.calls_itself
# says: Inside `power`, `self**exponent` calls `power` again
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be a number")
    out = Value(self**exponent, (self,), f"**{exponent}")

    def _backward():
        self.grad += exponent * self.data ** (exponent - 1) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power

# %% answer: reverse.calls_itself
# says: the very expression that called it
def radd(self, other):
    return other + self


def rsub(self, other):
    return other - self


def rmul(self, other):
    return other * self


def rtruediv(self, other):
    return other / self


Value.__radd__ = radd
Value.__rsub__ = rsub
Value.__rmul__ = rmul
Value.__rtruediv__ = rtruediv

# %% answer: div.one_slope_for_both
# says: Your code says `x.grad` is -5.0. It should be 2.0.
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += (other.data - self.data) / other.data**2 * out.grad
        other.grad += (other.data - self.data) / other.data**2 * out.grad

    out._backward = _backward
    return out


Value.__truediv__ = div

# %% answer: trace.inner_result_thrown_away
# says: You throw away what the inner `trace` returns
def trace(root):
    nodes = {root}
    edges = set()
    for operand in root._prev:
        nodes.add(operand)
        edges.add((operand, root))
        trace(operand)
    return nodes, edges


# %% answer: trace.walks_every_path
# says: follows every path
def trace(root):
    nodes, edges = set(), set()

    def visit(node):
        nodes.add(node)
        for operand in node._prev:
            edges.add((operand, node))
            visit(operand)

    visit(root)
    return nodes, edges


# %% answer: manual_backward.set_of_visited_nodes
# says: Your code says `a.grad` is 2.0. It should be 4.0.
def push_gradients(root, order):
    root.grad = 1.0
    visited = set()
    for node in order:
        if node not in visited:
            visited.add(node)
            node._backward()


# %% answer: numerical.forward
# says: the slope between x and x + h
def numerical_derivative(f, x, h=1e-5):
    return (f(x + h) - f(x)) / h


# %% answer: neg_sub.calls_itself
# says: calls itself without end
def neg(self):
    return -self


def sub(self, other):
    return self + (-other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% answer: manual_backward.backward
# says: The step of one node is `node._backward()`
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node.backward()


# %% answer: pow.core
# says: An exponent of 0 where x is 0
def power(self, exponent):
    out = Value(self.data ** exponent, (self,), f"**{exponent}")

    def _backward():
        self.grad += exponent * self.data ** (exponent-1) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power

# %% answer: numerical.prints
# says: `slope` is None. | `return` gives a result back
def numerical_derivative(f, x, h=1e-5):
    slope = (f(x + h) - f(x - h)) / (2 * h)
    print(slope)

# %% answer: node.label_is_a_local_name
# says: `__init__` has to store it, with `self.` in front
# - self.label = label
# + label = label

# %% answer: add.one_line_assigns
# says: What it held before is lost
# - other.grad += 1.0 * out.grad
# + other.grad = 1.0 * out.grad

# %% answer: mul.own_number_twice
# says: What comes out is `x * x`
# - out = Value(self.data * other.data, (self, other), "*")
# + out = Value(self.data * self.data, (self, other), "*")

# %% answer: mul.the_second_slope_alone
# says: It grows by the same amount
# - other.grad += self.data * out.grad
# + other.grad += self.data

# %% answer: pow.error_printed
# says: where it should raise `TypeError`
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + print("the exponent must be a number")
# + return None
