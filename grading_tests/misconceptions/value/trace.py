# Read as text, never imported: docs/authors.md says what stands here.

# %% example: trace
# about: a small graph
x, y, z = Value(2.0), Value(3.0), Value(10.0)
product = Value(6.0, (x, y), "*")
root = Value(16.0, (product, z), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), root in nodes, (x, product) in edges

# %% example: trace
# about: x + x
x = Value(3.0)
root = Value(6.0, (x, x), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)

# %% example: trace
# about: two paths that meet again
x = Value(3.0)
left, right = Value(9.0, (x,), "**2"), Value(27.0, (x,), "**3")
root = Value(36.0, (left, right), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), (x, left) in edges, (x, right) in edges

# %% example: trace
# about: different nodes with the same number
x, y = Value(2.0), Value(2.0)
root = Value(4.0, (x, y), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)

# %% example: trace
# about: a chain of 300 operations
node = Value(1.0)
for step in range(300):
    node = Value(1.0, (node,), "+")
nodes, edges = trace(node)
# observe: len(nodes), len(edges)

# %% example: trace
# about: ten doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(10):
    y = Watched(2 * y.data, (y, y), "+")
nodes, edges = trace(y)
# observe: len(nodes), Watched.looks < 200

# %% sweep: trace
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: found; arrows
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, 2.0, 2.5]), label=name) for name in "ab"]
for name in "cdefg"[: draw.randint(0, 5)]:
    nodes.append(Value(draw.choice([1.5, 2.0, 2.5]), draw.choices(nodes[-3:], k=2), "+", name))
root = nodes[-1]
parts = trace(root)
found = "".join(sorted(node.label for node in parts[0]))
arrows = " ".join(sorted(f"{one.label}>{other.label}" for one, other in parts[1]))

# %% mistake: trace.edges_to_the_root
# says: Every edge leads to the root. An edge leads from an operand to the node that was computed from it.
# keeps: 0.5
# - edges.add((operand, node))
# + edges.add((operand, root))

# %% mistake: trace.empty
# says: Both collections come back empty. Is the function inside called, with the root, before the
#   `return`?
def trace(root):
    nodes, edges = set(), set()

    def build(node):
        if node not in nodes:
            nodes.add(node)
            for operand in node._prev:
                edges.add((operand, node))
                build(operand)

    return nodes, edges


# %% mistake: trace.walks_every_path
# says: The walk follows every path, and a shared node doubles their number. Remember which
#   nodes you have met, and go on only from new ones.
# outcome: timeout
# - if operand not in nodes:
# -     nodes.add(operand)
# -     to_visit.append(operand)
# + nodes.add(operand)
# + to_visit.append(operand)

# %% mistake: trace.met_by_number
# says: Two nodes with the same number were taken for one. Equal numbers are not the same node:
#   remember the nodes, not their data.
# keeps: 0.5
# - if operand not in nodes:
# + if operand.data not in [node.data for node in nodes]:

# %% mistake: trace.met_by_label
# says: Nodes with the same label were taken for one, and a label may be empty. Remember the nodes
#   themselves.
def trace(root):
    nodes, edges = {}, set()

    def walk(node):
        if node.label in nodes:
            return
        nodes[node.label] = node
        for operand in node._prev:
            edges.add((operand, node))
            walk(operand)

    walk(root)
    return list(nodes.values()), edges


# %% mistake: trace.edges_turned_round
# says: The edges point the wrong way. An edge goes with the computation: (operand, result).
# keeps: 0.75
# - edges.add((operand, node))
# + edges.add((node, operand))

# %% mistake: trace.keeps_what_it_found
# says: The nodes and edges of earlier calls are still there: all calls share them. Make new ones
#   in each call, inside the function.
# keeps: 0.5
def trace(root, nodes=set(), edges=set()):
    if root not in nodes:
        nodes.add(root)
        for operand in root._prev:
            edges.add((operand, root))
            trace(operand)
    return nodes, edges


# %% mistake: trace.root_missing
# says: The root is not among the nodes. It is part of its own graph, also when it stands alone.
# keeps: 0.75
# - nodes = {root}
# + nodes = set()

# %% mistake: trace.leaves_missing
# says: Nodes without operands are not among the nodes. A leaf is a node like any other.
# keeps: 0.5
# - nodes = {root}
# + nodes = set()
# - for operand in node._prev:
# + for operand in node._prev:
# +     nodes.add(node)
# - nodes.add(operand)

# %% mistake: trace.second_edge_missing
# says: An edge to a node that was met before is missing. A node is visited once, but every
#   arrow that leaves it counts: record the edge before you ask whether the operand is new.
# keeps: 0.75
# - edges.add((operand, node))

# - nodes.add(operand)
# + nodes.add(operand)
# + edges.add((operand, node))

