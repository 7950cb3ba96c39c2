"""Runs a public example on a student's code: a few lines, then the expressions to observe."""

from __future__ import annotations

import builtins
import io
import linecache
import re
from collections import deque
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import lru_cache
from itertools import islice
from numbers import Integral
from opcode import opmap
from types import CodeType, ModuleType, TracebackType
from typing import Any, NotRequired, TypedDict

Observation = Any
"""JSON data that stand for a value. A number, text, bool or None stands for itself. An error is
`{"error": class, ...}`, bytes are `{"bytes": text}`, a collection is its kind and its items, such
as `{"list": [...]}`, infinity and NaN are `{"float": text}`, any other object is
`{"object": name of its type}`."""

COLLECTIONS: dict[str, tuple[type, ...]] = {
    "list": (list, deque),
    "tuple": (tuple,),
    "set": (set, frozenset),
    "dict": (dict,),
}
_MOST_ITEMS = 60
"""Greatest number of items of a collection, nested ones included, in an observation."""
_MOST_DEEP = 4


class PublicExample(TypedDict):
    """Lines to run and expressions to observe.

    `extra` marks an example of the part of an exercise that the course can be finished without.
    `tells` is an expression of `observe` whose text is a message on the mistake.
    """

    code: str
    observe: list[str]
    extra: NotRequired[bool]
    tells: NotRequired[str]


def play(example: PublicExample, namespace: dict[str, Any]) -> list[Observation]:
    """Run the example in a copy of `namespace` and return one observation for each expression.

    If the example's code raises an error, every observation is this error. Printed text is dropped.
    """
    scope = dict(namespace)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            exec(_compiled(example["code"], "exec"), scope)
        except Exception as error:
            return [failure(error)] * len(example["observe"])
        return [_look(expression, scope) for expression in example["observe"]]


def _look(expression: str, scope: dict[str, Any]) -> Observation:
    try:
        return plain(eval(_compiled(expression, "eval"), scope))
    except Exception as error:
        return failure(error)


@lru_cache(maxsize=512)
def _compiled(text: str, mode: str) -> CodeType:
    """Compile code and cache the result, since a check runs the same code again and again."""
    return compile(text, "<check>", mode)


def plain(value: Any) -> Observation:
    """Return the observation of a value; long texts and long collections are shortened."""
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
    # Everything that `float` accepts is observed as a number, such as numpy's scalars.
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return {"object": kind.__name__[:80]}
    if number != number or number in (float("inf"), float("-inf")):
        return {"float": repr(number)}
    return number


def _items(collection: Any, room: Iterator[int], depth: int) -> list[Observation]:
    """Return the observations of a collection's first items, of a dict as pairs [key, value].

    If items are left out, `{"more": number of them}` follows.

    Args:
        room: has one element for each item that the whole observation may still hold.
        depth: how many collections are around the items.
    """
    is_mapping = isinstance(collection, dict)
    items = collection
    if isinstance(collection, (set, frozenset, dict)):
        items = sorted(collection, key=_sorting_key)  # The order of a set or dict is irrelevant.
    shown: list[Observation] = []
    for item in items:
        if next(room, None) is None:
            return [*shown, {"more": len(collection) - len(shown)}]
        observation = _plain(item, room, depth)
        shown.append(
            [observation, _plain(collection[item], room, depth)] if is_mapping else observation
        )
    return shown


def _sorting_key(item: Any) -> tuple[float, str]:
    """Return the sorting key of an item: numbers by size, then all others by `repr`."""
    is_number = isinstance(item, (int, float)) and item == item
    return (float(item) if is_number else float("inf"), repr(item))


