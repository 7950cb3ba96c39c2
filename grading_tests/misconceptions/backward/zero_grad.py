# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: zero_grad
# about: three parameters
a, b, c = Value(1.5), Value(-2.0), Value(3.0)
a.grad, b.grad, c.grad = 4.0, -5.0, 6.0
zero_grad([a, b, c])
# observe: a.grad, b.grad, c.grad, a.data, b.data, c.data


# %% probe: zero_grad
# about: the nodes behind a parameter
x = Value(3.0)
y = x * 2
x.grad, y.grad = 4.0, 5.0
zero_grad([y])
# observe: y.grad, x.grad


# %% probe: zero_grad
# about: parameters in a tuple
a, b = Value(1.5), Value(-2.0)
a.grad, b.grad = 4.0, -5.0
zero_grad((a, b))
# observe: a.grad, b.grad


# %% mistake: zero_grad.none
# row: 33
# says: The gradients are None now, and nothing can be added to None. Set them to 0.0.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = None


# %% mistake: zero_grad.zeroes_data
# row: new
# says: The parameters' own numbers were set to 0, and with them all that the network had
#   learnt. It is `grad` that starts over.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.data = 0.0


# %% mistake: zero_grad.both_zeroed
# row: new
# says: The gradients are 0, and so are the numbers: the parameters lost all that they had
#   learnt. Leave `data` alone.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.data = 0.0
        parameter.grad = 0.0


# %% mistake: zero_grad.local_name
# row: 34
# says: The gradients did not change: the 0 went to a name or a node of the function's own. Say
#   whose gradient it is, `parameter.grad = 0.0`.
def zero_grad(parameters):
    for parameter in parameters:
        grad = parameter.grad
        grad = 0.0


# %% mistake: zero_grad.first_only
# row: new
# says: Only the first parameter was zeroed: a `return` inside the loop ends it at once.
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = 0.0
        return


# %% mistake: zero_grad.new_nodes
# row: 36
# says: The loop puts new Values in place of the parameters. The old ones, which the network
#   uses, keep their gradients. Change the gradient of each node itself.
def zero_grad(parameters):
    parameters = list(parameters)
    for i, parameter in enumerate(parameters):
        parameters[i] = Value(parameter.data)
    return parameters


# %% mistake: zero_grad.whole_graph
# row: new
# says: The nodes behind the parameters were zeroed too. Only what is in the list starts over;
#   somebody else may still be collecting in the others.
def zero_grad(parameters):
    pile = list(parameters)
    for node in pile:
        node.grad = 0.0
        pile.extend(node._prev)
