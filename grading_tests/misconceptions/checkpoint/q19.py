# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: q19
# about: reused steps
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square + square * square
backward(root)
# observe: root.grad, square.grad, x.grad


# %% probe: q19
# about: the other way round
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square * square + square
backward(root)
# observe: root.grad, square.grad, x.grad


# %% probe: q19
# about: a chain with a seed in place
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
y.grad = 1.0
root = (x * 3 - y) * 2
root.grad = 5.0
backward(root)
# observe: root.grad, x.grad, y.grad


# %% probe: q19
# about: equal numbers
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
backward(x * 3 + y * 3 * 5)
# observe: x.grad, y.grad


# %% probe: q19
# about: a long way first, then a short one
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
step = x * 3
backward(step * 5 * 7 + step)
# observe: step.grad, x.grad


# %% sample: q19
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: ran | "": no backward step ran; late; top; held
import random

class Value(Value):
    backward = None  # your function has to do without it


draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, 2.0, 2.5]), label=name) for name in "ab"]
for name in "cdefg"[: draw.randint(0, 5)]:
    nodes.append(Value(draw.choice([1.5, 2.0, 2.5]), draw.choices(nodes[-3:], k=2), "+", name))
root = nodes[-1]
steps, seeds = [], []
for node in nodes:
    node.grad = draw.choice([0.5, -1.5, 2.0])
    if len(node._prev):

        def step(name=node.label):
            steps.append(name)
            seeds.append(float(root.grad))

        node._backward = step
backward(root)
ran = "".join(sorted(steps))
late = " ".join(
    f"{node.label} before {user.label}"
    for user in nodes
    for node in user._prev
    if {node.label, user.label} <= {*steps} and steps.index(node.label) < steps.index(user.label)
)
top = " ".join(f"{each:g}" for each in sorted(set(seeds)))
held = " ".join(f"{node.label}:{node.grad:g}" for node in nodes)


# %% behaviour: q19
# walk: after | before: lists a node before its operands, and turns the list round at the end | levels: goes level by level from the root, and turns the list round at the end | pushed: marks a node as met when it is put on a pile, so that its place in the list is settled too early
# sides: left | right: goes through the operands from right to left
# marks: nodes | data: takes nodes with equal numbers for one | none: does not remember which nodes it has met
# forward: no | yes: runs the steps from the operands to the results
# seed: set | add: adds the seed to what the root held before | none: gives the root no seed | number: takes the root's own number for the seed | all: gives every node a seed of 1 | late: gives the root its seed only after the steps | zero: gives the root a seed of 0 | two: gives the root a seed of 2 | minus: gives the root a seed of -1
# reset: no | before: sets the other nodes back to 0 before the steps run | after: sets the other nodes back to 0 after the steps have run | leaves: sets the leaves back to 0 before the steps run
# runs: once | none: runs no step | twice: runs every step twice | root: runs the root's step alone | rest: leaves out the root's step | some: leaves out the last step that should run | same: runs the root's step in the place of each
# ask: With c computed from b, and d from b and c: in which order do your steps run, what does the root hold then, and had everything that uses b passed on its share before b's step ran?

def listed(root):
    key = id if marks != "data" else lambda node: node.data
    turn = list if sides == "left" else lambda nodes: list(nodes)[::-1]
    found, met = [], set()

    def visit(node):
        if key(node) in met and marks != "none":
            return
        met.add(key(node))
        if walk == "before":
            found.append(node)
        for operand in turn(node._prev):
            visit(operand)
        if walk == "after":
            found.append(node)

    if walk in ("after", "before"):
        visit(root)
        return found if walk == "after" else found[::-1]
    waiting = [root]
    met.add(key(root))
    while waiting:
        node = waiting.pop(0 if walk == "levels" else -1)
        found.append(node)
        for operand in turn(node._prev):
            if key(operand) not in met or marks == "none":
                met.add(key(operand))
                waiting.append(operand)
    return found[::-1]


def backward(root):
    order = listed(root)[::-1]
    if forward == "yes":
        order = order[::-1]
    others = [node for node in order if node is not root]
    for node in others:
        if reset == "before" or (reset == "leaves" and not len(node._prev)):
            node.grad = 0.0
        if seed == "all":
            node.grad = 1.0
    start = root.grad
    if seed in ("set", "all"):
        root.grad = 1.0
    elif seed == "add":
        root.grad += 1.0
    elif seed == "number":
        root.grad = root.data
    elif seed in ("two", "minus"):
        root.grad = 2.0 if seed == "two" else -1.0
    elif seed == "zero":
        root.grad = 0.0
    inner = [node for node in order if len(node._prev)]
    if runs == "none":
        order = []
    elif runs == "root":
        order = [root]
    elif runs == "same":
        order = [root for _ in order]
    elif runs == "rest":
        order = others
    elif runs == "some":
        order = [node for node in order if node not in inner[-1:]]
    for node in order:
        node._backward()
        if runs == "twice":
            node._backward()
    if seed == "late":
        root.grad = 1.0
    if reset == "after":
        for node in others:
            node.grad = 0.0


# %% mistake: q19.pre_order
# says: The order is still that of the visit: a node is listed before its operands are visited, so
#   it may stand before another node that it feeds. It ran before all its gradient had arrived.
# - seen.add(node)
# + seen.add(node)
# + order.append(node)
# - order.append(node)

# - for node in reversed(order):
# + for node in order:


# %% mistake: q19.not_reversed
# says: The nodes run from the leaves to the root, as in the forward pass. When they run, nothing
#   has arrived yet. Turn the order round.
# - for node in reversed(order):
# + for node in order:

# %% mistake: q19.breadth_first
# says: The nodes run level by level. A node may be close to the root on one path and far from it
#   on another: it ran before all its gradient had arrived.
def backward(root):
    order = [root]
    for node in order:
        order += [operand for operand in node._prev if operand not in order]
    root.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: q19.every_path
# says: A node runs once for every path that leads to it, and passes everything on again each
#   time. Remember which nodes were met.
# - seen.add(node)

# %% mistake: q19.no_seed
# says: The root's gradient is not set to 1.0, so the pass starts from whatever it held.
# - root.grad = 1.0

# %% mistake: q19.seed_added
# says: The seed is added to what the root held before. Set it, with `=`.
# - root.grad = 1.0
# + root.grad += 1.0

# %% mistake: q19.seed_is_data
# says: The root's gradient is set to its number. A result changes as fast as itself: the seed is
#   1.0.
# - root.grad = 1.0
# + root.grad = root.data

# %% mistake: q19.zeroes
# says: All gradients are set back to zero first. They are collected, and only the caller decides
#   when to start anew.
# - visit(root)
# + visit(root)
# + for node in order:
# +     node.grad = 0.0

# %% mistake: q19.equal_numbers
# says: Nodes with equal numbers were taken for the same node. Remember the nodes themselves, not
#   what they hold.
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
# says: The pass is the method of the class that you were given. The question asks for one that you
#   write: the nodes in an order in which each comes before what it was made from, and their steps.
def backward(root):
    Value.backward(root)
