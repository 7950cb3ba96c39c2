# Read as text, never imported: docs/authors.md says what stands here.

# %% example: backward
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward(z)
# observe: z.grad, x.grad, y.grad

# %% example: backward
# about: (a * b + c) ** 2 at 2, -3 and 10
a, b, c = Value(2.0), Value(-3.0), Value(10.0)
f = (a * b + c) ** 2
backward(f)
# observe: f.grad, a.grad, b.grad, c.grad

# %% example: backward
# about: b = a + a; c = b + b
a = Value(3.0)
b = a + a
c = b + b
backward(c)
# observe: a.grad, b.grad, c.grad

# %% example: backward
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward(d)
# observe: a.grad, b.grad

# %% example: backward
# about: the same shortcut below zero, operands the other way round
a = Value(-1.0)
b = a * 2
c = b * 3
d = c + b
backward(d)
# observe: a.grad, b.grad

# %% example: backward
# about: a root that holds a gradient already
x = Value(3.0)
y = x * 2
y.grad = 10.0
returned = backward(y)
# observe: y.grad, x.grad, returned

# %% example: backward
# about: two losses that share a leaf
x = Value(3.0)
backward(x * 2)
backward(x * 5)
# observe: x.grad

# %% example: backward
# about: a long way from b to d first, then a short one
a = Value(1.0)
b = a * 2
d = b * 3 * 5 + b
backward(d)
# observe: a.grad, b.grad

# %% example: backward
# about: a node in the middle that holds a gradient already
x = Value(3.0)
y = x * 2
y.grad = 5.0
backward(y * y)
# observe: y.grad, x.grad

# %% sweep: backward
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: ran | "": no backward step ran, as where `node._backward` lacks its parentheses, or the list of nodes is still empty; late; top; held
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, 2.0, 2.5]), label=name) for name in "ab"]
for name in "cdefg"[: draw.randint(0, 5)]:
    nodes.append(Value(draw.choice([1.5, 2.0, 2.5]), draw.choices(nodes[-3:], k=2), "+", name))
root = nodes[-1]
steps, seeds = [], []
for node in nodes:
    node.grad = draw.choice([0.5, -1.5, 0.0])
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

# %% mistake: backward.no_seed
# says: All gradients stay 0, the root's too: nothing was there to be passed on. Plant the seed
#   first, `self.grad = 1.0`, in the root itself.
# keeps: 0.5
# - self.grad = 1.0

# %% mistake: backward.seed_is_data
# says: The seed is the root's number. It must be 1: a result changes exactly as fast as itself,
#   whatever its number.
# keeps: 0.5
# - self.grad = 1.0
# + self.grad = self.data

