"""Proxies, called promises, by which a hidden test uses the objects in a student's namespace.

A test reads as if the student's objects were in its own process. Each operation on a promise is
added to a queue of steps, and the queue is sent as one request when the test needs a value: when it
compares, tests for truth, takes a length, iterates or converts. The reply brings the values of all
promises that are still open (promise pipelining, as in the E language and in Cap'n Proto).

Values of plain types (those that `protocol.encode` writes: numbers, texts, bytes, dates, numpy's
arrays of numbers, and lists, tuples, dicts and sets of them) are compared by value, and computed
with in the test's process; all other objects are compared by identity, and stay in the student's
process. A number of the test's is sent only as an argument, or as the other operand of a value that
is known to be an object: if `answer - 2.5` turns out to be plain arithmetic, the 2.5 is not sent.
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
from .inside import protocol
from .inside.steps import BINARY, COMPARISONS, IN_PLACE, UNARY
from .targets import Target

T = TypeVar("T")

_MOST_STEPS = 1000
_MOST_OBJECTS = 50_000
_MOST_ITEMS = 200_000
"""Greatest number of items of collections in the replies to one test together."""
_MOST_SECONDS = 5.0
"""Seconds of the grader's processor time that one test may take to decode its replies."""
_ROOM = 1_000_000
"""Greatest number of characters recorded of the values that a test looked at."""


class _Open:
    """The value of a promise that no reply has brought yet."""


_OPEN = _Open()


