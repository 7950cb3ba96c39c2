# Read as text, never imported: docs/authors.md says what stands here.

# %% add
class Sum(Value):
    def __init__(self, one, other):
        super().__init__(one.data + other.data, [one, other], "+")
        self._backward = self.pass_on

    def pass_on(self):
        for operand in self._prev:
            operand.grad += self.grad


Value.__add__ = lambda self, other: Sum(self, other if isinstance(other, Value) else Value(other))


# %% trace
def trace(root):
    return {root}.union(*map(trace, root._prev))
