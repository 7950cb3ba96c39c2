"""Engines: classes of nodes that work out numbers and gradients, right or with one mistake."""

import math

RULES = {
    # By operation: the result's number, and its derivative by each operand.
    "+": (lambda a, b: a + b, lambda a, b: (1.0, 1.0)),
    "-": (lambda a, b: a - b, lambda a, b: (1.0, -1.0)),
    "*": (lambda a, b: a * b, lambda a, b: (b, a)),
    "/": (lambda a, b: a / b, lambda a, b: (1 / b, -a / b**2)),
    "**": (lambda a, n: a**n, lambda a, n: (n * a ** (n - 1) if n else 0.0, 0.0)),
    "neg": (lambda a: -a, lambda a: (-1.0,)),
    "tanh": (math.tanh, lambda a: (1 - math.tanh(a) ** 2,)),
    "relu": (lambda a: max(a, 0.0), lambda a: (float(a > 0),)),
}


def tanh_by_exponentials(a):
    """tanh, rounded otherwise than by `math.tanh`."""
    shrunk = math.exp(-2 * abs(a))
    return math.copysign((1 - shrunk) / (1 + shrunk), a)


def slope_of_tanh_by_exponentials(a):
    t = tanh_by_exponentials(a)
    return ((1 - t) * (1 + t),)


OTHER_RULES = {
    "-": {"as in a sum": (RULES["-"][0], lambda a, b: (1.0, 1.0))},
    "*": {"not crossed over": (RULES["*"][0], lambda a, b: (a, b))},
    "/": {
        "as a product": (lambda a, b: a * b**-1, lambda a, b: (b**-1, -(a * b**-1) * b**-1)),
        "without the minus sign": (RULES["/"][0], lambda a, b: (1 / b, a / b**2)),
    },
    "**": {"exponent not lowered": (RULES["**"][0], lambda a, n: (n * a**n, 0.0))},
    "tanh": {"by exponentials": (tanh_by_exponentials, slope_of_tanh_by_exponentials)},
    "relu": {"without a mask": (RULES["relu"][0], lambda a: (1.0,))},
}


def topological(root):
    """Every node behind the root, each after all that it feeds: root first."""
    order, met, waiting = [], set(), [(root, False)]
    while waiting:
        node, operands_are_listed = waiting.pop()
        if operands_are_listed:
            order.append(node)
        elif node not in met:
            met.add(node)
            waiting.append((node, True))
            waiting += [(operand, False) for operand in node._prev]
    return order[::-1]


def breadth_first(root):
    """The root, then its operands, then theirs: a node may come before one that it feeds."""
    order, met = [root], {root}
    for node in order:
        new = [operand for operand in node._prev if operand not in met]
        met.update(new)
        order += dict.fromkeys(new)
    return order


ORDERS = {"topological": topological, "breadth first": breadth_first}


def make_engine(
    rules=None, forgets=(), overwrites=(), cuts=(), turns_round=(), order="topological"
):
    """A class of nodes with a number `data`, a gradient `grad` and a list `_prev` of operands.

    Args:
        rules: by operation, the name of the rule in `OTHER_RULES` that takes the place of its own.
        forgets: operations whose backward step does not use the result's gradient.
        overwrites: operations whose backward step assigns the gradient instead of adding to it.
        cuts: operations whose result has no operands.
        turns_round: operations that swap their operands where a plain number stands on the left.
        order: in which of the `ORDERS` the method `backward` runs the nodes; None leaves it out.
    """
    rules_in_use = RULES | {op: OTHER_RULES[op][name] for op, name in (rules or {}).items()}

    def number_of(operand):
        return operand.data if isinstance(operand, Node) else operand

    def result(op, *operands):
        """The node that an operation makes of nodes and plain numbers."""
        number, slopes = rules_in_use[op]
        out = Node(number(*map(number_of, operands)))
        if op in cuts:
            return out

        def _backward():
            upstream = 1.0 if op in forgets else out.grad
            for operand, slope in zip(operands, slopes(*map(number_of, operands)), strict=True):
                if isinstance(operand, Node):
                    before = 0.0 if op in overwrites else operand.grad
                    operand.grad = before + slope * upstream

        out._prev = [operand for operand in operands if isinstance(operand, Node)]
        out._backward = _backward
        return out

    def reflected(op, number, node):
        """The node that an operation makes of a plain number on the left and a node."""
        return result(op, node, number) if op in turns_round else result(op, number, node)

    class Node:
        def __init__(self, data):
            self.data = float(data)
            self.grad = 0.0
            self._prev = []
            self._backward = lambda: None

        def __add__(self, other):
            return result("+", self, other)

        def __sub__(self, other):
            return result("-", self, other)

        def __mul__(self, other):
            return result("*", self, other)

        def __truediv__(self, other):
            return result("/", self, other)

        def __radd__(self, number):
            return reflected("+", number, self)

        def __rsub__(self, number):
            return reflected("-", number, self)

        def __rmul__(self, number):
            return reflected("*", number, self)

        def __rtruediv__(self, number):
            return reflected("/", number, self)

        def __pow__(self, exponent):
            return result("**", self, exponent)

        def __neg__(self):
            return result("neg", self)

        def tanh(self):
            return result("tanh", self)

        def relu(self):
            return result("relu", self)

    def backward(root):
        root.grad = 1.0
        for node in ORDERS[order](root):
            node._backward()

    if order is not None:
        Node.backward = backward
    return Node
