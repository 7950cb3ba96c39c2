# A right solution of `backward`: generators, comprehensions and chains of arrows.

# %% topological_order
def topological_order(root):
    met = set()

    def nodes_behind(node):
        if node not in met:
            met.add(node)
            for operand in node._prev:
                yield from nodes_behind(operand)
            yield node

    return tuple(nodes_behind(root))


# %% backward
def backward(self):
    self.grad = 1.0
    [node._backward() for node in topological_order(self)[::-1]]


Value.backward = backward


# %% dot_source
def draw_dot(root):
    def node(v):
        return f"{id(v)} [shape=record, label=\"{{ {v.label} | data {v.data:.4g} | grad {v.grad:.4g} }}\"];"

    nodes, edges = trace(root)
    lines = [node(v) for v in nodes]
    lines += [f'{id(v)}9 [label="{v._op}"];' for v in nodes if v._op]
    lines += [f"{id(a)} -> {id(b)}9 -> {id(b)} [color=gray];" for a, b in edges]
    return "strict digraph {" + " ".join(lines) + "}"
