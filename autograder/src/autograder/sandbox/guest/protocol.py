"""Defines the messages that cross the sandbox boundary: length-prefixed JSON frames of plain
values.

A frame is four bytes of length, big-endian, then UTF-8 JSON. The grader sends requests, and the
student process answers each request with one reply. Neither side unpickles or evaluates a message:
from a reply the grader builds only numbers, texts, dates, truth values, None, arrays of numbers and
collections of these, with exactly these types. Every other object stays in its process, and a
message refers to it by a number.
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
from typing import Any, NamedTuple

MAX_FRAME = 8 << 20
MAX_PARTS = 1_000_000
"""Greatest number of lists, objects and items in a frame: each of them takes far more bytes of
memory than it has in the frame."""
_WEIGHTS = {b"{": 3, b"[": 1, b",": 1, b":": 1}
"""By character: the number of parts, as of `MAX_PARTS`, that it counts for: a JSON object takes as
much memory as several other parts."""
MAX_DEPTH = 20
MAX_ITEMS = 100_000
MAX_SHARED = 100
"""Greatest number of keys of a dict, or items of a set, with the same hash: Python compares each of
them with all before it."""
MAX_INT_BITS = 14_000
"""Greatest bit length of an integer. Python converts at most 4,300 digits to or from text, which
are more bits than this."""
MAX_TEXT = 1_000_000
FEW_ITEMS = 1_000
"""Greatest number of items, including those of nested collections, of a collection that a reply
holds without a request for it."""

_HEADER = struct.Struct(">I")
_HEX = re.compile("(?:[0-9a-f]{2})*")
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c8|<c16")
_MAX_DIMENSIONS = 32
_CHUNK = 1 << 14


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class ProtocolError(Exception):
    """The other side sent something outside the protocol, or closed the connection."""


class DeadlineExceeded(ProtocolError):
    """The deadline passed before a whole frame was sent or received."""


class ConnectionClosed(ProtocolError):
    """The other side has closed the connection."""


# Frames.

Later = Callable[[], float | None]
"""A function that is called at a deadline, and returns the next one; None if the time is up."""


class Connection:
    """One end of the connection across the sandbox boundary.

    Deadlines are times of `time.monotonic`, in seconds.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived = bytearray()
        self.room: float = math.inf
        """Number of bytes that may still be received; a longer message is an error."""
        self._polls = {event: select.poll() for event in (select.POLLIN, select.POLLOUT)}
        for event, waiting in self._polls.items():
            waiting.register(end, event)

    def close(self) -> None:
        self._socket.close()

    def send(self, message: Any, deadline: float | None = None, later: Later | None = None) -> None:
        """Send one message.

        Args:
            deadline: the time until which the message has to be sent; None to wait for ever.
            later: called at the deadline. It returns another deadline, or None if the time is up.

        Raises:
            DeadlineExceeded: the time was up before the message was sent.
            ConnectionClosed: the other side has closed the connection.
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
                    self._wait(select.POLLOUT, deadline, later)
        except OSError as error:
            raise ConnectionClosed("the connection was closed") from error

    def receive(self, deadline: float | None = None, later: Later | None = None) -> Any:
        """Receive one message. The arguments are those of `send`.

        Raises:
            DeadlineExceeded: the time was up before the message was received.
            ConnectionClosed: the other side has closed the connection.
            ProtocolError: the frame is too large, or is not valid JSON.
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

    def _read(self, deadline: float | None, later: Later | None) -> bytes:
        try:
            if deadline is not None:
                self._wait(select.POLLIN, deadline, later)
            chunk = self._socket.recv(_CHUNK)
        except OSError as error:
            raise ConnectionClosed("the connection was closed") from error
        if not chunk:
            raise ConnectionClosed("the connection was closed")
        return chunk

    def _wait(self, event: int, deadline: float | None, later: Later | None) -> None:
        while deadline is not None and not self._is_ready(event, deadline):
            deadline = later() if later is not None else None
            # The socket may have become ready while `later` ran.
            if deadline is None and not self._is_ready(event, 0.0):
                raise DeadlineExceeded("the time was up before the message was through")

    def _is_ready(self, event: int, deadline: float) -> bool:
        """Wait until the socket can be read or written, and return True; return False at the
        deadline."""
        left = deadline - time.monotonic()
        return bool(self._polls[event].poll(None if left == math.inf else max(0.0, left) * 1000))


