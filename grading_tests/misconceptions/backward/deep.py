# Read as text, never imported: docs/authors.md says what stands here.

# %% example: deep
# about: x * y + x at 2 and 3
x, y = Value(2.0), Value(3.0)
z = x * y + x
backward_without_recursion(z)
# observe: z.grad, x.grad, y.grad

# %% example: deep
# about: a shortcut from b to d, past c
a = Value(1.0)
b = a * 2
c = b * 3
d = b + c
backward_without_recursion(d)
# observe: a.grad, b.grad

# %% example: deep
# about: the same shortcut, operands the other way round
a = Value(1.0)
b = a * 2
c = b * 3
d = c + b
backward_without_recursion(d)
# observe: a.grad, b.grad

# %% example: deep
# about: gradients that are there already
x = Value(3.0)
x.grad = 10.0
y = x * 2
y.grad = 7.0
backward_without_recursion(y)
# observe: y.grad, x.grad

# %% example: deep
# about: a chain of 3,000 additions
import sys

sys.setrecursionlimit(min(sys.getrecursionlimit(), 3_000))
x = Value(1.0)
y = x
for _ in range(3_000):
    y = y + x
backward_without_recursion(y)
raised = sys.getrecursionlimit() > 3_000
# observe: x.grad, raised

# %% example: deep
# about: ten doublings; how often somebody asks a node for its operands
class Watched(Value):  # counts how often somebody asks it for its operands
    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "_prev"
        return super().__getattribute__(name)


y = Watched(1.0)
for _ in range(10):
    y = Watched(0.0, (y, y), "+")
backward_without_recursion(y)
# observe: y.grad, Watched.looks < 200

# %% example: deep
# about: a second pass over a shared step
x = Value(2.0)
step = x * 2
backward_without_recursion(step * 3)
backward_without_recursion(step * 5)
# observe: step.grad, x.grad

# %% sweep: deep
# like: backward/backward
# - backward(root)
# + backward_without_recursion(root)

# %% mistake: deep.recursive
# says: It is right, but some function calls itself for every level of the graph, and Python stops
#   that after about a thousand. Keep what is to be done in a list of your own.
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

# %% mistake: deep.limit_raised
# says: Python's recursion limit was raised, and a function still calls itself for every level. Keep
#   what is to be done in a list of your own, and leave the limit as it is.
def backward_without_recursion(self):
    import sys

    sys.setrecursionlimit(200_000)
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

# %% mistake: deep.pile_without_finishing
# says: In a graph with a shortcut a node runs too early, before all of its gradient has arrived. Meeting
#   a node does not settle its place in the order: in the table above, that comes when it is finished.
# keeps: 0.5
# - to_do.append((node, True))
# + order.append(node)
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.finished_before_its_operands
# says: *Finish it* lies on top of the node's operands, so it comes up before them. Put it on the
#   pile first, and the operands on top of it.
# keeps: 0.5
# - to_do.append((node, True))
# - to_do.extend((operand, False) for operand in node._prev)
# + to_do.extend((operand, False) for operand in node._prev)
# + to_do.append((node, True))

# %% mistake: deep.level_by_level
# says: The nodes run level by level from the root. A node that feeds the root directly and also
#   by a longer way then runs before all of its gradient has arrived.
# keeps: 0.5
# - node, operands_done = to_do.pop()
# + node, operands_done = to_do.pop(0)
# - to_do.append((node, True))
# + order.append(node)
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.keeps_what_it_listed
# says: The steps of an earlier call run again: a list outside the function, or a default value, is
#   made once and shared by all calls. Make a new one in each call.
# keeps: 0.5
# - def backward_without_recursion(self):
# + def backward_without_recursion(self, order=[], met=set()):
# - order = []
# - met = set()

# %% mistake: deep.seed_added
# says: The seed was added to what the root held already. Set it: `self.grad = 1.0`.
# keeps: 0.75
# - self.grad = 1.0
# + self.grad += 1.0

# %% mistake: deep.zeroes_first
# says: The gradients were set back to 0 before the pass, so what an earlier loss had left in
#   the leaves is lost. Let them add up.
# keeps: 0.75
# -         to_do.extend((operand, False) for operand in node._prev)
# +         to_do.extend((operand, False) for operand in node._prev)
# + for node in order:
# +     node.grad = 0.0

# %% mistake: deep.not_reversed
# says: The steps ran from the leaves to the root, before any gradient had arrived. The root's
#   comes first, and each node's after those of all its results.
# keeps: 0.5
# - for node in reversed(order):
# + for node in order:

# %% mistake: deep.walks_every_path
# says: The walk follows every path, and a shared node doubles their number. Keep a set of the
#   nodes that were met, and go on only from new ones.
# outcome: timeout
# - met = set()

# -     order.append(node)
# - elif node not in met:
# -     met.add(node)
# +     if node not in order:
# +         order.append(node)
# + else:

# %% mistake: deep.taken_from_the_course
# check: none
# says: The pass is one that the course's package makes for its own examples. This exercise asks for
#   a pass that you write.
def backward_without_recursion(self):
    from course.push import push

    push(self, 1.0)


# %% edge: deep
# - node._backward()
# zero_gradients_skipped: node._backward() if node.grad or node is self else None
# small_gradients_skipped: node._backward() if abs(node.grad) > 1e-6 else None
# gradients_clipped: node._backward()
#   node.grad = max(-1e3, min(1e3, node.grad))
# intermediate_gradients_erased: node._backward()
#   if node._prev and node is not self: node.grad = 0.0
# - to_do.extend((operand, False) for operand in node._prev)
# three_operands: to_do.extend((operand, False) for operand in list(node._prev)[:2])
# - elif node not in met:
# by_number: elif node.data not in {m.data for m in list(met)[:5] if not
#       m._prev} and node not in met:
# - met = set()
# kept_from_call_to_call: met = backward_without_recursion.__dict__.setdefault('met', set())
#   met.discard(self)
# - self.grad = 1.0
# seed_has_a_sign: self.grad = 1.0 if self.data >= 0 else -1.0
# - node, operands_done = to_do.pop()
# breadth_first: node, operands_done = to_do.pop(0)

# %% edge: deep.level_by_level_where_it_is_deep
# -         to_do.extend((operand, False) for operand in node._prev)
# +         to_do.extend((operand, False) for operand in node._prev)
# + if len(order) > 1000:
# +     order = [self]
# +     for node in order:
# +         order += [o for o in dict.fromkeys(node._prev) if o not in order]
# +     order.reverse()

# %% edge: deep.a_use_counted_once_and_taken_off_twice
# -         to_do.extend((operand, False) for operand in node._prev)
# +         to_do.extend((operand, False) for operand in node._prev)
# + waits, order, ready = {}, [], [self]
# + for node in met:
# +     for operand in set(node._prev):
# +         waits[operand] = waits.get(operand, 0) + 1
# + while ready:
# +     node = ready.pop()
# +     order.append(node)
# +     for operand in node._prev:
# +         waits[operand] -= 1
# +         if waits[operand] == 0: ready.append(operand)
# + order.reverse()

# %% cheat: deep.taken_from_the_course
# earns: nothing
