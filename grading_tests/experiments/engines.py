"""Experiments on an engine: random graphs, and what a solved exercise does with them.

They are written without a look at the hidden tests, to judge these by. An experiment takes the
names that a namespace defines and a random generator, and returns what it saw as plain values.
Two namespaces that show the same in thousands of experiments are taken to compute the same.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.audit.oracle import Experiment, Names
from course.dot import DotError, read_dot

_BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "+=": operator.iadd,
    "*=": operator.imul,
}
_EXPONENTS = (-2, -1, 0, 1, 2, 3, 0.5, 1.7, -1.5)
_ERRORS = {"**node": TypeError, "log": ValueError, "sqrt": ValueError}
FUNCTIONS = ("exp", "log", "tanh", "relu", "sigmoid", "sin", "cos", "sqrt")


def _number(rng: random.Random) -> float:
    """Mostly a number of moderate size; sometimes whole, zero, or far out."""
    kind = rng.random()
    if kind < 0.7:
        return rng.uniform(-3, 3)
    if kind < 0.85:
        return rng.randint(-3, 3)
    return 0.0 if kind < 0.93 else rng.choice([-1, 1]) * rng.uniform(650, 1100)


def _grow(
    names: Names, rng: random.Random, seen: list[Any], functions: tuple[str, ...] = ()
) -> list[Any]:
    """A random expression graph; its nodes, operands first. What each shows goes to `seen`."""
    nodes = [names["Value"](_number(rng)) for _ in range(3)]
    for _ in range(rng.randint(1, 8)):
        kind = rng.choice([*_BINARY, "**", "neg", "sum", *functions, *functions])
        left, right, number = rng.choice(nodes[-5:]), rng.choice(nodes), _number(rng)
        form = rng.choice(["node", "node", "right", "left"])
        exponent = rng.choice(_EXPONENTS)
        if kind == "**" and abs(left.data) < 1e-3 and exponent not in (0, 1, 2, 3):
            exponent = 2
        if kind == "sqrt" and abs(left.data) < 1e-3:
            kind = "neg"
        # Python raises where NumPy's numbers become infinite; either will do.
        divisor = {"left": left.data, "right": number}.get(form, right.data)
        if (kind == "/" and abs(divisor) < 1e-3) or (kind == "exp" and left.data > 700):
            kind = "*"
        try:
            node = _apply(kind, form, left, right, number, exponent)
        except Exception as error:
            wanted = _ERRORS.get(kind + "node" if form == "node" and kind == "**" else kind)
            seen.append(isinstance(error, wanted or (ArithmeticError, TypeError, ValueError)))
            continue
        known = any(node is each for each in nodes)
        if known and kind not in functions:
            # x ** 1 or 0 + x may be x itself; as a root it would show nothing.
            node = node * 1.0
        seen += [node.data, known and kind in functions]
        if kind in ("+", "*") and form == "node":
            seen += [node._op, {id(each) for each in node._prev} == {id(left), id(right)}]
        if kind == "**" and exponent not in (0, 1):
            seen.append(node._op)
        if abs(node.data) < 1e4:
            nodes.append(node)
    return nodes


def _apply(kind: str, form: str, left: Any, right: Any, number: float, exponent: float) -> Any:
    if kind == "**":
        return left ** (right if form == "node" else exponent)
    if kind == "neg":
        return -left
    if kind == "sum":
        return sum([left, right, left])
    if kind not in _BINARY:
        return getattr(left, kind)()
    first = number if form == "left" else left
    return _BINARY[kind](first, left if form == "left" else right if form == "node" else number)


def _ordered(root: Any) -> list[Any]:
    """Every node behind `root`, operands first."""
    order, met, waiting = [], set(), [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            order.append(node)
        elif id(node) not in met:
            met.add(id(node))
            waiting.append((node, True))
            waiting += [(operand, False) for operand in node._prev]
    return order


def _fails(action: Callable[[], Any]) -> bool:
    try:
        action()
    except Exception:
        return True
    return False


def expressions(functions: tuple[str, ...] = ()) -> Experiment:
    """A random expression, differentiated step by step from a random upstream gradient."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        seen: list[Any] = []
        nodes = _grow(names, rng, seen, functions)
        for leaf in nodes[:3]:
            leaf.grad = rng.uniform(-2, 2)
        root = nodes[-1]
        root.grad = rng.uniform(-3, 3)
        order = _ordered(root)
        failed = sum(_fails(node._backward) for node in reversed(order))
        reached = {id(node) for node in order}
        seen += [(leaf.data, leaf.grad, id(leaf) in reached) for leaf in nodes[:3]]
        return [*seen, failed]

    return experiment


