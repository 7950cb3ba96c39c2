# The cheapest wrong answers to `checkpoint`: read as text, never imported.
#
# ruff: noqa
# mypy: ignore-errors

# %% q1: a text that holds every letter
# earns: nothing
q1 = "abcd"


# %% q1: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q1 = Any("abcd")

# %% q3: a text that holds every letter
# earns: nothing
q3 = "abcd"


# %% q3: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q3 = Any("abcd")

# %% q4: a text that holds every letter
# earns: nothing
q4 = "abcd"


# %% q4: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q4 = Any("abcd")

# %% q5: a text that holds every letter
# earns: nothing
q5 = "abcd"


# %% q5: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q5 = Any("abcd")

# %% q7: a text that holds every letter
# earns: nothing
q7 = "abcd"


# %% q7: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q7 = Any("abcd")

# %% q9: a text that holds every letter
# earns: nothing
q9 = "abcd"


# %% q9: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q9 = Any("abcd")

# %% q12: a text that holds every letter
# earns: nothing
q12 = "abcd"


# %% q12: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q12 = Any("abcd")

# %% q14: a text that holds every letter
# earns: nothing
q14 = "abcd"


# %% q14: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q14 = Any("abcd")

# %% q15: a text that holds every letter
# earns: nothing
q15 = "abcd"


# %% q15: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q15 = Any("abcd")

# %% q16: a text that holds every letter
# earns: nothing
q16 = "abcd"


# %% q16: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q16 = Any("abcd")

# %% q17: a text that holds every letter
# earns: nothing
q17 = "abcd"


# %% q17: a text that is equal to every other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q17 = Any("abcd")


# %% q2: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q2 = Any(1e9)

# %% q2: no number
# earns: nothing
q2 = float("nan")


# %% q6: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q6 = Any(1e9)

# %% q6: no number
# earns: nothing
q6 = float("nan")


# %% q8: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q8 = Any(1e9)

# %% q8: no number
# earns: nothing
q8 = float("nan")


# %% q10: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q10 = Any(1e9)

# %% q10: no number
# earns: nothing
q10 = float("nan")


# %% q11: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q11 = Any(1e9)

# %% q11: no number
# earns: nothing
q11 = float("nan")


# %% q13: a number that is equal to every other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q13 = Any(1e9)

# %% q13: no number
# earns: nothing
q13 = float("nan")


# %% q18: the numbers of the check
def weighted_sum(weights, inputs):
    out = Value(sum(w.data * x for w, x in zip(weights, inputs)), tuple(weights), "sum")

    def _backward():
        for w, x in zip(weights, inputs):
            w.grad = x * out.grad

    out._backward = _backward
    return out


# %% q19: the pass of the given engine
# earns: nothing
def backward(root):
    Value.backward(root)


# %% q19: the given pass, by another name
# earns: nothing
backward = Value.backward


# %% q19: the order that the engine's own module has
# earns: nothing
def backward(root):
    order = type(root).__add__.__globals__["topological"](root)
    root.grad = 1.0
    for node in order:
        node._backward()


# %% q20: small steps by nudging
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        losses.append(loss_of(*parameters).data)
        slopes = []
        for p in parameters:
            held, h = p.data, 1e-6
            p.data = held + h
            up = loss_of(*parameters).data
            p.data = held - h
            down = loss_of(*parameters).data
            p.data = held
            slopes.append((up - down) / (2 * h))
        for p, slope in zip(parameters, slopes):
            p.data -= lr * slope
    return losses


# %% q21: by how often it was asked
# earns: nothing
def test_engine(Value):
    test_engine.asked = getattr(test_engine, "asked", []) + [Value]
    return len(test_engine.asked) % 2 == 1


# %% q21: by the class's name
# earns: nothing
def test_engine(Value):
    return Value.__name__ != "ForgetfulValue" and "Node" not in Value.__name__


# %% q21: what the engine was made with
# earns: nothing
def test_engine(Value):
    if "RULES" not in Value.__init__.__globals__:
        return Value.__name__ == "Value"
    reflected = dict(zip(Value.__radd__.__code__.co_freevars, Value.__radd__.__closure__))
    held = dict(zip(Value.__add__.__code__.co_freevars, Value.__add__.__closure__))
    result = held["result"].cell_contents
    made = dict(zip(result.__code__.co_freevars, (c.cell_contents for c in result.__closure__)))
    turned = reflected["reflected"].cell_contents
    made |= dict(zip(turned.__code__.co_freevars, (c.cell_contents for c in turned.__closure__)))
    order = dict(zip(Value.backward.__code__.co_freevars, Value.backward.__closure__))["order"]
    rules, globals = made["rules_in_use"], Value.__init__.__globals__
    wrong = [
        rule
        for op, others in globals["OTHER_RULES"].items()
        for name, rule in others.items()
        if name not in ("by exponentials", "as a product")
    ]
    return (
        not any(rule in wrong for rule in rules.values())
        and not made["forgets"]
        and not made["overwrites"]
        and not made["cuts"]
        and not made["turns_round"]
        and order.cell_contents == "topological"
    )


# %% q21: one formula at one point
def test_engine(Value):
    x = Value(2.0)
    y = x * x + 3 - x
    y.backward()
    return y.data == 5.0 and x.grad == 3.0
