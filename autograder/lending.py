"""Lends a student's process the working version of an exercise, without sending it there."""

from __future__ import annotations

import builtins
import random
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from .assignments import compiled
from .engines import Engine
from .sandbox.inside import wire
from .tracing import Float, Trace, Untraceable, is_traceable


def give(engine: Engine, solution: str, setup: list[str]) -> None:
    """Make a solution cell work on an engine that lives elsewhere, without sending it there.

    The cell runs here; what it defines is announced over there as functions and classes whose calls
    come back here. Where a function does to arguments of a shape a straight line of operations, the
    first call brings these over, and the others are carried out there.
    """
    scope = _StudentNames(engine)
    for source in setup:
        exec(compiled(source), scope)
    # Classes and functions that the course gives are meant as they are over there, and so is
    # `random`, which the student's code seeds.
    for name in [key for key in scope if not key.startswith("__")]:
        if not isinstance(scope[name], ModuleType) or scope[name] is random:
            del scope[name]
    before = set(scope)
    with engine.lending(scope.program if is_traceable(solution) else _no_program):
        exec(compiled(solution), scope)
        for name in [key for key in scope if key not in before]:
            value = scope.pop(name) if isinstance(scope[name], type) else scope[name]
            if isinstance(value, type):
                methods = {k: v for k, v in vars(value).items() if callable(v)}
                engine.define_class(name, methods, vars(value).get("__orig_bases__", ()))
            elif not isinstance(value, ModuleType):
                engine.define(name, value)
    engine.finish()


def _no_program(function: Callable[..., Any], shape: Any) -> None:
    """Of functions that have to be called each time."""


class _StudentNames(dict[str, Any]):
    """Global names of a given cell: those it does not define are the engine's."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(__name__="__main__", __builtins__=builtins)
        self._engine = engine
        self._trace: Trace | None = None

    def __missing__(self, name: str) -> Any:
        if self._trace is not None and name == "float":
            return Float(self._trace)
        if hasattr(builtins, name):
            raise KeyError(name)
        if self._trace is not None:
            return self._trace.global_name(name)
        return getattr(self._engine, name)

    def program(self, function: Callable[..., Any], shape: Any) -> Any:
        """What a function does with arguments of a shape, as a program in a wire message.

        None if that depends on more than the shape, or fails: then it has to be called.
        """
        if not self._keeps_nothing(function):
            return None
        self._trace = Trace()
        try:
            return wire.encode(self._trace.program(function, shape), _refused)
        except (Exception, Untraceable):
            return None
        finally:
            self._trace = None

    def _keeps_nothing(self, function: Callable[..., Any]) -> bool:
        """Whether no call of a function can leave anything here for the next one."""
        if type(function) is not FunctionType or function.__closure__:
            return False
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        names = [value for key, value in self.items() if not key.startswith("__")]
        return not any(map(_may_change, (*defaults, *names)))


def _may_change(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_may_change, value))
    return type(value) not in _UNCHANGING


_UNCHANGING = frozenset(
    [type(None), bool, int, float, str, FunctionType, BuiltinFunctionType, ModuleType]
)


def _refused(value: Any) -> dict[str, int]:
    raise wire.WireError(f"a {type(value).__name__} is no part of a program")