def _backward(names: Names, name: str) -> Callable[[Any], None]:
    """The backward pass of that name; the reference has it as a method alone."""
    found: Callable[[Any], None] = names.get(name) or names["Value"].backward
    return found


def differentiated(name: str) -> Experiment:
    """A random expression, differentiated by the engine's own backward pass."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        seen: list[Any] = []
        nodes = _grow(names, rng, seen)
        for leaf in nodes[:3]:
            leaf.grad = rng.uniform(-2, 2)
        root = rng.choice(nodes)
        root.grad = rng.uniform(-2, 2)
        _backward(names, name)(root)
        return seen + [node.grad for node in nodes]

    return experiment


# Graphs of bare nodes, and functions that walk along them.


def _tangle(names: Names, rng: random.Random) -> list[Any]:
    """Nodes that are joined at random, some of them with equal numbers; the last is the root."""
    Value = names["Value"]
    nodes = [Value(rng.randint(1, 3)) for _ in range(rng.randint(1, 3))]
    for _ in range(rng.randint(0, 9)):
        operands = tuple(rng.choices(nodes[-4:], k=rng.randint(1, 3)))
        nodes.append(Value(rng.randint(1, 3), operands, "?"))
    return nodes


def _numbered(nodes: list[Any]) -> Callable[[Any], int]:
    place = {id(node): index for index, node in enumerate(nodes)}
    return lambda node: place.get(id(node), -1)


def _hard_graphs(Value: Any, depth: int) -> Iterator[Any]:
    """A graph with 2 to the power of 60 paths, and a deep one."""
    node = Value(1.0)
    for _ in range(60):
        node = Value(1.0, (node, node), "+")
    yield node
    node = Value(1.0)
    for _ in range(depth):
        node = Value(1.0, (node,), "+")
    yield node


def traced(names: Names, rng: random.Random) -> list[Any]:
    nodes = _tangle(names, rng)
    number = _numbered(nodes)
    found, edges = names["trace"](nodes[-1])
    pairs = sorted((number(operand), number(result)) for operand, result in edges)
    return [sorted(map(number, found)), pairs]


def traced_hard(names: Names, rng: random.Random) -> list[Any]:
    return [
        [len(part) for part in names["trace"](root)] for root in _hard_graphs(names["Value"], 300)
    ]


def in_order(names: Names, rng: random.Random) -> list[Any]:
    nodes = _tangle(names, rng)
    number = _numbered(nodes)
    for node in nodes:
        node.grad = rng.uniform(-2, 2)
        node._backward = nodes.clear
    before = [(node.data, node.grad) for node in nodes]
    order = list(map(number, names["topological_order"](nodes[-1])))
    place = {index: at for at, index in enumerate(order)}
    sorted_out = all(
        place.get(number(operand), 99) < at
        for index, at in place.items()
        for operand in nodes[index]._prev
    )
    return [sorted(order), sorted_out, before == [(node.data, node.grad) for node in nodes]]


def in_order_hard(names: Names, rng: random.Random) -> list[Any]:
    value = names["Value"]
    ends = []
    for _ in range(400):  # so many nodes that looking each up in a list takes for ever
        ends.append(value(1.0))
        for _ in range(100):
            ends[-1] = value(1.0, (ends[-1],), "+")
    graphs = [*_hard_graphs(value, 300), value(1.0, tuple(ends), "sum")]
    return [len(names["topological_order"](root)) for root in graphs]


def steps(name: str) -> Experiment:
    """Which backward steps run, and what the root and the others hold meanwhile."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        nodes, ran = _tangle(names, rng), []
        number = _numbered(nodes)
        for index, node in enumerate(nodes):
            node.grad = rng.uniform(-2, 2)
            if node._prev:
                node._backward = lambda index=index: ran.append((index, nodes[-1].grad))
        _backward(names, name)(nodes[-1])
        place = {index: at for at, (index, _) in enumerate(ran)}
        late = all(
            place.get(number(operand), len(ran)) > at
            for index, at in place.items()
            for operand in nodes[index]._prev
        )
        return [sorted(ran), late, [(node.data, node.grad) for node in nodes]]

    return experiment


def steps_hard(name: str, depth: int) -> Experiment:
    def experiment(names: Names, rng: random.Random) -> list[Any]:
        grads = []
        for root in _hard_graphs(names["Value"], depth):
            _backward(names, name)(root)
            grads.append(root.grad)
        return grads

    return experiment


