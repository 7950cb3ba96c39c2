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


# %% zero_grad
def zero_grad(parameters):
    any(setattr(parameter, "grad", 0.0) for parameter in parameters)


# %% check_gradients
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()

    def pairs():
        for i, leaf in enumerate(leaves):
            ends = []
            for step in (epsilon, -epsilon):
                moved = list(inputs)
                moved[i] += step
                ends.append(f(*(Value(x) for x in moved)).data)
            yield leaf.grad, (ends[0] - ends[1]) / (2 * epsilon)

    return all(abs(a - n) < 1e-9 or abs(a - n) / max(abs(a), abs(n)) < 1e-3 for a, n in pairs())


# %% dot_source
def draw_dot(root):
    def node(v):
        return f"{id(v)} [shape=record, label=\"{{ {v.label} | data {v.data:.4g} | grad {v.grad:.4g} }}\"];"

    nodes, edges = trace(root)
    lines = [node(v) for v in nodes]
    lines += [f'{id(v)}9 [label="{v._op}"];' for v in nodes if v._op]
    lines += [f"{id(a)} -> {id(b)}9 -> {id(b)} [color=gray];" for a, b in edges]
    return "strict digraph {" + " ".join(lines) + "}"
