"""Functions of the grader's as data: what they do to their arguments, to be done elsewhere.

A function is called with symbols in place of its arguments, and what it does to them is written
down as a program, which `sandbox.inside.programs` carries out. There is none where the function
asks what its arguments are: whether one is larger than another, say.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from .sandbox.inside.programs import CLASS, FLOAT, INPUT, MAX_COUNT, MAX_LETTERS

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
        outer: the trace of the function that this one is defined in.
        holds_objects: whether the program may hold objects that are no symbols.

    Attributes:
        steps: as `sandbox.inside.programs.ready` takes them.
        captured: the places in `outer` of what is used here.
        outermost: the trace of the function that is called, this one or one around it.
        inner: the trace that is being written, this one or one inside it.
    """

    def __init__(self, outer: Trace | None = None, holds_objects: bool = False) -> None:
        self.steps: list[list[Any]] = []
        self.captured: dict[int, int] = {}
        self.outermost: Trace = outer.outermost if outer else self
        self.inner = self
        self._outer = outer
        self._holds_objects = holds_objects
        self._places = 0
        self._operands = 0
        self._values: dict[tuple[type, str], int] = {}
        self._held: dict[str, dict[int, Any]] = {}
        self._cells: dict[int, tuple[CellType, Any]] = {}
        self._names: Any = None
        self._closure = 0

    def program(self, function: Callable[..., Any], shape: Any) -> list[Any]:
        """What `function` does in a call of this shape, as `[inputs, steps, result]`.

        Args:
            shape: as `shape_of_call` tells it.

        Raises:
            Untraceable: that depends on more than the shape.
            Exception: of whatever kind, where the function fails, or this is no such shape.
        """
        told, names, held, named = shape
        arguments = [self._shaped(each) for each in told]
        values = [self._shaped(each) for each in named]
        keywords = dict(zip(names, values[: len(names)], strict=True))
        for name, value in zip(held, values[len(names) :], strict=True):
            self.hold(arguments[0], name, value)
        self._names = getattr(function, "__globals__", None)
        return self.finished(function(*arguments, **keywords))

    def global_name(self, name: str) -> Symbol:
        """What a name stands for where the program is carried out."""
        found = self.inner.step("name", name)
        found._know(_name=name)
        return found

    def symbol(self) -> Symbol:
        """What stands for the next place: the next input, before there are steps."""
        if self._places >= _MOST_PLACES:
            raise Untraceable("it takes too many steps")
        self._places += 1
        return Symbol(self, self._places - 1)

    def step(self, *step: Any) -> Symbol:
        outermost = self.outermost
        outermost._operands += len(step)
        if outermost._operands > _MOST_OPERANDS:
            raise Untraceable("its steps take too many operands")
        self.steps.append(list(step))
        return self.symbol()

    def place(self, value: Any) -> int:
        """Where a value is to be found; what is not there yet is put there."""
        kind = type(value)
        if kind is Symbol:
            return self._place_of(value)
        if kind is list or kind is tuple:
            return self.place(self.step(kind.__name__, *map(self.place, value)))
        if kind in _PLAIN:
            key = kind, repr(value)  # 0.0 equals -0.0.
            if key not in self._values:
                self._values[key] = self.place(self.step("value", value))
            return self._values[key]
        if self._holds_objects:
            return self.place(self.step("value", value))
        if kind is FunctionType:
            return self.place(self._function(value))
        raise Untraceable(f"it hands on a {kind.__name__}")

    def _place_of(self, symbol: Symbol) -> int:
        if symbol._trace is self:
            return symbol._place
        if self._outer is None:
            raise Untraceable("it keeps what another call gave it")
        outside = self._outer._place_of(symbol)
        if outside not in self.captured:
            index = len(self.captured)
            self.captured[outside] = self.step("item", index, self._closure)._place
        return self.captured[outside]

    def _function(self, function: FunctionType) -> Symbol:
        """A function that is made where the program is carried out."""
        parameters = inspect.signature(function).parameters.values()
        if any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in parameters):
            raise Untraceable("it hands on a function with unusual parameters")
        if any(each.default is not each.empty for each in parameters):
            raise Untraceable("it hands on a function with default values")
        if function.__globals__ is not self.outermost._names:
            raise Untraceable("it hands on another module's function")
        self._note_cells(function)
        inner = Trace(self)
        symbols = [inner.symbol() for _ in parameters]
        inner._closure = inner.symbol()._place
        outermost = self.outermost
        outermost.inner = inner
        try:
            result = inner.place(function(*symbols))
        finally:
            outermost.inner = self
        return self.step("function", inner.written(result), *inner.captured)

    def _note_cells(self, function: FunctionType) -> None:
        """Note what a function uses of the one that it is defined in."""
        for cell in function.__closure__ or ():
            held = cell.cell_contents
            if id(cell) not in self.outermost._cells:
                self.outermost._cells[id(cell)] = cell, held
                if type(held) is FunctionType:
                    self._note_cells(held)
                elif type(held) not in (Symbol, ModuleType, *_PLAIN):
                    raise Untraceable("a function that it hands on could keep something")

    def finished(self, result: Any) -> list[Any]:
        """The program that gives the result, as `[inputs, steps, result]`."""
        place = self.place(result)
        # A function is written down when it is handed on; what it uses may have changed since.
        if any(cell.cell_contents is not held for cell, held in self._cells.values()):
            raise Untraceable("it changes what a function uses that it has handed on")
        return self.written(place)

    def written(self, result: int) -> list[Any]:
        """The program that gives what is in this place, as `[inputs, steps, result]`."""
        return [self._places - len(self.steps), self.steps, result]

    def _shaped(self, shape: Any) -> Any:
        """What `shape_of` told of, with symbols for the inputs."""
        if isinstance(shape, (list, tuple)):
            kind, *items = shape
            return {"list": list, "tuple": tuple}[kind](map(self._shaped, items))
        if shape in (INPUT, FLOAT) or shape.startswith(CLASS):
            symbol = self.symbol()
            symbol._know(_kind=shape)
            return symbol
        if len(shape) > MAX_LETTERS:
            raise ValueError("a text is too long")
        if shape[0] == "=":
            return shape[1:]
        value = ast.literal_eval(shape)
        if not (value is None or (type(value) in (bool, int) and abs(value) <= MAX_COUNT)):
            raise ValueError("not a count")
        return value

    def held(self, symbol: Symbol, name: str) -> Any:
        """What an object is known to hold under a name, or `_UNKNOWN`."""
        return self._held.get(name, {}).get(symbol._place, _UNKNOWN)

    def hold(self, symbol: Symbol, name: str, value: Any) -> None:
        """Know what an object held from the start."""
        self._held.setdefault(name, {})[symbol._place] = value

    def replace(self, symbol: Symbol, name: str, value: Any) -> None:
        """Know what an object holds from now on; another symbol may stand for the same object."""
        self._held[name] = {symbol._place: value} if symbol._trace is self else {}

    def forget(self) -> None:
        """Know no more what objects hold."""
        self._held = {}


