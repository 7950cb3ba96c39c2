# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: manual_backward
# about: two steps in a right order
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [c, b])
# observe: c.grad, b.grad, a.grad

# %% probe: manual_backward
# about: a root that holds a gradient already
a = Value(3.0)
b = a + a
b.grad = 5.0
push_gradients(b, [b])
# observe: b.grad, a.grad, b.data

# %% probe: manual_backward
# about: a wrong order, carried out as it is given
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [b, c])
# observe: c.grad, b.grad, a.grad

# %% probe: manual_backward
# about: a leaf that has collected a gradient already
a = Value(3.0)
a.grad = 10.0
b = a + a
push_gradients(b, [b, a])
# observe: b.grad, a.grad

# %% sample: manual_backward
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
# facts: ran; top; held
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, 2.0, 2.5]), label=name) for name in "ab"]
for name in "cdefg"[: draw.randint(0, 5)]:
    nodes.append(Value(draw.choice([1.5, 2.0, 2.5]), draw.choices(nodes[-3:], k=2), "+", name))
root = nodes[-1]
order = [root, *draw.choices(nodes, k=draw.randint(0, 4))]
steps, seeds = [], []
for node in nodes:
    node.grad = draw.choice([0.5, -1.5, 0.0])
    if len(node._prev):

        def step(name=node.label):
            steps.append(name)
            seeds.append(float(root.grad))

        node._backward = step
push_gradients(root, order)
ran = "".join(steps)
top = " ".join(f"{each:g}" for each in sorted(set(seeds)))
held = " ".join(f"{node.label}:{node.grad:g}" for node in nodes)

# %% behaviour: manual_backward
# seed: set | add: adds the seed to what the root held before | none: gives the root no seed | spared: gives the root a seed only where its gradient is 0 | number: takes the root's own number for the seed | all: gives every listed node a seed of 1 | late: gives the root its seed only after the steps | zero: gives the root a seed of 0 | two: gives the root a seed of 2 | minus: gives the root a seed of -1
# order: given | turned: runs the steps from the end of the list to its beginning | once: runs a step once only where it is listed twice | first: leaves out the first of the list | last: leaves out the last of the list | twice: runs each step twice | root: runs the root's step again at the end | again: runs the root's step once more before the list | alone: runs the root's step alone | none: runs no step at all | same: runs the root's step in the place of each step on the list
# reset: no | before: sets the listed nodes back to 0 before the steps run | after: sets the listed nodes back to 0 after the steps have run
# ask: With b = a + a and c = b + b, what do a, b and c hold after push_gradients(c, [c, b])?
def push_gradients(root, nodes):
    nodes = list(nodes)
    if reset == "before":
        for node in nodes:
            node.grad = 0.0
    if seed == "all":
        for node in nodes:
            node.grad = 1.0
    fixed = {"set": 1.0, "zero": 0.0, "two": 2.0, "minus": -1.0, "all": 1.0, "number": root.data}
    if seed in fixed:
        root.grad = fixed[seed]
    elif seed == "spared":
        root.grad = root.grad or 1.0
    elif seed == "add":
        root.grad += 1.0
    steps = {
        "given": nodes,
        "turned": nodes[::-1],
        "once": list(dict.fromkeys(nodes)),
        "first": nodes[1:],
        "last": nodes[:-1],
        "twice": [node for node in nodes for _ in range(2)],
        "root": [*nodes, root],
        "again": [root, *nodes],
        "alone": [root],
        "none": [],
        "same": [root for _ in nodes],
    }[order]
    for node in steps:
        node._backward()
    if seed == "late":
        root.grad = 1.0
    if reset == "after":
        for node in nodes:
            node.grad = 0.0


# %% mistake: manual_backward.no_seed
# says: All gradients are as they were before: zero times anything is zero. The backward pass
#   starts from the root's gradient with respect to itself, which is 1.
# - root.grad = 1.0

# %% mistake: manual_backward.seed_is_data
# says: The root's gradient was set to the root's number. However large the root is, its
#   derivative with respect to itself is 1.
# - root.grad = 1.0
# + root.grad = root.data

# %% mistake: manual_backward.seed_is_zero
# says: The root's gradient was set to 0, and zero times anything is zero. The derivative of the
#   root with respect to itself is 1.
# - root.grad = 1.0
# + root.grad = 0.0

# %% mistake: manual_backward.seed_added
# says: The 1 was added to what the root held before. The seed is the one gradient that is set,
#   with `=`.
# - root.grad = 1.0
# + root.grad += 1.0

