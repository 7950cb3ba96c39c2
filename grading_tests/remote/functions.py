"""Functions of numbers or nodes that hidden tests pass to the student's code."""


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


def scaled(x, y, b, scale):
    """Return an expression of x and y whose number and gradients are proportional to the scale."""
    return (x * y - x * b) * scale + x * scale * 0.5


def hollow(*weights):
    """Return a loss of weights: the sum of each weight, and of its square times a factor that grows
    from pair to pair."""
    return sum(w * w * (0.5 + place // 2) + w for place, w in enumerate(weights))
