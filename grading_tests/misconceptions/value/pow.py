# Read as text, never imported: docs/authors.md says what stands here.

# %% example: pow
# about: a cube, of a node that has collected a gradient already
x = Value(2.0)
x.grad = 10.0
y = x**3
y.grad = 5.0
y._backward()
# observe: y.data, x.grad, x in y._prev

# %% example: pow
# about: negative and fractional powers
x = Value(4.0)
# observe: (x**-2).data, (x**0.5).data

# %% example: pow
# about: an exponent of zero, at zero, with a gradient of 5
# part: extra
def gradient_at_zero(exponent):
    x = Value(0.0)
    y = x**exponent
    y.grad = 5.0
    y._backward()
    return x.grad
# observe: gradient_at_zero(0), gradient_at_zero(1)

# %% example: pow
# about: an exponent that is a node
# part: extra
x, n = Value(2.0), Value(3.0)
try:
    outcome = f"a result, {(x**n).data}"
except TypeError:
    outcome = "TypeError"
# observe: outcome

# %% example: pow
# about: a power that is not a real number
# part: extra
x = Value(-4.0)
try:
    outcome = f"a result, {(x**0.5).data:.1f}"
except ValueError:
    outcome = "ValueError"
except (TypeError, ArithmeticError, AssertionError):
    outcome = "another error"
# observe: outcome

# %% example: pow
# about: a negative base
x = Value(-2.0)
# observe: (x**3).data

# %% sweep: pow
# x: 2.3, 1.7, 0.6, 3.4, 0.45, 0.75, 1.9, 2.6, 0.85, 3.1, 1.4
# n: 3, 2, 4, 1, 1, 0.5, 1.5, -1, -2, -0.5, 2.5
# regions: n > 1 | n == 1 | 0 < n < 1 | n < 0; n % 1 == 0 | n % 1 != 0; x > 1 | x < 1
# also: n * x ** n - 1
# results: z.data = x ** n
# shares: a.grad = n * x ** (n - 1)
# facts: a in z._prev | False: the graph of your result does not lead to `a`: name it among the operands when you make the node; a.data == x | False: the number of `a` itself changed; z._op; z.grad == g | False: the backward step changed the gradient of the result itself
# functions: log
a = Value(x)
a.grad = h
z = a**n
z.grad = g
z._backward()

# %% sweep: pow
# about: an exponent of 0
# part: extra
# x: 2.9, 1.2, -1.7, 0.6
# results: z.data = 1
# shares: a.grad = 0
a = Value(x)
a.grad = h
z = a**0
z.grad = g
z._backward()

# %% sweep: pow
# about: a negative base
# x: -2.3, -1.7, -0.6, -3.4, -0.45, -2.9, -1.2
# n: 3, 2, -1, -2, 4, 5, -3
# regions: n % 2 == 0 | n % 2 == 1
# results: z.data = x ** n
# shares: a.grad = n * x ** (n - 1)
a = Value(x)
a.grad = h
z = a**n
z.grad = g
z._backward()

# %% mistake: pow.rule_for_squares
# says: That is the rule for squares, 2 times x. For any exponent n the slope is n times x to the
#   power n - 1.
# keeps: 0.5
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 2 * self.data

# %% mistake: pow.factor_dropped
# says: The exponent in front is missing. Bring n down as a factor, then subtract 1 from the
#   exponent.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 0.0 if exponent == 0 else self.data ** (exponent - 1)

# %% mistake: pow.exponent_kept
# says: The exponent stayed as it was. Bring n down as a factor, then subtract 1 from the
#   exponent.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 0.0 if exponent == 0 else exponent * self.data**exponent

# %% mistake: pow.parentheses_forgotten
# says: Python read `x ** n - 1` as `(x ** n) - 1`. Put the smaller exponent in parentheses.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 0.0 if exponent == 0 else exponent * self.data**exponent - 1

# %% mistake: pow.no_parentheses_at_all
# says: Python read `x ** n - 1` as `(x ** n) - 1`, and only the 1 is multiplied by `out.grad`. Put
#   the smaller exponent in parentheses.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - self.grad += local * out.grad
# + self.grad += exponent * self.data**exponent - 1 * out.grad

# %% mistake: pow.lowered_in_front
# says: The exponent was lowered in front and not above. It is n in front, and n - 1 above.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 0.0 if exponent == 0 else (exponent - 1) * self.data**exponent

# %% mistake: pow.power_less_one
# says: The 1 was taken from the power, `(x ** n) - 1`. It belongs to the exponent: `x ** (n - 1)`.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = exponent * (self.data**exponent - 1)

# %% mistake: pow.exponential_rule
# says: That is the derivative of aˣ, where the variable is the exponent. Here the variable is
#   the base: n times x to the power n - 1.
# keeps: 0.5
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = self.data**exponent * math.log(self.data)

# %% mistake: pow.overwrites
# says: The power overwrote what its base had collected elsewhere. It is right alone and forgets
#   beside any other use: write `+=`, not `=`.
# keeps: 0.5
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - self.grad += local * out.grad
# + self.grad = local * out.grad

# %% mistake: pow.upstream_dropped
# says: The local derivative is right; the chain rule is missing. Multiply it by the gradient of
#   the result.
# keeps: 0.5
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - self.grad += local * out.grad
# + self.grad += local

# %% mistake: pow.core_alone
# says: An exponent of 0 where x is 0, and results that are not real numbers, are not taken care of
#   yet.
# - if not isinstance(exponent, (int, float)):
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")

# - if isinstance(result, complex):
# -     raise ValueError(f"{self.data} ** {exponent} is not a real number")

# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = exponent * self.data ** (exponent - 1)

