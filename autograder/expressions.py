"""Arithmetic as data: what a function of the grader's works out, to be worked out elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class Expression:
    """What stands for an operand while a function is traced; each operation on it is noted.

    Attributes:
        program: the operation in postfix form: numbers and objects for themselves, an operand by
            its place as text, then the operation's name.
    """

    def __init__(self, program: list[Any]) -> None:
        self.program = program

    def through(self, function: Any) -> Expression:
        """What `function`, an object where this is worked out, makes of it."""
        return Expression([function, *self.program, "call"])


def traced(function: Callable[..., Any]) -> list[Any]:
    """What `function` works out from its operands with `+`, `-`, `*`, `/` and `**`, as a program.

    `inside.objects.work_out` carries it out. The function is called once, and so may not depend
    on what its operands are.
    """
    places = range(len(inspect.signature(function).parameters))
    return _program(function(*(Expression([str(place)]) for place in places)))


def _program(value: Any) -> list[Any]:
    return value.program if isinstance(value, Expression) else [value]


def _operation(name: str, reflected: bool) -> Callable[[Expression, Any], Expression]:
    def method(self: Expression, other: Any) -> Expression:
        left, right = (other, self) if reflected else (self, other)
        return Expression([*_program(left), *_program(right), name])

    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Expression, f"__{_name}__", _operation(_name, reflected=False))
    setattr(Expression, f"__r{_name}__", _operation(_name, reflected=True))
