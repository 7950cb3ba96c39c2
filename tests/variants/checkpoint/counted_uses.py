# A right solution of `checkpoint`: counted uses for the pass, plain loops, and a test with slopes
# worked out on paper.

# %% q18
def weighted_sum(weights, inputs):
    total = Value(0)
    for index in range(len(weights)):
        total = total + weights[index] * inputs[index]
    return total


# %% q19
def backward(root):
    uses, nodes = {root: 0}, [root]
    for node in nodes:
        for operand in node._prev:
            if operand not in uses:
                uses[operand] = 0
                nodes.append(operand)
            uses[operand] += 1
    root.grad = 1.0
    ready = [root]
    while ready:
        node = ready.pop(0)
        node._backward()
        for operand in node._prev:
            uses[operand] -= 1
            if not uses[operand]:
                ready.append(operand)


# %% q20
def descend(loss_of, parameters, lr, steps):
    losses = []
    while len(losses) < steps:
        for parameter in parameters:
            parameter.grad = 0.0
        loss = loss_of(*parameters)
        loss.backward()
        losses += [loss.data]
        for parameter in parameters:
            parameter.data = parameter.data - lr * parameter.grad
    return losses
