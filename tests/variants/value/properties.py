# A right solution of `value`: gradients and operands behind properties.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self._number = float(data)
        self._collected = []
        self._operands = tuple(_children)
        self._op = _op
        self.label = label
        self._step = None

    @property
    def data(self):
        return self._number

    @data.setter
    def data(self, number):
        self._number = float(number)

    @property
    def grad(self):
        return sum(self._collected, 0.0)

    @grad.setter
    def grad(self, gradient):
        self._collected = [gradient]

    @property
    def _prev(self):
        return frozenset(self._operands)

    @property
    def _backward(self):
        return self._step if self._step is not None else (lambda: None)

    @_backward.setter
    def _backward(self, step):
        self._step = step

    def collect(self, share):
        self._collected.append(share)

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% trace
def trace(root):
    nodes, edges = set(), set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node not in nodes:
            nodes.add(node)
            edges.update((operand, node) for operand in node._prev)
            pending.extend(node._prev)
    return frozenset(nodes), frozenset(edges)