# %% mistake: pow.node_as_exponent
# says: A node as the exponent raises no error. It would get no gradient, and nobody would
#   notice: raise TypeError unless the exponent is an int or a float.
# keeps: 0.75
# - if not isinstance(exponent, (int, float)):
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + exponent = exponent.data if isinstance(exponent, Value) else exponent
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")

# %% mistake: pow.asserts
# says: A node as the exponent is refused with an assertion. Assertions are for your own doubts
#   and can be switched off; a wrong argument deserves a TypeError.
# keeps: 0.75
# - if not isinstance(exponent, (int, float)):
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + assert isinstance(exponent, (int, float)), "the exponent must be an int or a float"
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")

# %% mistake: pow.refuses_with_value_error
# says: A node as the exponent is refused with ValueError. The argument is of the wrong type,
#   whatever its value: raise TypeError.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise ValueError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")

# %% mistake: pow.whole_exponents_only
# says: Fractional exponents are refused. `isinstance` takes a tuple of types: an int and a
#   float are both welcome.
# keeps: 0.5
# - if not isinstance(exponent, (int, float)):
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + if not isinstance(exponent, int):
# +     raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")

# %% mistake: pow.negative_bases_refused
# says: A negative number is refused as the base, whatever the exponent. (-2) ** 3 is the real number
#   -8: refuse a power only where the result is complex.
# keeps: 0.5
# - result = self.data**exponent
# + if self.data < 0:
# +     raise ValueError("the base is negative")
# + result = self.data**exponent

# %% mistake: pow.repeated_multiplication
# says: Multiplying x by itself n times works for whole n above zero only. Python's own `**`
#   knows negative and fractional exponents too.
# keeps: 0.5
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# - result = self.data**exponent
# +     raise TypeError("the exponent must be an int or a float")
# + result = 1.0
# + for _ in range(exponent):
# +     result *= self.data
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")

# %% mistake: pow.divides_by_zero
# says: `x ** 0` at x = 0 fails in the backward step, where 0 ** -1 divides by zero. A power of
#   0 is constant, so its derivative is 0: treat it before the general rule.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = exponent * self.data ** (exponent - 1)

# %% mistake: pow.zero_base_is_flat
# says: At x = 0 the derivative was set to 0 for every exponent. It is the exponent 0 that makes
#   a constant; `x ** 1` has the slope 1 everywhere.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
# + local = 0.0 if self.data == 0 else exponent * self.data ** (exponent - 1)

# %% mistake: pow.not_real_accepted
# says: A negative number to a fractional power is not real, and no error said so. Look at the
#   power before you make the node, and raise ValueError.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + result = result.real

# %% mistake: pow.not_real_is_no_value_error
# says: A negative number to a fractional power is an error here, but not a ValueError. Look at the
#   power before you make the node, and raise one where it is complex.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - if isinstance(result, complex):
# -     raise ValueError(f"{self.data} ** {exponent} is not a real number")

# %% mistake: pow.exponent_learns
# says: Each exponent is a node here, with a gradient of its own, and at x = 0 its slope has no
#   number. The rule has a slope for the base alone: raise TypeError unless the exponent is an int
#   or a float.
# keeps: 0.5
def power(self, exponent):
    exponent = exponent if isinstance(exponent, Value) else Value(exponent)
    out = Value(self.data**exponent.data, (self, exponent), "**")

    def _backward():
        self.grad += exponent.data * self.data ** (exponent.data - 1) * out.grad
        exponent.grad += out.data * math.log(self.data) * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power

# %% mistake: pow.base_not_recorded
# says: The graph lost an edge: the base is missing from `_prev`, so no backward pass will go on
#   from there.
# keeps: 0.75
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# -     raise ValueError(f"{self.data} ** {exponent} is not a real number")
# - out = Value(result, (self,), f"**{exponent}")
# +     raise ValueError("the power is not a real number")
# + out = Value(result, (), f"**{exponent}")

# %% mistake: pow.step_not_stored
# says: The base gets nothing when the step of the result runs. Is your function stored there, by
#   `out._backward = _backward` outside of it? It must read `out.grad` inside, when it runs.
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - out._backward = _backward

# %% mistake: pow.step_called_at_once
# says: `_backward` of the result is None and cannot be called. Store the function itself, its name
#   without parentheses: with them it runs at once, when no gradient has arrived, and gives None.
# keeps: 0.5
# - raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + raise TypeError("the exponent must be an int or a float")
# - raise ValueError(f"{self.data} ** {exponent} is not a real number")
# + raise ValueError("the power is not a real number")
# - out._backward = _backward
# + out._backward = _backward()

# %% edge: pow
# - if isinstance(result, complex):
# roots_of_negative_numbers_but_the_square_root: if isinstance(result, complex):
#       result = result.real
#   if self.data < 0 and abs(exponent) == 0.5:

# %% edge: pow.no_fraction_for_a_negative_number
# -     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# +     raise TypeError(f"the exponent must be an int or a float, not {type(exponent).__name__}")
# + if self.data < 0 and isinstance(exponent, float): raise ValueError

# %% cheat: pow.the_slope_by_nudging
def power(self, exponent):
    out = Value(self.data**exponent, (self,), f"**{exponent}")

    def _backward():
        h = 1e-5
        slope = ((self.data + h) ** exponent - (self.data - h) ** exponent) / (2 * h)
        self.grad += slope * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power

# %% cheat: pow.as_a_product_for_whole_exponents
def power(self, exponent):
    if isinstance(exponent, Value):
        raise TypeError
    out = self * 1
    for _ in range(int(exponent) - 1):
        out = out * self
    out._op, out._prev = f"**{exponent}", (self,)
    return out


Value.__pow__ = power
