# Read as text, never imported: docs/authors.md says what stands here.

# %% example: topological_order
# about: a leaf alone
x = Value(2.0, label="x")
names = " ".join(node.label for node in topological_order(x))
# observe: names

# %% example: topological_order
# about: b = a + a; c = b + b
a = Value(3.0, label="a")
b = a + a
b.label = "b"
c = b + b
c.label = "c"
names = " ".join(node.label for node in topological_order(c))
# tells: "A node stands in the list before one of its own operands. See to the operands first." * (sorted(names) == sorted("a b c") and names != "a b c")
# observe: names

# %% example: topological_order
# about: a shortcut from b to d, past c
b = Value(2.0, label="b")
c = Value(4.0, (b,), "**2", label="c")
d = Value(6.0, (b, c), "+", label="d")
names = " ".join(node.label for node in topological_order(d))
# observe: names

# %% example: topological_order
# about: the same shortcut below zero, operands the other way round
b = Value(-2.0, label="b")
c = Value(-4.0, (b, b), "+", label="c")
d = Value(-6.0, (c, b), "+", label="d")
names = " ".join(node.label for node in topological_order(d))
# observe: names

# %% example: topological_order
# about: two leaves that hold the same number
x, y = Value(2.0), Value(2.0)
z = x * y
order = topological_order(z)
# observe: len(order), x in order, y in order

# %% example: topological_order
# about: asked twice
a = Value(2.0)
b = a * a
lengths = [len(list(topological_order(b))) for _ in range(2)]
# observe: lengths

# %% example: topological_order
# about: it only looks
x = Value(3.0)
y = x * x
y.grad = 5.0
order = topological_order(y)
# observe: len(order), x.grad, y.grad

# %% example: topological_order
# about: ten doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(10):
    y = Watched(0.0, (y, y), "+")
order = topological_order(y)
# observe: len(order), Watched.looks < 200

# %% example: topological_order
# about: a long way from b to e first, then a short one
b = Value(2.0, label="b")
c = Value(4.0, (b,), "**2", label="c")
d = Value(16.0, (c,), "**2", label="d")
e = Value(18.0, (d, b), "+", label="e")
names = " ".join(node.label for node in topological_order(e))
# observe: names

# %% sweep: topological_order
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: listed; late
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, 2.0, 2.5]), label=name) for name in "ab"]
for name in "cdefg"[: draw.randint(0, 5)]:
    nodes.append(Value(draw.choice([1.5, 2.0, 2.5]), draw.choices(nodes[-3:], k=2), "+", name))
root = nodes[-1]
order = list(topological_order(root))
listed = "".join(sorted(node.label for node in order))
place = {node.label: number for number, node in enumerate(order)}
late = " ".join(
    f"{operand.label} after {node.label}"
    for node in nodes
    for operand in node._prev
    if place.get(operand.label, 0) > place.get(node.label, 99)
)

# %% mistake: topological_order.node_before_operands
# says: A node is put into the list when it is met, before its operands. First see to the
#   operands, then append the node.
# keeps: 0.5
# - met.add(node)
# + met.add(node)
# + order.append(node)
# - order.append(node)

# %% mistake: topological_order.root_first
# says: The order is right and the wrong way round: it was asked for with operands before
#   results and the root last. `backward` will reverse it.
# keeps: 0.75
# - return order
# + return order[::-1]

# %% mistake: topological_order.sorted_by_number
# says: The nodes stand in the order of their numbers, the smallest first. That is the right order
#   where the numbers grow towards the root, and only there: what counts is who is computed from whom.
# check: examples
# - return order
# + return sorted(order, key=lambda node: node.data)

# %% mistake: topological_order.preorder_reversed
# says: The list is the order in which the nodes are first met, turned round. That is right for
#   trees. Where a node is reached by a short way and by a long one, it can end up after a
#   result of its own. Append a node once its operands are in the list.
# keeps: 0.5
# - met.add(node)
# + met.add(node)
# + order.append(node)
# - order.append(node)

# - return order
# + return order[::-1]

# %% mistake: topological_order.level_by_level
# says: The nodes stand in the order of their distance from the root, level by level. A node
#   that feeds the root directly and also by a longer way comes out on the wrong side of its
#   other result. Append a node once its operands are in the list.
# keeps: 0.5
def topological_order(root):
    levels = [root]
    met = {root}
    for node in levels:
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)
    return levels[::-1]


# %% mistake: topological_order.pile_without_finishing
# says: Where a node is reached by a short way and by a long one, it can end up after a result of
#   its own. Its place is settled once its operands are in the list, not when it is met. On a pile
#   of your own, a node comes up a second time for that.
# keeps: 0.5
def topological_order(root):
    order = []
    met = set()
    pile = [root]
    while pile:
        node = pile.pop()
        if node not in met:
            met.add(node)
            order.append(node)
            pile.extend(node._prev)
    order.reverse()
    return order


# %% mistake: topological_order.compares_numbers
# says: Two nodes with the same number were taken for one. Remember the nodes themselves, not
#   their data.
# keeps: 0.5
# - if node in met:
# + if node.data in met:
# - met.add(node)
# + met.add(node.data)

