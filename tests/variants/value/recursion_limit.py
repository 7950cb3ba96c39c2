# A right solution of `value`: recursion, with the limit raised where it is needed.

# %% trace
import sys


def trace(root):
    sys.setrecursionlimit(1_000_000)
    nodes, edges = set(), set()

    def visit(node):
        if node in nodes:
            return
        nodes.add(node)
        for operand in node._prev:
            edges.add((operand, node))
            visit(operand)

    visit(root)
    return nodes, edges


# %% manual_backward
def push_gradients(root, order):
    def run(nodes):
        if nodes:
            nodes[0]._backward()
            run(nodes[1:])

    root.grad = 1.0
    run(list(order))
