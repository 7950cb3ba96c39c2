"""Operations on nodes whose backward steps use the derivatives that they are given.

Whether one is right depends on the numbers that it is made with, and on nothing else. Each is
compiled from a text of its own, so that this can be learnt by running it, and not by looking at
what it refers to.
"""

OPERATION = """
def apply(*nodes):
    x = [node.data for node in nodes]
    out = Value({number}, nodes, "?")

    def _backward():
        for node, slope in zip(nodes, [{slopes}], strict=True):
            node.grad = {before} + slope * out.grad

    out._backward = _backward
    return out
"""


def operation(Value, number, slopes, adds=True):
    """An operation on nodes.

    Args:
        Value: the class of the nodes.
        number: a formula of the operands' numbers x[0], x[1], … for the result's number.
        slopes: formulas of what is taken for the derivative by each operand.
        adds: whether the backward step adds to the operands' gradients, or overwrites them.
    """
    before = "node.grad" if adds else "0.0"
    names = {"Value": Value}
    exec(OPERATION.format(number=number, slopes=", ".join(slopes), before=before), names)
    return names["apply"]


def power(Value, n, factor, adds=True):
    """xⁿ; its derivative is taken to be factor · xⁿ⁻¹."""
    return operation(Value, f"x[0] ** {n!r}", [f"{factor!r} * x[0] ** {n - 1!r}"], adds)


def linear(Value, factors, slopes):
    """a x + b y + …, where the factors are a, b, …; the slopes are taken for its derivatives."""
    terms = [f"{factor!r} * x[{place}]" for place, factor in enumerate(factors)]
    return operation(Value, " + ".join(terms), map(repr, slopes))


def product(Value, swaps):
    """x y; its derivatives are taken to be y and x, or x and y if it `swaps` them."""
    return operation(Value, "x[0] * x[1]", ["x[0]", "x[1]"] if swaps else ["x[1]", "x[0]"])


def product_and_square(Value, errors):
    """x y + z²; its derivatives y, x and 2 z are each taken with an error."""
    slopes = ("x[1]", "x[0]", "2 * x[2]")
    return operation(
        Value,
        "x[0] * x[1] + x[2] * x[2]",
        [f"{slope} + {error!r}" for slope, error in zip(slopes, errors, strict=True)],
    )


def used_twice(function):
    """The expression f(x) + x f(x), in which x goes through the function f twice."""
    return lambda x: function(x) + x * function(x)


def refused(*nodes):
    """An operation that is not defined anywhere."""
    raise ValueError


def quotient_and_powers(x, y, z):
    """An expression in a node's own operations."""
    return x * y + y**3 - z / x


class Watched:
    """A function of nodes, which notes at which numbers it is asked."""

    def __init__(self, function):
        self.function = function
        self.at = []

    def __call__(self, *nodes):
        self.at.append([node.data for node in nodes])
        return self.function(*nodes)
