# A right solution of `backward`: lists in place of recursion from the start, other algebra for the
# same derivatives, and one topological order for both backward passes.

# %% tanh
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, [self], "tanh")

    def _backward():
        self.grad = self.grad + out.grad * (1 - t) * (1 + t)

    out._backward = _backward
    return out


Value.tanh = tanh


# %% sigmoid
def sigmoid(self):
    s = 0.5 * (1 + math.tanh(self.data / 2))
    out = Value(s, {self}, "sigmoid")

    def _backward():
        self.grad += (s - s * s) * out.grad

    out._backward = _backward
    return out


Value.sigmoid = sigmoid


# %% topological_order
def topological_order(root):
    order, met = [], {root}
    pile = [(root, iter(root._prev))]
    while pile:
        node, operands = pile[-1]
        for operand in operands:
            if operand not in met:
                met.add(operand)
                pile.append((operand, iter(operand._prev)))
                break
        else:
            order.append(node)
            pile.pop()
    return order


# %% deep
backward_without_recursion = backward
Value.backward = backward_without_recursion
