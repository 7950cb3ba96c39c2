# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: trace
# about: a small graph
x, y, z = Value(2.0), Value(3.0), Value(10.0)
product = Value(6.0, (x, y), "*")
root = Value(16.0, (product, z), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), root in nodes, (x, product) in edges

# %% probe: trace
# about: x + x
x = Value(3.0)
root = Value(6.0, (x, x), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)

# %% probe: trace
# about: two paths that meet again
x = Value(3.0)
left, right = Value(9.0, (x,), "**2"), Value(27.0, (x,), "**3")
root = Value(36.0, (left, right), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges), (x, left) in edges, (x, right) in edges

# %% probe: trace
# about: different nodes with the same number
x, y = Value(2.0), Value(2.0)
root = Value(4.0, (x, y), "+")
nodes, edges = trace(root)
# observe: len(nodes), len(edges)

# %% probe: trace
# about: a chain of 300 operations
node = Value(1.0)
for step in range(300):
    node = Value(1.0, (node,), "+")
nodes, edges = trace(node)
# observe: len(nodes), len(edges)

# %% probe: trace
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
nodes, edges = trace(y)
# observe: len(nodes), Watched.looks < 200

# %% sample: trace
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

# %% behaviour: trace
# root: in | out: leaves the root out of the nodes
# leaves: in | out: leaves the nodes without operands out of the nodes | only: keeps the nodes without operands alone
# edges: all | new: records an arrow only where its operand is met for the first time | root: takes each arrow to lead to the root | turned: turns the arrows round | twice: records an arrow twice where a node is used twice | own: takes each arrow to begin and end at the result | operand: takes each arrow to begin and end at the operand | none: records no arrow | far: records arrows of the root alone | below: records no arrow of the root | inner: records no arrow from a node without operands
# follow: all | first: follows the first operand of each node alone | last: follows the last operand of each node alone | near: stops at the root's own operands | nothing: does not go on from the root
# marks: nodes | data: takes nodes with equal numbers for one | none: does not remember which nodes it has met, and keeps them as often as it meets them
# pile: kept | lost: forgets the nodes that still wait to be visited whenever it visits one
# pair: right | turned: gives the arrows first and the nodes second | nodes: gives the nodes in both places
# ask: With y = x + x, which nodes and which arrows should be found?
def trace(top):
    key = id if marks != "data" else lambda node: node.data
    nodes, arrows, met, waiting = [top], [], {key(top)}, [top]
    while waiting:
        node = waiting.pop()
        waiting = waiting if pile == "kept" else []
        operands = list(node._prev)
        if follow in ("first", "last"):
            operands = operands[:1] if follow == "first" else operands[-1:]
        if follow == "nothing" or (follow == "near" and node is not top):
            operands = []
        for operand in operands:
            ends = {
                "root": (operand, top),
                "turned": (node, operand),
                "own": (node, node),
                "operand": (operand, operand),
            }.get(edges, (operand, node))
            is_new = key(operand) not in met
            recorded = {
                "none": False,
                "new": is_new,
                "far": node is top,
                "below": node is not top,
                "inner": len(operand._prev) > 0,
            }
            if recorded.get(edges, True):
                arrows.append(ends)
            if key(operand) not in met or marks == "none":
                met.add(key(operand))
                nodes.append(operand)
                waiting.append(operand)
    if root == "out":
        nodes = [node for node in nodes if node is not top]
    if leaves != "in":
        nodes = [node for node in nodes if bool(len(node._prev)) == (leaves == "out")]
    if edges != "twice":
        arrows = list(dict.fromkeys(arrows))
    return {"right": (nodes, arrows), "turned": (arrows, nodes), "nodes": (nodes, nodes)}[pair]


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
# - edges.add((operand, node))
# + edges.add((node, operand))

# %% mistake: trace.keeps_what_it_found
# says: The nodes and edges of earlier calls are still there: a collection outside the function, or
#   a default value, is made once and shared by all calls. Make new ones in each call.
def trace(root, nodes=set(), edges=set()):
    if root not in nodes:
        nodes.add(root)
        for operand in root._prev:
            edges.add((operand, root))
            trace(operand)
    return nodes, edges


# %% mistake: trace.root_missing
# says: The root is not among the nodes. It is part of its own graph, also when it stands alone.
# - nodes = {root}
# + nodes = set()

# %% mistake: trace.leaves_missing
# says: Nodes without operands are not among the nodes. A leaf is a node like any other.
# - nodes = {root}
# + nodes = set()
# - for operand in node._prev:
# + for operand in node._prev:
# +     nodes.add(node)
# - nodes.add(operand)

# %% mistake: trace.second_edge_missing
# says: An edge to a node that was met before is missing. A node is visited once, but every
#   arrow that leaves it counts: record the edge before you ask whether the operand is new.
# - edges.add((operand, node))

# - nodes.add(operand)
# + nodes.add(operand)
# + edges.add((operand, node))

# %% mistake: trace.edge_for_each_use
# says: `x + x` gave the same edge twice. An edge that is there already need not be recorded
#   again; a set takes care of it.
# - edges = set()
# + edges = []
# - edges.add((operand, node))
# + edges.append((operand, node))

# %% mistake: trace.node_for_each_use
# says: A node that is used twice appears twice. Mark it as met when you put it on the list, not
#   only when you come to it.
# - nodes = {root}
# + nodes = [root]
# - if operand not in nodes:
# -     nodes.add(operand)
# -     to_visit.append(operand)
# + if operand not in nodes:
# +     to_visit.append(operand)
# + nodes.append(operand)

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
# - return nodes, edges
# + return nodes

# %% mistake: trace.pair_swapped
# says: The pair comes back to front. The nodes are first, the edges second.
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
# leaves_with_gradients: for operand in [o for o in node._prev if not o.grad or o._prev]:
# operations_without_a_sign: for operand in (node._prev if node._op else ()):
# - nodes = {root}
# kept_from_call_to_call: nodes = trace.nodes = getattr(trace, 'nodes',
#       set()) if root in getattr(trace, 'nodes', set()) else {root}
# - if operand not in nodes:
# made_alike_are_one: if operand not in nodes and not (operand._prev and (operand._op,
#       operand._prev) in [(n._op, n._prev) for n in nodes]):
# labels_are_names: if operand not in nodes and not (operand.label and operand.label in [n.label for
#       n in nodes]):
# - return nodes, edges
# edges_of_the_root_twice: return nodes, [*edges, *[e for e in edges if e[0].data == e[1].data and
#       len(edges) == 1]]
# one_set_for_all_walks: trace.made = getattr(trace, 'made', set())
#   trace.made.clear()
#   trace.made.update(nodes)
#   return trace.made, edges
# edges_once_beside_one_another: return nodes, [e for e, _ in __import__('itertools').groupby(
#       (operand, node) for node in nodes for operand in node._prev)]
# leaves_of_0_without_a_label_left_out: return {n for n in nodes if n._prev or n.label or n.data or
#       n is root}, edges
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
