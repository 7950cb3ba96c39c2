"""Graphs of nodes, walked and differentiated step by step, beside the student's objects."""

import operator
import sys

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def nodes_behind(root):
    """Return every node that `root` was computed from, and `root`, each with its operands."""
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
    """Return every node of the graph, each after all its results: root first."""
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
    """Run a backward pass by hand; return the root's number, and the leaves' gradients.

    Gradients that leaves have before stay and are added to. The graph is walked if the order of its
    nodes is not given.
    """
    order = order or reverse_topological(root)
    for node in order:
        if all(node is not leaf for leaf in leaves):
            node.grad = 0.0
    root.grad = upstream
    # A leaf's step must have no effect, however often it runs: one set by mistake shows.
    for node in (*leaves, *order):
        node._backward()
    return root.data, [leaf.grad for leaf in leaves]


def leaves(Value, numbers, grads):
    """Return nodes without operands that hold these numbers and gradients."""
    nodes = [Value(number) for number in numbers]
    for node, grad in zip(nodes, grads, strict=True):
        node.grad = grad
    return nodes


def two_passes(roots, leaves, upstreams):
    """Return for each root its number, how many of its leaves it is connected to, their numbers,
    their gradients after one backward pass and after another one with twice the gradient, and its
    own gradient."""
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


def chain(Value, start, length):
    """Return the end of a chain of so many nodes, each with the one before as its only operand."""
    for _ in range(length):
        start = Value(1.0, (start,), "+")
    return start


def watched_chain(Value, start, length):
    """The end of such a chain, and a list of how many calls stand inside one another whenever
    somebody looks at a node's operands."""
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


def folded(sign, x, y, count):
    """Return the result of so many operations, each of the one before, first x, and y."""
    for _ in range(count):
        x = OPERATIONS[sign](x, y)
    return x


def ladder(Value, numbers):
    """Return the last of so many nodes, each made of the two before it, as Fibonacci's numbers."""
    before, node = (), Value(numbers[0])
    for number in numbers[1:]:
        before, node = (node,), Value(number, (*before, node), "+")
    return node


def twins(Value, number, operand):
    """Return two nodes with one number, operand, operation and label."""
    return [Value(number, (operand,), "tanh", "t") for _ in range(2)]


def uses(Value, operand, grads):
    """Return a node for each gradient, which it holds; its only operand is this one."""
    found = [Value(operand.data, (operand,), "?") for _ in grads]
    for node, grad in zip(found, grads, strict=True):
        node.grad = grad
    return found


def held(nodes):
    """Return the nodes' gradients."""
    return [node.grad for node in nodes]


def sizes(walk, root):
    """Return the length of each of the collections that a walk returns."""
    return [len(part) for part in walk(root)]


def walks(walk, roots):
    """Return the collections that a walk returns from each root, as they are after the last."""
    return [walk(root) for root in roots]


def sum_of_many(Value, operand, count):
    """Return a sum of so many uses of the operand, and a list that records each step that runs: 0
    for the sum's, then those of the uses."""
    nodes = uses(Value, operand, [0.0] * count)
    root = Value(operand.data, tuple(nodes), "sum")
    return root, recorded([root, *nodes])


def sum_of_terms(node, count):
    """Return `node + node + node + …`, with so many terms."""
    total = node
    for _ in range(count - 1):
        total = total + node
    return total


def gradients_after(Value, build, go_back, rows):
    """Return the leaves' gradients after a backward pass, for each row of the leaves' numbers.

    Args:
        build: takes one node for each number and returns the root.
        go_back: runs the backward pass from the root.
    """
    found = []
    for numbers in rows:
        leaves = [Value(number) for number in numbers]
        go_back(build(*leaves))
        found.append(held(leaves))
    return found


def recorded(nodes):
    """Return a list in which each of these nodes records its place among them when its step
    runs."""
    calls = []
    for place, node in enumerate(nodes):
        node._backward = lambda place=place: calls.append(place)
    return calls


def failing(node, error):
    """Return the node with a step that raises an error of this class."""

    def fail():
        raise error

    node._backward = fail
    return node


def gradient_when_run(node):
    """Return a list in which a node records its gradient when its step runs."""
    seen = []
    node._backward = lambda: seen.append(node.grad)
    return seen


def chains(Value, start, length, count):
    """Return the ends of so many chains, each of so many nodes, that have one node as their
    start."""
    return [chain(Value, start, length) for _ in range(count)]


def untouched(nodes):
    """Return all that a walk over the nodes must leave unchanged, operands by their places."""
    places = {id(node): place for place, node in enumerate(nodes)}

    def operands(node):
        found = [places.get(id(operand), -1) for operand in node._prev]
        return sorted(found) if isinstance(node._prev, (set, frozenset)) else found

    return [[node.data, node.grad, node.label, node._op, operands(node)] for node in nodes]