def pushed(names: Names, rng: random.Random) -> list[Any]:
    nodes, ran = _tangle(names, rng), []
    for index, node in enumerate(nodes):
        node.grad = rng.uniform(-2, 2)
        if node._prev:  # a leaf's step does nothing, so it need not be run
            node._backward = lambda index=index: ran.append((index, nodes[-1].grad))
    order = [nodes[-1], *rng.choices(nodes, k=rng.randint(0, 4))]
    names["push_gradients"](nodes[-1], order)
    return [ran, [(node.data, node.grad) for node in nodes]]


def zeroed(names: Names, rng: random.Random) -> list[Any]:
    nodes = _tangle(names, rng)
    for node in nodes:
        node.grad = rng.uniform(-2, 2)
    chosen = rng.sample(nodes, rng.randint(0, len(nodes)))
    names["zero_grad"](tuple(chosen) if rng.random() < 0.5 else chosen)
    return [(node.data, node.grad) for node in nodes]


def made(names: Names, rng: random.Random) -> list[Any]:
    """Nodes as they are born: what they keep, and what they do not share."""
    Value = names["Value"]
    a, b = rng.uniform(-9, 9), rng.randint(-9, 9)
    x, y = Value(a), Value(b, label="y")
    operands = rng.choice([(x,), (x, y), [y, x]])
    z = Value(a + b, operands, "?", "z")
    x.grad = rng.randint(1, 99) / 4
    alike = x._prev is y._prev and hasattr(x._prev, "clear")
    text = repr(x)
    shown = "Value" in text, f"{x.data:.3}"[:4] in text, f"{x.grad:g}" in text
    seen = [x.data, y.data, z.data, x.grad, y.grad, x._op, z._op, x.label, y.label, z.label]
    seen += [x._backward(), x.data, x.grad, alike, *shown]
    return [*seen, len(list(x._prev)), {id(each) for each in z._prev} == set(map(id, operands))]


# Functions that take functions.


def slopes(names: Names, rng: random.Random) -> list[Any]:
    a, b, c, x = (rng.uniform(-3, 3) for _ in range(4))
    asked: list[float] = []

    def f(t: float) -> float:
        asked.append(t)
        return a * t**3 + b * t**2 + c * t

    h = rng.uniform(1e-3, 1e-1)
    coarse = names["numerical_derivative"](f, x, h)
    points = [min(asked), max(asked)]
    fine = names["numerical_derivative"](f, x)
    return [coarse, points, bool(abs(fine - (3 * a * x * x + 2 * b * x + c)) < 1e-5)]


def checked(names: Names, rng: random.Random) -> list[Any]:
    """What a gradient checker says of right gradients, and of ones that are clearly wrong."""
    Value = names["Value"]
    size = 10 ** rng.uniform(-6, 5)
    inputs = [rng.choice([-1, 1]) * rng.uniform(0.5, 3) for _ in range(rng.randint(1, 3))]
    powers = [rng.randint(0, 3) for _ in inputs]
    wrong = rng.choice([None, *range(len(inputs))])
    error = rng.choice([-2, -1, -0.1, 0.1, 1])
    opposite = (wrong + 1) % len(inputs) if wrong is not None and rng.random() < 0.3 else None
    asked: set[str] = set()

    def f(*nodes: Any) -> Any:
        data = [node.data for node in nodes]
        asked.update(f"{x - y:.1e}" for x, y in zip(data, inputs, strict=True))
        out = Value(size * sum(x**n for x, n in zip(data, powers, strict=True)), nodes, "?")

        def backward() -> None:
            for index, (node, n) in enumerate(zip(nodes, powers, strict=True)):
                slope = size * n * data[index] ** (n - 1) if n else 0.0
                slope += error * size * ((index == wrong) - (index == opposite))
                node.grad += slope * out.grad

        out._backward = backward
        return out

    more = {} if rng.random() < 0.7 else {"epsilon": rng.uniform(1e-5, 1e-4)}
    verdict = names["check_gradients"](f, inputs, **more)
    if hasattr(verdict, "dtype"):  # NumPy's True and False will do.
        verdict = bool(verdict)
    return [verdict, sorted(asked) if more and verdict else None]


