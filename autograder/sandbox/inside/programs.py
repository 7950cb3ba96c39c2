"""What a function of the grader's does, as a straight line of steps on objects that live here.

A program is an answer that holds for more than one call. It knows no branch and no loop: what the
function did once with objects of this shape it does again with others. `autograder.tracing` writes
programs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "iadd": operator.iadd,
    "isub": operator.isub,
    "imul": operator.imul,
    "itruediv": operator.itruediv,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "float": float,
}
INPUT = ""
"""How a shape says that here is something of which no more is said."""
FLOAT, CLASS = "float", "class "
"""How an argument's kind is told: `FLOAT`, or `CLASS` and the name."""
_LISTS: dict[type, str] = {list: "list", tuple: "tuple"}
_TOLD = frozenset([list, tuple, str, bool, int, type(None)])
"""Of what a shape tells more than that it is there."""
_LEVELS = 6
"""How many collections inside one another a shape tells of."""
_MOST_ITEMS = 1000
MAX_COUNT = 200
"""Up to where whole numbers belong to a shape: they count things, or choose."""
MAX_LETTERS = 100
"""How long the text is, at most, that stands for a value in a shape."""


def shape_of_call(
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    held: dict[str, Any],
    namespace: dict[str, Any],
) -> tuple[tuple[Any, ...], list[Any]]:
    """The shape of a call, and the inputs: whatever the shape only says of that it is there.

    The shape tells of the arguments; then the names of the keyword arguments, the names of what
    the first argument holds, and of both in turn. Equal shapes are equal here, and as JSON.

    Args:
        held: what the first argument holds.
        namespace: where classes have their names. Of an argument the shape tells its kind, too: a
            float, or an object of one of these classes.
    """
    inputs: list[Any] = []
    told = []
    for value in arguments:
        shape = shape_of(value, inputs)
        if shape == INPUT:
            kind = type(value)
            name = kind.__name__
            known = CLASS + name if namespace.get(name) is kind else INPUT
            shape = FLOAT if kind is float else known
        told.append(shape)
    named = [shape_of(value, inputs) for value in (*keywords.values(), *held.values())]
    return (tuple(told), tuple(keywords), tuple(held), tuple(named)), inputs


def shape_of(value: Any, inputs: list[Any], depth: int = 0) -> Any:
    """The shape of a value: lists and tuples, and in them texts, truth values and small counts.

    Anything else is added to `inputs`.
    """
    kind = type(value)
    if kind not in _TOLD:
        inputs.append(value)
        return INPUT
    if kind in _LISTS and depth < _LEVELS and len(value) <= _MOST_ITEMS:
        if _TOLD.isdisjoint(map(type, value)):
            inputs += value
            return (_LISTS[kind],) + (INPUT,) * len(value)
        return (_LISTS[kind], *[shape_of(item, inputs, depth + 1) for item in value])
    if kind is str and len(value) < MAX_LETTERS:
        return "=" + value
    if value is None or kind is bool or (kind is int and -MAX_COUNT <= value <= MAX_COUNT):
        return repr(value)
    inputs.append(value)
    return INPUT


def ready(program: list[Any], namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function that carries out a program `[inputs, steps, result]`.

    It takes so many inputs, which have the first places; each step's result has the next one. It
    gives what is in the place `result`. Operands are places, behind what else a step needs:

        ["value", constant]    ["name", name]       ["add" …, left, right]    ["neg" …, operand]
        ["get", name, target]  ["set", name, target, value]    ["list" or "tuple", *items]
        ["call", names of the last arguments, function, *arguments]
        ["function", program, *captured]     ["item", index, captured]

    The last input of a program inside a program is the tuple of what it captured.

    Args:
        namespace: where names are looked up, each time.
    """
    known: dict[str, Any] = {**BINARY, **UNARY, "look_up": look_up, "namespace": namespace}
    exec("\n".join(_lines("program", program, known)), known)
    function: Callable[..., Any] = known["program"]
    return function


def _lines(
    name: str, program: list[Any], known: dict[str, Any], captured: str = "", level: int = 1
) -> list[str]:
    """The text of a function that carries out a program. Each place is a variable.

    Args:
        known: what the text may use besides; constants are added.
        captured: the tuple of what it captures of the function around it.
        level: how many functions it is in, itself included.
    """
    count, steps, result = program
    here = "v" * level
    inputs = [f"{here}{place}" for place in range(count)]
    last = inputs.pop() if captured else ""
    lines = [f"def {name}({', '.join(inputs)}):"]
    if captured:
        lines.append(f" {last} = {captured}")
    for place, step in enumerate(steps, count):
        made = f"{here}{place}"
        if step[0] == "function":
            _, inner, *places = step
            packed = _expression(["tuple", *places], here, known)
            lines += [f" {line}" for line in _lines(made, inner, known, packed, level + 1)]
        else:
            lines.append(f" {made} = {_expression(step, here, known)}")
    return [*lines, f" return {here}{result:d}"]


def _expression(step: list[Any], here: str, known: dict[str, Any]) -> str:
    """What a step works out of variables, whose names begin with `here`."""

    def at(*places: int) -> str:
        return ", ".join([f"{here}{place:d}" for place in places])

    match step:
        case ["value", constant]:
            name = f"c{len(known)}"
            known[name] = constant
            return name
        case ["name", name]:
            return f"look_up(namespace, {name!r})"
        case ["get", name, target]:
            return f"getattr({at(target)}, {name!r})"
        case ["set", name, target, value]:
            return f"setattr({at(target)}, {name!r}, {at(value)})"
        case ["item", index, target]:
            return f"{at(target)}[{index:d}]"
        case ["list", *items]:
            return f"[{at(*items)}]"
        case ["tuple", *items]:
            return f"({at(*items)},)" if items else "()"
        case ["call", names, function, *arguments]:
            first = len(arguments) - len(names)
            given = [at(each) for each in arguments[:first]]
            for name, place in zip(names, arguments[first:], strict=True):
                given.append(f"**{{{name!r}: {at(place)}}}")
            return f"{at(function)}({', '.join(given)})"
        case [operation, *operands] if operation in BINARY or operation in UNARY:
            return f"{operation}({at(*operands)})"
    raise ValueError(f"there is no step called {step[0]!r}")


def look_up(namespace: dict[str, Any], name: str) -> Any:
    """What a name stands for. Raises `NameError` if it stands for nothing."""
    try:
        return namespace[name]
    except KeyError:
        raise NameError(name) from None
