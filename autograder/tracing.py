"""Functions of the grader's as data: what they do to their arguments, to be done elsewhere.

A function is called with symbols in place of its arguments, and what it does to them is written
down as a program, which `sandbox.inside.programs` carries out. There is none where the function
asks what its arguments are: whether one is larger than another, say.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from .sandbox.inside.programs import INPUT, MAX_COUNT, MAX_LETTERS

_MOST_PLACES = 5_000
_MOST_OPERANDS = 50_000
_UNSEEN = frozenset(["callable", "dir", "getattr", "hasattr", "id", "type", "vars"])
"""Built-in functions that ask what an object is without its knowing."""
_PLAIN = frozenset([type(None), bool, int, float, str])


class Untraceable(BaseException):
    """A function asked about its arguments what is known only where they are.

    No `Exception`, so that the function itself does not handle it.
    """


class Trace:
    """Writes down what is done to symbols.

    Args:
        constant: makes what a program holds of an object that is no symbol and no plain value.

    Attributes:
        steps: as `Program` takes them.
    """

    def __init__(self, constant: Callable[[Any], Any] | None = None) -> None:
        self.steps: list[list[Any]] = []
        self._constant = constant
        self._symbols: list[Symbol] = []
        self._values: dict[tuple[type, str], int] = {}
        self._operands = 0

    def symbol(self) -> Symbol:
        """What stands for the next place: the next input, before there are steps."""
        if len(self._symbols) >= _MOST_PLACES:
            raise Untraceable("it takes too many steps")
        self._symbols.append(Symbol(self, len(self._symbols)))
        return self._symbols[-1]

    def step(self, *step: Any) -> Symbol:
        self._operands += len(step)
        if self._operands > _MOST_OPERANDS:
            raise Untraceable("its steps take too many operands")
        self.steps.append(list(step))
        return self.symbol()

    def place(self, value: Any) -> int:
        """Where a value is to be found; what is not there yet is put there."""
        kind = type(value)
        if kind is Symbol:
            if value._trace is not self:
                raise Untraceable("it keeps what another call gave it")
            place: int = value._place
            return place
        if kind is list or kind is tuple:
            return self.place(self.step(kind.__name__, *map(self.place, value)))
        if kind in _PLAIN:
            key = kind, repr(value)  # 0.0 equals -0.0.
            if key not in self._values:
                self._values[key] = self.place(self.step("value", value))
            return self._values[key]
        if self._constant is None:
            raise Untraceable(f"it hands on a {kind.__name__}")
        return self.place(self.step("value", self._constant(value)))

    def shaped(self, shape: Any) -> Any:
        """What `shape_of` told of, with symbols for the inputs.

        Raises an `Exception` of some kind where it is no shape.
        """
        if isinstance(shape, (list, tuple)):
            kind, *items = shape
            return {"list": list, "tuple": tuple}[kind](map(self.shaped, items))
        if shape == INPUT:
            return self.symbol()
        if len(shape) > MAX_LETTERS:
            raise ValueError("a text is too long")
        if shape[0] == "=":
            return shape[1:]
        value = ast.literal_eval(shape)
        if not (value is None or (type(value) in (bool, int) and abs(value) <= MAX_COUNT)):
            raise ValueError("not a count")
        return value

    def forget(self, name: str | None = None) -> None:
        """Know no more what symbols hold, or hold under a name."""
        for symbol in self._symbols:
            held = symbol._held
            if name is None:
                held.clear()
            else:
                held.pop(name, None)


class Symbol:
    """What stands for an object or a number while a function is traced."""

    __slots__ = ("_held", "_place", "_trace")
    _held: dict[str, Any]
    _place: int
    _trace: Trace

    def __init__(self, trace: Trace, place: int) -> None:
        object.__setattr__(self, "_trace", trace)
        object.__setattr__(self, "_place", place)
        object.__setattr__(self, "_held", {})

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise Untraceable("it asks for its arguments' types")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        held = self._held
        return held[name] if name in held else self._trace.step("get", name, self._place)

    def __setattr__(self, name: str, value: Any) -> None:
        trace = self._trace
        trace.step("set", name, self._place, trace.place(value))
        trace.forget(name)  # Another symbol may stand for the same object.
        self._held[name] = value

    def __call__(self, *arguments: Any, **keywords: Any) -> Symbol:
        trace = self._trace
        places = map(trace.place, (self, *arguments, *keywords.values()))
        result = trace.step("call", list(keywords), *places)
        trace.forget()  # Whatever is called may change what an object holds.
        return result

    def through(self, function: Any) -> Symbol:
        """What `function`, an object where the program is carried out, makes of it."""
        trace = self._trace
        return trace.step("call", [], trace.place(function), self._place)

    def __neg__(self) -> Symbol:
        return self._trace.step("neg", self._place)


def _operation(name: str, reflected: bool) -> Callable[[Symbol, Any], Symbol]:
    def method(self: Symbol, other: Any) -> Symbol:
        trace = self._trace
        left, right = (other, self) if reflected else (self, other)
        return trace.step(name, trace.place(left), trace.place(right))

    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Symbol, f"__{_name}__", _operation(_name, reflected=False))
    setattr(Symbol, f"__r{_name}__", _operation(_name, reflected=True))


def _refuse(self: Symbol, *_: Any) -> Any:
    raise Untraceable("it depends on what its arguments are")


for _name in (
    "bool", "hash", "eq", "ne", "lt", "le", "gt", "ge", "float", "int", "index", "round", "abs",
    "len", "iter", "contains", "getitem", "setitem", "delitem", "delattr", "instancecheck", "enter",
    "repr", "str", "format",
):  # fmt: skip
    setattr(Symbol, f"__{_name}__", _refuse)


def is_traceable(source: str) -> bool:
    """Whether symbols notice all that functions in this text ask about them.

    They do not where the text handles errors, which come only where a program is carried out, or
    asks for an object's identity or type.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Try, ast.Match, ast.Is, ast.IsNot)):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            by_name = node.func.id == "getattr" and len(node.args) == 2
            if node.func.id in _UNSEEN and not by_name:
                return False
    return True


def traced(function: Callable[..., Any]) -> list[Any]:
    """The program of what `function` works out from its arguments, as `[steps, result]`.

    Objects that are no symbols are in it as they are. Raises `TypeError` if what it does depends on
    what the arguments are.
    """
    trace = Trace(lambda value: value)
    places = [trace.symbol() for _ in inspect.signature(function).parameters]
    try:
        result = trace.place(function(*places))
    except Untraceable as error:
        raise TypeError(f"no program can be written: {error}") from error
    return [trace.steps, result]
