"""Runs a probe on a student's code: a few lines of code, then the expressions to look at."""

from __future__ import annotations

import builtins
import io
import linecache
import re
from collections import deque
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from numbers import Integral
from opcode import opmap
from types import ModuleType, TracebackType
from typing import Any, NotRequired, TypedDict

Observation = Any
"""A number, text, bool or None as it is; else `{"error": ...}`, `{"bytes": ...}`, a collection by
its kind, such as `{"list": [...]}`, or `{"object": type name}`."""

COLLECTIONS: dict[str, tuple[type, ...]] = {
    "list": (list, deque),
    "tuple": (tuple,),
    "set": (set, frozenset),
    "dict": (dict,),
}
_MOST_ITEMS = 60
"""Greatest number of items of a collection, nested ones included, in an observation."""
_MOST_DEEP = 4


class Probe(TypedDict):
    """Lines to run and expressions to observe; `right` holds the right observations if known.

    `extra` marks a probe of the part of an exercise that the course can be finished without.
    `tells` is an expression of `observe` whose text is a message on the mistake.
    """

    code: str
    observe: list[str]
    right: NotRequired[list[Observation]]
    extra: NotRequired[bool]
    tells: NotRequired[str]


def play(probe: Probe, namespace: dict[str, Any]) -> list[Observation]:
    """Run the probe in a copy of `namespace` and return one observation for each expression.

    If the code itself fails, every observation is that error. Printed text is dropped.
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
        return plain(eval(compile(expression, "<check>", "eval"), scope))
    except Exception as error:
        return failure(error)


def plain(value: Any) -> Observation:
    """Return the observation of a value: primitives as they are, Python's own collections by their
    items, other objects by type name."""
    return _plain(value, iter(range(_MOST_ITEMS)), 0)


def _plain(value: Any, room: Iterator[int], depth: int) -> Observation:
    if value is None or isinstance(value, (bool, str)):
        return value if len(str(value)) <= 400 else str(value)[:400] + "…"
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": repr(bytes(value[:100])) + ("…" if len(value) > 100 else "")}
    kind = type(value)
    if kind.__name__ in ("bool", "bool_") and kind.__module__ == "numpy":
        return bool(value)
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) < 1 << 63 else {"object": "int"}
    form = next((name for name, kinds in COLLECTIONS.items() if isinstance(value, kinds)), "")
    if form and depth < _MOST_DEEP and not callable(value):
        return {form: _items(value, room, depth + 1)}
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return {"object": kind.__name__[:80]}
    if number != number or number in (float("inf"), float("-inf")):
        return {"float": repr(number)}
    return number


def _items(collection: Any, room: Iterator[int], depth: int) -> list[Observation]:
    """Return the first items of a collection (pairs of a dictionary), and how many more there
    are."""
    is_mapping = isinstance(collection, dict)
    items = collection
    if isinstance(collection, (set, frozenset, dict)):
        items = sorted(collection, key=_place)  # the order in it makes no difference
    shown: list[Observation] = []
    for item in items:
        if next(room, None) is None:
            return [*shown, {"more": len(collection) - len(shown)}]
        found = _plain(item, room, depth)
        shown.append([found, _plain(collection[item], room, depth)] if is_mapping else found)
    return shown


def _place(item: Any) -> tuple[float, str]:
    """Return the sorting key of an item: numbers by their size, others by their `repr`."""
    is_number = isinstance(item, (int, float)) and item == item
    return (float(item) if is_number else float("inf"), repr(item))


def failure(error: BaseException) -> Observation:
    """Return the observation of an error: its built-in kind, its class if that is another one, its
    subject, the student's line and function.

    Its message and class are for the student to read and are never compared: each version of Python
    has its own words. Of the student's own lines the innermost one in the called cell counts, since
    the functions that it calls may be another exercise's or given; of a stub, the innermost of all;
    after an interrupt, the outermost, which is nearer to the endless loop.
    """
    if isinstance(error.__cause__, (StopIteration, StopAsyncIteration)):
        error = error.__cause__  # a generator turns it into a RuntimeError
    kind = type(error)
    base = next((k for k in kind.__mro__ if getattr(builtins, k.__name__, None) is k), kind)
    # Python's message for this error depends on the function in which the limit was reached.
    text = "maximum recursion depth exceeded" if base is RecursionError else str(error)[:300]
    found = {"error": base.__name__, "message": text}
    if kind is not base:
        found["class"] = kind.__name__[:80]
    if base in _SLIPS and not _is_raised(error.__traceback__):
        found["about"] = _about(error, text)
    trace, cell = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        is_own = "ipykernel_" in name or name.startswith("<ipython-input")
        cell = cell or (name if is_own else "")
        if is_own and (name == cell or base is NotImplementedError):
            line = linecache.getline(name, trace.tb_lineno).strip()[:200]
            found |= {"line": line, "where": trace.tb_frame.f_code.co_name[:80]}
            if base is KeyboardInterrupt:
                break
        trace = trace.tb_next
    return found


_SLIPS = (
    NameError,
    UnboundLocalError,
    ImportError,
    ModuleNotFoundError,
    TypeError,
    AttributeError,
)
"""Errors of a slip of the pen, and of mistakes with a name: the subject distinguishes them."""

# The names, functions, operators and numbers in a message of Python's own, and the operation that
# failed, in the same order for all versions from 3.11 to 3.14.
_FACTS = re.compile(
    r"""
      ['"]([^\s'"]+)['"]                       # 'NoneType', 'size', "int"
    | ([\w.<>]+)\(\)                          # Node.__init__()
    | \bfor\ ([^\s\w]+)                      # for **=:
    | \bnon-iterable\ (\w+)
    | ,\ not\ (\w+)$                          # must be real number, not Node
    | \b(callable|iterable|subscriptable|assignment|deletion)\b
    | \b(\d+)\b                              # takes 1 positional argument but 2 were given
    """,
    re.VERBOSE,
)


def _is_raised(trace: TracebackType | None) -> bool:
    """Return whether a `raise` statement raised it: then its message is the author's, not
    Python's."""
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def _about(error: BaseException, text: str) -> str:
    """Return the error's subject, the same in every version of Python; "" if it is not known."""
    name = getattr(error, "name", None)
    if type(name) is not str:
        stated = text.partition(". Did you mean ")[0]
        groups = (next(filter(None, found.groups())) for found in _FACTS.finditer(stated))
        facts = [each.strip(":").rpartition(".")[2] for each in groups]
    elif isinstance(error, AttributeError):
        facts = [_called(error.obj), name]
    else:
        facts = [name]
    # A name that one version's message repeats may occur once in another's.
    return " ".join(dict.fromkeys(facts))[:300]


def _called(thing: Any) -> str:
    """Return Python's name for an object whose attribute is missing."""
    kind = type(thing)
    named = thing if issubclass(kind, (type, ModuleType)) else kind
    return str(named.__name__).rpartition(".")[2]
