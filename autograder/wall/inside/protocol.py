"""Defines the messages that cross the wall: length-prefixed JSON frames of plain values.

A frame is four bytes of length, big-endian, then UTF-8 JSON. The grader sends requests, the
student's process answers each with one reply, and neither pickles or evaluates a message: of a
reply the grader keeps numbers, texts, dates, truth values, None, arrays of numbers and collections
of these, rebuilt as exact types. Every other object stays in its process and is named by a number.
"""

from __future__ import annotations

import gc
import json
import math
import numbers
import re
import select
import socket
import struct
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from datetime import time as time_of_day
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

MAX_FRAME = 8 << 20
MAX_PARTS = 1_000_000
"""Greatest number of lists, objects and items in a frame: each takes far more memory than bytes of
the frame."""
_WEIGHTS = {b"{": 3, b"[": 1, b",": 1, b":": 1}
"""The parts that a sign of a frame stands for: an object takes the memory of several."""
MAX_DEPTH = 20
MAX_ITEMS = 100_000
MAX_SHARED = 100
"""Greatest number of a dict's keys, or a set's items, that share a hash: each of them is compared
with those before it."""
MAX_INT_BITS = 14_000
"""Of no more bits Python writes all digits, which are 4,300 at most."""
MAX_TEXT = 1_000_000
FEW_ITEMS = 1_000
"""Greatest number of items of a collection, nested ones included, that is sent without a
request."""

_HEADER = struct.Struct(">I")
_HEX = re.compile("(?:[0-9a-f]{2})*")
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c8|<c16")
_MAX_DIMENSIONS = 32
_CHUNK = 1 << 14
_COLLECTIONS: dict[str, tuple[type, ...]] = {
    "tuple": (tuple,),
    "list": (list, deque),
    "set": (set,),
    "frozenset": (frozenset,),
    "dict": (dict,),
}
_BYTES: dict[str, type] = {"bytes": bytes, "bytearray": bytearray}


class _Written(NamedTuple):
    """A type whose values are sent as text.

    Attributes:
        pattern: the form of the text, which bounds the time and memory that reading it takes.
        read: converts the text to the value; `write` returns that same text of the value.
    """

    kind: type
    pattern: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