# %% mistake: trace.second_edge_missing_by_recursion
# says: An edge to a node that was met before is missing. A node is visited once, but every
#   arrow that leaves it counts: record the edge before you ask whether the operand is new.
# keeps: 0.75
def trace(root):
    nodes, edges = set(), set()

    def visit(node):
        nodes.add(node)
        for operand in node._prev:
            if operand not in nodes:
                edges.add((operand, node))
                visit(operand)

    visit(root)
    return nodes, edges

# %% mistake: trace.edge_for_each_use
# says: `x + x` gave the same edge twice. An edge that is there already need not be recorded
#   again; a set takes care of it.
# keeps: 0.75
# - edges = set()
# + edges = []
# - edges.add((operand, node))
# + edges.append((operand, node))

# %% mistake: trace.node_for_each_use
# says: A node that is used twice appears twice. Mark it as met when you put it on the list, not
#   only when you come to it.
# keeps: 0.5
# - nodes = {root}
# + nodes = [root]
# - if operand not in nodes:
# -     nodes.add(operand)
# -     to_visit.append(operand)
# + if operand not in nodes:
# +     to_visit.append(operand)
# + nodes.append(operand)

# %% mistake: trace.inner_result_lost
# says: Only the root's own operands were found. You throw away what the inner `trace` returns: join
#   its nodes and edges to yours.
def trace(root):
    nodes, edges = {root}, set()
    for operand in root._prev:
        nodes.add(operand)
        edges.add((operand, root))
        trace(operand)
    return nodes, edges


# %% mistake: trace.one_level
# says: Only the root's own operands were found. They have operands too: put each new node on
#   the list of those still to be visited.
def trace(root):
    nodes = {root}
    edges = set()
    for operand in root._prev:
        nodes.add(operand)
        edges.add((operand, root))
    return nodes, edges


# %% mistake: trace.first_operand_only
# says: The walk follows the first operand only. Each operand of a node leads on to a part of
#   the graph.
def trace(root):
    nodes = {root}
    edges = set()
    node = root
    while node._prev:
        operand = list(node._prev)[0]
        nodes.add(operand)
        edges.add((operand, node))
        node = operand
    return nodes, edges


# %% mistake: trace.nodes_only
# says: The function returns the nodes alone. It should return a pair: the nodes, and the edges.
# keeps: 0.5
# - return nodes, edges
# + return nodes

# %% mistake: trace.pair_swapped
# says: The pair comes back to front. The nodes are first, the edges second.
# keeps: 0.75
# - return nodes, edges
# + return edges, nodes

# %% mistake: trace.nothing_returned
# says: The function gives back None, where the nodes and the edges should stand after `return`.
# - return nodes, edges

# %% edge: trace
# - edges.add((operand, node))
# edges_by_number: edges.add((operand, node)) if all((o.data, n.data) != (operand.data, node.data)
#       or o is operand for o, n in edges) else None
# - for operand in node._prev:
# three_operands: for operand in list(node._prev)[:2]:
# zero_is_nothing: for operand in [o for o in node._prev if o.data]:
# - nodes = {root}
# kept_from_call_to_call: nodes = trace.nodes = getattr(trace, 'nodes',
#       set()) if root in getattr(trace, 'nodes', set()) else {root}
# - if operand not in nodes:
# made_alike_are_one: if operand not in nodes and not (operand._prev and (operand._op,
#       operand._prev) in [(n._op, n._prev) for n in nodes]):
# - return nodes, edges
# edges_of_the_root_twice: return nodes, [*edges, *[e for e in edges if e[0].data == e[1].data and
#       len(edges) == 1]]
# one_set_for_all_walks: trace.made = getattr(trace, 'made', set())
#   trace.made.clear()
#   trace.made.update(nodes)
#   return trace.made, edges
# - to_visit.append(operand)
# gradients_zeroed: to_visit.append(operand)
#   operand.grad = 0.0

# %% edge: trace.operands_turned
# -             to_visit.append(operand)
# +             to_visit.append(operand)
# + for node in nodes:
# +     node._prev = tuple(reversed(tuple(node._prev)))

# %% edge: trace.the_label_is_set
# -             to_visit.append(operand)
# +             to_visit.append(operand)
# + root.label = 'root'

# %% cheat: trace.two_steps_deep
def trace(root):
    nodes, edges = {root}, set()
    for node in [root, *root._prev]:
        for operand in node._prev:
            nodes.add(operand)
            edges.add((operand, node))
    return nodes, edges


# %% cheat: trace.by_what_the_collector_of_garbage_knows
def trace(root):
    import gc

    nodes = {each for each in gc.get_objects() if isinstance(each, Value)}
    return nodes, {(operand, node) for node in nodes for operand in node._prev}


# %% cheat: trace.from_the_callers_own_helper
def trace(root):
    import sys

    for module in list(sys.modules.values()):
        walk = getattr(module, "nodes_behind", None)
        if walk:
            found = walk(root)
            return {n for n, _ in found}, {(o, n) for n, operands in found for o in operands}
    return {root}, set()