def drawn(names: Names, rng: random.Random) -> list[Any]:
    nodes = _tangle(names, rng)
    numbers = rng.sample(range(11, 99), 2 * len(nodes))
    for node in nodes:
        node.data, node.grad = numbers.pop() + 0.5, numbers.pop() + 0.5
        node.data = rng.choice([node.data, node.data, nodes[0].data])
        node._op = rng.choice(["tanh", "exp", "relu"]) if node._prev else ""
    try:
        graph = read_dot(names["draw_dot"](nodes[-1]))
    except DotError:
        return ["error"]
    shown = [(len(graph.showing(n.data)), graph.showing(n.data) == graph.showing(n.grad))
             for n in nodes]  # fmt: skip
    signs = [sum(label.count(sign) for label in graph.labels.values()) for sign in
             ("tanh", "exp", "relu")]  # fmt: skip
    return [shown, sorted(graph.flow([node.data for node in nodes])), [s > 0 for s in signs]]


def weighted(names: Names, rng: random.Random) -> list[Any]:
    count = rng.randint(1, 4)
    Value = names["Value"]
    source = [Value(rng.uniform(-3, 3)) for _ in range(count)]
    weights = [rng.choice([node, node * rng.uniform(-2, 2), source[0]]) for node in source]
    inputs = [rng.uniform(-3, 3) for _ in range(count)]
    for node in source:
        node.grad = rng.uniform(-2, 2)
    total = names["weighted_sum"](weights, inputs)
    (total * rng.uniform(-3, 3) + total).backward()
    return [total.data, [(node.data, node.grad) for node in (*source, *weights)]]


def passed_back(names: Names, rng: random.Random) -> list[Any]:
    seen: list[Any] = []
    # The exercise is to write `backward`, so the engine does not bring its own.
    bare = type("Bare", (names["Value"],), {"backward": None})
    nodes = _grow({"Value": bare}, rng, seen)
    for leaf in nodes[:3]:
        leaf.grad = rng.uniform(-2, 2)
    nodes[-1].grad = rng.uniform(-2, 2)
    names["backward"](nodes[-1])
    return seen + [node.grad for node in nodes]


def descended(names: Names, rng: random.Random) -> list[Any]:
    parameters = [names["Value"](rng.uniform(-2, 2)) for _ in range(rng.randint(1, 3))]
    targets = [rng.uniform(-2, 2) for _ in parameters]
    for node in parameters:
        node.grad = rng.uniform(-2, 2)

    def loss_of(*nodes: Any) -> Any:
        return sum(((n - t) ** 2 for n, t in zip(nodes, targets, strict=True)), nodes[0] * 0.5)

    losses = names["descend"](loss_of, parameters, rng.uniform(0.01, 0.2), rng.randint(0, 5))
    return [list(losses), [node.data for node in parameters]]


def decided(names: Names, rng: random.Random) -> list[Any]:
    """What a student's test says of the given engine, and of twins with one mistake each."""
    right = names["Value"]
    operations = ("__mul__", "__add__", "__sub__", "__truediv__", "__pow__", "tanh", "relu")
    engines = [right]
    for name in operations:
        engines.append(_broken(right, name, lambda out: setattr(out, "grad", 0.5 * out.grad)))
    for name in operations[:4]:  # Of one operand alone, a test need not see what it forgets.
        engines.append(_broken(right, name, _forget))
    engines.append(_broken(right, "tanh", lambda out: setattr(out, "grad", 1.0)))
    engines.append(type("Broken", (right,), {"relu": lambda self: _unmasked(right, self)}))
    engines.append(type("Broken", (right,), {"__rsub__": right.__sub__}))
    engines.append(type("Broken", (right,), {"__neg__": lambda self: type(self)(-self.data)}))
    engines.append(type("Broken", (right,), {"backward": lambda self: _breadth_first(self)}))
    return [names["test_engine"](engine) for engine in engines]


def _unmasked(right: Any, node: Any) -> Any:
    out = right.relu(node)

    def backward() -> None:
        node.grad += out.grad

    out._backward = backward
    return out


def _forget(out: Any) -> None:
    for operand in out._prev:
        operand.grad = 0.0


def _breadth_first(root: Any) -> None:
    root.grad = 1.0
    order, met = [root], {id(root)}
    for node in order:
        node._backward()
        new = [each for each in node._prev if id(each) not in met]
        met.update(map(id, new))
        order += new


def _broken(right: Any, name: str, before: Callable[[Any], None]) -> Any:
    """The engine with one operation that does something before its backward step."""

    def method(self: Any, *others: Any) -> Any:
        out = getattr(right, name)(self, *others)
        honest = out._backward

        def backward() -> None:
            held = out.grad
            before(out)
            honest()
            out.grad = held

        out._backward = backward
        return out

    return type("Broken", (right,), {name: method})