# %% mistake: manual_backward.seed_overwrites_data
# says: The 1 went into the root's `data`. The number stays as it is; the seed is a gradient.
# - root.grad = 1.0
# + root.data = 1.0

# %% mistake: manual_backward.seed_too_late
# says: The root got its 1 after the steps had run, so they passed on what was there before.
#   Seed first.
def push_gradients(root, order):
    for node in order:
        node._backward()
    root.grad = 1.0


# %% mistake: manual_backward.seeds_all
# says: Every node was given a gradient of 1. Only the root is; the others collect theirs from
#   the nodes that they feed.
# - root.grad = 1.0
# + for node in order:
# +     node.grad = 1.0

# %% mistake: manual_backward.order_turned_round
# says: The order was carried out backward. It is given with the root first: go through it as it
#   comes.
# - for node in order:
# + for node in reversed(order):

# %% mistake: manual_backward.own_order
# says: The steps did not run in the order that was given. The order is an argument: carry it
#   out node by node as it comes, even if it looks wrong.
def push_gradients(root, order):
    topological = []
    visited = set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for operand in node._prev:
                visit(operand)
            topological.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(topological):
        node._backward()


# %% mistake: manual_backward.zeroes_first
# says: Gradients that were collected before are gone: the function set them back to zero.
#   Whoever calls it may want to add up several passes, so reset nothing.
# - root.grad = 1.0
# + for node in order:
# +     node.grad = 0.0
# + root.grad = 1.0

# %% mistake: manual_backward.zeroes_after
# says: The gradients were erased after the pass. They are its result: leave them in the nodes.
# - node._backward()
# + node._backward()
# + node.grad = 0.0

# %% mistake: manual_backward.root_skipped
# says: The root's own step did not run, so its gradient went nowhere. The root is the first
#   node of the order, and its step counts too.
# - for node in order:
# + for node in order[1:]:

# %% mistake: manual_backward.root_only
# says: Only the root's step has passed something on. Its operands have gradients to pass on as well,
#   and after the root: go through the whole order, as it is given.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()


# %% mistake: manual_backward.root_twice
# says: The root's step ran twice, and everything behind it was counted twice. The root is in
#   the order already.
# - root.grad = 1.0
# + root.grad = 1.0
# + root._backward()

# %% mistake: manual_backward.step_not_called
# says: The root has its 1, and no step ran. Call the step of each node in the order: without
#   parentheses, `node._backward` is only the function's name.
# - node._backward()
# + node._backward

# %% edge: manual_backward
# - for node in order:
# numbers_of_zero_are_skipped: for node in [node for node in order if node.data]:
# - node._backward()
# index_errors_end_it: try: node._backward()
#   except IndexError: return
# - for node in order:
# each_once: for node in dict.fromkeys(order):
# at_most_a_hundred: for node in list(order)[:100]:
# root_run_though_not_listed: for node in ([root] if root not in list(order) else []) + list(order):
# order_is_used_up: order = list(order) if not isinstance(order, list) else order
#   while order:
#       node = order.pop(0)
# seeded_before_each_step: for node in order:
#       root.grad = 1.0
# - node._backward()
# no_leaves_that_have_gradients: node._backward() if node.grad else None
# zero_gradients_skipped: node._backward() if node.grad != 0 else None
# small_gradients_skipped: node._backward() if abs(node.grad) > 1e-6 else None
# gradients_clipped: node._backward()
#   node.grad = max(-10.0, min(10.0, node.grad))
# errors_swallowed: try: node._backward()
#   except ArithmeticError: pass
# - root.grad = 1.0
# root_zero_kept: root.grad = root.grad if root.grad == 0.5 else 1.0
# root_by_number: for each in order:
#       if each.data == root.data:
#           each.grad = 1.0
#   root.grad = 1.0
# first_in_the_order_is_seeded: list(order)[0].grad = 1.0 if list(order) else 0
# twice_is_once_for_the_whole_notebook: root.grad = 1.0
#   push_gradients.done = getattr(push_gradients, 'done', set())
#   order = [n for n in order if n not in push_gradients.done]
#   push_gradients.done |= set(order)

# %% edge: manual_backward.turned_round_where_the_root_is_last
# - for node in order:
# + for node in reversed(order) if order[-1:] and order[-1] is root else order:

# %% cheat: manual_backward.an_order_of_its_own
def push_gradients(root, order):
    root.grad = 1.0
    done = [root]
    for node in done:
        node._backward()
        done += [operand for operand in node._prev if operand not in done]


# %% cheat: manual_backward.by_the_courses_own_pass
def push_gradients(root, order):
    from course.push import push

    push(root, 1.0)
