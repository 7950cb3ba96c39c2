# A right solution of `checkpoint`: fractions, a letter cut out of a text, a comprehension that
# walks.

# %% q1
q1 = "abcd"[2]

# %% q2
from fractions import Fraction

q2 = Fraction(4, 2)

# %% q8
q8 = Fraction("2.5")

# %% q10
q10 = -True

# %% q13
q13 = Fraction(1, 2)

# %% q20
def descend(loss_of, parameters, lr, steps):
    def step():
        loss = loss_of(*parameters)
        for parameter in parameters:
            parameter.grad = 0.0
        loss.backward()
        for parameter in parameters:
            parameter.data += -lr * parameter.grad
        return loss.data

    return [step() for _ in range(steps)]
