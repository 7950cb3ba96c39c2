# Read as text, never imported: docs/authors.md says what stands here.

# %% example: trace
# about: a small graph
x, y, z = Value(2.0), Value(3.0), Value(10.0)
product = Value(6.0, (x, y), "*")
root = Value(16.0, (product, z), "+")
found = trace(root)
# observe: len(found), root in found, x in found

# %% example: trace
# about: x + x
x = Value(3.0)
root = Value(6.0, (x, x), "+")
# observe: len(trace(root))

# %% example: trace
# about: different Values with the same number
x, y = Value(2.0), Value(2.0)
root = Value(4.0, (x, y), "+")
# observe: len(trace(root))

# %% mistake: trace.one_level
# says: Only the operands of the result were found. Go on from each of them.
def trace(root):
    return {root, *root._prev}


# %% mistake: trace.without_root
# says: The result itself belongs to what is found.
# - found, waiting = {root}, [root]
# + found, waiting = set(), [root]

# %% mistake: trace.numbers
# says: Values were told apart by their numbers. Two with the same number are two all the same.
def trace(root):
    found, waiting = {root.data: root}, [root]
    while waiting:
        for operand in waiting.pop()._prev:
            if operand.data not in found:
                found[operand.data] = operand
                waiting.append(operand)
    return set(found.values())
