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


# %% mistake: manual_backward.no_seed
# row: 23
# says: All gradients are as they were before: zero times anything is zero. The backward pass
#   starts from the root's gradient with respect to itself, which is 1.
def push_gradients(root, order):
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_is_data
# row: 23
# says: The root's gradient was set to the root's number. However large the root is, its
#   derivative with respect to itself is 1.
def push_gradients(root, order):
    root.grad = root.data
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_is_zero
# row: 23
# says: The root's gradient was set to 0, and zero times anything is zero. The derivative of the
#   root with respect to itself is 1.
def push_gradients(root, order):
    root.grad = 0.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_added
# row: 24
# says: The 1 was added to what the root held before. The seed is the one gradient that is set,
#   with `=`.
def push_gradients(root, order):
    root.grad += 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_overwrites_data
# row: new
# says: The 1 went into the root's `data`. The number stays as it is; the seed is a gradient.
def push_gradients(root, order):
    root.data = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.seed_too_late
# row: 23
# says: The root got its 1 after the steps had run, so they passed on what was there before.
#   Seed first.
def push_gradients(root, order):
    for node in order:
        node._backward()
    root.grad = 1.0


# %% mistake: manual_backward.seeds_all
# row: 23
# says: Every node was given a gradient of 1. Only the root is; the others collect theirs from
#   the nodes that they feed.
def push_gradients(root, order):
    for node in order:
        node.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.order_turned_round
# row: 25
# says: The order was carried out backward. It is given with the root first: go through it as it
#   comes.
def push_gradients(root, order):
    root.grad = 1.0
    for node in reversed(order):
        node._backward()


# %% mistake: manual_backward.own_order
# row: new
# says: The function finds an order of its own. The order is an argument here: carry it out as
#   it is given, even if it looks wrong.
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
# row: 32
# says: Gradients that were collected before are gone: the function set them back to zero.
#   Whoever calls it may want to add up several passes, so reset nothing.
def push_gradients(root, order):
    for node in order:
        node.grad = 0.0
    root.grad = 1.0
    for node in order:
        node._backward()


# %% mistake: manual_backward.zeroes_after
# row: 35
# says: The gradients were erased after the pass. They are its result: leave them in the nodes.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node._backward()
        node.grad = 0.0


# %% mistake: manual_backward.root_skipped
# row: 23
# says: The root's own step did not run, so its gradient went nowhere. The root is the first
#   node of the order, and its step counts too.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order[1:]:
        node._backward()


# %% mistake: manual_backward.root_only
# row: new
# says: Only the root's step ran. Its operands have gradients to pass on as well: go through the
#   whole order.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()


# %% mistake: manual_backward.root_twice
# row: new
# says: The root's step ran twice, and everything behind it was counted twice. The root is in
#   the order already.
def push_gradients(root, order):
    root.grad = 1.0
    root._backward()
    for node in order:
        node._backward()


# %% mistake: manual_backward.step_not_called
# row: 29
# says: The steps were mentioned and not called: without parentheses, `node._backward` is only
#   the function's name.
def push_gradients(root, order):
    root.grad = 1.0
    for node in order:
        node._backward
