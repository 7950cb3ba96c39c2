# A right solution of `backward`: nodes sorted by their greatest distance from a leaf.

# %% topological_order
def topological_order(root):
    level = {}
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [operand for operand in node._prev if operand not in level]
        if missing:
            stack.extend(missing)
        else:
            level[node] = 1 + max((level[operand] for operand in node._prev), default=-1)
            stack.pop()
    return sorted(level, key=level.get)


# %% backward
def backward(self):
    order = topological_order(self)
    order.reverse()
    order[0].grad = 1.0
    for node in order:
        node._backward()


Value.backward = backward


# %% deep
import heapq


def backward_without_recursion(self):
    self.grad = 1.0
    nodes = topological_order(self)
    heap = [(-place, node) for place, node in enumerate(nodes)]
    heapq.heapify(heap)
    while heap:
        heapq.heappop(heap)[1]._backward()


Value.backward = backward_without_recursion
