"""Builds graphs of the student's nodes, and walks and differentiates them, in the student
process."""

import sys


def nodes_behind(root):
    """Return `root` and every node from which it was computed, each with its operands."""
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
    """Return every node of the graph in reverse topological order: `root` first."""
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


def differentiate(root, leaves, upstream, order=()):
    """Run a backward pass; return the root's number, and the gradients of the leaves.

    The pass adds to the gradients that the leaves have before.

    Args:
        order: the nodes in reverse topological order; by default the graph is walked to find it.
    """
    order = order or reverse_topological(root)
    for node in order:
        if all(node is not leaf for leaf in leaves):
            node.grad = 0.0
    root.grad = upstream
    # A leaf's step must do nothing: running it reveals one that was set by mistake.
    for node in (*leaves, *order):
        node._backward()
    return root.data, [leaf.grad for leaf in leaves]


def leaves(Value, numbers, grads):
    """Return nodes without operands, with these numbers and gradients."""
    nodes = [Value(number) for number in numbers]
    for node, grad in zip(nodes, grads, strict=True):
        node.grad = grad
    return nodes


def two_passes(roots, leaves, upstreams):
    """Run two backward passes from each root, the second with twice the upstream gradient.

    Returns:
        For each root a list: its number, how many of its leaves are in its graph, the leaves'
            numbers, their gradients after the first and after the second pass, and the root's own
            gradient.
    """
    found = []
    for root, nodes, upstream in zip(roots, leaves, upstreams, strict=True):
        if any(root is node for node in nodes):
            root = root + 0.0  # x * 1 may be x itself
        order = reverse_topological(root)
        behind = set(map(id, order))
        connected = sum(id(node) in behind for node in nodes)
        _, once = differentiate(root, nodes, upstream, order)
        number, twice = differentiate(root, nodes, 2 * upstream, order)
        numbers = [node.data for node in nodes]
        found.append([number, connected, *numbers, *once, *twice, root.grad])
    return found


def watched_chain(Value, start, length):
    """Return the last of `length` nodes, in a chain from `start`, and a list that gets the depth of
    the call stack whenever code reads a node's operands."""
    depths = []

    class Watched(tuple):
        def __iter__(self):
            depths.append(_calls())
            return super().__iter__()

        def __getitem__(self, place):
            depths.append(_calls())
            return super().__getitem__(place)

    for _ in range(length):
        start = Value(1.0, (start,), "+")
        start._prev = Watched(start._prev)
    return start, depths


def _calls():
    frame, count = sys._getframe(1), 0
    while frame:
        frame, count = frame.f_back, count + 1
    return count


def ladder(Value, numbers):
    """Return the last of a row of nodes, in which the operands of each node are the two before
    it."""
    before, node = (), Value(numbers[0])
    for number in numbers[1:]:
        before, node = (node,), Value(number, (*before, node), "+")
    return node


def twins(Value, number, operand):
    """Return two nodes with the same number, operand, operation and label."""
    return [Value(number, (operand,), "tanh", "t") for _ in range(2)]


def uses(Value, operand, grads):
    """Return a node for each gradient, with this gradient and with `operand` as its only
    operand."""
    found = [Value(operand.data, (operand,), "?") for _ in grads]
    for node, grad in zip(found, grads, strict=True):
        node.grad = grad
    return found


def held(nodes):
    """Return the gradients of the nodes."""
    return [node.grad for node in nodes]


def sizes(walk, root):
    """Return the length of each collection that the student's function `walk` returns."""
    return [len(part) for part in walk(root)]


def walks(walk, roots):
    """Call the student's function `walk` for each root; return the collections, all read after the
    last call."""
    return [walk(root) for root in roots]


def sum_of_terms(node, count):
    """Return `node + node + node + …`, with `count` terms."""
    total = node
    for _ in range(count - 1):
        total = total + node
    return total


def gradients_after(Value, build, go_back, rows):
    """Run a backward pass for each row of numbers; return the gradients of the leaves after each
    pass.

    Args:
        build: takes one node for each number, and returns the root.
        go_back: runs the backward pass from the root.
    """
    found = []
    for numbers in rows:
        leaves = [Value(number) for number in numbers]
        go_back(build(*leaves))
        found.append(held(leaves))
    return found


def recorded(nodes):
    """Replace the steps of the nodes; return a list that gets the index of each node whose step
    runs."""
    calls = []
    for place, node in enumerate(nodes):
        node._backward = lambda place=place: calls.append(place)
    return calls


def gradient_when_run(node):
    """Replace a node's step; return a list that gets the node's gradient whenever the step runs."""
    seen = []
    node._backward = lambda: seen.append(node.grad)
    return seen


def untouched(nodes):
    """Return everything that a walk over the nodes must not change; operands as indexes of
    nodes."""
    places = {id(node): place for place, node in enumerate(nodes)}

    def operands(node):
        found = [places.get(id(operand), -1) for operand in node._prev]
        return sorted(found) if isinstance(node._prev, (set, frozenset)) else found

    return [[node.data, node.grad, node.label, node._op, operands(node)] for node in nodes]
