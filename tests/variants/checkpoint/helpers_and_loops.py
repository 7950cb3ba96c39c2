# A right solution of `checkpoint`: the engine's own operations, loops with an index, helper
# functions.

# %% q2
q2 = float(sum(a * b for a, b in [(3, 4), (5, -2)]))

# %% q3
q3 = " B "

# %% q18
def weighted_sum(weights, inputs):
    total = weights[0] * inputs[0]
    for i in range(1, len(weights)):
        total = total + weights[i] * inputs[i]
    return total


# %% q19
def backward(root):
    uses = {}

    def count(node):
        for operand in node._prev:
            uses[operand] = uses.get(operand, 0) + 1
            if uses[operand] == 1:
                count(operand)

    count(root)
    root.grad = 1.0
    ready = [root]
    while ready:
        node = ready.pop()
        node._backward()
        for operand in node._prev:
            uses[operand] -= 1
            if not uses[operand]:
                ready.append(operand)


# %% q20
def descend(loss_of, parameters, lr, steps):
    def one_step():
        for p in parameters:
            p.grad = 0.0
        loss = loss_of(*parameters)
        loss.backward()
        for p in parameters:
            p.data = p.data + -lr * p.grad
        return loss.data

    return [one_step() for _ in range(steps)]
