"""Proxies by which a hidden test uses the objects in a student process.

A hidden test is written as if these objects were in its own process. Each operation on a proxy
queues a step. The queue is sent as one request when the test needs a value: when it compares, tests
for truth, takes a length, iterates or converts. The reply brings the values of all proxies that
have none yet (promise pipelining, as in the E language and in Cap'n Proto).

Plain values (what `protocol.encode` encodes: numbers, texts, bytes, dates, numpy arrays of numbers,
and lists, tuples, dicts and sets of plain values) are fetched, and the grader compares them by
value and computes with them. Other objects stay in the student process and are compared by
identity. A number of the test is sent only as an argument, or as an operand of a value that is
known to be an object: if `answer` is a plain number, `answer - 2.5` is computed in the grader, and
the 2.5, which may be a hidden expected value, is not sent.
"""

from __future__ import annotations

import math
import operator
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, NoReturn, TypeVar
from zlib import crc32

from ..errors import BUILT_IN, AuthorError, NoLength, StudentError
from .arithmetic import MOST_ITEMS, arithmetic
from .guest import protocol
from .guest.steps import BINARY, COMPARISONS, IN_PLACE, UNARY
from .targets import Target

T = TypeVar("T")

_MOST_STEPS = 1000
_MOST_OBJECTS = 50_000
_MOST_ITEMS = 200_000
"""Greatest total number of collection items in the replies to one test."""
_MOST_SECONDS = 5.0
"""Seconds of the grader's processor time that decoding the replies to one test may take."""
_ROOM = 1_000_000
"""Greatest number of characters that `Student.seen` records of the values that a test fetched."""


class _Unresolved:
    """Placeholder for the value of a proxy whose value has not been fetched yet."""


_OPEN = _Unresolved()


