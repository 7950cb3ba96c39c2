"""Performs the steps of a request on a live namespace.

The same code runs in a student process and, for an author's own notebook, in the author's kernel,
so that a hidden test behaves the same in both.
"""

from __future__ import annotations

import builtins
import marshal
import operator
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from . import protocol

IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul")
BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
    "lshift", "rshift",
)  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")


def _printed(function: Any, arguments: list[Any], keywords: dict[str, Any]) -> str:
    with redirect_stdout(StringIO()) as printed:
        function(*arguments, **keywords)
    return printed.getvalue()


def _error(function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Exception | None:
    try:
        function(*arguments, **keywords)
    except Exception as error:
        return error
    return None


def _run(function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    async def awaited() -> Any:
        return await function(*arguments, **keywords)

    return import_module("asyncio").run(awaited())


def _exit(manager: Any, kind: str | None) -> None:
    """Call the `__exit__` of a context manager.

    Args:
        kind: the name of the built-in class of the error that ended the block; None without one.
    """
    raised = getattr(builtins, kind) if kind else None
    type(manager).__exit__(manager, raised, raised and raised.__new__(raised), None)


_VERBS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*BINARY, *IN_PLACE, *COMPARISONS, *UNARY)},
    "eq": operator.eq,
    "getitem": operator.getitem,
    "slice": lambda sequence, *bounds: sequence[slice(*bounds)],
    "contains": operator.contains,
    "next": next,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "getattr": getattr,
    "setattr": setattr,
    "import": import_module,
    "call": lambda function, arguments, keywords: function(*arguments, **keywords),
    "printed": _printed,
    "error": _error,
    "run": _run,
    "exists": lambda name: Path(name).exists(),
    "read_text": lambda name: Path(name).read_text("utf-8"),
    "read_bytes": lambda name: Path(name).read_bytes(),
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": _exit,
    "isinstance": isinstance,
    "len": len,
    "bool": bool,
    "float": float,
    "int": int,
    "round": round,
    "hash": hash,
    "index": operator.index,
    "repr": repr,
    "str": str,
    "format": format,
    "items": lambda items: list(islice(items, protocol.MAX_ITEMS)),
    "whole": lambda collection: collection,
}
_LONGEST = 3000
"""Greatest number of characters of a traceback; of a longer one, the end is sent."""

_MOST = {"whole": protocol.MAX_ITEMS, "items": protocol.MAX_ITEMS, "globals": 0}
"""By verb: the greatest number of items of a collection that is sent as the result; `FEW_ITEMS` for
all other verbs."""


class Steps:
    """A namespace, and the results of the steps that a test has performed on it.

    Args:
        namespace: the globals of the student's cells.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._modules: dict[str, ModuleType] = {}
        self._start_over()

    def _start_over(self) -> None:
        self._raised: BaseException | None = None
        self._results: list[Any] = []
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def perform(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform the steps of a request in order, up to the first error, and return the reply.

        A request is `{"steps": [[verb, *arguments], …]}`, with `"new": true` in the first request
        of a test. An argument is a value in the form of `protocol.encode`; `{"step": n}` is the
        result of the test's step n, counted from 0, and `{"object": n}` an object to which a reply
        has referred.

        The reply is `{"values": […]}`, with one value for each step that succeeded. If a step
        raised an exception, `"error"` holds the names of its classes, nearest first, and `"why"`
        its traceback if the request has a key `"why"`.
        """
        if "new" in request:
            self._start_over()
        verbs = []
        reply: dict[str, Any] = {}
        before = len(self._results)
        try:
            for verb, *arguments in request["steps"]:
                self._results.append(
                    self._perform(verb, [self._decoded(each) for each in arguments])
                )
                verbs.append(verb)
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            self._raised = error
            kinds = type(error).__mro__
            if "why" in request:
                reply["why"] = traceback.format_exc()[-_LONGEST:]
            reply["error"] = [kind.__name__[:80] for kind in kinds if kind is not object][:12]
        # Results are encoded after the last step, so a collection is sent with the items that it
        # has then.
        reply["values"] = [
            protocol.encode(result, self._refer, _MOST.get(verb, protocol.FEW_ITEMS))
            for verb, result in zip(verbs, self._results[before:], strict=True)
        ]
        # Steps that were skipped get a result as well, so that later steps keep their numbers.
        self._results += [None] * (len(request["steps"]) - len(verbs))
        return reply

    def _perform(self, verb: str, arguments: list[Any]) -> Any:
        if verb == "name":
            return look_up(self._namespace, arguments[0])
        if verb == "builtins":
            return builtins
        if verb == "globals":
            return self._namespace
        if verb == "raised":
            return self._raised
        if verb == "module":
            return self._module(*arguments)
        return _VERBS[verb](*arguments)

    def _module(self, name: str, code: bytes | None = None) -> ModuleType:
        """Return the remote helper module of this name. Its code runs once, when it is first
        sent."""
        if code is not None and name not in self._modules:
            module = ModuleType(name)
            exec(marshal.loads(code), vars(module))
            self._modules[name] = module
        return self._modules[name]

    def _decoded(self, message: Any) -> Any:
        kind = type(message)
        return message if kind is str or kind is float else protocol.decode(message, self._resolve)

    def _resolve(self, tag: str, number: int) -> Any:
        return (self._results if tag == "step" else self._objects)[number]

    def _refer(self, value: Any) -> dict[str, int]:
        """Return the reference to an object, which is always the same for the same object.

        `_objects` keeps the object alive, so that no other object can get its id.
        """
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return {"object": number}


def look_up(namespace: dict[str, Any], name: str) -> Any:
    """Return the value of a name in a namespace. Raises `NameError` if there is none, as Python
    does."""
    try:
        return namespace[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined") from None