# %% mistake: backward.seed_added
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`. It is the
#   one gradient that is assigned.
# keeps: 0.75
# - self.grad = 1.0
# + self.grad += 1.0

# %% mistake: backward.seeds_everything
# says: Every node was given a seed of 1. Only the root gets one; the others collect what is
#   passed to them.
# keeps: 0.5
# - self.grad = 1.0
# + for node in topological_order(self):
# +     node.grad = 1.0

# %% mistake: backward.seed_too_late
# says: The seed was planted after the steps had run, so there was nothing to pass on. Plant it
#   before the loop.
# keeps: 0.5
# - self.grad = 1.0

# -     node._backward()
# +     node._backward()
# + self.grad = 1.0

# %% mistake: backward.not_reversed
# says: The steps ran from the leaves to the root, before any gradient had arrived. The root's
#   comes first, and each node's after those of all its results.
# keeps: 0.5
# - for node in reversed(topological_order(self)):
# + for node in topological_order(self):

# %% mistake: backward.sorted_by_number
# says: The nodes ran in the order of their numbers, the largest first. That is the right order
#   where the numbers grow towards the root, and only there. Use the reversed topological order.
# check: examples
# - for node in reversed(topological_order(self)):
# + for node in sorted(topological_order(self), key=lambda node: -node.data):

# %% mistake: backward.pre_order_reversed
# says: The root's step ran last: a node was listed before its operands, and the list was turned
#   round. List it after them, or use `topological_order`.
# keeps: 0.5
def backward(self):
    order = []
    met = set()

    def visit(node):
        if node not in met:
            met.add(node)
            order.append(node)
            for operand in node._prev:
                visit(operand)

    visit(self)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward

# %% mistake: backward.root_only
# says: Only the root's own step ran. Each node behind it has a step to run as well.
# - for node in reversed(topological_order(self)):
# -     node._backward()
# + self._backward()

# %% mistake: backward.root_each_time
# says: The root's own step ran in each round of the loop, and no other. Call the step of the node
#   whose turn it is: `node._backward()`.
# keeps: 0.5
# - node._backward()
# + self._backward()

# %% mistake: backward.operands_steps
# says: The steps of each node's operands ran, and the root's own did not. In the loop it is the step of
#   the node itself that runs: `node._backward()`.
# keeps: 0.5
# - node._backward()
# + for operand in node._prev:
# +     operand._backward()

# %% mistake: backward.operands_only
# says: Only the root and its own operands run. What these were computed from has steps as well, all
#   the way back to the leaves.
def backward(self):
    self.grad = 1.0
    self._backward()
    for operand in self._prev:
        operand._backward()


Value.backward = backward


# %% mistake: backward.level_by_level
# says: The nodes ran in the order of their distance from the root, level by level. A node that
#   feeds the root directly and also by a longer way ran before all of its gradient had arrived.
#   Use the reversed topological order.
# keeps: 0.5
def backward(self):
    self.grad = 1.0
    levels = [self]
    met = {self}
    for node in levels:
        node._backward()
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)


Value.backward = backward

# %% mistake: backward.first_come_first_served
# says: Each node ran as soon as it was met, and then its operands. In a graph with a shortcut a
#   node ran before all of its gradient had arrived. Use the reversed topological order.
# keeps: 0.5
def backward(self):
    self.grad = 1.0
    met = set()

    def run(node):
        if node in met:
            return
        met.add(node)
        node._backward()
        for operand in node._prev:
            run(operand)

    run(self)


Value.backward = backward

# %% mistake: backward.zeroes_first
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up; setting them back is the task of `zero_grad`.
# keeps: 0.75
# - self.grad = 1.0
# + for node in topological_order(self):
# +     node.grad = 0.0
# + self.grad = 1.0

# %% mistake: backward.zeroes_results
# says: The gradients of the nodes that were computed were set back to 0 before the pass. What they
#   hold is added to, as in the leaves: no gradient but the root's is set.
# keeps: 0.75
# - self.grad = 1.0
# + for node in topological_order(self):
# +     if node._prev:
# +         node.grad = 0.0
# + self.grad = 1.0

# %% mistake: backward.skips_root
# says: The root's own step was left out, and so nothing was passed on to its operands. The pass
#   begins with the root.
# keeps: 0.5
# - for node in reversed(topological_order(self)):
# + for node in reversed(topological_order(self)[:-1]):

# %% mistake: backward.runs_twice
# says: Every step ran twice, so everything was passed on twice. Once for each node is right.
# keeps: 0.5
# -     node._backward()
# +     node._backward()
# + for node in reversed(topological_order(self)):
# +     node._backward()

# %% mistake: backward.runs_every_path
# says: The pass follows every path, and where nodes are shared the number of paths explodes.
#   Run each node once, in the reversed topological order.
# outcome: timeout
def backward(self):
    self.grad = 1.0

    def run(node):
        node._backward()
        for operand in node._prev:
            run(operand)

    run(self)


Value.backward = backward

# %% mistake: backward.taken_from_the_course
# check: none
# says: The pass is one that the course's package makes for its own examples. This exercise asks for
#   a pass that you write, on the order that `topological_order` gives.
def backward(self):
    from course.push import push

    push(self, 1.0)


Value.backward = backward

# %% edge: backward
# - node._backward()
# zero_gradients_skipped: node._backward() if node.grad or node is self else None
# small_gradients_skipped: node._backward() if abs(node.grad) > 1e-6 else None
# gradients_clipped: node._backward()
#   node.grad = max(-1e3, min(1e3, node.grad))
# a_constants_gradient_erased: node._backward()
#   if not node._prev and node.data == 2.0: node.grad = 0.0
# intermediate_gradients_erased: node._backward()
#   if node._prev and node is not self: node.grad = 0.0
# - for node in reversed(topological_order(self)):
# sixty_nodes_at_most: for node in list(reversed(topological_order(self)))[:70]:
# - self.grad = 1.0
# leaves_zeroed_if_equal: leaves = [n for n in topological_order(self) if not n._prev]
#   for leaf in leaves:
#       if [l.data for l in leaves].count(leaf.data) > 1: leaf.grad = 0.0
#   self.grad = 1.0
# returns_early_for_zero: self.grad = 1.0
#   if self.data == 0: return
# seed_has_a_sign: self.grad = 1.0 if self.data >= 0 else -1.0
# seed_of_large_roots: self.grad = 1.0 if abs(self.data) < 1e4 else 0.0
# the_same_backward_twice_runs_once: if getattr(self, 'done', False): return
#   self.done = True
#   self.grad = 1.0

# %% cheat: backward.taken_from_the_course
# earns: nothing

# %% cheat: backward.slopes_of_the_numbers_by_a_walk_along_every_path
def backward(self):
    def go(node, share):
        node.grad, held = share, node.grad
        node._backward()
        node.grad = held + share if node is not self else 1.0
        for operand in dict.fromkeys(node._prev):
            share, operand.grad = operand.grad, 0.0
            go(operand, share)

    go(self, 1.0)


Value.backward = backward