_UNKNOWN = object()


class Symbol:
    """What stands for an object or a number while a function is traced."""

    __slots__ = ("_kind", "_name", "_place", "_trace")
    _kind: str
    _name: str
    _place: int
    _trace: Trace

    def __init__(self, trace: Trace, place: int) -> None:
        self._know(_trace=trace, _place=place, _kind="", _name="")

    def _know(self, **known: Any) -> None:
        """Know of what it stands for: its kind, as a shape tells it, or its global name."""
        for name, value in known.items():
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        if self._kind == FLOAT:
            return float
        raise Untraceable("it asks for its arguments' types")

    def __instancecheck__(self, value: Any) -> bool:
        if self._name and type(value) in _PLAIN:
            return False
        if self._name and type(value) is Symbol and value._trace is self._trace:
            if value._kind == FLOAT:
                return False
            if value._kind == CLASS + self._name:
                return True
        raise Untraceable("it asks for its arguments' types")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        trace = self._trace.outermost.inner
        held = trace.held(self, name) if trace is self._trace else _UNKNOWN
        return trace.step("get", name, trace.place(self)) if held is _UNKNOWN else held

    def __setattr__(self, name: str, value: Any) -> None:
        trace = self._trace.outermost.inner
        trace.step("set", name, trace.place(self), trace.place(value))
        trace.replace(self, name, value)

    def __call__(self, *arguments: Any, **keywords: Any) -> Symbol:
        trace = self._trace.outermost.inner
        places = [trace.place(each) for each in (self, *arguments, *keywords.values())]
        result = trace.step("call", list(keywords), *places)
        trace.forget()  # Whatever is called may change what an object holds.
        return result

    def through(self, function: Any) -> Symbol:
        """What `function`, an object where the program is carried out, makes of it."""
        trace = self._trace
        return trace.step("call", [], trace.place(function), self._place)

    def __neg__(self) -> Symbol:
        trace = self._trace.outermost.inner
        return trace.step("neg", trace.place(self))


def _operation(name: str, reflected: bool) -> Callable[[Symbol, Any], Symbol]:
    def method(self: Symbol, other: Any) -> Symbol:
        trace = self._trace.outermost.inner
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
    "len", "iter", "contains", "getitem", "setitem", "delitem", "delattr", "enter",
    "repr", "str", "format",
):  # fmt: skip
    setattr(Symbol, f"__{_name}__", _refuse)


class Float:
    """The built-in `float` for a function that is traced.

    Args:
        trace: the outermost one.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __call__(self, value: Any = 0.0) -> Any:
        trace = self._trace.inner
        return trace.step("float", trace.place(value)) if type(value) is Symbol else float(value)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, float)


def is_traceable(source: str) -> bool:
    """Whether symbols notice all that functions in this text ask about them.

    They do not where the text handles errors, which come only where a program is carried out, asks
    for an object's identity or type, or changes variables of other functions.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Try, ast.Match, ast.Is, ast.IsNot, ast.Global, ast.Nonlocal)):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            by_name = node.func.id == "getattr" and len(node.args) == 2
            if node.func.id in _UNSEEN and not by_name:
                return False
    return True


def traced(function: Callable[..., Any]) -> list[Any]:
    """What `function` works out from its arguments, as a program `[inputs, steps, result]`.

    Objects that are no symbols are in it as they are. Raises `TypeError` if what it does depends on
    what the arguments are.
    """
    trace = Trace(holds_objects=True)
    symbols = [trace.symbol() for _ in inspect.signature(function).parameters]
    try:
        return trace.finished(function(*symbols))
    except Untraceable as error:
        raise TypeError(f"no program can be written: {error}") from error
