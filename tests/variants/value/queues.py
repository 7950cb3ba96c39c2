# A right solution of `value`: a queue and counted uses in trace; edges as the keys of a dictionary.

# %% node
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = _children
        self._op = _op
        self._backward = lambda: None
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


# %% neg_sub
def neg(self):
    return self * Value(-1.0)


def sub(self, other):
    return self + (-other if isinstance(other, Value) else -1.0 * other)


Value.__neg__ = neg
Value.__sub__ = sub


# %% trace
from collections import Counter, deque


def trace(root):
    queue = deque([root])
    uses = Counter([root])
    edges = {}
    while queue:
        node = queue.popleft()
        for operand in dict.fromkeys(node._prev):
            edges[operand, node] = len(edges)
            uses[operand] += 1
            if uses[operand] == 1:
                queue.append(operand)
    return uses.keys(), edges.keys()


# %% manual_backward
from collections import deque


def push_gradients(root, order):
    root.grad = 1.0
    queue = deque(order)
    while queue:
        queue.popleft()._backward()
