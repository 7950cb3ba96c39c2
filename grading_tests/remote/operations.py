"""Makes operations on nodes from a formula and given derivatives, which may be wrong.

Each operation is compiled from a text of its own, so that an answer can find out whether its
derivatives are right only by running it, and not by inspecting it.
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
        formula: the formula for the result; x, y, z, u, v, a, b and so on are the operands'
            numbers.
        slopes: the formulas for the derivatives by each operand, separated by commas.
        adds: whether the backward step adds to the operands' gradients; otherwise it overwrites
            them.
    """
    operands = ", ".join(LETTERS[: slopes.count(",") + 1])
    before = "node.grad" if adds else "0.0"
    names = {"Value": Value}
    exec(OPERATION.format(operands=operands, formula=formula, slopes=slopes, before=before), names)
    return names["apply"]


def used_twice(function):
    """Return the function f(x) + x f(x) of x, which calls the function f twice."""
    return lambda x: function(x) + x * function(x)


def watched(function):
    """Return the function, wrapped so that the attribute `at` records the numbers of its
    arguments."""

    def called(*nodes):
        called.at.append([node.data for node in nodes])
        return function(*nodes)

    called.at = []
    return called
