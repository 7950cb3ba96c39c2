# A right solution of `checkpoint`: the engine's own operations, loops with an index, helper
# functions.

# %% q2
q2 = float(sum(a * b for a, b in [(3, 4), (5, -2)]))

# %% q3
q3 = " B "

# %% q19
def backward(root):
    uses = {}

    def count(node):
        for operand in node._prev:
            uses[operand] = uses.get(operand, 0) + 1
            if uses[operand] == 1:
                count(operand)

    count(root)
    root.grad = 1.0
    ready = [root]
    while ready:
        node = ready.pop()
        node._backward()
        for operand in node._prev:
            uses[operand] -= 1
            if not uses[operand]:
                ready.append(operand)
