# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: pow
# about: a cube, of a node that has collected a gradient already
x = Value(2.0)
x.grad = 10.0
y = x**3
y.grad = 5.0
y._backward()
# observe: y.data, x.grad, x in y._prev


# %% probe: pow
# about: negative and fractional powers
x = Value(4.0)
# observe: (x**-2).data, (x**0.5).data


# %% probe: pow
# about: powers at zero, each with a gradient of 5
x = Value(0.0)
for y in (x**0, x**1, x**2):
    y.grad = 5.0
    y._backward()
# observe: x.grad


# %% probe: pow
# about: an exponent that is a node
x, n = Value(2.0), Value(3.0)
try:
    outcome = f"a result, {(x**n).data}"
except TypeError:
    outcome = "TypeError"
# observe: outcome


# %% probe: pow
# about: a power that is not a real number
x = Value(-4.0)
try:
    outcome = f"a result, {(x**0.5).data:.1f}"
except (ValueError, TypeError, ArithmeticError):
    outcome = "an error"
# observe: outcome


# %% sample: pow
# x: 2.3, 1.7, 0.6, 3.4, 0.45, 2.9, 1.2, 0.75, 1.9, 2.6, 0.85, 3.1, 1.4
# n: 3, 2, 4, 1, 1, 0, 0, 0.5, 1.5, -1, -2, -0.5, 2.5
# regions: n > 1 | n == 1 | 0 < n < 1 | n == 0 | n < 0; n % 1 == 0 | n % 1 != 0; x > 1 | x < 1
# results: z.data = x ** n
# shares: a.grad = n * x ** (n - 1)
# facts: a in z._prev | False: the graph of your result does not lead to `a`
# functions: log
a = Value(x)
a.grad = h
z = a**n
z.grad = g
z._backward()


# %% sample: pow
# about: a negative base
# x: -2.3, -1.7, -0.6, -3.4, -0.45, -2.9
# n: 3, 2, -1, -2, 4, 5
# regions: n % 2 == 0 | n % 2 == 1
# results: z.data = x ** n
# shares: a.grad = n * x ** (n - 1)
a = Value(x)
a.grad = h
z = a**n
z.grad = g
z._backward()


# %% mistake: pow.factor_dropped
# row: 15
# says: The exponent in front is missing. Bring n down as a factor, then subtract 1 from the
#   exponent.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.exponent_kept
# row: 15
# says: The exponent stayed as it was. Bring n down as a factor, then subtract 1 from the
#   exponent.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data**exponent
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.parentheses_forgotten
# row: 15
# says: Python read `x ** n - 1` as `(x ** n) - 1`. Put the smaller exponent in parentheses.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data**exponent - 1
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.exponential_rule
# row: new
# says: That is the derivative of aˣ, where the variable is the exponent. Here the variable is
#   the base: n times x to the power n - 1.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = self.data**exponent * math.log(self.data)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.overwrites
# row: 2
# says: The power overwrote what its base had collected elsewhere. It is right alone and forgets
#   beside any other use: write `+=`, not `=`.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad = local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.upstream_dropped
# row: 4
# says: The local derivative is right; the chain rule is missing. Multiply it by the gradient of
#   the result.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.node_as_exponent
# row: 16
# says: A node was accepted as the exponent. It would get no gradient, and nobody would notice:
#   raise TypeError unless the exponent is an int or a float.
def power(self, exponent):
    exponent = exponent.data if isinstance(exponent, Value) else exponent
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.asserts
# row: 16
# says: A node as the exponent is refused with an assertion. Assertions are for your own doubts
#   and can be switched off; a wrong argument deserves a TypeError.
def power(self, exponent):
    assert isinstance(exponent, (int, float)), "the exponent must be an int or a float"
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.refuses_with_value_error
# row: 16
# says: A node as the exponent is refused with ValueError. The argument is of the wrong type,
#   whatever its value: raise TypeError.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise ValueError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.whole_exponents_only
# row: new
# says: Fractional exponents are refused. `isinstance` takes a tuple of types: an int and a
#   float are both welcome.
def power(self, exponent):
    if not isinstance(exponent, int):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.repeated_multiplication
# row: new
# says: Multiplying x by itself n times works for whole n above zero only. Python's own `**`
#   knows negative and fractional exponents too.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = 1.0
    for _ in range(exponent):
        result *= self.data
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.divides_by_zero
# row: new
# says: `x ** 0` at x = 0 fails in the backward step, where 0 ** -1 divides by zero. A power of
#   0 is constant, so its derivative is 0: treat it before the general rule.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.zero_base_is_flat
# row: new
# says: At x = 0 the derivative was set to 0 for every exponent. It is the exponent 0 that makes
#   a constant; `x ** 1` has the slope 1 everywhere.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if self.data == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.not_real_accepted
# row: new
# says: A negative number to a fractional power is not real, and no error said so. Look at the
#   power before you make the node, and raise ValueError.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        result = result.real
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.base_not_recorded
# row: 6
# says: The graph lost an edge: the base is missing from `_prev`, so no backward pass will go on
#   from there.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power


# %% mistake: pow.step_not_stored
# row: 29
# says: The base gets nothing: the backward step was never stored, or it took the result's gradient
#   too early. Put it on the new node as its `_backward`, and read `out.grad` inside it.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    return out


Value.__pow__ = power


# %% mistake: pow.step_called_at_once
# row: 29
# says: The backward step ran at once, when no gradient had arrived, and what it returned, None,
#   was stored. Store the function itself: its name, without parentheses.
def power(self, exponent):
    if not isinstance(exponent, (int, float)):
        raise TypeError("the exponent must be an int or a float")
    result = self.data**exponent
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    out = Value(result, (self,), f"**{exponent}")

    def _backward():
        local = 0.0 if exponent == 0 else exponent * self.data ** (exponent - 1)
        self.grad += local * out.grad

    out._backward = _backward()
    return out


Value.__pow__ = power
