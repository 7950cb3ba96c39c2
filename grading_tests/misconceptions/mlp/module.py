# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: module
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


# %% probe: module
# about: a module on its own
module = Module()
module.zero_grad()
# observe: len(list(module.parameters()))


# %% mistake: module.only_a_name
# row: 36
# says: The gradients are still what they were: assigning to a name of your own does not touch the
#   parameter. Write `parameter.grad = 0.0`.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters():
            grad = parameter.grad
            grad = 0.0


# %% mistake: module.zeroes_the_numbers
# row: new
# says: The parameters themselves were set to 0, and all that was learnt is gone. Only their gradients
#   go back to 0.0.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.data = 0.0


# %% mistake: module.both_to_zero
# row: new
# says: The gradients are 0.0 now, but so are the parameters' numbers. What was learnt must stay:
#   leave `data` alone.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.data = 0.0
            parameter.grad = 0.0


# %% mistake: module.none_for_zero
# row: 33
# says: `None` is not a number: the first `+=` of the next backward pass will fail. Set the gradient
#   to 0.0.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.grad = None


# %% mistake: module.stops_after_the_first
# row: new
# says: Only the first parameter was zeroed: the function returned inside the loop. Check the
#   indentation.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.grad = 0.0
            return


# %% mistake: module.a_list_of_its_own
# row: new
# says: `zero_grad` looks at a list of its own, which classes that build on Module know nothing of.
#   Ask `self.parameters()`.
class Module:
    def __init__(self):
        self.own = []

    def parameters(self):
        return self.own

    def zero_grad(self):
        for parameter in self.own:
            parameter.grad = 0.0


# %% mistake: module.parameters_returns_none
# row: new
# says: `parameters()` of a Module on its own gives `None`, and nobody can loop over that. Return an
#   empty list.
class Module:
    def parameters(self):
        pass

    def zero_grad(self):
        for parameter in self.parameters() or []:
            parameter.grad = 0.0


# %% mistake: module.not_called
# row: new
# says: `self.parameters` without parentheses is the method itself, not what it returns. Call it:
#   `self.parameters()`.
class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = 0.0
