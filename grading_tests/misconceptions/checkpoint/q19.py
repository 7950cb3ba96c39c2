# Read as text, never imported: docs/authors.md says what stands here.

# %% example: q19
# about: reused steps
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square + square * square
backward(root)
# observe: root.grad, square.grad, x.grad

# %% example: q19
# about: the other way round
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square * square + square
backward(root)
# observe: root.grad, square.grad, x.grad

# %% example: q19
# about: a chain with gradients in place
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
step = x * 3
step.grad, y.grad = 1.0, 1.0
root = (step - y) * 2
root.grad = 5.0
backward(root)
# observe: root.grad, x.grad, y.grad

# %% example: q19
# about: equal numbers
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
backward(x * 3 + y * 3 * 5)
# observe: x.grad, y.grad

# %% example: q19
# about: a long way first, then a short one
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
step = x * 3
backward(step * 5 * 7 + step)
# observe: step.grad, x.grad

# %% example: q19
# about: a second pass over a shared step
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
step = x * 2
backward(step * 3)
backward(step * 5)
# observe: step.grad, x.grad

# %% sweep: q19
# like: backward/backward
# - draw = random.Random(seed)
# + class Value(Value):
# +     backward = None  # your function has to do without it
# +
# +
# + draw = random.Random(seed)

# %% mistake: q19.pre_order
# says: The order is still that of the visit: a node is listed before its operands are visited. So
#   it may stand before another node that it feeds, and it ran before all its gradient had arrived.
# keeps: 0.5
# - seen.add(node)
# + seen.add(node)
# + order.append(node)
# - order.append(node)

# - for node in reversed(order):
# + for node in order:

# %% mistake: q19.pre_order_reversed
# says: The root runs last now: a node is still listed before its operands, and the list is turned
#   round. Append it after them, behind the loop.
# keeps: 0.5
# - seen.add(node)
# + seen.add(node)
# + order.append(node)
# - order.append(node)

# %% mistake: q19.first_operand_only
# says: The visit goes on to the first operand of each node alone. The others, and all that they were
#   computed from, never take their turn.
# - for operand in node._prev:
# + for operand in node._prev[:1]:

# %% mistake: q19.not_reversed
# says: The nodes run from the leaves to the root, as in the forward pass. When they run,
#   nothing has arrived yet. A node's turn comes after all the nodes that it feeds.
# keeps: 0.5
# - for node in reversed(order):
# + for node in order:

# %% mistake: q19.breadth_first
# says: The nodes run level by level. A node may be close to the root on one path and far from it
#   on another: it ran before all its gradient had arrived.
# keeps: 0.5
def backward(root):
    order = [root]
    for node in order:
        for operand in node._prev:
            if operand not in order:
                order.append(operand)
    root.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: q19.every_path
# says: A node runs once for every path that leads to it, and passes everything on again each
#   time. Remember which nodes were met.
# keeps: 0.5
# - seen.add(node)

# %% mistake: q19.append_in_the_loop
# says: A node is listed once for each of its operands: `append` stands inside the loop over them. Put
#   it behind the loop, one level further left.
# keeps: 0.5
# - order.append(node)
# +     order.append(node)

# %% mistake: q19.root_each_time
# says: The root's own step ran in each round of the loop, and no other. Call the step of the node
#   whose turn it is: `node._backward()`.
# keeps: 0.5
# - node._backward()
# + root._backward()

# %% mistake: q19.seed_too_late
# says: The root got its 1 after the steps had run, so there was nothing to pass on. Seed first.
# keeps: 0.75
# - root.grad = 1.0

# - node._backward()
# + node._backward()
# + root.grad = 1.0

# %% mistake: q19.seeds_everything
# says: Every node was given a gradient of 1. Only the root is; the others collect theirs from the nodes
#   that they feed.
# keeps: 0.5
# - root.grad = 1.0

# - node._backward()
# + node.grad = 1.0
# + node._backward()

# %% mistake: q19.keeps_what_it_listed
# says: The steps of an earlier call run again: a list outside the function, or a default value, is
#   made once and shared by all calls. Make a new one in each call.
# keeps: 0.75
# - def backward(root):
# + def backward(root, order=[], seen=set()):
# - order, seen = [], set()

# %% mistake: q19.no_seed
# says: The root's gradient is not set to 1.0, so the pass starts from whatever it held.
# keeps: 0.5
# - root.grad = 1.0

# %% mistake: q19.seed_added
# says: The seed is added to what the root held before. Set it, with `=`.
# keeps: 0.75
# - root.grad = 1.0
# + root.grad += 1.0

# %% mistake: q19.seed_is_data
# says: The root's gradient is set to its number. A result changes as fast as itself: the seed is
#   1.0.
# keeps: 0.5
# - root.grad = 1.0
# + root.grad = root.data

# %% mistake: q19.zeroes
# says: All gradients are set back to zero first. They are collected, and only the caller decides
#   when to start anew.
# keeps: 0.75
# - visit(root)
# + visit(root)
# + for node in order:
# +     node.grad = 0.0

# %% mistake: q19.equal_numbers
# says: Nodes with equal numbers were taken for the same node. Remember the nodes themselves, not
#   what they hold.
# keeps: 0.5
# - if node not in seen:
# -     seen.add(node)
# + if node.data not in seen:
# +     seen.add(node.data)

# %% mistake: q19.uses_the_method
# says: The nodes that this is tried on have no method `backward()`: use only `_prev`, `grad` and
#   `_backward`.
def backward(root):
    root.backward()


# %% mistake: q19.given_pass
# check: none
# says: The pass is the method of the class that you were given. Write one of your own: the nodes
#   in an order in which each comes before what it was made from, and their steps.
def backward(root):
    Value.backward(root)


# %% edge: q19
# - root.grad = 1.0
# a_leaf_has_no_seed: root.grad = 1.0 if root._prev else root.grad
# - node._backward()
# intermediate_gradients_erased: node._backward()
#   if node._prev and node is not root: node.grad = 0.0
# - order, seen = [], set()
# kept: order, seen = [], set()
#   if hasattr(root, 'kept'): return
#   root.kept = True
# - root.grad = 1.0
# seed_has_a_sign: root.grad = 1.0 if root.data >= 0 else -1.0
# depths_mended_three_levels_deep: root.grad = 1.0
#   depth = {}
#   
#   def deeper(node, level):
#       depth[node] = max(level, depth.get(node, 0))
#       for operand in node._prev:
#           if operand not in depth or depth[operand] <= level < 3:
#               deeper(operand, level + 1)
#   
#   deeper(root, 0)
#   order = sorted(depth, key=depth.get)[::-1]

# %% cheat: q19.given_pass
# earns: nothing

# %% cheat: q19.the_given_pass_by_another_name
# earns: nothing
backward = Value.backward

# %% cheat: q19.the_order_that_the_engines_own_module_has
# earns: nothing
def backward(root):
    order = type(root).__add__.__globals__["topological"](root)
    root.grad = 1.0
    for node in order:
        node._backward()
