"""Graphs of nodes, walked and differentiated step by step, beside the student's objects."""


def nodes_behind(root):
    """Every node that `root` was computed from, itself among them, with its operands."""
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        node = waiting.pop()
        operands = list(node._prev)
        found.append((node, operands))
        for operand in operands:
            if id(operand) not in seen:
                seen.add(id(operand))
                waiting.append(operand)
    return found


def reverse_topological(root):
    """Every node of the graph, each after all that it feeds: root first."""
    nodes = {id(node): (node, operands) for node, operands in nodes_behind(root)}
    uses = dict.fromkeys(nodes, 0)
    for _, operands in nodes.values():
        for operand in operands:
            uses[id(operand)] += 1
    order, ready = [], [name for name, count in uses.items() if count == 0]
    while ready:
        node, operands = nodes[ready.pop()]
        order.append(node)
        for operand in operands:
            uses[id(operand)] -= 1
            if uses[id(operand)] == 0:
                ready.append(id(operand))
    return order


def differentiate(root, leaves, upstream):
    """A backward pass by hand: the root's number, and the leaves' gradients."""
    order = reverse_topological(root)
    for node in order:
        node.grad = 0.0
    root.grad = upstream
    # A leaf's step does nothing, however often it runs: one that was put there by mistake shows.
    for node in (*leaves, *order):
        node._backward()
    return root.data, [leaf.grad for leaf in leaves]


def chain(Value, start, length):
    """The end of a chain of so many nodes, each with the one before as its only operand."""
    for _ in range(length):
        start = Value(1.0, (start,), "+")
    return start


def doublings(Value, numbers):
    """The last of so many nodes, each with the one before as both its operands."""
    node = Value(numbers[0])
    for number in numbers[1:]:
        node = Value(number, (node, node), "+")
    return node


def recorded(nodes):
    """A list in which each of these nodes notes its place among them when its step runs."""
    calls = []
    for place, node in enumerate(nodes):
        node._backward = lambda place=place: calls.append(place)
    return calls


def gradient_when_run(node):
    """A list in which a node notes its gradient when its step runs."""
    seen = []
    node._backward = lambda: seen.append(node.grad)
    return seen


def share_operands(node, other):
    """Whether two nodes keep their operands in one collection, which can be changed."""
    return node._prev is other._prev and hasattr(node._prev, "clear")


def chains(Value, start, length, count):
    """The ends of so many chains, each of so many nodes, that have one node as their start."""
    return [chain(Value, start, length) for _ in range(count)]
