# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: deep
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward_without_recursion(z)
# observe: z.grad, x.grad, y.grad


# %% probe: deep
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: the same shortcut, operands the other way round
a = Value(1.0)
b = a * 2
c = b * 3
d = c + b
backward_without_recursion(d)
# observe: a.grad, b.grad


# %% probe: deep
# about: gradients that are there already
x = Value(3.0)
x.grad = 10.0
y = x * 2
y.grad = 7.0
backward_without_recursion(y)
# observe: y.grad, x.grad


# %% probe: deep
# about: a chain of 3,000 additions
x = Value(1.0)
y = x
for _ in range(3_000):
    y = y + x
backward_without_recursion(y)
# observe: x.grad


# %% probe: deep
# about: fifteen doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(15):
    y = Watched(0.0, (y, y), "+")
backward_without_recursion(y)
# observe: y.grad, Watched.looks < 200


# %% mistake: deep.recursive
# row: 26
# says: It is right, but it calls itself for every level of the graph, and Python stops that
#   after about a thousand. Keep the pile of what is to be done yourself, in a list.
def backward_without_recursion(self):
    order = []
    met = set()

    def visit(node):
        if node in met:
            return
        met.add(node)
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(self)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.pile_without_finishing
# row: 25
# says: A node's place in the order was fixed when it was taken from the pile, before its
#   operands were done. In a graph with a shortcut it then runs too early. Put the node on the
#   pile a second time, to be finished after its operands.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [self]
    while to_do:
        node = to_do.pop()
        if node not in met:
            met.add(node)
            order.append(node)
            to_do.extend(node._prev)
    self.grad = 1.0
    for node in order:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.level_by_level
# row: 25
# says: A queue goes through the graph level by level. A node that feeds the root directly and
#   also by a longer way then runs before all of its gradient has arrived.
def backward_without_recursion(self):
    levels = [self]
    met = {self}
    for node in levels:
        for operand in node._prev:
            if operand not in met:
                met.add(operand)
                levels.append(operand)
    self.grad = 1.0
    for node in levels:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.seed_added
# row: 24
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad += 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.zeroes_first
# row: 32
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    for node in order:
        node.grad = 0.0
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.not_reversed
# row: 23
# says: The steps ran from the leaves to the root, before any gradient had arrived. Go through
#   the order in reverse.
def backward_without_recursion(self):
    order = []
    met = set()
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad = 1.0
    for node in order:
        node._backward()


Value.backward = backward_without_recursion


# %% mistake: deep.walks_every_path
# row: 26
# says: The walk follows every path, and a shared node doubles their number; or it looks nodes
#   up in a long list. Keep a set of the nodes that were met, and go on only from new ones.
# outcome: timeout
def backward_without_recursion(self):
    order = []
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            if node not in order:
                order.append(node)
        else:
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion

# %% mistake: deep.looked_up_in_a_list
# row: 26
# check: none
# says: The nodes that were met are kept in a list, and to look one up there takes longer the more
#   there are. Keep them in a set: it finds a node at once, however many there are.
def backward_without_recursion(self):
    order, met = [], []
    to_do = [(self, False)]
    while to_do:
        node, operands_done = to_do.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.append(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    self.grad = 1.0
    for node in reversed(order):
        node._backward()


Value.backward = backward_without_recursion
