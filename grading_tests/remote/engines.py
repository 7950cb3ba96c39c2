"""Makes engines that are right or have one mistake: classes of nodes with numbers and gradients.

Each engine is compiled from a text that contains only its own rules, so that an answer can find the
mistake only by using the engine, and not by inspecting it.
"""

import math
from functools import cache

RULES = {
    # By operation: the result's number c, and its derivative by each operand, a and b.
    "+": ("a + b", "1.0", "1.0"),
    "-": ("a - b", "1.0", "-1.0"),
    "*": ("a * b", "b", "a"),
    "/": ("a / b", "1 / b", "-a / b**2"),
    "**": ("a**b", "b * a ** (b - 1) if b else 0.0", "0.0"),
    "neg": ("-a", "-1.0"),
    "tanh": ("math.tanh(a)", "1 - c**2"),
    "relu": ("max(a, 0.0)", "float(a > 0)"),
}

_SHRUNK = "math.exp(-2 * abs(a))"

OTHER_RULES = {
    "-": {"as in a sum": (RULES["-"][0], "1.0", "1.0")},
    "*": {"not crossed over": (RULES["*"][0], "a", "b")},
    "/": {
        "as a product": ("a * b**-1", "b**-1", "-c * b**-1"),
        "without the minus sign": (RULES["/"][0], "1 / b", "a / b**2"),
    },
    "**": {
        "exponent not lowered": (RULES["**"][0], "b * a**b", "0.0"),
        "as if squared": (RULES["**"][0], "b * a", "0.0"),
    },
    "tanh": {
        # Rounded differently from `math.tanh`.
        "by exponentials": (
            f"math.copysign((1 - {_SHRUNK}) / (1 + {_SHRUNK}), a)",
            "(1 - c) * (1 + c)",
        )
    },
    "relu": {"without a mask": (RULES["relu"][0], "1.0")},
}

METHODS = {
    # By name: the operation and its operands.
    "__add__": ("+", "self", "other"),
    "__sub__": ("-", "self", "other"),
    "__mul__": ("*", "self", "other"),
    "__truediv__": ("/", "self", "other"),
    "__radd__": ("+", "other", "self"),
    "__rsub__": ("-", "other", "self"),
    "__rmul__": ("*", "other", "self"),
    "__rtruediv__": ("/", "other", "self"),
    "__pow__": ("**", "self", "other"),
    "__neg__": ("neg", "self"),
    "tanh": ("tanh", "self"),
    "relu": ("relu", "self"),
}

NODE = """
class Node:
    def __init__(self, data):
        self.data = float(data)
        self.grad = 0.0
        self._prev = []
        self._backward = lambda: None


def number(operand):
    return operand.data if isinstance(operand, Node) else operand
"""

METHOD = """
def method({arguments}):
    operands = [{operands}]
    {letters} = map(number, operands)
    c = {number}
    out = Node(c)

    def _backward():
        for node, slope in zip(operands, [{slopes}]):
            if isinstance(node, Node):
                node.grad = {before} + slope * {upstream}

    out._prev = [node for node in operands if isinstance(node, Node)]
    out._backward = _backward
    return {result}


Node.{name} = method
"""

BACKWARD = """
def backward(root):
    root.grad = 1.0
    for node in ordered(root):
        node._backward()


Node.backward = backward
"""

ORDERS = {
    "topological": """
def ordered(root):
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
""",
    # A node may come before one of its results.
    "breadth first": """
def ordered(root):
    order, met = [root], {root}
    for node in order:
        new = [operand for operand in node._prev if operand not in met]
        met.update(new)
        order += dict.fromkeys(new)
    return order
""",
}


def make_engine(
    rules=None, forgets=(), overwrites=(), cuts=(), turns_round=(), order="topological"
):
    """Return a class of nodes with a number `data`, a gradient `grad` and a list `_prev` of
    operands.

    Args:
        rules: by operation: the name of the rule in `OTHER_RULES` that replaces the right one.
        forgets: operations whose backward step does not use the result's gradient.
        overwrites: operations whose backward step assigns the gradient instead of adding to it.
        cuts: operations, or methods, whose result has no operands.
        turns_round: operations that swap their operands if a plain number is on the left.
        order: the key in `ORDERS` of the order in which the method `backward` visits the nodes;
            None for a class without `backward`.
    """
    in_use = RULES | {op: OTHER_RULES[op][name] for op, name in (rules or {}).items()}
    texts = [NODE]
    for name, (op, *operands) in METHODS.items():
        number, *slopes = in_use[op]
        if op in turns_round and operands[0] == "other":
            operands.reverse()
            if op == "/":  # A broken engine must raise errors only where a right one does.
                number, *slopes = [f"({text}) if b else 0.0" for text in in_use[op]]
        text = METHOD.format(
            name=name,
            arguments=", ".join(sorted(operands, reverse=True)),
            operands=", ".join(operands),
            letters=", ".join("ab"[: len(operands)]) + ("," if len(operands) == 1 else ""),
            number=number,
            slopes=", ".join(slopes),
            before="0.0" if op in overwrites else "node.grad",
            upstream="1.0" if op in forgets else "out.grad",
            result="Node(c)" if {op, name} & set(cuts) else "out",
        )
        texts.append(text)
    if order is not None:
        texts += [ORDERS[order], BACKWARD]
    names = {"math": math, "__name__": "engine"}
    for text in texts:
        exec(_compiled(text), names)
    return names["Node"]


@cache
def _compiled(text):
    """Compile a text; results are cached, since most engines share most texts."""
    return compile(text, "<engine>", "exec")
