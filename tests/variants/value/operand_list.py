# A right solution of `value`: operands copied into a list of each node, with None as the default.

# %% node
class Value:
    def __init__(self, data, _children=None, _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = []
        if _children is not None:
            for child in _children:
                self._prev.append(child)
        self._op = str(_op)
        self.label = str(label)

    def _backward(self):
        return None

    def __repr__(self):
        return "Value(data=" + repr(self.data) + ", grad=" + repr(self.grad) + ")"


# %% add
def add(self, other):
    if isinstance(other, (int, float)):
        other = Value(other)
    result = Value(self.data + other.data, [self, other], "+")

    def pass_on():
        self.grad += result.grad
        other.grad += result.grad

    result._backward = pass_on
    return result


Value.__add__ = add


# %% trace
def trace(root):
    nodes, edges = [], []
    seen_nodes, seen_edges = set(), set()
    waiting = [root]
    while len(waiting) > 0:
        node = waiting.pop(0)
        if id(node) in seen_nodes:
            continue
        seen_nodes.add(id(node))
        nodes.append(node)
        for child in node._prev:
            if (id(child), id(node)) not in seen_edges:
                seen_edges.add((id(child), id(node)))
                edges.append((child, node))
            waiting.append(child)
    return nodes, edges
