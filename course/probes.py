"""Plays a probe, a few lines of code and the expressions to look at afterwards, on an engine."""

from __future__ import annotations

import builtins
import io
import linecache
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, TypedDict

Observation = Any
"""A number, text, bool or None as it is; else `{"error": ...}` or `{"object": type name}`."""


class Probe(TypedDict):
    """What is run, and what is looked at; `right` holds the right observations where known."""

    code: str
    observe: list[str]


def play(probe: Probe, namespace: dict[str, Any]) -> list[Observation]:
    """Run the probe in a copy of `namespace` and return one observation an expression.

    Where the code itself fails, every observation is that error. What it prints is dropped.
    """
    scope = dict(namespace)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            exec(compile(probe["code"], "<check>", "exec"), scope)
        except Exception as error:
            return [failure(error)] * len(probe["observe"])
        return [_look(expression, scope) for expression in probe["observe"]]


def _look(expression: str, scope: dict[str, Any]) -> Observation:
    try:
        value = eval(compile(expression, "<check>", "eval"), scope)
    except Exception as error:
        return failure(error)
    return plain(value)


def plain(value: Any) -> Observation:
    """The observation that stands for a value: primitives as they are, the rest by type name."""
    if value is None or isinstance(value, (bool, str)):
        return value if len(str(value)) <= 400 else str(value)[:400] + "…"
    kind = type(value)
    if kind.__name__ in ("bool", "bool_") and kind.__module__ == "numpy":
        return bool(value)
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 63 else {"object": "int"}
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return {"object": kind.__name__[:80]}
    if number != number or number in (float("inf"), float("-inf")):
        return {"float": repr(number)}
    return number


def failure(error: BaseException) -> Observation:
    """What stands for an error: its built-in kind, its message, the student's line and function.

    Of the student's own lines the innermost counts; where they stopped the code, the outermost,
    which is nearer to the loop that did not end.
    """
    kind = type(error)
    base = next((k for k in kind.__mro__ if getattr(builtins, k.__name__, None) is k), kind)
    # Python words this one by where on the stack it happened.
    text = "maximum recursion depth exceeded" if base is RecursionError else str(error)[:300]
    found = {"error": base.__name__, "message": text}
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "ipykernel_" in name or name.startswith("<ipython-input"):
            line = linecache.getline(name, trace.tb_lineno).strip()[:200]
            found |= {"line": line, "where": trace.tb_frame.f_code.co_name[:80]}
            if base is KeyboardInterrupt:
                break
        trace = trace.tb_next
    return found