class Student:
    """The student's namespace, as hidden tests use it.

    `student.NAME` is a proxy of the object with this name; `student["NAME"]` is the same, also for
    a name that is an attribute of this class. `student.remote.NAME` is the remote helper module
    `NAME.py`, or a module of the standard library in the student process.

    Args:
        target: performs steps on the namespace.
        helpers: the compiled remote helper modules, by name.

    Attributes:
        remote: the remote helper modules and the modules of the standard library, by attribute.
        files: the files in the working folder of the student process, by name.
        seen: every value that the test fetched and every error, in order. Two answers that a test
            saw the same values of behave alike in this test.
    """

    def __init__(self, target: Target, helpers: dict[str, bytes] | None = None) -> None:
        self.seen: list[Any] = []
        self.remote = _RemoteModules(self, helpers or {})
        self.files = _Files(self)
        self._target = target
        self._queue: list[list[Any]] = []
        self._open: list[Proxy] = []
        self._sent = 0
        self._is_new = True
        self._objects: dict[int, Proxy] = {}
        self._room = _ROOM
        self._fetches = 0
        self._started = self._own_seconds()
        self._budget = protocol.ItemBudget(_MOST_ITEMS)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "inside":
            raise AuthorError(
                "student.inside is called student.remote now; a student's own name `inside` is "
                "student['inside']"
            )
        return self._step("name", name)

    def __getitem__(self, name: str) -> Any:
        return self._step("name", name)

    def equal(self, left: Any, right: Any) -> Any:
        """Return a proxy of the result of the student's own `__eq__` on two objects of any kind."""
        return self._step("eq", left, right)

    def error_of(self, action: Callable[[], Any]) -> str | None:
        """Return the name of the built-in exception that student code raises in `action`; None if
        it raises none."""
        self.finish()
        try:
            action()
            self.finish()
        except StudentError as error:
            return error.kind
        return None

    def printed(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return the text that a call of the student's function prints to stdout."""
        return self._step("printed", function, list(arguments), keywords)

    def error(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return a proxy of the exception that a call of the student's function raises, or of None
        if it raises none."""
        return self._step("error", function, list(arguments), keywords)

    def run(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return the result of a call of the student's coroutine function, run by `asyncio.run`."""
        return self._step("run", function, list(arguments), keywords)

    @contextmanager
    def raises(self, *kinds: Any) -> Iterator[None]:
        """Context manager like `pytest.raises`, for exceptions that student code raises in the
        block."""
        self.finish()
        try:
            yield
            self.finish()
        except StudentError as error:
            assert self.has_raised(error, *kinds), f"raised {error.kind}"
            return
        raise AssertionError("nothing was raised")

    def has_raised(self, error: StudentError, *kinds: Any) -> bool:
        """Return whether an error is an instance of one of these classes, which may be built-in
        ones or the student's.

        A class of the student's is compared with the latest error in the student process.
        """
        remote_kinds = [kind for kind in kinds if type(kind) is Proxy]
        if error.is_a(*(kind for kind in kinds if type(kind) is not Proxy)):
            return True
        return error.is_remote and any(
            fetch(self._step("isinstance", self._step("raised"), kind)) is True
            for kind in remote_kinds
        )

    def seconds(self, action: Callable[[], Any]) -> float:
        """Return the seconds of processor time that the student process spends in `action`.

        They are measured from outside the student process.
        """
        self.finish()
        with protocol.without_collection():  # Matters only for a target in this process.
            started = self._target.seconds()
            action()
            self.finish()
            return self._target.seconds() - started

    def renew_time(self) -> None:
        """Restart the time limit of the test, for a test that trains several times."""
        self.finish()
        self._target.renew_time()

    def finish(self) -> None:
        """Send the queued steps, and set the values of their proxies.

        Raises `StudentError` if a step fails.
        """
        if not self._queue:
            return
        steps, self._queue = self._queue, []
        proxies, self._open = self._open, []
        request: dict[str, Any] = {"steps": steps}
        if self._is_new:
            request["new"], self._is_new = True, False
        self._sent += len(steps)
        reply = self._target.perform(request)
        values = reply.get("values")
        if type(values) is not list or len(values) > len(steps):
            raise protocol.ProtocolError("not the values of these steps")
        for step, proxy, value in zip(steps, proxies, values, strict=False):
            proxy._proxy_.resolve(protocol.decode(value, self._resolve, self._budget), self._sent)
            if proxy._proxy_.operands:
                _compute_locally(proxy._proxy_)
            if step[0] == "module":
                self._target.modules.add(step[1])
        if len(values) < len(steps):
            names = reply.get("error")
            if type(names) is not list or not all(type(name) is str for name in names):
                raise protocol.ProtocolError("neither a value nor an error")
            # The nearest built-in class names the error: the name of a class of the student's own
            # could smuggle data out.
            kind = next(filter(BUILT_IN.__contains__, names), "Exception")
            for proxy in proxies[len(values) :]:
                proxy._proxy_.value = _Failed(kind)
            self._fail(kind, is_remote=True)

    # Used by proxies, not by hidden tests.

    def _own_seconds(self) -> float:
        """Return the processor time of this thread in seconds, without that spent in the target."""
        return time.thread_time() - self._target.taken

    def _fail(self, kind: str, is_remote: bool = False) -> NoReturn:
        self._record(f"raised {kind}")
        raise StudentError(kind, is_remote)

    def _step(self, verb: str, *arguments: Any) -> Proxy:
        """Queue a step and return a proxy of its result. The next request sends the queue, and its
        reply gives the proxy its value."""
        message = [verb, *[argument if type(argument) is str else self._encoded(argument)
                           for argument in arguments]]  # fmt: skip
        if len(self._queue) >= _MOST_STEPS:
            self.finish()
        number = self._sent + len(self._queue)
        proxy = Proxy(self, {"step": number})
        self._queue.append(message)
        self._open.append(proxy)
        return proxy

    def _encoded(self, value: Any) -> Any:
        """Return an argument of a step in the form of `protocol.encode`."""
        if type(value) is Proxy:
            return self._reference(value)
        return protocol.encode(value, self._reference)

    def _reference(self, value: Any) -> Any:
        """Return the reference to a proxy's object, or its encoded plain value. For a value that is
        not a proxy, raise an error that tells the author what to write instead."""
        if type(value) is not Proxy:
            name = type(value).__name__
            if isinstance(value, (FunctionType, MethodType)):
                raise AuthorError(
                    "a function of the test stays here and cannot be called from there. Put it in "
                    "a helper module, grading_tests/remote/NAME.py, and pass "
                    f"student.remote.NAME.{value.__name__}"
                )
            if isinstance(value, type):
                raise AuthorError(
                    f"the class {value.__name__} of the test stays here. Pass the one over there: "
                    f"student.remote.{value.__module__}.{value.__name__}"
                )
            if type(value) in (int, *_TEXTS, *_COLLECTIONS, range) or protocol.is_array(value):
                raise ValueError(f"this {name} is too large or too deep to be sent")
            raise AuthorError(
                f"this {name} cannot be sent. Send numbers, texts, dates, numpy's arrays of "
                "numbers, lists, tuples, dicts and sets of these, and what came from the student; "
                f"let a helper module, grading_tests/remote/NAME.py, make the {name} there"
            )
        state = value._proxy_
        if state.student is not self:
            raise AuthorError("this object belongs to another test, or to another student")
        if isinstance(state.value, _Failed):
            self._fail(state.value.kind)
        return self._encoded(state.value) if state.reference is None else state.reference

    def _resolve(self, tag: str, number: int) -> Any:
        """Return the value that a reference in a reply stands for. The proxy of an object is always
        the same one.

        Args:
            tag: "object", or "large" for a collection that is too long to be sent unasked.
            number: the object's number in the student process.
        """
        if tag == "large":
            return _Oversized(number)
        if tag != "object":
            raise protocol.ProtocolError("not an object")
        proxy = self._objects.get(number)
        if proxy is None:
            if len(self._objects) >= _MOST_OBJECTS:
                raise protocol.ProtocolError("too many objects")
            proxy = self._objects[number] = Proxy(self, {"object": number})
            proxy._proxy_.value = proxy
        return proxy

    def _record(self, value: Any) -> None:
        """Add a value that a test fetched to `seen`. Of an object that is not plain, only "an
        object" is recorded."""
        self._fetches += 1
        # The clock is read every hundredth time, since reading it takes longer than recording.
        if not self._fetches % 100 and self._own_seconds() - self._started > _MOST_SECONDS:
            raise protocol.ProtocolError("the answers keep the test too long")
        kind = type(value)
        if protocol.is_array(value):
            self._record(f"an array of {value.dtype}")
            self._record(value.tolist())
            return
        if kind in _COLLECTIONS:
            self._record(f"a {kind.__name__} of {len(value)}")
            for item in sorted(value, key=_record_of) if kind in _SETS else value:
                self._record(item)
                if kind is dict:
                    self._record(value[item])
            return
        self._room -= 10 + (len(value) if kind in _TEXTS else 0)
        if self._room >= 0:
            self.seen.append("an object" if kind in (Proxy, _Oversized) else value)


class _Files:
    """The files in the working folder of the student process, by name. Their content is untrusted,
    like all replies."""

    def __init__(self, student: Student) -> None:
        self._student = student

    def __getitem__(self, name: str) -> Any:
        """Return the text of a file, decoded from UTF-8."""
        return self._student._step("read_text", name)

    def __contains__(self, name: str) -> bool:
        return fetch(self._student._step("exists", name)) is True

    def bytes(self, name: str) -> Any:
        """Return the bytes of a file."""
        return self._student._step("read_bytes", name)


class _RemoteModules:
    """The remote helper modules and the modules of the standard library, as attributes. A helper
    module is sent, compiled, when it is first used."""

    def __init__(self, student: Student, helpers: dict[str, bytes]) -> None:
        self._student = student
        self._helpers = helpers

    def __getattr__(self, name: str) -> Proxy:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "builtins":
            return self._student._step("builtins")
        if name not in self._helpers and name in sys.stdlib_module_names:
            return self._student._step("import", name)
        if name not in self._helpers:
            names = "".join(f"{each}, " for each in self._helpers)
            raise AuthorError(
                f"there is no helper module grading_tests/remote/{name}.py. Write it there, or use "
                f"{names}or a module of Python's own library"
            )
        if name in self._student._target.modules:
            return self._student._step("module", name)
        return self._student._step("module", name, self._helpers[name])


class _Oversized:
    """Placeholder for a collection that is too long to be sent unasked. A step `whole` fetches
    the collection."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Failed:
    """Placeholder for the value of a step that raised an error, or that was skipped after one that
    did."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _State:
    """The state of a proxy.

    Attributes:
        student: the student's namespace to which the proxy belongs.
        reference: the proxy's name in requests, such as `{"step": 3}`; None for a plain value that
            exists only in the grader.
        value: a plain value; for any other object, the one proxy that stands for the object; or a
            placeholder: `_OPEN`, a `_Failed`, an `_Oversized`.
        resolved_at: the number of steps that had been sent when the value came. A mutable value is
            out of date if more steps were sent since.
        operands: for the result of an operator, the verb and the operands. If all operands turn out
            to be plain, the grader computes the result itself.
    """

    __slots__ = ("operands", "reference", "resolved_at", "student", "value")

    def __init__(self, student: Student, reference: dict[str, int] | None, value: Any) -> None:
        self.student = student
        self.reference = reference
        self.value = value
        self.resolved_at = 0.0
        self.operands: tuple[Any, ...] = ()

    def resolve(self, value: Any, resolved_at: float) -> None:
        self.value, self.resolved_at = value, resolved_at

    @property
    def is_plain(self) -> bool:
        """True if the value is known, and is plain."""
        return type(self.value) not in _NOT_PLAIN


_NAMED = frozenset([
    "__annotations__", "__bases__", "__defaults__", "__dict__", "__doc__", "__kwdefaults__",
    "__module__", "__mro__", "__name__", "__qualname__", "__wrapped__",
])  # fmt: skip
"""Double-underscore attributes that are read in the student process. Python itself looks up all
others, which a proxy must not have."""


class Proxy:
    """A value in the student process, which is fetched when the test needs it.

    Python calls no method of a proxy for `type(answer)`, `answer is True`, `callable(answer)` and
    `hasattr(answer, name)`. In hidden tests they work all the same (see `judging.plain_python`);
    elsewhere, write `isinstance`, `==`, or `student.remote.builtins.callable(answer)`.
    """

    __slots__ = ("_proxy_",)
    _proxy_: _State

    def __init__(self, student: Student, reference: Any, value: Any = _OPEN) -> None:
        object.__setattr__(self, "_proxy_", _State(student, reference, value))

    # Operations that queue a step.

    def __getattr__(self, name: str) -> Any:
        is_special = name.startswith("__") and name.endswith("__") and name not in _NAMED
        if name == "_proxy_" or is_special:
            raise AttributeError(name)
        if _is_own_array(self):
            return _of_array(self, lambda array: getattr(array, name))
        if name == "keys" and isinstance(fetch(self, whole=True), (list, tuple)):
            # `dict(pairs)` treats an object with a method `keys` as a mapping.
            raise AttributeError(name)
        return self._proxy_.student._step("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._proxy_.student._step("setattr", self, name, value)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._proxy_.student._step("call", self, list(arguments), keywords)

    def __getitem__(self, key: Any) -> Any:
        student = self._proxy_.student
        if isinstance(key, slice):
            value = _resolved(self, whole=True)
            if type(value) is Proxy:
                return student._step("slice", self, key.start, key.stop, key.step)
            is_sliced = type(value) in _SLICED or protocol.is_array(value)
            return wrapped(student, (value if is_sliced else list(self))[key])
        has_slices = type(key) is tuple and not {type(each) for each in key}.isdisjoint(_SLICES)
        if has_slices or _is_own_array(self):
            return _of_array(self, lambda array: array[key])
        return student._step("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._proxy_.student._step("setitem", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._proxy_.student._step("delitem", self, key)

    def __enter__(self) -> Any:
        return self._proxy_.student._step("enter", self)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Leave a context manager of the student's, which cannot suppress an error of the block."""
        student, raised = self._proxy_.student, error
        if error is None:
            try:
                # Steps that the block has queued are performed before the context is left.
                student.finish()
            except StudentError as late:
                raised = late
        if raised is None or isinstance(raised, StudentError):
            student._step("exit", self, getattr(raised, "kind", None))
            student.finish()
        if raised is not None and raised is not error:
            raise raised

    # Operations that fetch a value.

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def __hash__(self) -> int:
        value = fetch(self)
        if value is self:
            return hash(_identity(self)[1])
        return self._computed("hash", hash, int)

    def __bool__(self) -> bool:
        return self._computed("bool", bool, bool)

    def __len__(self) -> int:
        if type(_resolved(self)) is Proxy:
            self._proxy_.student.finish()  # Raises the errors of earlier steps.
        try:
            number = self._computed("len", len, int)
        except StudentError as error:
            if error.is_a(TypeError):
                raise NoLength(error.kind, error.is_remote) from None
            raise
        if not 0 <= number <= MOST_ITEMS:
            self._proxy_.student._fail("OverflowError")
        return number

    def __iter__(self) -> Iterator[Any]:
        value, student = _resolved(self, whole=True), self._proxy_.student
        if type(value) in _NOT_PLAIN:
            value = _resolved(student._step("items", self), whole=True)
        if protocol.is_array(value) and value.ndim:
            value = value.tolist() if value.ndim == 1 else [*value]
        if type(value) not in (*_COLLECTIONS, *_TEXTS, range):
            student._fail("TypeError")
        if type(value) in _SETS:
            value = _in_order(value)
        # Recorded as a list, since a loop over the same items is the same for every kind of
        # collection.
        student._record(list(value))
        is_sequence = type(value) in (list, tuple)
        return iter([
            # A later step may change a mutable item, so it becomes a proxy of the student's object.
            self[index] if is_sequence and not _is_immutable(item) else wrapped(student, item)
            for index, item in enumerate(value)
        ])  # fmt: skip

    def __contains__(self, item: Any) -> bool:
        value = _resolved(self)
        if type(value) in _TEXTS:
            return self._computed("", lambda text: fetch(item) in text, bool)
        if type(value) is Proxy:
            return self._computed("contains", bool, bool, item)
        return any(each == item for each in self)

    def __next__(self) -> Any:
        student = self._proxy_.student
        following = student._step("next", self)
        student.finish()
        return following

    def __instancecheck__(self, value: Any) -> bool:
        return fetch(self._proxy_.student._step("isinstance", value, self)) is True

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return the type of the value, so that `isinstance(answer, float)` works."""
        value = fetch(self, whole=True)
        return Proxy if value is self else type(value)

    def __float__(self) -> float:
        return self._computed("float", _to_float, float)

    def __int__(self) -> int:
        return self._computed("int", int, int)

    def __index__(self) -> int:
        return self._computed("index", operator.index, int)

    def __round__(self, digits: int | None = None) -> Any:
        kind: type[Any] = int if digits is None else float
        return self._computed("round", lambda value: round(value, digits), kind, digits)

    __array_priority__ = 1000.0
    """Greater than that of an array, so that numpy leaves `array == answer` to `Proxy.__eq__`."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the value as an array, for numpy's functions."""
        value = fetch(self, whole=True)
        numpy: Any = import_module("numpy")
        return numpy.array(list(self) if value is self else value, dtype)

    def __repr__(self) -> str:
        return self._computed("repr", repr, str)

    def __str__(self) -> str:
        return self._computed("str", str, str)

    def __format__(self, spec: str) -> str:
        return self._computed("format", lambda value: format(value, spec), str, spec)

    def _computed(self, verb: str, function: Callable[[Any], T], kind: type[T], *more: Any) -> T:
        """Return the result of a function such as `len`. For a plain value it is computed in this
        process, for any other object by a step in the student process.

        Args:
            verb: the verb of the step; `more` are the step's further arguments.
            function: computes the same for a plain value.
            kind: the type that the result of the step has to have.
        """
        value, student = _resolved(self), self._proxy_.student
        if type(value) in _NOT_PLAIN:
            result = _resolved(student._step(verb, self, *more))
            if type(result) is not kind:
                raise protocol.ProtocolError(f"not what {verb} gives")
        else:
            try:
                result = function(value)
            except (ArithmeticError, TypeError, ValueError) as error:
                student._fail(_built_in(error))
        student._record(result)
        return result


def _attribute(name: str) -> Any:
    return property(lambda self: self._proxy_.student._step("getattr", self, name))


for _name in ("__annotations__", "__doc__", "__module__"):  # Else the class's own would be found.
    setattr(Proxy, _name, _attribute(_name))

_NOT_PLAIN = frozenset([Proxy, _Oversized, _Failed, type(_OPEN)])
_TEXTS = (str, bytes, bytearray)
_SETS = (set, frozenset)
_COLLECTIONS = (list, tuple, dict, *_SETS)
_SLICED = frozenset([list, tuple, range, *_TEXTS])
_SLICES = frozenset([slice, type(...)])
_IMMUTABLE = _NOT_PLAIN | {
    type(None), bool, int, float, complex, str, bytes, tuple, frozenset, range,
    Fraction, Decimal, date, time_of_day, datetime, timedelta,
}  # fmt: skip


def _is_immutable(value: Any) -> bool:
    """Return whether no later step can change this value."""
    return type(value) in _IMMUTABLE


def _is_own_array(proxy: Proxy) -> bool:
    """Return whether a proxy stands for an array that the grader has computed, and that may hold
    hidden numbers."""
    state = proxy._proxy_
    return state.reference is None and protocol.is_array(state.value)


def _of_array(proxy: Proxy, function: Callable[[Any], Any]) -> Any:
    """Return the result of a function for the proxy's array, computed in the grader.

    Args:
        function: gets the array, and may return a method of the array, which is then wrapped.
    """
    student, array = proxy._proxy_.student, fetch(proxy, whole=True)
    try:
        if not protocol.is_array(array):
            raise TypeError
        result = function(array)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        student._fail(_built_in(error))
    if callable(result):
        return lambda *arguments, **keywords: _of_array(
            proxy, lambda _: result(*map(fetch, arguments), **keywords)
        )
    # A numpy scalar becomes a Python number.
    return wrapped(
        student, result.item() if hasattr(result, "item") and not result.shape else result
    )


def _built_in(error: Exception) -> str:
    """Return the name of the nearest built-in class of an error: `ZeroDivisionError` for
    `decimal.DivisionByZero`."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")


def _in_order(items: set[Any]) -> list[Any]:
    """Return the items of a set in an order that is reproducible but arbitrary, so that no test
    relies on it."""
    return sorted(items, key=lambda item: crc32(_text_of(item).encode()))


def _record_of(item: Any) -> str:
    """Return the key by which the items of a set are sorted in `Student.seen`, which does not
    depend on the identities of objects."""
    if type(item) is tuple:
        return ",".join(map(_record_of, item))
    if type(item) is frozenset:
        return ",".join(sorted(map(_record_of, item)))
    return "" if type(item) is Proxy else repr(item)


def _text_of(item: Any) -> str:
    """Return a text for an item of a set, with the number of each object."""
    if type(item) is tuple:
        return ",".join(map(_text_of, item))
    if type(item) is frozenset:
        return ",".join(sorted(map(_text_of, item)))
    return repr(_identity(item)[1] if type(item) is Proxy else item)


def _to_float(value: Any) -> float:
    if type(value) in _TEXTS:
        raise TypeError
    return float(value)


def fetch(value: Any, whole: bool = False, tidy: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return the plain value of a proxy, or the proxy itself if it stands for an object that is not
    plain. In a collection, such objects are proxies. A value that is not a proxy is returned as it
    is.

    Args:
        whole: whether to fetch a long collection in full. A collection that exceeds the protocol's
            limit counts as an object.
        tidy: a function that normalizes the value before it is recorded.

    Raises `StudentError` if the proxy's step, or a step before it, failed.
    """
    if type(value) is not Proxy:
        return value
    plain = _resolved(value, whole)
    if type(plain) is not Proxy:
        plain = tidy(plain)
    value._proxy_.student._record(plain)
    return value if type(plain) is Proxy or (whole and type(plain) is _Oversized) else plain


def _resolved(proxy: Proxy, whole: bool = False) -> Any:
    """Return the value of a proxy as `fetch` does, without recording it."""
    state = proxy._proxy_
    student = state.student
    if state.value is _OPEN:
        student.finish()
    if type(state.value) is _Failed:
        student._fail(state.value.kind)
    if not _is_immutable(state.value) and state.reference is not None:
        # A mutable value is fetched again if steps were queued or sent after it came.
        is_old = bool(student._queue) or state.resolved_at < student._sent
        if is_old:
            _refresh(proxy)
    elif state.value is _OPEN:
        raise protocol.ProtocolError("no value came")
    if whole and type(state.value) is _Oversized:
        _refresh(proxy)
    return state.value


def _compute_locally(state: _State) -> None:
    """Replace the result of an operator by one that the grader computes, if all operands are plain.

    So the `__add__` of a student's subclass of `float`, whose values are plain, has no effect.
    """
    verb, *operands = state.operands
    values = [each._proxy_.value if type(each) is Proxy else each for each in operands]
    if all(type(each) not in _NOT_PLAIN for each in values):
        try:
            state.resolve(arithmetic(verb, *values), math.inf)
        except (ArithmeticError, TypeError, ValueError) as error:
            state.value = _Failed(_built_in(error))


def _refresh(proxy: Proxy) -> None:
    """Fetch the present value of a collection, with all its items."""
    student = proxy._proxy_.student
    fresh = student._step("whole", proxy)
    student.finish()
    proxy._proxy_.resolve(fresh._proxy_.value, student._sent)


def wrapped(student: Student, value: Any) -> Any:
    """Return a value that came from the student as a proxy, so that it differs from the test's own
    values."""
    return value if type(value) is Proxy else Proxy(student, None, value)


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal: plain ones by value, other objects by identity.

    A bool equals no number, unlike in Python, where `0.0 == False`: an answer of the wrong type is
    a mistake.
    """
    left, right = fetch(left, whole=True), fetch(right, whole=True)
    kinds = (type(left), type(right))
    if Proxy in kinds:
        return kinds[0] is kinds[1] and _identity(left) == _identity(right)
    if bool in kinds and (int in kinds or float in kinds):
        return False
    # Lists, not generators: all items are fetched and recorded, even after a difference, since
    # mistakes are told apart by `Student.seen`.
    if kinds in ((list, list), (tuple, tuple)):
        return len(left) == len(right) and all(
            [same(a, b) for a, b in zip(left, right, strict=True)]
        )
    if kinds == (dict, dict):
        return left.keys() == right.keys() and all([same(left[key], right[key]) for key in left])
    if protocol.is_array(left) and protocol.is_array(right):
        return bool(left.shape == right.shape) and same(left.tolist(), right.tolist())
    # `array == x` compares item by item, but the `__eq__` of the other operand returns one bool.
    if protocol.is_array(left):
        return right.__eq__(left) is True
    return left.__eq__(right) is True if protocol.is_array(right) else bool(left == right)


def _identity(proxy: Proxy) -> tuple[int, int]:
    """Return a pair that identifies an object: the student, and the object's number there."""
    value = proxy._proxy_.value
    number = value.number if type(value) is _Oversized else value._proxy_.reference["object"]
    return id(proxy._proxy_.student), number


# Operators.


def _operate(verb: str, left: Any, right: Any) -> Any:
    """Return the result of a binary operator. At least one operand is a proxy."""
    student = (left if type(left) is Proxy else right)._proxy_.student
    if any(type(each) is not Proxy or each._proxy_.is_plain for each in (left, right)):
        # A plain operand may be a hidden number. It is sent only if the other operand is an object
        # that is not plain.
        values = [fetch(left), fetch(right)]
        if all(type(each) not in _NOT_PLAIN for each in values):
            try:
                result = arithmetic(verb, *values)
            except (ArithmeticError, TypeError, ValueError) as error:
                student._fail(_built_in(error))
            return wrapped(student, result)
    return _new_proxy(student, verb, left, right)


def _new_proxy(student: Student, verb: str, *operands: Any) -> Proxy:
    result = student._step(verb, *operands)
    result._proxy_.operands = (verb, *operands)
    return result


def _compare(verb: str, left: Proxy, right: Any) -> Any:
    """Return the result of `<`, `<=`, `>` or `>=`, computed in the grader if both operands are
    plain."""
    student = left._proxy_.student
    values = [fetch(left, whole=True), fetch(right, whole=True)]
    if any(type(value) is Proxy for value in values):
        return student._step(verb, left, right)
    try:
        if any(map(protocol.is_array, values)):
            return wrapped(student, arithmetic(verb, *values))
        return getattr(operator, verb)(*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        return student._fail(_built_in(error))


def _method(function: Callable[..., Any], verb: str, is_reflected: bool = False) -> Any:
    """Return a special method of `Proxy` that calls `function` with the verb and the operands.

    Args:
        is_reflected: whether the proxy is the right operand, as in `__radd__`.
    """

    def method(self: Proxy, *other: Any) -> Any:
        return function(verb, *other, self) if is_reflected else function(verb, self, *other)

    return method


for _verb in (*BINARY, *IN_PLACE):
    setattr(Proxy, f"__{_verb.rstrip('_')}__", _method(_operate, _verb))
for _verb in BINARY:
    setattr(Proxy, f"__r{_verb.rstrip('_')}__", _method(_operate, _verb, is_reflected=True))
for _verb in COMPARISONS:
    setattr(Proxy, f"__{_verb}__", _method(_compare, _verb))
for _verb in UNARY:
    setattr(
        Proxy,
        f"__{_verb}__",
        lambda self, verb=_verb: _new_proxy(self._proxy_.student, verb, self),
    )