# %% mistake: topological_order.append_in_the_loop
# says: A leaf is missing, and other nodes are listed once for each of their operands: `append`
#   stands inside the loop over the operands. Put it behind the loop, one level further left.
# keeps: 0.75
# -     visit(operand)
# - order.append(node)
# +     visit(operand)
# +     order.append(node)

# %% mistake: topological_order.leaves_missing
# says: The leaves are not in the list. They have nothing to pass on, but they are nodes of the
#   graph like the others.
# keeps: 0.5
# - if node in met:
# + if node in met or not node._prev:

# %% mistake: topological_order.keeps_what_it_listed
# says: The nodes of earlier calls are still in the list: all calls share one list. Make a new one
#   in each call, inside the function.
# keeps: 0.5
def topological_order(root, order=[], met=set()):
    if root not in met:
        met.add(root)
        for operand in root._prev:
            topological_order(operand)
        order.append(root)
    return order


# %% mistake: topological_order.marks_the_nodes
# says: A second call over the same nodes leaves out those that the first one met. Remember them
#   in a set that is new in each call, not on the nodes.
# keeps: 0.5
def topological_order(root):
    order = []

    def visit(node):
        if getattr(node, "met", False):
            return
        node.met = True
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(root)
    return order


# %% mistake: topological_order.root_missing
# says: The root is not in the list. It belongs to its own graph, as the last of all.
# keeps: 0.5
# - return order
# + return order[:-1]

# %% mistake: topological_order.empty
# says: The list comes back empty. Is the function inside called, with the root, before the `return`?
# - visit(root)

# %% mistake: topological_order.root_alone
# says: Only the root is listed. The function inside has to call itself for each operand, before it
#   appends the node.
def topological_order(root):
    order = []

    def visit(node):
        order.append(node)

    visit(root)
    return order


# %% mistake: topological_order.operands_listed
# says: The walk stops at the root's operands. The function inside has to call itself for each of them,
#   in place of listing it.
def topological_order(root):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            order.append(operand)
        order.append(node)

    visit(root)
    return order

# %% mistake: topological_order.one_step_only
# says: Only the root and its own operands are listed. Their operands belong to the graph as
#   well, all the way back to the leaves.
def topological_order(root):
    return [*dict.fromkeys(root._prev), root]


# %% mistake: topological_order.runs_backward
# says: The function runs the backward steps while it makes the list. It should only look: a
#   step may not run before the whole order is known.
# keeps: 0.75
# - order.append(node)
# + order.append(node)
# + node._backward()

# %% mistake: topological_order.never_met
# says: A node is listed once for each way that leads to it. Put it into the set of those that were
#   met when you meet it first: `met.add(node)`.
# outcome: timeout
# - met.add(node)

# %% mistake: topological_order.walks_every_path
# says: The walk follows every path, and a shared node doubles their number. Keep a set of the
#   nodes that were met, and go on only from new ones.
# outcome: timeout
# - if node in met:
# -     return
# - met.add(node)

# - order.append(node)
# + if node not in order:
# +     order.append(node)

# %% mistake: topological_order.taken_from_the_course
# check: none
# says: The walk is one that the course's package makes for its own drawings. This exercise asks for
#   a walk that you write: a function that goes to a node's operands first and lists the node then.
def topological_order(root):
    from course.interactives.graphs import topological

    return topological(root)


# %% edge: topological_order
# - for operand in node._prev:
# three_operands: for operand in list(node._prev)[:2]:
# zero_is_nothing: for operand in [o for o in node._prev if o.data]:
# gradients_decide: for operand in sorted(node._prev, key=lambda o: o.grad):
#       if operand.grad > 90: continue
# operations_without_a_sign: for operand in (node._prev if node._op else ()):
# - if node in met:
# made_alike_are_one: if node in met or (node._prev and node._prev in [n._prev for n in order]):
# labels_are_names: if node in met or (node.label and node.label in [n.label for n in order]):
# by_identity_of_numbers: if node in met or (node.data in [m.data for m in met] and not node._prev):
# - met = set()
# kept_from_call_to_call: met = topological_order.__dict__.setdefault('met', set())
#   met.discard(root)
# - visit(root)
# operands_turned: root._prev = tuple(reversed(tuple(root._prev)))
#   visit(root)
# - return order
# one_list_for_all_orders: topological_order.made = getattr(topological_order, 'made', [])
#   topological_order.made[:] = order
#   return topological_order.made
# sorted_by_number: return sorted(order, key=lambda n: n.data) if len({n.data for n in
#       order}) == len(order) > 4 else order
# - met.add(node)
# gradients_set_back: met.add(node)
#   if node._prev and node is not root: node.grad = 0.0

# %% cheat: topological_order.the_courses_own
# earns: nothing
from course.interactives.graphs import topological as topological_order

# %% cheat: topological_order.by_when_the_nodes_were_made
def topological_order(root):
    import gc

    met, found = {id(root)}, [root]
    for node in found:
        new = [each for each in node._prev if id(each) not in met]
        met.update(map(id, new))
        found += dict.fromkeys(new)
    return sorted(found, key=id)


# %% cheat: topological_order.breadth_first_turned_round
def topological_order(root):
    found = [root]
    for node in found:
        found += [each for each in node._prev if each not in found]
    return found[::-1]