def to_frame(message: Any) -> bytes:
    """Return the frame of a message. Raises `ProtocolError` if the frame is too large."""
    body = _ENCODER.encode(message).encode()
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(body)} bytes is over the limit of {MAX_FRAME}")
    return _HEADER.pack(len(body)) + body


@contextmanager
def without_collection() -> Iterator[None]:
    """Suspend the garbage collector, so that no time is spent on the other objects of this
    process."""
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
    """Return the message of a frame, given without its length. Raises `ProtocolError` if it is not
    valid JSON or has too many parts."""
    # JSON has less than two parts for each byte, so the parts of most frames need not be counted.
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


class ItemBudget:
    """The number of items that the collections in several values may still have, in total."""

    def __init__(self, items: int = MAX_ITEMS) -> None:
        self.items = items

    def take(self, items: int) -> None:
        """Subtract a number of items. Raises `ProtocolError` if fewer items are left."""
        self.items -= items
        if self.items < 0:
            raise ProtocolError("too many items together")


def encode(value: Any, refer: Callable[[Any], Any], most: int = MAX_ITEMS) -> Any:
    """Return the JSON form of a value.

    - Numpy's scalars become plain numbers. An instance of a subclass of a number, a text, bytes or
      a collection becomes an instance of the built-in class, whatever its own methods do.
    - The other types in `_CODECS`, and numpy's arrays of numbers, keep their type.
    - Any other object is sent as a reference. So are an instance of such a subclass that can be
      called, or that compares by identity, and a value that would be decoded as another one.

    Args:
        refer: a function that returns the reference of an object, `{"object": number}`.
        most: the greatest number of items of a collection, including those of nested collections.
            In place of a longer collection, `{"large": number}` is returned.
    """
    if type(value) is float and math.isfinite(value):
        return value
    try:
        return _Encoder(refer, ItemBudget(most)).encode(value, 0)
    except ProtocolError:
        return {"large": refer(value)["object"]}


def decode(
    message: Any, resolve: Callable[[str, int], Any], budget: ItemBudget | None = None
) -> Any:
    """Return the value of a JSON message.

    Args:
        resolve: a function that returns the object of a reference, from its tag and number, such as
            "object" and 3.
        budget: the number of items that are left, if several values share it.

    Raises `ProtocolError` if `encode` never produces such a message.
    """
    return _Decoder(resolve, budget or ItemBudget()).decode(message, 0)


class _Encoder(NamedTuple):
    refer: Callable[[Any], Any]
    budget: ItemBudget

    def encode(self, value: Any, depth: int) -> Any:
        kind: Any = type(value)
        if (
            value is None
            or kind is bool
            or (kind is float and math.isfinite(value))
            or (kind is int and value.bit_length() <= MAX_INT_BITS)
            or (kind is str and len(value) <= MAX_TEXT)
        ):
            return value
        way = _way_of(kind)
        if isinstance(way, _Codec):
            message = way.encode(value, self, depth)
            return self.refer(value) if message is None else message
        return self.refer(value) if way is None else self.encode(way(value), depth)


class _Decoder(NamedTuple):
    resolve: Callable[[str, int], Any]
    budget: ItemBudget

    def decode(self, message: Any, depth: int) -> Any:
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
            # A collection that is too long to be sent cannot be part of one that is sent.
            if not 0 <= body < 1 << 31 or (tag == "large" and depth):
                raise ProtocolError("not a reference")
            return self.resolve(tag, body)
        if tag not in _BY_TAG:
            raise ProtocolError("not a value")
        return _BY_TAG[tag].decode(body, self, depth)


class _Codec(NamedTuple):
    """The way in which the values of a type are sent.

    Attributes:
        tag: the name of the type in a message.
        encode: a function that returns `{tag: body}`, or None if the value is sent by reference.
        decode: a function that returns the value of a body. It raises `ProtocolError` if `encode`
            never produces such a body.
    """

    tag: str
    encode: Callable[[Any, _Encoder, int], Any]
    decode: Callable[[Any, _Decoder, int], Any]


def _as_bytes(kind: Any) -> _Codec:
    """Return the codec of `bytes` or `bytearray`."""
    tag = kind.__name__

    def encode(value: Any, _: _Encoder, __: int) -> Any:
        content = memoryview(value)
        return {tag: content.hex()} if 2 * content.nbytes <= MAX_TEXT else None

    return _Codec(tag, encode, lambda body, _, __: kind(_bytes(body)))


def _bytes(body: Any) -> bytes:
    if type(body) is not str or len(body) > MAX_TEXT or not _HEX.fullmatch(body):
        raise ProtocolError("not bytes")
    return bytes.fromhex(body)


