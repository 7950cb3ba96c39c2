# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: deep
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward_without_recursion(z)
# observe: z.grad, x.grad, y.grad


# %% probe: deep
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: the same shortcut, operands the other way round
a = Value(1.0)
b = a * 2
c = b * 3
d = c + b
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: gradients that are there already
x = Value(3.0)
x.grad = 10.0
y = x * 2
y.grad = 7.0
backward_without_recursion(y)
# observe: y.grad, x.grad


# %% probe: deep
# about: a chain of 3,000 additions
x = Value(1.0)
y = x
for _ in range(3_000):
    y = y + x
backward_without_recursion(y)
# observe: x.grad


# %% probe: deep
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
backward_without_recursion(y)
# observe: y.grad, Watched.looks < 200


# %% sample: deep
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: ran | "": no backward step ran; late; top; held
import random

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
backward_without_recursion(root)
ran = "".join(sorted(steps))
late = " ".join(
    f"{node.label} before {user.label}"
    for user in nodes
    for node in user._prev
    if {node.label, user.label} <= {*steps} and steps.index(node.label) < steps.index(user.label)
)
top = " ".join(f"{each:g}" for each in sorted(set(seeds)))
held = " ".join(f"{node.label}:{node.grad:g}" for node in nodes)


# %% behaviour: deep
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


def backward_without_recursion(self):
    order = listed(self)[::-1]
    if forward == "yes":
        order = order[::-1]
    others = [node for node in order if node is not self]
    for node in others:
        if reset == "before" or (reset == "leaves" and not len(node._prev)):
            node.grad = 0.0
        if seed == "all":
            node.grad = 1.0
    start = self.grad
    if seed in ("set", "all"):
        self.grad = 1.0
    elif seed == "add":
        self.grad += 1.0
    elif seed == "number":
        self.grad = self.data
    elif seed in ("two", "minus"):
        self.grad = 2.0 if seed == "two" else -1.0
    elif seed == "zero":
        self.grad = 0.0
    inner = [node for node in order if len(node._prev)]
    if runs == "none":
        order = []
    elif runs == "root":
        order = [self]
    elif runs == "same":
        order = [self for _ in order]
    elif runs == "rest":
        order = others
    elif runs == "some":
        order = [node for node in order if node not in inner[-1:]]
    for node in order:
        node._backward()
        if runs == "twice":
            node._backward()
    if seed == "late":
        self.grad = 1.0
    if reset == "after":
        for node in others:
            node.grad = 0.0


Value.backward = backward_without_recursion


# %% mistake: deep.recursive
# says: It is right, but it calls itself for every level of the graph, and Python stops that
#   after about a thousand. Keep the pile of what is to be done yourself, in a list.
def backward_without_recursion(self):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(self)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.pile_without_finishing
# says: A node's place in the order was fixed when it was taken from the pile, before its
#   operands were done. In a graph with a shortcut it then runs too early. Put the node on the
#   pile a second time, to be finished after its operands.
# - to_do.append((node, True))
# + order.append(node)
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.level_by_level
# says: A queue goes through the graph level by level. A node that feeds the root directly and
#   also by a longer way then runs before all of its gradient has arrived.
# - node, operands_done = to_do.pop()
# + node, operands_done = to_do.pop(0)
# - to_do.append((node, True))
# + order.append(node)
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.seed_added
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`.
# - self.grad = 1.0
# + self.grad += 1.0

# %% mistake: deep.zeroes_first
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up.
# -         to_do.extend((operand, False) for operand in node._prev)
# +         to_do.extend((operand, False) for operand in node._prev)
# + for node in order:
# +     node.grad = 0.0

# %% mistake: deep.not_reversed
# says: The steps ran from the leaves to the root, before any gradient had arrived. Go through
#   the order in reverse.
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.walks_every_path
# says: The walk follows every path, and a shared node doubles their number; or it looks nodes
#   up in a long list. Keep a set of the nodes that were met, and go on only from new ones.
# outcome: timeout
# - met = set()

# -     order.append(node)
# - elif node not in met:
# -     met.add(node)
# +     if node not in order:
# +         order.append(node)
# + else:


# %% mistake: deep.looked_up_in_a_list
# check: none
# says: The nodes that were met are kept in a list, and to look one up there takes longer the more
#   there are. Keep them in a set: it finds a node at once, however many there are.
# - order = []
# - met = set()
# + order, met = [], []
# - met.add(node)
# + met.append(node)

# %% mistake: deep.taken_from_the_course
# check: none
# says: The pass is one that the course's package makes for its own examples. This exercise asks for
#   a pass that you write.
def backward_without_recursion(self):
    from course.push import push

    push(self, 1.0)
