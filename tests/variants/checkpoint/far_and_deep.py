# A right solution of `checkpoint`: a letter from an enumeration, and a test for engines that also
# looks far out and deep down.

# %% q1
from enum import Enum


class Letter(str, Enum):
    C = "c"


q1 = Letter.C


# %% q21
def test_engine(Value):
    "numbers and gradients against duals; tanh far out as in the notebook backward"
    def near(a, b): return abs(a - b) <= 1e-7 * max(1, abs(a), abs(b))
    exprs = [
        (lambda x, y: (x * y + x / y - y / x) * 3, lambda x, y: (x * y + x / y - y / x) * 3),
        (lambda x, y: 2 * (-x).tanh() * y + x.tanh(), lambda x, y: -2 * math.tanh(x) * y + math.tanh(x)),
        (lambda x, y: (x.relu() + (-x).relu() * 5 + (y.relu() - 1) * (-y).relu()) * 2, lambda x, y: (max(x, 0) + max(-x, 0) * 5 + (max(y, 0) - 1) * max(-y, 0)) * 2),
        (lambda x, y: (3 - x) * (2 / y) + (1 + x) * (y - 4) + y / 4 - (x - y) * 2, lambda x, y: (3 - x) * (2 / y) + (1 + x) * (y - 4) + y / 4 - (x - y) * 2),
        (lambda x, y: (x ** 3 + y ** -2) * 2 + x ** 0 + (x * x) ** 0.5, lambda x, y: (x ** 3 + y ** -2) * 2 + x ** 0 + (x * x) ** 0.5),
        (lambda x, y: (s := x * y) + s * s + (t := s + x) * t * s, lambda x, y: (s := x * y) + s * s + (t := s + x) * t * s),
        (lambda x, y: (s := x + y).tanh() * s.tanh() + (s / 2).relu() * s - s, lambda x, y: (s := x + y) * 0 + math.tanh(s) ** 2 + max(s / 2, 0) * s - s),
        (lambda x, y: (u := x * y) * (v := u + y) + v + u, lambda x, y: (u := x * y) * (v := u + y) + v + u),
    ]
    big = Value(1000.0); t = big.tanh(); t.backward()
    if t.data != 1.0 or big.grad != 0.0: return False
    big = Value(-1000.0); t = big.tanh(); t.backward()
    if t.data != -1.0 or big.grad != 0.0: return False
    x = y = Value(1.0)
    for _ in range(1100): y = y + x  # more than Python has room for when it calls itself
    y.backward()
    if x.grad != 1101: return False
    h = 1e-5
    for a, b in ((0.7, -1.3), (-0.4, 0.6), (1.1, 2.3)):
        for f, g in exprs:
            x, y = Value(a), Value(b)
            out = f(x, y)
            if not near(out.data, g(a, b)): return False
            x.grad = 0.25
            out.backward()
            dx = (g(a + h, b) - g(a - h, b)) / 2 / h
            dy = (g(a, b + h) - g(a, b - h)) / 2 / h
            if abs(x.grad - .25 - dx) > 1e-4 * max(1, abs(dx)) or abs(y.grad - dy) > 1e-4 * max(1, abs(dy)): return False
            if out.grad != 1: return False
    return True
