# Wrong answers of beginners, and words that the card on each must hold; read as text.

# %% answer: q19.pre_order
# says: before its operands are visited
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            order.append(node)
            for operand in node._prev:
                visit(operand)

    visit(root)
    root.grad = 1.0
    for node in order:
        node._backward()


# %% answer: q18.forgets_the_gradient
# says: the chain rule is missing
def weighted_sum(weights, inputs):
    total = sum(w.data * x for w, x in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    def _backward():
        for w, x in zip(weights, inputs):
            w.grad += x

    out._backward = _backward
    return out


# %% answer: q20.never_zeroes
# says: Set them to 0.0 before each backward pass
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss.data)
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
    return losses


# %% answer: q21.one_product
# says: Caught 1 of 14 broken engines
def test_engine(Value):
    x, y = Value(3.0), Value(4.0)
    z = x * y
    z.backward()
    return z.data == 12 and x.grad == 4 and y.grad == 3


# %% answer: q21.equal_floats
# says: small difference
def test_engine(Value):
    x, y = Value(1.3), Value(0.7)
    z = (x * y + x / y - y) ** 3 * 2
    z.backward()
    h = 1e-6
    def f(a, b): return (a * b + a / b - b) ** 3 * 2
    return x.grad == (f(1.3 + h, 0.7) - f(1.3 - h, 0.7)) / (2 * h)

# %% answer: q20.the_list_itself
# says: `loss_of(*parameters)`
# - loss = loss_of(*parameters)
# + loss = loss_of(parameters)
