# A right solution of `value`: a node is the dictionary of its own attributes, equal to nothing but
# itself; nodes and edges are the keys of dictionaries.

# %% node
class Value(dict):
    "attributes live in the dict itself"
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    def __init__(self, data, _children=(), _op="", label=""):
        super().__init__(data=float(data), grad=0.0, _prev=tuple(_children), _op=_op, _backward=lambda: None, label=label)
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
    def __setattr__(self, name, value):
        self[name] = value
    def __repr__(self):
        return "Value(data={data}, grad={grad})".format_map(self)


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
