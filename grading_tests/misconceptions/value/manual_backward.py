# Read as text, never imported: docs/authors.md says what stands here.

# %% example: manual_backward
# about: two steps in a right order
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [c, b])
# observe: c.grad, b.grad, a.grad

# %% example: manual_backward
# about: a root that holds a gradient already
a = Value(3.0)
b = a + a
b.grad = 5.0
push_gradients(b, [b])
# observe: b.grad, a.grad, b.data

# %% example: manual_backward
# about: a wrong order, carried out as it is given
a = Value(3.0)
b = a + a
c = b + b
push_gradients(c, [b, c])
# observe: c.grad, b.grad, a.grad

# %% example: manual_backward
# about: a leaf that has collected a gradient already
a = Value(3.0)
a.grad = 10.0
b = a + a
push_gradients(b, [b, a])
# observe: b.grad, a.grad

# %% example: manual_backward
# about: a node that is listed twice
a = Value(3.0)
b = a + a
push_gradients(b, [b, b])
# observe: a.grad

# %% sweep: manual_backward
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

# %% mistake: manual_backward.no_seed
# says: All gradients are as they were before: zero times anything is zero. The backward pass
#   starts from the root's gradient with respect to itself, which is 1.
# keeps: 0.5
# - root.grad = 1.0

# %% mistake: manual_backward.seed_is_data
# says: The root's gradient was set to the root's number. However large the root is, its
#   derivative with respect to itself is 1.
# keeps: 0.5
# - root.grad = 1.0
# + root.grad = root.data

# %% mistake: manual_backward.seed_is_zero
# says: The root's gradient was set to 0, and zero times anything is zero. The derivative of the
#   root with respect to itself is 1.
# keeps: 0.5
# - root.grad = 1.0
# + root.grad = 0.0

# %% mistake: manual_backward.seed_added
# says: The 1 was added to what the root held before. The seed is the one gradient that is set,
#   with `=`.
# keeps: 0.75
# - root.grad = 1.0
# + root.grad += 1.0

# %% mistake: manual_backward.seed_overwrites_data
# says: The 1 went into the root's `data`. The number stays as it is; the seed is a gradient.
# keeps: 0.5
# - root.grad = 1.0
# + root.data = 1.0

# %% mistake: manual_backward.seed_too_late
# says: The root got its 1 after the steps had run, so they passed on what was there before.
#   Seed first.
# keeps: 0.75
def push_gradients(root, order):
    for node in order:
        node._backward()
    root.grad = 1.0


# %% mistake: manual_backward.seeds_all
# says: Every node was given a gradient of 1. Only the root is; the others collect theirs from
#   the nodes that they feed.
# keeps: 0.5
# - root.grad = 1.0
# + for node in order:
# +     node.grad = 1.0

# %% mistake: manual_backward.seeds_each_in_its_turn
# says: Each node's gradient was set to 1 before its step, and what it had collected was lost. Only
#   the root is given a 1.
# keeps: 0.5
def push_gradients(root, order):
    for node in order:
        node.grad = 1.0
        node._backward()


# %% mistake: manual_backward.order_turned_round
# says: The order was carried out from its end. It is given with the root first: go through it as it
#   comes.
# keeps: 0.5
# - for node in order:
# + for node in reversed(order):

# %% mistake: manual_backward.own_order
# says: The steps did not run in the order that was given. The order is an argument: carry it
#   out node by node as it comes, even if it looks wrong.
# keeps: 0.5
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
# keeps: 0.75
# - root.grad = 1.0
# + for node in order:
# +     node.grad = 0.0
# + root.grad = 1.0

# %% mistake: manual_backward.zeroes_after
# says: The gradients were erased after the pass. They are its result: leave them in the nodes.
# keeps: 0.5
# - node._backward()
# + node._backward()
# + node.grad = 0.0

# %% mistake: manual_backward.root_skipped
# says: The root's own step did not run, so its gradient went nowhere. The root is the first
#   node of the order, and its step counts too.
# keeps: 0.5
# - for node in order:
# + for node in order[1:]:

# %% mistake: manual_backward.root_only
# says: Only the root's step has passed something on. Its operands have gradients to pass on as well,
#   and after the root: go through the whole order, as it is given.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()


# %% mistake: manual_backward.root_each_time
# says: The root's step ran in each round of the loop, and no other. Call the step of the node whose
#   turn it is: `node._backward()`.
# keeps: 0.5
# - node._backward()
# + root._backward()

# %% mistake: manual_backward.first_only
# says: Only the first step of the order ran. A `return` inside the loop would end it there.
# - for node in order:
# + for node in order[:1]:

# %% mistake: manual_backward.last_left_out
# says: The last node of the order did not run. `range(n)` already stops before n, so nothing has to be
#   taken off.
# keeps: 0.75
# - for node in order:
# + for node in order[:-1]:

# %% mistake: manual_backward.root_twice
# says: The root's step ran twice, and everything behind it was counted twice. The root is in
#   the order already.
# keeps: 0.75
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
# each_once: for node in dict.fromkeys(order):
# order_is_used_up: order = list(order) if not isinstance(order, list) else order
#   while order:
#       node = order.pop(0)
# seeded_before_each_step: for node in order:
#       root.grad = 1.0
# - root.grad = 1.0
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
