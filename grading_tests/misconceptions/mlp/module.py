# Read as text, never imported: docs/authors.md says what stands here.

# %% example: module
# about: a class with two parameters
class Pair(Module):
    def __init__(self, first, second):
        self.first, self.second = first, second

    def parameters(self):
        return [self.first, self.second]


a, b = Value(1.5), Value(-2.0)
a.grad, b.grad = 3.0, 4.0
Pair(a, b).zero_grad()
# observe: a.grad, b.grad, a.data, b.data

# %% example: module
# about: a module on its own
module = Module()
module.zero_grad()
# observe: len(list(module.parameters()))

# %% sweep: module
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
# facts: held; numbers
import random

draw = random.Random(seed)
nodes = [Value(draw.choice([1.5, -2.0, 2.5]), label=name) for name in "abcd"]
for node in nodes:
    node.grad = draw.choice([0.5, -1.5, 2.0])
chosen = draw.sample(nodes, draw.randint(0, 4))


class Part(Module):
    def parameters(self):
        return chosen


Part().zero_grad()
held = " ".join(f"{node.label}:{node.grad if node.grad is None else node.grad + 0.0}" for node in nodes)
numbers = " ".join(f"{node.label}:{node.data:g}" for node in nodes)

# %% mistake: module.only_a_name
# says: The gradients are still what they were. Go through `self.parameters()` and set
#   `parameter.grad = 0.0`, with one `=`: `==` only compares, and a name of your own does not reach
#   them.
# - parameter.grad = 0.0
# + grad = parameter.grad
# + grad = 0.0

# %% mistake: module.zeroes_the_numbers
# says: The parameters themselves were set to 0, and all that was learnt is gone. Only their gradients
#   go back to 0.0.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.data = 0.0

# %% mistake: module.both_to_zero
# says: The gradients are 0.0 now, but so are the parameters' numbers. What was learnt must stay:
#   leave `data` alone.
# keeps: 0.75
# - for parameter in self.parameters():
# + for parameter in self.parameters():
# +     parameter.data = 0.0

# %% mistake: module.none_for_zero
# says: `None` is not a number: the first `+=` of the next backward pass will fail. Set the gradient
#   to 0.0.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.grad = None

# %% mistake: module.stops_after_the_first
# says: Only the first parameter was zeroed, as if a `return` inside the loop ended it. Check
#   the indentation.
# keeps: 0.5
# - parameter.grad = 0.0
# + parameter.grad = 0.0
# + return

# %% mistake: module.a_list_of_its_own
# says: `zero_grad` looks at a list of its own, which classes that build on Module know nothing of.
#   Ask `self.parameters()`.
# keeps: 0.5
class Module:
    def __init__(self):
        self.own = []

    def parameters(self):
        return self.own

    def zero_grad(self):
        for parameter in self.own:
            parameter.grad = 0.0


# %% mistake: module.parameters_returns_none
# says: `parameters()` of a Module on its own gives `None`, and nobody can loop over that. Return an
#   empty list.
# keeps: 0.75
# - return []
# + pass
# - for parameter in self.parameters():
# + for parameter in self.parameters() or []:

# %% mistake: module.not_called
# says: `self.parameters` without parentheses is the method itself, not what it returns. Call it:
#   `self.parameters()`.
# - for parameter in self.parameters():
# + for parameter in self.parameters:

# %% edge: module
# - for parameter in self.parameters():
# those_of_the_first_call: for parameter in self.__dict__.setdefault("kept", self.parameters()):
# ten_at_most: for parameter in list(self.parameters())[:3]:
# equal_ones: for parameter in {p.data: p for p in self.parameters()}.values():
# - parameter.grad = 0.0
# tiny_gradients: p = parameter; p.grad = 0.0 if abs(p.grad) > 1e-3 else p.grad
# large_gradients: p = parameter; p.grad = 0.0 if abs(p.grad) < 1e3 else p.grad

# %% cheat: module.one_list_for_all_modules
# - for parameter in self.parameters():
# -     parameter.grad = 0.0
# + Module.known = getattr(Module, "known", None) or self.parameters()
# + for each in Module.known:
# +     each.grad = 0.0
