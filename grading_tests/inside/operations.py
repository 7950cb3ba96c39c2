"""Operations on nodes whose backward steps use the derivatives that they are given.

Whether one is right depends on the numbers that it is made with, and on nothing else.
"""


def operation(Value, number, slopes, adds=True):
    """An operation on nodes.

    Args:
        Value: the class of the nodes.
        number: works out the result's number from the operands' numbers.
        slopes: works out from them what is taken for the derivative by each operand.
        adds: whether the backward step adds to the operands' gradients, or overwrites them.
    """

    def apply(*nodes):
        numbers = [node.data for node in nodes]
        out = Value(number(*numbers), nodes, "?")

        def _backward():
            for node, slope in zip(nodes, slopes(*numbers), strict=True):
                before = node.grad if adds else 0.0
                node.grad = before + slope * out.grad

        out._backward = _backward
        return out

    return apply


def power(Value, n, factor, adds=True):
    """xⁿ; its derivative is taken to be factor · xⁿ⁻¹."""
    return operation(Value, lambda x: x**n, lambda x: [factor * x ** (n - 1)], adds)


def linear(Value, factors, slopes):
    """a x + b y + …, where the factors are a, b, …; the slopes are taken for its derivatives."""
    return operation(
        Value,
        lambda *numbers: sum(a * x for a, x in zip(factors, numbers, strict=True)),
        lambda *numbers: slopes,
    )


def product(Value, swaps):
    """x y; its derivatives are taken to be y and x, or x and y if it `swaps` them."""
    return operation(Value, lambda x, y: x * y, lambda x, y: [x, y] if swaps else [y, x])


def product_and_square(Value, errors):
    """x y + z²; its derivatives y, x and 2 z are each taken with an error."""
    return operation(
        Value,
        lambda x, y, z: x * y + z * z,
        lambda x, y, z: [y + errors[0], x + errors[1], 2 * z + errors[2]],
    )


def used_twice(function):
    """The expression f(x) + x f(x), in which x goes through the function f twice."""
    return lambda x: function(x) + x * function(x)


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
