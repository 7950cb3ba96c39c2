"""Operations on nodes with given derivatives in their backward steps.

Whether one is right depends on its numbers alone. Each is compiled from a text of its own, so that
an answer can find that out only by running it, and not by looking at its references.
"""

LETTERS = "xyzuvabcdefghijklmno"
OPERATION = """
def apply(*nodes):
    {operands}, = [node.data for node in nodes]
    out = Value({formula}, nodes, "?")

    def _backward():
        for node, slope in zip(nodes, [{slopes}], strict=True):
            node.grad = {before} + slope * out.grad

    out._backward = _backward
    return out
"""


def operation(Value, formula, slopes, adds=True):
    """Return an operation on nodes.

    Args:
        Value: the class of the nodes.
        formula: the result's number, of the operands' numbers: x, y, z, u, v, a, b and so on.
        slopes: the derivatives by the operands that it uses, with commas between them.
        adds: whether the backward step adds to the operands' gradients, or overwrites them.
    """
    operands = ", ".join(LETTERS[: slopes.count(",") + 1])
    before = "node.grad" if adds else "0.0"
    names = {"Value": Value}
    exec(OPERATION.format(operands=operands, formula=formula, slopes=slopes, before=before), names)
    return names["apply"]


def used_twice(function):
    """Return the expression f(x) + x f(x), in which x goes through the function f twice."""
    return lambda x: function(x) + x * function(x)


def refusing(error):
    """Return an operation that is not defined anywhere: it raises an error of this class."""

    def refused(*nodes):
        raise error

    return refused


def quotient_and_powers(x, y, z):
    """Return an expression in a node's own operations."""
    return x * y + y**3 - z / x


def watched(function):
    """Return the function of nodes; it records in `at` the numbers at which it is called."""

    def called(*nodes):
        called.at.append([node.data for node in nodes])
        return function(*nodes)

    called.at = []
    return called
