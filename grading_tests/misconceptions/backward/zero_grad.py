# Read as text, never imported: docs/authors.md says what stands here.

# %% example: zero_grad
# about: three parameters
a, b, c = Value(1.5), Value(-2.0), Value(3.0)
a.grad, b.grad, c.grad = 4.0, -5.0, 6.0
zero_grad([a, b, c])
# observe: a.grad, b.grad, c.grad, a.data, b.data, c.data

# %% example: zero_grad
# about: the nodes behind a parameter
x = Value(3.0)
y = x * 2
x.grad, y.grad = 4.0, 5.0
listed = [y]
zero_grad(listed)
# observe: y.grad, x.grad, listed[0] is y

# %% sweep: zero_grad
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
# facts: held; numbers
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, -2.0, 2.5]), label=name) for name in "abcd"]
for node in nodes:
    node.grad = draw.choice([0.5, -1.5, 2.0])
chosen = draw.sample(nodes, draw.randint(0, 4))
zero_grad(chosen)
held = " ".join(f"{node.label}:{node.grad if node.grad is None else node.grad + 0.0}" for node in nodes)
numbers = " ".join(f"{node.label}:{node.data:g}" for node in nodes)

# %% mistake: zero_grad.none
# says: The gradients are None now, and nothing can be added to None. Set them to 0.0.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.grad = None

# %% mistake: zero_grad.zeroes_data
# says: The parameters' own numbers were set to 0, and with them all that the network had
#   learnt. It is `grad` that starts over.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.data = 0.0

# %% mistake: zero_grad.both_zeroed
# says: The gradients are 0, and so are the numbers: the parameters lost all that they had
#   learnt. Leave `data` alone.
# keeps: 0.75
# - parameter.grad = 0.0
# + parameter.grad = parameter.data = 0.0

# %% mistake: zero_grad.local_name
# says: The gradients did not change. Say in the loop whose gradient becomes 0:
#   `parameter.grad = 0.0`.
# - parameter.grad = 0.0
# + grad = parameter.grad
# + grad = 0.0

# %% mistake: zero_grad.first_only
# says: Only the first parameter was zeroed. A `return` inside the loop would end it there, and
#   each round has to zero the parameter whose turn it is.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.grad = 0.0
# + return

# %% mistake: zero_grad.new_nodes
# says: New Values were made. The parameters themselves, which the network uses, keep their
#   gradients. Change the gradient of each node itself.
def zero_grad(parameters):
    for i, parameter in enumerate(parameters):
        parameters[i] = Value(parameter.data)


# %% mistake: zero_grad.whole_graph
# says: The nodes behind the parameters were zeroed too. Only what is in the list starts over;
#   somebody else may still be collecting in the others.
# keeps: 0.75
def zero_grad(parameters):
    pile = list(parameters)
    for node in pile:
        node.grad = 0.0
        pile.extend(node._prev)


# %% edge: zero_grad
# - for parameter in parameters:
# numbers_of_zero_are_skipped: for parameter in [each for each in parameters if each.data]:
# - parameter.grad = 0.0
# negative_gradients: parameter.grad = min(parameter.grad, 0.0) if parameter.grad < -100 else 0.0
# tiny_gradients: if abs(parameter.grad) > 1e-4: parameter.grad = 0.0
# small_gradients: if abs(parameter.grad) > 0.5: parameter.grad = 0.0
# huge_gradients: if abs(parameter.grad) < 1e4: parameter.grad = 0.0
# results_are_left_out: if not parameter._prev: parameter.grad = 0.0
# operands_too: parameter.grad = 0.0
#   for operand in parameter._prev:
#       for each in operand._prev: each.grad = 0.0
# - for parameter in parameters:
# ten_at_most: for parameter in list(parameters)[:10]:
# one_of_two_equal_ones: for parameter in {p.data: p for p in parameters}.values():
# stops_at_zero: for parameter in parameters:
#       if parameter.grad == 0: break

# %% cheat: zero_grad.new_nodes
def zero_grad(parameters):
    parameters[:] = [Value(each.data) for each in parameters]


# %% cheat: zero_grad.the_first_one_hides_the_rest
def zero_grad(parameters):
    Value.grad = property(lambda self: 0.0, lambda self, grad: None)