def _as_text(
    kind: Any, pattern: str, read: Callable[[str], Any], write: Callable[[Any], str]
) -> _Codec:
    """Return the codec of a type whose values are sent as text.

    Args:
        pattern: a regular expression for the whole text. It bounds the time and memory that `read`
            takes.
        read: a function that converts the text to the value.
        write: a function that converts the value to the same text.
    """
    tag, form = kind.__name__.lower(), re.compile(pattern, re.ASCII)

    def encode(value: Any, encoder: _Encoder, _: int) -> Any:
        if type(getattr(value, "tzinfo", None)) not in (type(None), timezone):
            return None  # The methods of another class of time zones may be the student's.
        try:
            text = write(value)
            if not form.fullmatch(text) or repr(read(text)) != repr(value):
                return None
        except Exception:  # Student code can set the parts of a fraction to any object.
            return None
        if kind is range:
            encoder.budget.take(len(value))
        return {tag: text}

    def decode(body: Any, decoder: _Decoder, _: int) -> Any:
        if type(body) is not str or not form.fullmatch(body):
            raise ProtocolError(f"not a {tag}")
        try:
            value = read(body)
        except (ArithmeticError, ValueError) as error:
            raise ProtocolError(f"not a {tag}") from error
        if write(value) != body:
            raise ProtocolError(f"not how a {tag} is written")
        if kind is range:
            decoder.budget.take(len(value))
        return value

    return _Codec(tag, encode, decode)


def _as_items(kind: Any, tag: str = "") -> _Codec:
    """Return the codec of a built-in collection class, which is also used for instances of its
    subclasses.

    Args:
        tag: the tag in messages; by default the name of the class.
    """
    tag, is_set = tag or kind.__name__, kind in (set, frozenset)

    def encode(value: Any, encoder: _Encoder, depth: int) -> Any:
        if depth >= MAX_DEPTH:
            return None
        parts: list[Any] = []
        # The methods of the built-in class are called, since those of a subclass may be the
        # student's.
        for item in kind.items(value) if kind is dict else kind.__iter__(value):
            encoder.budget.take(1)
            if kind is dict:
                parts.append([encoder.encode(each, depth + 1) for each in item])
            else:
                parts.append(encoder.encode(item, depth + 1))
        if is_set:  # The order of a set's items may depend on the addresses of objects.
            parts.sort(key=repr)
        return {tag: parts}

    def decode(body: Any, decoder: _Decoder, depth: int) -> Any:
        if type(body) is not list or len(body) > MAX_ITEMS:
            raise ProtocolError("not a value")
        decoder.budget.take(1 + len(body))
        if kind is not dict:
            items = [decoder.decode(item, depth + 1) for item in body]
            return kind(_keys(items) if is_set else items)
        if not all(type(pair) is list and len(pair) == 2 for pair in body):
            raise ProtocolError("not pairs")
        keys = _keys([decoder.decode(key, depth + 1) for key, _ in body])
        return dict(zip(keys, [decoder.decode(item, depth + 1) for _, item in body], strict=True))

    return _Codec(tag, encode, decode)


def _keys(keys: list[Any]) -> list[Any]:
    """Return these keys of a dict or items of a set. Raises `ProtocolError` if one is not hashable,
    or if too many of them have the same hash."""
    try:
        hashes = Counter(map(hash, keys))
    except TypeError as error:
        raise ProtocolError("not keys") from error
    if max(hashes.values(), default=0) > MAX_SHARED:
        raise ProtocolError("too many keys of one hash")
    return keys


def is_array(value: Any) -> bool:
    """Return whether a value is a `numpy.ndarray`, and not an instance of a subclass."""
    kind: Any = type(value)
    return _way_of(kind) is _ARRAY


def weight(shape: Iterable[int]) -> int:
    """Return the number of items that an array of this shape counts for: that of its numbers, with
    sizes of 0 counted as 1, since nested lists without numbers also take memory."""
    return math.prod(max(1, size) for size in shape)


def _encode_array(value: Any, encoder: _Encoder, depth: int) -> Any:
    too_large = 2 * value.nbytes > MAX_TEXT or value.ndim > _MAX_DIMENSIONS
    if too_large or not _DTYPE.fullmatch(value.dtype.str):
        return None
    if not value.ndim:
        return encoder.encode(value.item(), depth)
    encoder.budget.take(weight(value.shape))
    return {"array": [value.dtype.str, list(value.shape), value.tobytes().hex()]}


