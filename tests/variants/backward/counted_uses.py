# A right solution of `backward`: nodes are ready once all their uses are done, counted beforehand;
# the drawing has no nodes for operations.

# %% topological_order
from collections import deque


def topological_order(root):
    uses = {root: 0}
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for operand in node._prev:
            if operand not in uses:
                uses[operand] = 0
                queue.append(operand)
            uses[operand] += 1
    order, ready = deque(), [root]
    while ready:
        node = ready.pop()
        order.appendleft(node)
        for operand in node._prev:
            uses[operand] -= 1
            if not uses[operand]:
                ready.append(operand)
    return list(order)


# %% deep
from collections import Counter


def backward_without_recursion(self):
    uses, nodes = Counter(), [self]
    for node in nodes:
        for operand in node._prev:
            if operand not in uses:
                nodes.append(operand)
            uses[operand] += 1
    self.grad = 1.0
    ready = [self]
    for node in ready:
        node._backward()
        for operand in node._prev:
            uses[operand] -= 1
            if uses[operand] == 0:
                ready.append(operand)


# %% dot_source
def draw_dot(root):
    nodes, edges = trace(root)
    number = {node: i for i, node in enumerate(nodes)}
    text = "digraph G {\n"
    for node in nodes:
        text += f'n{number[node]} [label="{node._op} data={node.data:.2f} grad={node.grad:.2f}"]\n'
    for operand, result in edges:
        text += f"n{number[operand]} -> n{number[result]}\n"
    return text + "}\n"
