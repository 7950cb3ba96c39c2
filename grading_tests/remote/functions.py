"""Functions of numbers or nodes that hidden tests pass to the student's code."""


def cube(t):
    return t**3


def curve(a, b):
    """Return the function a t³ + b t² of t. Its attribute `a` can be changed later."""

    def number(t):
        return number.a * t**3 + b * t**2

    number.a = a
    return number


def inverse(a):
    """Return the function a / t of t."""
    return lambda t: a / t


def asked():
    """Return the identity function, which records its arguments in the attribute `at`."""

    def identity(t):
        identity.at.append(t)
        return t

    identity.at = []
    return identity


def above(bound, error):
    """Return the function t / 2, which raises `error` for a t below the bound."""

    def half(t):
        if t < bound:
            raise error
        return t / 2

    return half


def square(t):
    return t * t


def scaled(x, y, b, scale):
    """Return an expression of x and y whose number and gradients are proportional to the scale."""
    return (x * y - x * b) * scale + x * scale * 0.5


def bowl(slope, target):
    """Return the function (slope · w + b - target)² + b² of w and b, which has a single minimum."""

    def height(w, b):
        return (w * slope + b - target) ** 2 + b * b

    return height


def hollow(*weights):
    """Return a loss of weights: the sum of each weight, and of its square times a factor that grows
    from pair to pair."""
    return sum(w * w * (0.5 + place // 2) + w for place, w in enumerate(weights))
