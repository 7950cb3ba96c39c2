"""Functions of plain numbers or of nodes."""


def cube(t):
    return t**3


def curve(a, b):
    """Return the function a t³ + b t² of a number t; its `a` may be changed."""

    def number(t):
        return number.a * t**3 + b * t**2

    number.a = a
    return number


def inverse(a):
    """Return the function a / t of a number t."""
    return lambda t: a / t


def asked():
    """Return the identity, which records its arguments in `at`."""

    def identity(t):
        identity.at.append(t)
        return t

    identity.at = []
    return identity


def above(bound, error):
    """Return the function t / 2 above a bound; below it, it raises an error of this class."""

    def half(t):
        if t < bound:
            raise error
        return t / 2

    return half


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