class Student:
    """The names that a student's cells defined, each usable as if it were in this process.

    `student.NAME` is a promise of the object with this name; so is `student["NAME"]`, for names
    that this class has itself. `student.inside.NAME` is the helper module `NAME.py`, sent there as
    code.

    Args:
        target: performs steps on the names.
        helpers: the compiled helper modules, by name.

    Attributes:
        inside: the helper modules and the modules of Python's own library.
        files: the files in the folder of the student's process.
        seen: every value that the test looked at, and every error, in order. Two namespaces with
            the same `seen` in the same test behave alike in it.
    """

    def __init__(self, target: Target, helpers: dict[str, bytes] | None = None) -> None:
        self.seen: list[Any] = []
        self.inside = _Inside(self, helpers or {})
        self.files = _Files(self)
        self._target = target
        self._queue: list[list[Any]] = []
        self._open: list[Promise] = []
        self._sent = 0
        self._is_new = True
        self._objects: dict[int, Promise] = {}
        self._room = _ROOM
        self._looks = 0
        self._started = self._own_seconds()
        self._budget = protocol.Budget(_MOST_ITEMS)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._step("name", name)

    def __getitem__(self, name: str) -> Any:
        return self._step("name", name)

    def equal(self, left: Any, right: Any) -> Any:
        """Return the result of the student's own `__eq__` on two objects of any kind."""
        return self._step("eq", left, right)

    def error_of(self, action: Callable[[], Any]) -> str | None:
        """Return the name of the built-in exception that `action` raises in student code, or
        None."""
        self.finish()
        try:
            action()
            self.finish()
        except StudentError as error:
            return error.kind
        return None

    def printed(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return the text that a call of the student's function prints."""
        return self._step("printed", function, list(arguments), keywords)

    def error(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return the exception object that a call of the student's function raises, or None."""
        return self._step("error", function, list(arguments), keywords)

    def run(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return the result of a call of the student's coroutine function, run to its end."""
        return self._step("run", function, list(arguments), keywords)

    @contextmanager
    def raises(self, *kinds: Any) -> Iterator[None]:
        """Like `pytest.raises`, for exceptions that student code raises by steps of the block."""
        self.finish()
        try:
            yield
            self.finish()
        except StudentError as error:
            assert self.has_raised(error, *kinds), f"raised {error.kind}"
            return
        raise AssertionError("nothing was raised")

    def has_raised(self, error: StudentError, *kinds: Any) -> bool:
        """Return whether the latest error is of one of these classes, Python's or the student's."""
        own = [kind for kind in kinds if type(kind) is Promise]
        if error.is_a(*(kind for kind in kinds if type(kind) is not Promise)):
            return True
        return error.is_remote and any(
            look(self._step("isinstance", self._step("raised"), kind)) is True for kind in own
        )

    def seconds(self, action: Callable[[], Any]) -> float:
        """Return the seconds for which the student's process computes in the steps of `action`.

        They are measured outside of it. Time in which it sleeps or others compute is left out.
        """
        self.finish()
        with protocol.without_collection():  # for a target in this process
            started = self._target.seconds()
            action()
            self.finish()
            return self._target.seconds() - started

    def renew_time(self) -> None:
        """Give the following steps as much time as a whole test: for tests that train several
        times."""
        self.finish()
        self._target.renew_time()

    def finish(self) -> None:
        """Send every step that was not sent yet. Raises `StudentError` if one fails."""
        if not self._queue:
            return
        steps, self._queue = self._queue, []
        promises, self._open = self._open, []
        request: dict[str, Any] = {"steps": steps}
        if self._is_new:
            request["new"], self._is_new = True, False
        self._sent += len(steps)
        reply = self._target.perform(request)
        values = reply.get("values")
        if type(values) is not list or len(values) > len(steps):
            raise protocol.ProtocolError("not the values of these steps")
        for step, promise, value in zip(steps, promises, values, strict=False):
            promise._promise_.settle(
                protocol.decode(value, self._resolve, self._budget), self._sent
            )
            if promise._promise_.operands:
                _work_out(promise._promise_)
            if step[0] == "module":
                self._target.modules.add(step[1])
        if len(values) < len(steps):
            names = reply.get("error")
            if type(names) is not list or not all(type(name) is str for name in names):
                raise protocol.ProtocolError("neither a value nor an error")
            kind = next(filter(BUILT_IN.__contains__, names), "Exception")
            for promise in promises[len(values) :]:
                promise._promise_.value = _Broken(kind)
            self._fail(kind, is_remote=True)

    # The rest is for promises.

    def _own_seconds(self) -> float:
        """Return this thread's processor time, without the target's share."""
        return time.thread_time() - self._target.taken

    def _fail(self, kind: str, is_remote: bool = False) -> NoReturn:
        self._write_down(f"raised {kind}")
        raise StudentError(kind, is_remote)

    def _step(self, verb: str, *arguments: Any) -> Promise:
        """Return a promise of a step's result: the step is sent with the next look."""
        message = [verb, *[argument if type(argument) is str else self._encoded(argument)
                           for argument in arguments]]  # fmt: skip
        if len(self._queue) >= _MOST_STEPS:
            self.finish()
        number = self._sent + len(self._queue)
        promise = Promise(self, {"step": number})
        self._queue.append(message)
        self._open.append(promise)
        return promise

    def _encoded(self, value: Any) -> Any:
        if type(value) is Promise:
            return self._reference(value)
        return protocol.encode(value, self._reference)

    def _reference(self, value: Any) -> Any:
        if type(value) is not Promise:
            name = type(value).__name__
            if isinstance(value, (FunctionType, MethodType)):
                raise AuthorError(
                    "a function of the test stays here and cannot be called from there. Put it in "
                    "a helper module, grading_tests/inside/NAME.py, and pass "
                    f"student.inside.NAME.{value.__name__}"
                )
            if isinstance(value, type):
                raise AuthorError(
                    f"the class {value.__name__} of the test stays here. Pass the one over there: "
                    f"student.inside.{value.__module__}.{value.__name__}"
                )
            if type(value) in (int, *_TEXTS, *_COLLECTIONS, range) or protocol.is_array(value):
                raise ValueError(f"this {name} is too large or too deep to be sent")
            raise AuthorError(
                f"this {name} cannot be sent. Send numbers, texts, dates, numpy's arrays of "
                "numbers, lists, tuples, dicts and sets of these, and what came from the student; "
                f"let a helper module, grading_tests/inside/NAME.py, make the {name} there"
            )
        state = value._promise_
        if state.student is not self:
            raise AuthorError("this object belongs to another test, or to another student")
        if isinstance(state.value, _Broken):
            self._fail(state.value.kind)
        return self._encoded(state.value) if state.reference is None else state.reference

    def _resolve(self, tag: str, number: int) -> Any:
        if tag == "large":
            return _Large(number)
        if tag != "object":
            raise protocol.ProtocolError("not an object")
        known = self._objects.get(number)
        if known is None:
            if len(self._objects) >= _MOST_OBJECTS:
                raise protocol.ProtocolError("too many objects")
            known = self._objects[number] = Promise(self, {"object": number})
            known._promise_.value = known
        return known

    def _write_down(self, value: Any) -> None:
        """Record a value that a test looked at; an object without its identity."""
        self._looks += 1
        # Reading the clock takes longer than recording.
        if not self._looks % 100 and self._own_seconds() - self._started > _MOST_SECONDS:
            raise protocol.ProtocolError("the answers keep the test too long")
        kind = type(value)
        if protocol.is_array(value):
            self._write_down(f"an array of {value.dtype}")
            self._write_down(value.tolist())
            return
        if kind in _COLLECTIONS:
            self._write_down(f"a {kind.__name__} of {len(value)}")
            for item in sorted(value, key=_record_of) if kind in _SETS else value:
                self._write_down(item)
                if kind is dict:
                    self._write_down(value[item])
            return
        self._room -= 10 + (len(value) if kind in _TEXTS else 0)
        if self._room >= 0:
            self.seen.append("an object" if kind in (Promise, _Large) else value)


class _Files:
    """The files in the folder of the student's process, by name; a claim like every answer."""

    def __init__(self, student: Student) -> None:
        self._student = student

    def __getitem__(self, name: str) -> Any:
        """Return the text of a file in UTF-8."""
        return self._student._step("read_text", name)

    def __contains__(self, name: str) -> bool:
        return look(self._student._step("exists", name)) is True

    def bytes(self, name: str) -> Any:
        """Return the bytes of a file."""
        return self._student._step("read_bytes", name)


class _Inside:
    """The helper modules of the hidden tests, each sent, compiled, when it is used, and the modules
    of Python's own library."""

    def __init__(self, student: Student, helpers: dict[str, bytes]) -> None:
        self._student = student
        self._helpers = helpers

    def __getattr__(self, name: str) -> Promise:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "builtins":
            return self._student._step("builtins")
        if name not in self._helpers and name in sys.stdlib_module_names:
            return self._student._step("import", name)
        if name not in self._helpers:
            own = "".join(f"{each}, " for each in self._helpers)
            raise AuthorError(
                f"there is no helper module grading_tests/inside/{name}.py. Write it there, or use "
                f"{own}or a module of Python's own library"
            )
        if name in self._student._target.modules:
            return self._student._step("module", name)
        return self._student._step("module", name, self._helpers[name])


class _Large:
    """A collection that was too long to be sent without a request for it."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Broken:
    """The value of a step that raised, or that came after one that did."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _State:
    """The state of a promise.

    Attributes:
        reference: how a request names it; None for a plain value that no step has made.
        value: a plain value; for an object, the one promise that stands for it; a `_Large`, a
            `_Broken`, or `_OPEN`.
        settled: how many steps had been sent when the value came: a list may change with the next.
        operands: the verb and the operands, if this is an operation's result that has not been
            computed in this process yet.
    """

    __slots__ = ("operands", "reference", "settled", "student", "value")

    def __init__(self, student: Student, reference: dict[str, int] | None, value: Any) -> None:
        self.student = student
        self.reference = reference
        self.value = value
        self.settled = 0.0
        self.operands: tuple[Any, ...] = ()

    def settle(self, value: Any, settled: float) -> None:
        self.value, self.settled = value, settled

    @property
    def is_plain(self) -> bool:
        """True if it is known to be a plain value."""
        return type(self.value) not in _NOT_PLAIN


_NAMED = frozenset([
    "__annotations__", "__bases__", "__defaults__", "__dict__", "__doc__", "__kwdefaults__",
    "__module__", "__mro__", "__name__", "__qualname__", "__wrapped__",
])  # fmt: skip
"""Attributes of functions and classes that a test may ask for. Python itself uses the others."""


class Promise:
    """A value that lives in a student's namespace, or will when the test looks.

    Python cannot ask a promise about `type(answer)`, `answer is True`, `callable(answer)` and
    `hasattr(answer, name)`: write `isinstance`, `==`, and a function of `student.inside.builtins`,
    such as `student.inside.builtins.callable(answer)`.
    """

    __slots__ = ("_promise_",)
    _promise_: _State

    def __init__(self, student: Student, reference: Any, value: Any = _OPEN) -> None:
        object.__setattr__(self, "_promise_", _State(student, reference, value))

    # Steps.

    def __getattr__(self, name: str) -> Any:
        own = name.startswith("__") and name.endswith("__") and name not in _NAMED
        if name == "_promise_" or own:
            raise AttributeError(name)
        if _is_own_array(self):
            return _of_array(self, lambda array: getattr(array, name))
        if name == "keys" and isinstance(look(self, whole=True), (list, tuple)):
            raise AttributeError(name)  # So `dict(pairs)` takes them as pairs.
        return self._promise_.student._step("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._promise_.student._step("setattr", self, name, value)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._promise_.student._step("call", self, list(arguments), keywords)

    def __getitem__(self, key: Any) -> Any:
        student = self._promise_.student
        if isinstance(key, slice):
            value = _settled(self, whole=True)
            if type(value) is Promise:
                return student._step("slice", self, key.start, key.stop, key.step)
            is_sliced = type(value) in _SLICED or protocol.is_array(value)
            return wrapped(student, (value if is_sliced else list(self))[key])
        has_slices = type(key) is tuple and not {type(each) for each in key}.isdisjoint(_SLICES)
        if has_slices or _is_own_array(self):
            return _of_array(self, lambda array: array[key])
        return student._step("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._promise_.student._step("setitem", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._promise_.student._step("delitem", self, key)

    def __enter__(self) -> Any:
        return self._promise_.student._step("enter", self)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Leave the student's context, which cannot suppress an error of the block."""
        student, found = self._promise_.student, error
        if error is None:
            try:
                student.finish()
            except StudentError as late:
                found = late
        if found is None or isinstance(found, StudentError):
            student._step("exit", self, getattr(found, "kind", None))
            student.finish()
        if found is not None and found is not error:
            raise found

    # Looks.

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def __hash__(self) -> int:
        value = look(self)
        if value is self:
            return hash(_identity(self)[1])
        return self._worked_out("hash", hash, int)

    def __bool__(self) -> bool:
        return self._worked_out("bool", bool, bool)

    def __len__(self) -> int:
        if type(_settled(self)) is Promise:
            self._promise_.student.finish()  # raises errors of earlier steps
        try:
            number = self._worked_out("len", len, int)
        except StudentError as error:
            if error.is_a(TypeError):
                raise NoLength(error.kind, error.is_remote) from None
            raise
        if not 0 <= number <= MOST_ITEMS:
            self._promise_.student._fail("OverflowError")
        return number

    def __iter__(self) -> Iterator[Any]:
        value, student = _settled(self, whole=True), self._promise_.student
        if type(value) in _NOT_PLAIN:
            value = _settled(student._step("items", self), whole=True)
        if protocol.is_array(value) and value.ndim:
            value = value.tolist() if value.ndim == 1 else [*value]
        if type(value) not in (*_COLLECTIONS, *_TEXTS, range):
            student._fail("TypeError")
        if type(value) in _SETS:
            value = _in_order(value)
        # A loop over a collection is the same for every kind of it.
        student._write_down(list(value))
        is_sequence = type(value) in (list, tuple)
        return iter([
            # A list in a list is a promise, since the student's own may change later.
            self[place] if is_sequence and not _lasts(item) else wrapped(student, item)
            for place, item in enumerate(value)
        ])  # fmt: skip

    def __contains__(self, item: Any) -> bool:
        value = _settled(self)
        if type(value) in _TEXTS:
            return self._worked_out("", lambda text: look(item) in text, bool)
        if type(value) is Promise:
            return self._worked_out("contains", bool, bool, item)
        return any(each == item for each in self)

    def __next__(self) -> Any:
        student = self._promise_.student
        following = student._step("next", self)
        student.finish()
        return following

    def __instancecheck__(self, value: Any) -> bool:
        return look(self._promise_.student._step("isinstance", value, self)) is True

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Makes `isinstance(answer, float)` look at the value."""
        value = look(self, whole=True)
        return Promise if value is self else type(value)

    def __float__(self) -> float:
        return self._worked_out("float", _to_float, float)

    def __int__(self) -> int:
        return self._worked_out("int", int, int)

    def __index__(self) -> int:
        return self._worked_out("index", operator.index, int)

    def __round__(self, digits: int | None = None) -> Any:
        kind: type[Any] = int if digits is None else float
        return self._worked_out("round", lambda value: round(value, digits), kind, digits)

    __array_priority__ = 1000.0
    """Greater than an array's, so that numpy leaves `array == answer` to the answer."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Convert an answer for numpy's functions."""
        value = look(self, whole=True)
        numpy: Any = import_module("numpy")
        return numpy.array(list(self) if value is self else value, dtype)

    def __repr__(self) -> str:
        return self._worked_out("repr", repr, str)

    def __str__(self) -> str:
        return self._worked_out("str", str, str)

    def __format__(self, spec: str) -> str:
        return self._worked_out("format", lambda value: format(value, spec), str, spec)

    def _worked_out(self, verb: str, function: Callable[[Any], T], kind: type[T], *more: Any) -> T:
        """Return the result of a function: computed here for a plain value, by a step for an
        object."""
        value, student = _settled(self), self._promise_.student
        if type(value) in _NOT_PLAIN:
            result = _settled(student._step(verb, self, *more))
            if type(result) is not kind:
                raise protocol.ProtocolError(f"not what {verb} gives")
        else:
            try:
                result = function(value)
            except (ArithmeticError, TypeError, ValueError) as error:
                student._fail(_built_in(error))
        student._write_down(result)
        return result


def _attribute(name: str) -> Any:
    return property(lambda self: self._promise_.student._step("getattr", self, name))


for _name in ("__annotations__", "__doc__", "__module__"):  # which the class has itself
    setattr(Promise, _name, _attribute(_name))

_NOT_PLAIN = frozenset([Promise, _Large, _Broken, type(_OPEN)])
_TEXTS = (str, bytes, bytearray)
_SETS = (set, frozenset)
_COLLECTIONS = (list, tuple, dict, *_SETS)
_SLICED = frozenset([list, tuple, range, *_TEXTS])
_SLICES = frozenset([slice, type(...)])
_LASTING = _NOT_PLAIN | {
    type(None), bool, int, float, complex, str, bytes, tuple, frozenset, range,
    Fraction, Decimal, date, time_of_day, datetime, timedelta,
}  # fmt: skip


def _lasts(value: Any) -> bool:
    """Return whether no later step can change a value."""
    return type(value) in _LASTING


def _is_own_array(promise: Promise) -> bool:
    """Return whether a promise is an array made here, which may hold the test's own numbers."""
    state = promise._promise_
    return state.reference is None and protocol.is_array(state.value)


def _of_array(promise: Promise, function: Callable[[Any], Any]) -> Any:
    """Return the result of a function of an array, computed in this process."""
    student, array = promise._promise_.student, look(promise, whole=True)
    try:
        if not protocol.is_array(array):
            raise TypeError
        found = function(array)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        student._fail(_built_in(error))
    if callable(found):
        return lambda *arguments, **keywords: _of_array(
            promise, lambda _: found(*map(look, arguments), **keywords)
        )
    # numpy's own scalars become Python's.
    return wrapped(student, found.item() if hasattr(found, "item") and not found.shape else found)


def _built_in(error: Exception) -> str:
    """Return the name of the nearest built-in class of an error, such as one of `decimal`."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")


def _in_order(items: set[Any]) -> list[Any]:
    """Return the items in an order that is the same each time, and that no test may rely on."""
    return sorted(items, key=lambda item: crc32(_text_of(item).encode()))


def _record_of(item: Any) -> str:
    """Return the recorded text of an item of a set, without the identities of objects."""
    if type(item) is tuple:
        return ",".join(map(_record_of, item))
    if type(item) is frozenset:
        return ",".join(sorted(map(_record_of, item)))
    return "" if type(item) is Promise else repr(item)


def _text_of(item: Any) -> str:
    """Return the text by which the items of a set are sorted."""
    if type(item) is tuple:
        return ",".join(map(_text_of, item))
    if type(item) is frozenset:
        return ",".join(sorted(map(_text_of, item)))
    return repr(_identity(item)[1] if type(item) is Promise else item)


def _to_float(value: Any) -> float:
    if type(value) in _TEXTS:
        raise TypeError
    return float(value)


def look(value: Any, whole: bool = False, tidy: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return the plain value of a promise; the promise itself if it stands for an object.

    Collections are lists, tuples, dicts and both kinds of sets, in which objects are promises.

    Args:
        whole: bring a collection however long it is. One too long for the protocol is an object.
        tidy: brings values that mean the same into one form, before one is recorded.

    Raises `StudentError` if a step up to this one failed.
    """
    if type(value) is not Promise:
        return value
    found = _settled(value, whole)
    if type(found) is not Promise:
        found = tidy(found)
    value._promise_.student._write_down(found)
    return value if type(found) is Promise or (whole and type(found) is _Large) else found


def _settled(promise: Promise, whole: bool = False) -> Any:
    """Return the value of a promise, as `look` does, without recording it."""
    state = promise._promise_
    student = state.student
    if state.value is _OPEN:
        student.finish()
    if type(state.value) is _Broken:
        student._fail(state.value.kind)
    if not _lasts(state.value) and state.reference is not None:
        is_old = bool(student._queue) or state.settled < student._sent
        if is_old:
            _refresh(promise)
    elif state.value is _OPEN:
        raise protocol.ProtocolError("no value came")
    if whole and type(state.value) is _Large:
        _refresh(promise)
    return state.value


def _work_out(state: _State) -> None:
    """Compute an operation in this process if all operands turned out to be plain values, so that
    no operator which the student defined decides the result."""
    verb, *operands = state.operands
    values = [each._promise_.value if type(each) is Promise else each for each in operands]
    if all(type(each) not in _NOT_PLAIN for each in values):
        try:
            state.settle(arithmetic(verb, *values), math.inf)
        except (ArithmeticError, TypeError, ValueError) as error:
            state.value = _Broken(_built_in(error))


def _refresh(promise: Promise) -> None:
    """Fetch the present value of a collection, with all its items."""
    student = promise._promise_.student
    fresh = student._step("whole", promise)
    student.finish()
    promise._promise_.settle(fresh._promise_.value, student._sent)


def wrapped(student: Student, value: Any) -> Any:
    """Return an item of a student's collection as a promise, so that it is distinguished from the
    test's own values."""
    return value if type(value) is Promise else Promise(student, None, value)


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal: plain ones by value, objects by identity.

    A truth value equals no number: `0.0 == False` is a slip of the student's, and no answer.
    """
    left, right = look(left, whole=True), look(right, whole=True)
    kinds = (type(left), type(right))
    if Promise in kinds:
        return kinds[0] is kinds[1] and _identity(left) == _identity(right)
    if bool in kinds and (int in kinds or float in kinds):
        return False
    # All items are compared, also after the first difference: their values distinguish mistakes.
    if kinds in ((list, list), (tuple, tuple)):
        return len(left) == len(right) and all(
            [same(a, b) for a, b in zip(left, right, strict=True)]
        )
    if kinds == (dict, dict):
        return left.keys() == right.keys() and all([same(left[key], right[key]) for key in left])
    if protocol.is_array(left) and protocol.is_array(right):
        return bool(left.shape == right.shape) and same(left.tolist(), right.tolist())
    # An array compares its items with whatever it is given.
    if protocol.is_array(left):
        return right.__eq__(left) is True
    return left.__eq__(right) is True if protocol.is_array(right) else bool(left == right)


def _identity(promise: Promise) -> tuple[int, int]:
    """Return a pair that is unique to an object of the student's."""
    found = promise._promise_.value
    number = found.number if type(found) is _Large else found._promise_.reference["object"]
    return id(promise._promise_.student), number


# Operators.


def _operate(verb: str, left: Any, right: Any) -> Any:
    """Return the result of `left + right` and the like, of which one at least is a promise."""
    student = (left if type(left) is Promise else right)._promise_.student
    if any(type(each) is not Promise or each._promise_.is_plain for each in (left, right)):
        # A plain value is sent only if the other operand is an object.
        values = [look(left), look(right)]
        if all(type(each) not in _NOT_PLAIN for each in values):
            try:
                result = arithmetic(verb, *values)
            except (ArithmeticError, TypeError, ValueError) as error:
                student._fail(_built_in(error))
            return wrapped(student, result)
    return _promised(student, verb, left, right)


def _promised(student: Student, verb: str, *operands: Any) -> Promise:
    result = student._step(verb, *operands)
    result._promise_.operands = (verb, *operands)
    return result


def _compare(verb: str, left: Promise, right: Any) -> Any:
    """Return the result of `left < right` and the like, computed here if both are plain values."""
    student = left._promise_.student
    values = [look(left, whole=True), look(right, whole=True)]
    if any(type(value) is Promise for value in values):
        return student._step(verb, left, right)
    try:
        if any(map(protocol.is_array, values)):
            return wrapped(student, arithmetic(verb, *values))
        return getattr(operator, verb)(*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        return student._fail(_built_in(error))


def _method(function: Callable[..., Any], verb: str, is_reflected: bool = False) -> Any:
    def method(self: Promise, *other: Any) -> Any:
        return function(verb, *other, self) if is_reflected else function(verb, self, *other)

    return method


for _verb in (*BINARY, *IN_PLACE):
    setattr(Promise, f"__{_verb.rstrip('_')}__", _method(_operate, _verb))
for _verb in BINARY:
    setattr(Promise, f"__r{_verb.rstrip('_')}__", _method(_operate, _verb, is_reflected=True))
for _verb in COMPARISONS:
    setattr(Promise, f"__{_verb}__", _method(_compare, _verb))
for _verb in UNARY:
    setattr(
        Promise,
        f"__{_verb}__",
        lambda self, verb=_verb: _promised(self._promise_.student, verb, self),
    )