_OFFSET = r"([+-]\d\d:\d\d(:\d\d(\.\d{6})?)?)?"
_TIME = r"\d\d:\d\d:\d\d(\.\d{6})?" + _OFFSET
_DAY = r"\d{4}-\d\d-\d\d"
_MICROSECOND = timedelta(microseconds=1)
_WRITTEN = {
    "complex": _Written(complex, r"[-+0-9.einfaj()]{2,60}", complex, repr),
    "fraction": _Written(Fraction, r"-?\d{1,1000}(/\d{1,1000})?", Fraction, str),
    "decimal": _Written(
        Decimal, r"-?(\d{1,1000}(\.\d{1,1000})?(E[+-]\d{1,3})?|Infinity|NaN)", Decimal, str
    ),
    "date": _Written(date, _DAY, date.fromisoformat, date.isoformat),
    "time": _Written(time_of_day, _TIME, time_of_day.fromisoformat, time_of_day.isoformat),
    "datetime": _Written(datetime, f"{_DAY}T{_TIME}", datetime.fromisoformat, datetime.isoformat),
    "timedelta": _Written(
        timedelta,
        r"-?\d{1,20}",
        lambda text: timedelta(microseconds=int(text)),
        lambda value: str(value // _MICROSECOND),
    ),
    "range": _Written(
        range,
        r"-?\d{1,15}( -?\d{1,15}){2}",
        lambda text: range(*map(int, text.split())),
        lambda value: f"{value.start} {value.stop} {value.step}",
    ),
}
_TAGS: dict[Any, str] = {each.kind: tag for tag, each in _WRITTEN.items()}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class ProtocolError(Exception):
    """The other side sent something outside the protocol, or closed the connection."""


class TimeIsUp(ProtocolError):
    """The deadline passed before a whole frame was through."""


class Closed(ProtocolError):
    """The other side has closed the connection."""


# Frames.


class Connection:
    """One end of the connection across the wall. Deadlines are in seconds of `time.monotonic`."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived = bytearray()
        self.room: float = math.inf
        """Bytes that may still be received; a longer message is an error."""
        self._polls = {event: select.poll() for event in (select.POLLIN, select.POLLOUT)}
        for event, waiting in self._polls.items():
            waiting.register(end, event)

    def close(self) -> None:
        self._socket.close()

    def send(self, message: Any, deadline: float | None = None) -> None:
        """Send one message.

        Raises:
            TimeIsUp: the deadline passed first.
            Closed: the other side is gone.
            ProtocolError: the message is too large.
        """
        frame = memoryview(to_frame(message))
        try:
            if deadline is None:
                self._socket.sendall(frame)
                return
            while frame:
                try:
                    frame = frame[self._socket.send(frame, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    if not self._is_ready(select.POLLOUT, deadline):
                        raise TimeIsUp("the message was not taken in time") from None
        except OSError as error:
            raise Closed("the connection was closed") from error

    def receive(
        self, deadline: float | None = None, later: Callable[[], float | None] | None = None
    ) -> Any:
        """Read one message.

        Args:
            later: called at the deadline for another one; None from it means that time is up.

        Raises:
            TimeIsUp: the deadline passed first.
            Closed: the other side is gone.
            ProtocolError: the frame is no valid JSON.
        """
        arrived = self._arrived
        while len(arrived) < _HEADER.size:
            arrived += self._read(deadline, later)
        (length,) = _HEADER.unpack_from(arrived)
        if length > MAX_FRAME:
            raise ProtocolError(f"a message of {length} bytes is over the limit of {MAX_FRAME}")
        self.room -= length
        if self.room < 0:
            raise ProtocolError("the messages are too long together")
        end = _HEADER.size + length
        while len(arrived) < end:
            arrived += self._read(deadline, later)
        body = bytes(arrived[_HEADER.size : end])
        del arrived[:end]
        return to_message(body)

    def _read(self, deadline: float | None, later: Callable[[], float | None] | None) -> bytes:
        try:
            while deadline is not None and not self._is_ready(select.POLLIN, deadline):
                deadline = later() if later is not None else None
                # The message may have come while `later` ran.
                if deadline is None and not self._is_ready(select.POLLIN, 0.0):
                    raise TimeIsUp("no answer in time")
            chunk = self._socket.recv(_CHUNK)
        except OSError as error:
            raise Closed("the connection was closed") from error
        if not chunk:
            raise Closed("the connection was closed")
        return chunk

    def _is_ready(self, event: int, deadline: float) -> bool:
        """Wait until the socket can be read or written; false if the deadline came first."""
        left = deadline - time.monotonic()
        return bool(self._polls[event].poll(None if left == math.inf else max(0.0, left) * 1000))


def to_frame(message: Any) -> bytes:
    """Return the frame of a message. Raises `ProtocolError` if it is too large."""
    body = _ENCODER.encode(message).encode()
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(body)} bytes is over the limit of {MAX_FRAME}")
    return _HEADER.pack(len(body)) + body


@contextmanager
def without_collection() -> Iterator[None]:
    """Suspend the garbage collector, so that other objects in this process cost no time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _parts(body: bytes) -> int:
    return sum(weight * body.count(sign) for sign, weight in _WEIGHTS.items())


def to_message(body: bytes) -> Any:
    """Return the message in a frame. Raises `ProtocolError` if it is no valid JSON."""
    # JSON has less than two parts a byte, so most frames need not be counted.
    if 2 * len(body) > MAX_PARTS and _parts(body) > MAX_PARTS:
        raise ProtocolError("too many items")
    try:
        text = body.decode()
        with without_collection():
            message, read = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not a message: {type(error).__name__}") from error
    if read != len(text):
        raise ProtocolError("more than a message")
    return message


# Values.


class _TooMany(Exception):
    """A collection has more items than may be sent."""


def encode(value: Any, refer: Callable[[Any], Any], most: int = MAX_ITEMS) -> Any:
    """Return the JSON form of a value.

    Numpy's scalars become plain numbers, and instances of subclasses of a number, a text or bytes
    become these; tuples, lists, sets and dicts are sent by value, whatever their own methods do.
    The types of `_WRITTEN` and numpy's arrays of numbers keep their type. For any other object
    `refer(value)` returns its reference, `{"object": number}`; so for an instance of a subclass of
    these that can be called, or equals only itself, and for a value that would be decoded as
    another one.

    Args:
        most: the greatest number of items, nested ones included. A longer collection is `{"large":
            number}`.
    """
    kind = type(value)
    if kind is float and math.isfinite(value):
        return value
    try:
        return _encoded(value, refer, iter(range(most)), 0)
    except _TooMany:
        return {"large": refer(value)["object"]}


def _encoded(value: Any, refer: Callable[[Any], Any], room: Iterator[int], depth: int) -> Any:
    kind: Any = type(value)
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is str:
        return value if len(value) <= MAX_TEXT else refer(value)
    if value is None or kind is bool:
        return value
    if kind is bytes or kind is bytearray:
        return {kind.__name__: value.hex()} if 2 * len(value) <= MAX_TEXT else refer(value)
    if kind is int:
        return value if value.bit_length() <= MAX_INT_BITS else refer(value)
    if kind in _TAGS:
        return _written(value, _TAGS[kind], room) or refer(value)
    form = _form(kind)
    if form is None:
        if not is_array(value):
            return refer(value)
        if not value.ndim and _DTYPE.fullmatch(value.dtype.str):
            return _encoded(value.item(), refer, room, depth)
        return _array_written(value, room) or refer(value)
    if not isinstance(form, str):
        return _encoded(form(value), refer, room, depth)
    if depth >= MAX_DEPTH:
        return refer(value)
    depth += 1
    base: Any = next(each for each in _COLLECTIONS[form] if isinstance(value, each))
    parts = []
    for item in base.items(value) if form == "dict" else base.__iter__(value):
        if next(room, None) is None:
            raise _TooMany
        if form == "dict":
            parts.append([_encoded(each, refer, room, depth) for each in item])
        else:
            parts.append(_encoded(item, refer, room, depth))
    if form in ("set", "frozenset"):  # Their order depends on their objects' addresses.
        parts.sort(key=repr)
    return {form: parts}


def _written(value: Any, tag: str, room: Iterator[int]) -> dict[str, str] | None:
    """Return the JSON form of a value that is sent as text; None if another value would arrive."""
    if type(getattr(value, "tzinfo", None)) not in (type(None), timezone):
        return None  # Another time zone's methods may be a student's.
    written = _WRITTEN[tag]
    try:
        text = written.write(value)
        if not re.fullmatch(written.pattern, text, re.ASCII):
            return None
        is_same = repr(written.read(text)) == repr(value)
    except Exception:  # A fraction's parts can be set to anything.
        return None
    if tag == "range":
        _take(room, len(value))
    return {tag: text} if is_same else None


def _take(room: Iterator[int], items: int) -> None:
    if items and next(islice(room, items - 1, None), None) is None:
        raise _TooMany


def is_array(value: Any) -> bool:
    """Return whether a value is an array of numpy's own class."""
    # If there is an array, numpy is imported already.
    return type(value) is getattr(sys.modules.get("numpy"), "ndarray", None)


def weight(shape: Iterable[int]) -> int:
    """Return how many numbers or, if there are none, empty lists an array has as nested lists."""
    return math.prod(max(1, size) for size in shape)


def _array_written(value: Any, room: Iterator[int]) -> dict[str, list[Any]] | None:
    """Return the JSON form of an array; None if it holds anything but numbers, or too many."""
    too_large = 2 * value.nbytes > MAX_TEXT or value.ndim > _MAX_DIMENSIONS
    if too_large or not _DTYPE.fullmatch(value.dtype.str):
        return None
    _take(room, weight(value.shape))
    return {"array": [value.dtype.str, list(value.shape), value.tobytes().hex()]}


@lru_cache(maxsize=1000)
def _form(kind: Any) -> str | Callable[[Any], Any] | None:
    """Return the encoder for a type: a collection's tag, a converter to a built-in number, text or
    bytes, or None for objects that are sent by reference."""
    if kind.__eq__ is object.__eq__ or any("__call__" in vars(each) for each in kind.__mro__):
        return (
            # Such a type, a model that is a list for example, is compared by identity and not by
            # its items.
            None
        )
    for form, kinds in _COLLECTIONS.items():
        if issubclass(kind, kinds):
            return form
    if issubclass(kind, str):
        return str.__str__
    if issubclass(kind, bytes):
        return lambda value: bytes(memoryview(value))
    if issubclass(kind, bytearray):
        return lambda value: bytearray(memoryview(value))
    if issubclass(kind, float):
        return float.__float__
    if issubclass(kind, int):
        return int.__int__
    if kind.__module__ != "numpy":
        return complex.__complex__ if issubclass(kind, complex) else None
    if kind.__name__ in ("bool", "bool_"):
        return bool
    return next((each for base, each in _SCALARS.items() if issubclass(kind, base)), None)


_SCALARS: dict[type, Callable[[Any], Any]] = {
    numbers.Integral: int,
    numbers.Real: float,
    numbers.Complex: complex,
}


class Budget:
    """Counts down the items of collections that several values may have together."""

    def __init__(self, items: int = MAX_ITEMS) -> None:
        self.items = items

    def take(self, items: int) -> None:
        """Subtract items. Raises `ProtocolError` if fewer are left."""
        self.items -= items
        if self.items < 0:
            raise ProtocolError("too many items together")


def decode(message: Any, resolve: Callable[[str, int], Any], budget: Budget | None = None) -> Any:
    """Return the value of a JSON message.

    Args:
        resolve: returns the object of a reference, such as `("object", 3)`.
        budget: the items left, if the value shares them with others.

    Raises `ProtocolError` if `encode` never produces this.
    """
    kind = type(message)
    if kind is float or kind is bool or message is None:
        return message
    return _decoded(message, resolve, budget or Budget(), 0)


def _decoded(message: Any, resolve: Callable[[str, int], Any], budget: Budget, depth: int) -> Any:
    kind = type(message)
    if kind is float or kind is bool or message is None:
        return message
    if kind is int and message.bit_length() <= MAX_INT_BITS:
        return message
    if kind is str and len(message) <= MAX_TEXT:
        return message
    if kind is not dict or len(message) != 1 or depth > MAX_DEPTH:
        raise ProtocolError("not a value")
    ((tag, body),) = message.items()
    if type(body) is int:
        # A collection that is too long to be sent is never part of one that is sent.
        if not 0 <= body < 1 << 31 or (tag == "large" and depth):
            raise ProtocolError("not a reference")
        return resolve(tag, body)
    if tag == "float" and body in ("nan", "inf", "-inf"):
        return float(body)
    if tag in _BYTES:
        return _BYTES[tag](_bytes(body))
    if tag in _WRITTEN:
        return _read(_WRITTEN[tag], body, budget)
    if tag == "array":
        return _array(body, budget)
    if type(body) is not list or len(body) > MAX_ITEMS or tag not in _COLLECTIONS:
        raise ProtocolError("not a value")
    depth += 1
    budget.take(1 + len(body))
    if tag in ("list", "tuple"):
        items = [_decoded(item, resolve, budget, depth) for item in body]
        return items if tag == "list" else tuple(items)
    if tag in ("set", "frozenset"):
        keys = _keys(body, resolve, budget, depth)
        return set(keys) if tag == "set" else frozenset(keys)
    if not all(type(pair) is list and len(pair) == 2 for pair in body):
        raise ProtocolError("not pairs")
    keys = _keys([key for key, _ in body], resolve, budget, depth)
    values = [_decoded(value, resolve, budget, depth) for _, value in body]
    return dict(zip(keys, values, strict=True))


def _bytes(body: Any) -> bytes:
    if type(body) is not str or len(body) > MAX_TEXT or not _HEX.fullmatch(body):
        raise ProtocolError("not bytes")
    return bytes.fromhex(body)


def _read(written: _Written, body: Any, budget: Budget) -> Any:
    """Return the value of a text."""
    if type(body) is not str or not re.fullmatch(written.pattern, body, re.ASCII):
        raise ProtocolError(f"not a {written.kind.__name__}")
    try:
        value = written.read(body)
    except (ArithmeticError, ValueError) as error:
        raise ProtocolError(f"not a {written.kind.__name__}") from error
    if written.write(value) != body:
        raise ProtocolError(f"not how a {written.kind.__name__} is written")
    if written.kind is range:
        budget.take(len(value))
    return value


def _array(body: Any, budget: Budget) -> Any:
    """Return the array of a dtype, a shape and the bytes of its numbers, row by row."""
    if type(body) is not list or len(body) != 3:
        raise ProtocolError("not an array")
    dtype, shape, content = *body[:2], _bytes(body[2])
    if type(dtype) is not str or not _DTYPE.fullmatch(dtype):
        raise ProtocolError("not the dtype of an array of numbers")
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise ProtocolError("not a shape")
    if not all(type(size) is int and 0 <= size <= MAX_ITEMS for size in shape):
        raise ProtocolError("not a shape")
    budget.take(1 + weight(shape))
    if math.prod(shape) * int(dtype[2:]) != len(content) or (
        dtype == "|b1" and not set(content) <= {0, 1}
    ):
        raise ProtocolError("not the numbers of this array")
    try:
        numpy = import_module("numpy")
    except ImportError as error:
        raise ProtocolError(
            "an array needs numpy: add it to student_code.packages in course.toml"
        ) from error
    try:
        return numpy.ndarray(shape, numpy.dtype(dtype), bytearray(content))
    except ValueError as error:  # Beside a size of 0, the others may be too large.
        raise ProtocolError("not a shape") from error


def _keys(
    body: list[Any], resolve: Callable[[str, int], Any], budget: Budget, depth: int
) -> list[Any]:
    """Return the keys of a dict, or the items of a set, which can be hashed."""
    keys = [_decoded(item, resolve, budget, depth) for item in body]
    try:
        hashes = Counter(map(hash, keys))
    except TypeError as error:
        raise ProtocolError("not keys") from error
    if max(hashes.values(), default=0) > MAX_SHARED:
        raise ProtocolError("too many keys of one hash")
    return keys
