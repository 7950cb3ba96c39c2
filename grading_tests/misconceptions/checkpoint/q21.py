# Read as text, never imported: docs/authors.md says what stands here.

# %% example: q21
# about: the engine of this notebook, the forgetful one, and fourteen other broken ones
from course.broken_engines import Trial

trial = Trial(test_engine, Value)
# tells: trial.says
# observe: test_engine(Value), test_engine(ForgetfulValue), trial.got_away, trial.says

# %% mistake: q21.always_true
# says: The forgetful engine passes this test. Its product drops the gradient of its result, which
#   shows where that gradient is not 1, as in `3 * (x * x)`. Compare gradients there, and return
#   `False` where they differ.
def test_engine(Value):
    return True


# %% mistake: q21.says_broken
# says: The answers are the wrong way round: `True` is for an engine that is right.
# keeps: 0.5
# + test_engine = lambda Value, looks_right=test_engine: not looks_right(Value)

# %% mistake: q21.raises
# says: For a broken engine this raises an error. Return `False` instead: the caller wants an
#   answer, and an `assert` gives none.
# - if not close(root.data, plain(x, y)):
# -     return False
# - if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
# -     return False
# + assert close(root.data, plain(x, y))
# + assert close(a.grad, slope_x) and close(b.grad, slope_y)

# %% mistake: q21.distrusts_right_engines
# says: A right engine fails this test. Nudging is not exact, and engines round differently: allow a
#   small difference. If you do: do nodes keep gradients of an earlier pass, or is relu nudged at 0?
# - return abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right))
# + return left == right

# %% mistake: q21.numbers_only
# says: Only the numbers of the forward pass are looked at. Most mistakes are in the gradients:
#   run `backward()` and compare them too.
def test_engine(Value):
    x, y = Value(0.7), Value(-1.2)
    numbers = [(x + y).data, (x - y).data, (x * y).data, (x / y).data, (x**3).data, (5 - x).data]
    right = [0.7 - 1.2, 0.7 + 1.2, 0.7 * -1.2, 0.7 / -1.2, 0.7**3, 5 - 0.7]
    return all(abs(a - b) < 1e-9 for a, b in zip(numbers, right))


# %% mistake: q21.steps_alone
# says: Every operation is tried alone, as the last step before `backward()`, when the gradient of
#   its result is 1. A step that forgets the chain rule looks right there. Compute something with
#   each result.
# keeps: 0.5
def test_engine(Value):
    steps = [
        (lambda x, y: x + y, 1, 1),
        (lambda x, y: x - y, 1, -1),
        (lambda x, y: x * y, -1.2, 0.7),
        (lambda x, y: x / y, 1 / -1.2, -0.7 / 1.44),
        (lambda x, y: x**3 + y * 0, 3 * 0.49, 0),
        (lambda x, y: -x + y, -1, 1),
        (lambda x, y: y.relu() + x, 1, 0),
        (lambda x, y: x.tanh() + y, 1 - math.tanh(0.7) ** 2, 1),
        (lambda x, y: (5 - x) + y, -1, 1),
    ]
    for build, slope_x, slope_y in steps:
        a, b = Value(0.7), Value(-1.2)
        build(a, b).backward()
        if abs(a.grad - slope_x) > 1e-9 or abs(b.grad - slope_y) > 1e-9:
            return False
    return (5 - Value(2.0)).data == 3.0


# %% mistake: q21.nothing_used_twice
# says: Every value is used only once, so engines that assign gradients where they should add, or
#   that run nodes in a wrong order, look right. Use leaves and results several times.
# keeps: 0.5
def test_engine(Value):
    def build(a, b, c, d, e):
        return ((5 - (-a)) * 3 - b.tanh() * 2) * c + (d.relu() * 3) ** 3 / e

    def number(a, b, c, d, e):
        return ((5 + a) * 3 - math.tanh(b) * 2) * c + (max(d, 0.0) * 3) ** 3 / e

    h = 1e-5
    for point in ([0.7, -1.2, 0.4, 1.3, -0.8], [-0.6, 0.9, -1.1, -0.5, 1.7]):
        leaves = [Value(x) for x in point]
        root = build(*leaves)
        root.backward()
        if abs(root.data - number(*point)) > 1e-9:
            return False
        for i, leaf in enumerate(leaves):
            up, down = list(point), list(point)
            up[i] += h
            down[i] -= h
            slope = (number(*up) - number(*down)) / (2 * h)
            if abs(leaf.grad - slope) > 1e-4 * max(1.0, abs(slope)):
                return False
    return True


# %% mistake: q21.engine_against_itself
# says: The gradients are compared with nudges of the same engine. Where the number itself is
#   wrong, as in `5 - x`, its gradient fits the wrong number. Compare the numbers with plain
#   Python too.
# keeps: 0.75
# - slope_x = (plain(x + h, y) - plain(x - h, y)) / (2 * h)
# - slope_y = (plain(x, y + h) - plain(x, y - h)) / (2 * h)
# - if not close(root.data, plain(x, y)):
# -     return False
# + slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
# + slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)

# %% mistake: q21.above_zero_only
# says: relu is only tried above 0, where it is nothing but a straight line. Its derivative
#   matters below 0 as well.
# keeps: 0.75
# - r = (x - y).relu() + (y - x).relu() * 3
# + r = (x * x).relu() + (y * y).relu() * 3
# - r = max(x - y, 0.0) + max(y - x, 0.0) * 3
# + r = x * x + y * y * 3

# %% mistake: q21.first_input_only
# says: Only the gradient of the first input is compared. A mistake may concern the right operand
#   alone.
# keeps: 0.5
def test_engine(Value):
    steps = [
        lambda x: 3 * (x + 2) * x + x,
        lambda x: (x / 4 - 5) * x * x,
        lambda x: 2 * x**3 + (5 - x) ** 2 * x,
        lambda x: 2 * (-x) * x,
    ]
    h = 1e-5
    for f in steps:
        for number in (0.7, -1.2):
            x = Value(number)
            root = f(x)
            root.backward()
            slope = (f(number + h) - f(number - h)) / (2 * h)
            if abs(x.grad - slope) > 1e-5 * max(1.0, abs(slope)) or abs(root.data - f(number)) > 1e-9:
                return False
    for number in (0.7, -1.2):
        x = Value(number)
        root = x.tanh() * 3 + x.relu() * 2 + x.tanh() * x
        root.backward()
        t = math.tanh(number)
        slope = (1 - t * t) * (3 + number) + t + 2 * (number > 0)
        if abs(x.grad - slope) > 1e-9:
            return False
    x = Value(1.5)
    y = x * 3
    (x + y + y * x).backward()
    return abs(x.grad - (1 + 3 + 2 * 3 * 1.5)) < 1e-9


# %% cheat: q21.by_how_often_it_was_asked
# earns: nothing
def test_engine(Value):
    test_engine.asked = getattr(test_engine, "asked", []) + [Value]
    return len(test_engine.asked) % 2 == 1


# %% cheat: q21.by_the_classs_name
# earns: nothing
def test_engine(Value):
    return Value.__name__ != "ForgetfulValue" and "Node" not in Value.__name__


# %% cheat: q21.one_formula_at_one_point
def test_engine(Value):
    x = Value(2.0)
    y = x * x + 3 - x
    y.backward()
    return y.data == 5.0 and x.grad == 3.0