def _decode_array(body: Any, decoder: _Decoder, _: int) -> Any:
    """Return the array of a body: its dtype, its shape, and the bytes of its numbers in C order as
    hexadecimal text."""
    if type(body) is not list or len(body) != 3:
        raise ProtocolError("not an array")
    dtype, shape, content = *body[:2], _bytes(body[2])
    if type(dtype) is not str or not _DTYPE.fullmatch(dtype):
        raise ProtocolError("not the dtype of an array of numbers")
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise ProtocolError("not a shape")
    if not all(type(size) is int and 0 <= size <= MAX_ITEMS for size in shape):
        raise ProtocolError("not a shape")
    decoder.budget.take(1 + weight(shape))
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
    except ValueError as error:  # If one size is 0, the others may be too large for numpy.
        raise ProtocolError("not a shape") from error


def _decode_float(body: Any, _: _Decoder, __: int) -> float:
    if body not in ("nan", "inf", "-inf"):
        raise ProtocolError("not a value")
    return float(body)


_OFFSET = r"([+-]\d\d:\d\d(:\d\d(\.\d{6})?)?)?"
_TIME = r"\d\d:\d\d:\d\d(\.\d{6})?" + _OFFSET
_DAY = r"\d{4}-\d\d-\d\d"
_MICROSECOND = timedelta(microseconds=1)
_BASES: dict[Any, _Codec] = {
    tuple: _as_items(tuple),
    deque: _as_items(deque, "list"),
    list: _as_items(list),
    set: _as_items(set),
    frozenset: _as_items(frozenset),
    dict: _as_items(dict),
    bytes: _as_bytes(bytes),
    bytearray: _as_bytes(bytearray),
}
"""Codecs of the types whose subclasses are sent, too: as instances of the built-in class."""
_CODECS: dict[Any, _Codec] = _BASES | {
    float: _Codec("float", lambda value, _, __: {"float": repr(value)}, _decode_float),
    complex: _as_text(complex, r"[-+0-9.einfaj()]{2,60}", complex, repr),
    Fraction: _as_text(Fraction, r"-?\d{1,1000}(/\d{1,1000})?", Fraction, str),
    Decimal: _as_text(
        Decimal, r"-?(\d{1,1000}(\.\d{1,1000})?(E[+-]\d{1,3})?|Infinity|NaN)", Decimal, str
    ),
    date: _as_text(date, _DAY, date.fromisoformat, date.isoformat),
    time_of_day: _as_text(time_of_day, _TIME, time_of_day.fromisoformat, time_of_day.isoformat),
    datetime: _as_text(datetime, f"{_DAY}T{_TIME}", datetime.fromisoformat, datetime.isoformat),
    timedelta: _as_text(
        timedelta,
        r"-?\d{1,20}",
        lambda text: timedelta(microseconds=int(text)),
        lambda value: str(value // _MICROSECOND),
    ),
    range: _as_text(
        range,
        r"-?\d{1,15}( -?\d{1,15}){2}",
        lambda text: range(*map(int, text.split())),
        lambda value: f"{value.start} {value.stop} {value.step}",
    ),
}
_ARRAY = _Codec("array", _encode_array, _decode_array)
_BY_TAG = {codec.tag: codec for codec in (*_CODECS.values(), _ARRAY)}
_PLAIN: dict[type, Any] = {
    str: str.__str__, float: float.__float__, int: int.__int__, complex: complex.__complex__
}  # fmt: skip
_SCALARS: dict[type, Any] = {numbers.Integral: int, numbers.Real: float, numbers.Complex: complex}


@lru_cache(maxsize=1000)
def _way_of(kind: Any) -> _Codec | Callable[[Any], Any] | None:
    """Return how the values of a type are sent: a codec; or a function that converts a value to a
    built-in number or text; or None if they are sent by reference."""
    if kind in _CODECS:
        return _CODECS[kind]
    # An array can exist only if numpy is imported already.
    if kind is getattr(sys.modules.get("numpy"), "ndarray", None):
        return _ARRAY
    if kind.__eq__ is object.__eq__ or any("__call__" in vars(each) for each in kind.__mro__):
        # Instances of such a type, for example a callable object that is also a list, are
        # compared by identity and not by their items.
        return None
    ways: dict[type, Any] = _BASES | _PLAIN
    if kind.__module__ == "numpy":
        if kind.__name__ in ("bool", "bool_"):
            return bool
        ways |= _SCALARS
    # A value of a built-in class comes here only if it is too large to be sent.
    return next(
        (way for base, way in ways.items() if issubclass(kind, base) and kind is not base), None
    )
