"""What a function of the grader's does, as a straight line of steps on objects that live here.

A program is an answer that holds for more than one call. It knows no branch and no loop: what the
function did once with objects of this shape it does again with others. `autograder.tracing` writes
programs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
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
"""How kinds are told: `FLOAT`, or `CLASS` and the name."""
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


def shape_of(value: Any, inputs: list[Any], depth: int = 0) -> Any:
    """The shape of a value: lists and tuples, and in them texts, truth values and small counts.

    Anything else is added to `inputs`, and the shape says only that it is there. Equal shapes are
    equal here, and as JSON.
    """
    kind = type(value)
    if kind in _LISTS and depth < _LEVELS and len(value) <= _MOST_ITEMS:
        depth += 1
        shape = [_LISTS[kind]]
        for item in value:
            if type(item) in _TOLD:
                shape.append(shape_of(item, inputs, depth))
            else:
                inputs.append(item)
                shape.append(INPUT)
        return tuple(shape)
    if kind is str and len(value) < MAX_LETTERS:
        return "=" + value
    if value is None or kind is bool or (kind is int and -MAX_COUNT <= value <= MAX_COUNT):
        return repr(value)
    inputs.append(value)
    return INPUT


def kind_of(value: Any, namespace: dict[str, Any]) -> str:
    """What may be known of a value's type: a float, or an object of a class in the namespace."""
    kind = type(value)
    if kind is float:
        return FLOAT
    name = kind.__name__
    return CLASS + name if namespace.get(name) is kind else ""


class Program:
    """Carries out `[[operation, *operands], …]`, and gives what the step at place `result` gave.

    The inputs have the first places and each step's result the next one; operands are places,
    behind what else an operation needs:

        ["value", constant]    ["name", name]       ["add" …, left, right]    ["neg" …, operand]
        ["get", name, target]  ["set", name, target, value]    ["list" or "tuple", *items]
        ["call", names of the last arguments, function, *arguments]
        ["function", parameters, steps, result, *captured]     ["item", index, captured]

    A function is a program, too. Its inputs are the arguments, of which it takes so many, and last
    a tuple of what it captured.

    Args:
        namespace: where names are looked up, each time.
    """

    def __init__(self, steps: list[list[Any]], result: int, namespace: dict[str, Any]) -> None:
        self._steps: list[tuple[Callable[..., Any], Callable[[list[Any]], Any]]] = []
        for step in steps:
            function, operands = _ready(step, namespace)
            self._steps.append((function, _picking(operands)))
        self._result = result

    def run(self, places: list[Any]) -> Any:
        """The result where the inputs are in these places; the steps' results are added."""
        for function, picked in self._steps:
            places.append(function(*picked(places)))
        return places[self._result]


def _picking(operands: Sequence[int]) -> Callable[[list[Any]], Any]:
    """What picks the operands out of the places."""
    if len(operands) > 1:
        return operator.itemgetter(*operands)
    if operands:
        [only] = operands
        return lambda places: (places[only],)
    return lambda places: ()


def _ready(step: list[Any], namespace: dict[str, Any]) -> tuple[Callable[..., Any], Sequence[int]]:
    """What a step calls, and with which places."""
    name, *rest = step
    if name in BINARY:
        return BINARY[name], rest
    if name in UNARY:
        return UNARY[name], rest
    if name in _MAKERS:
        return _MAKERS[name], rest
    first, *operands = rest
    if name == "value":
        return lambda: first, operands
    if name == "name":
        return lambda: look_up(namespace, first), operands
    if name == "get":
        return lambda target: getattr(target, first), operands
    if name == "set":
        return lambda target, value: setattr(target, first, value), operands
    if name == "item":
        return operator.itemgetter(first), operands
    if name == "function":
        steps, result, *captured = operands
        return _making(first, Program(steps, result, namespace)), captured
    if name == "call":
        return (_calling(first) if first else _call), operands
    raise ValueError(f"there is no step called {name!r}")


def look_up(namespace: dict[str, Any], name: str) -> Any:
    """What a name stands for. Raises `NameError` if it stands for nothing."""
    try:
        return namespace[name]
    except KeyError:
        raise NameError(name) from None


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _calling(names: list[str]) -> Callable[..., Any]:
    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        count = len(arguments) - len(names)
        return function(*arguments[:count], **dict(zip(names, arguments[count:], strict=True)))

    return call


def _making(parameters: int, program: Program) -> Callable[..., Any]:
    def make(*captured: Any) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            if len(arguments) != parameters:
                raise TypeError(f"it takes {parameters} arguments, not {len(arguments)}")
            return program.run([*arguments, captured])

        return function

    return make


_MAKERS: dict[str, Callable[..., Any]] = {
    "list": lambda *items: list(items),
    "tuple": lambda *items: items,
}