def failure(error: BaseException) -> Observation:
    """Return the observation of an error, a dictionary with those of these keys that are known.

    - "error": the nearest built-in class.
    - "class": the error's own class. It is shown to the student and never compared.
    - "message": the message. It is never compared either, since messages vary between versions of
      Python. A second line of it says what to write instead, if that is known.
    - "about": the subject (see `_about`).
    - "line" and "where": the line of the student's code, and the function. The traceback may pass
      through several of the student's cells, whose functions may belong to other exercises: so the
      line is from the first of these cells, and the innermost there. For a stub's
      NotImplementedError it is the innermost line in any cell. After an interrupt it is the
      outermost line, which is nearest to the endless loop. For a RecursionError it is the line by
      which a function of the cell calls itself, perhaps through an operator, as the message says.
    """
    if isinstance(error.__cause__, (StopIteration, StopAsyncIteration)):
        error = error.__cause__  # PEP 479: a generator turns StopIteration into RuntimeError.
    kind = type(error)
    base = next((k for k in kind.__mro__ if getattr(builtins, k.__name__, None) is k), kind)
    # Python's message for this error depends on the function in which the limit was reached.
    text = "maximum recursion depth exceeded" if base is RecursionError else str(error)[:300]
    observation = {"error": base.__name__, "message": text}
    if kind is not base:
        observation["class"] = kind.__name__[:80]
    if base in _SLIPS and not _is_raised(error.__traceback__):
        observation["about"] = _about(error, text)
    own = [trace for trace in _traces(error) if _is_own(trace)]
    if base is not NotImplementedError:
        own = [each for each in own if _file(each) == _file(own[0])]
    if not own:
        return observation
    trace = own[0] if base is KeyboardInterrupt else own[-1]
    if base is RecursionError:
        codes = [each.tb_frame.f_code for each in own]
        if again := next((each for each in own if codes.count(each.tb_frame.f_code) > 1), None):
            trace, name = again, again.tb_frame.f_code.co_name[:80]
            calls = f"Inside `{name}`, `{_expression(again)[:100]}` calls `{name}` again"
            observation["message"] = f"{calls}, until Python stops it"
    elif observation.get("about"):
        observation["message"] += _remedy(error, trace)
    line = linecache.getline(_file(trace), trace.tb_lineno).strip()
    return observation | {"line": line[:200], "where": trace.tb_frame.f_code.co_name[:80]}


def _traces(error: BaseException) -> Iterator[TracebackType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _file(trace: TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename


def _is_own(trace: TracebackType) -> bool:
    """Return whether the code is in a cell of the notebook."""
    return "ipykernel_" in _file(trace) or _file(trace).startswith("<ipython-input")


def _expression(trace: TracebackType) -> str:
    """Return the expression that was being evaluated, or its whole line if it spans several."""
    line = linecache.getline(_file(trace), trace.tb_lineno)
    positions = trace.tb_frame.f_code.co_positions()
    first, last, start, end = next(islice(positions, trace.tb_lasti // 2, None))
    is_whole = first != last or start is None or end is None
    return line.strip() if is_whole else line.encode()[start:end].decode(errors="ignore")


def _remedy(error: BaseException, trace: TracebackType) -> str:
    """Return what to write instead, as another line of an error's message: a function for a method
    that does not exist, or an attribute of `self` for a name; "" if neither exists."""
    name, frame = str(getattr(error, "name", "")), trace.tb_frame
    if isinstance(error, NameError):
        with suppress(AttributeError):  # without the student's own `__getattribute__`
            own = object.__getattribute__(frame.f_locals.get("self"), "__dict__")
            return f"\nWrite `self.{name}`." if name in own else ""
    if not isinstance(error, AttributeError) or type(error.obj).__module__ == "builtins":
        return ""  # A number, a list or None is there, where another object was expected.
    owner, dot, _ = _expression(trace).rpartition(f".{name}")
    if dot and callable(frame.f_globals.get(name)):
        return f"\n`{name}` is a function: write `{name}({owner})`."
    return ""


_SLIPS = (
    NameError,
    UnboundLocalError,
    ImportError,
    ModuleNotFoundError,
    TypeError,
    AttributeError,
)
"""Classes of errors that both typos and known mistakes raise; the error's subject tells one from
the other."""

# Finds the names, functions, operators, numbers and failed operations in the interpreter's
# messages: the parts that are the same, and in the same order, in Python 3.11 to 3.14.
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
    """Return whether a `raise` statement raised the error: then its author wrote the message, not
    the interpreter."""
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def _about(error: BaseException, text: str) -> str:
    """Return the error's subject, such as the missing name; "" if unknown.

    The subject is the same in every version of Python, unlike the message `text`.
    """
    name = getattr(error, "name", None)
    if type(name) is not str:
        stated = text.partition(". Did you mean ")[0]
        groups = (next(filter(None, found.groups())) for found in _FACTS.finditer(stated))
        facts = [each.strip(":").rpartition(".")[2] for each in groups]
    elif isinstance(error, AttributeError):
        facts = [_called(error.obj), name]
    else:
        facts = [name]
    # Each word once: the message of one version of Python may repeat a name, that of another not.
    return " ".join(dict.fromkeys(facts))[:300]


def _called(thing: Any) -> str:
    """Return the name that an AttributeError's message gives an object: of the class or module that
    the object is, else of its class."""
    kind = type(thing)
    named = thing if issubclass(kind, (type, ModuleType)) else kind
    return str(named.__name__).rpartition(".")[2]
