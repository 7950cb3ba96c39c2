"""Functions of plain numbers or of nodes."""


def cube(t):
    return t**3


class Curve:
    """a t³ + b t², a function of a number t."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, t):
        return self.a * t**3 + self.b * t**2


class Inverse:
    """a / t, a function of a number t."""

    def __init__(self, a):
        self.a = a

    def __call__(self, t):
        return self.a / t


class Asked:
    """The identity, which records its arguments."""

    def __init__(self):
        self.at = []

    def __call__(self, t):
        self.at.append(t)
        return t


class Above:
    """t / 2 above a bound; below it, it raises an error of this class."""

    def __init__(self, bound, error):
        self.bound, self.error = bound, error

    def __call__(self, t):
        if t < self.bound:
            raise self.error
        return t / 2


def square(t):
    return t * t


def scaled(x, y, b, scale):
    """Return a function of x and y whose value and gradients grow with the scale."""
    return (x * y - x * b) * scale + x * scale * 0.5


def bowl(slope, target):
    """(slope · w + b - target)² + b², a function of w and b with a single minimum."""

    def height(w, b):
        return (w * slope + b - target) ** 2 + b * b

    return height


def hollow(*weights):
    """Return a loss that grows slowly and fast: the weights' squares, each pair with its own
    factor, and the weights."""
    return sum(w * w * (0.5 + place // 2) + w for place, w in enumerate(weights))
