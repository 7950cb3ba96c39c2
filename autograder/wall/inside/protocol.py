"""Defines the messages that cross the wall: length-prefixed JSON frames of plain values.

A frame is four bytes of length, big-endian, then UTF-8 JSON. The grader sends requests, the
student's process answers each with one reply, and neither pickles or evaluates a message: of a
reply the grader keeps numbers, texts, truth values, None and collections of these, rebuilt as exact
built-in types. Every other object stays in its process and is named by a number.
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
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

MAX_FRAME = 8 << 20
MAX_PARTS = 1_000_000
"""Greatest number of lists, objects and items in a frame: each takes far more memory than bytes of
the frame."""
MAX_DEPTH = 20
MAX_ITEMS = 100_000
MAX_KEYS = 2_000
"""Greatest number of keys and items of sets in a reply: with equal hashes they take quadratic time
to build."""
MAX_KEY = 1 << 53
"""Whole numbers below this have different hashes; larger ones can be made to share one."""
MAX_INT_BITS = 4096
MAX_TEXT = 1_000_000
FEW_ITEMS = 1_000
"""Greatest number of items of a collection, nested ones included, that is sent without a
request."""

_HEADER = struct.Struct(">I")
_HEX = re.compile("(?:[0-9a-f]{2})*")
_CHUNK = 1 << 14
_COLLECTIONS: dict[str, tuple[type, ...]] = {
    "tuple": (tuple,),
    "list": (list, deque),
    "set": (set, frozenset),
    "dict": (dict,),
}


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


def to_message(body: bytes) -> Any:
    """Return the message in a frame. Raises `ProtocolError` if it is no valid JSON."""
    if len(body) > MAX_PARTS and sum(map(body.count, (b"{", b"[", b","))) > MAX_PARTS:
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

    Numbers of any kind (numpy's too, and subclasses of float) become plain ones, and so do text and
    bytes; tuples, lists, sets and dicts are sent by value, whatever their own methods do. For any
    other object `refer(value)` returns its reference, `{"object": number}`; so for an instance of a
    subclass of these that can be called, or equals only itself.

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
    if kind is bytes:
        return {"bytes": value.hex()} if 2 * len(value) <= MAX_TEXT else refer(value)
    if kind is int:
        return value if value.bit_length() <= MAX_INT_BITS else refer(value)
    form = _form(kind)
    if form is None:
        return refer(value)
    if not isinstance(form, str):
        return _encoded(form(value), refer, room, depth)
    if depth >= MAX_DEPTH:
        return refer(value)
    depth += 1
    base: Any = next(each for each in _COLLECTIONS[form] if isinstance(value, each))
    if form in ("dict", "set") and not _has_safe_keys(base.__iter__(value)):
        return refer(value)
    parts = []
    for item in base.items(value) if form == "dict" else base.__iter__(value):
        if next(room, None) is None:
            raise _TooMany
        if form == "dict":
            parts.append([_encoded(each, refer, room, depth) for each in item])
        else:
            parts.append(_encoded(item, refer, room, depth))
    if form == "set":  # The order of a set depends on the addresses of its objects.
        parts.sort(key=repr)
    return {form: parts}


def _has_safe_keys(keys: Iterator[Any]) -> bool:
    """Return whether `decode` accepts these keys: not too many, and no huge number among them."""
    return all(count <= MAX_KEYS and is_safe_key(key) for count, key in enumerate(keys, 1))


def is_safe_key(key: Any) -> bool:
    """Return whether a key is without numbers so large that they can be made to share a hash."""
    if isinstance(key, tuple):
        return all(map(is_safe_key, key))
    return not isinstance(key, int) or abs(key) < MAX_KEY


@lru_cache(maxsize=1000)
def _form(kind: Any) -> str | Callable[[Any], bool | int | float | str | bytes] | None:
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
    if issubclass(kind, (bytes, bytearray)):
        return _as_bytes
    if issubclass(kind, float):
        return float.__float__
    if issubclass(kind, int):
        return int.__int__
    if kind.__name__ in ("bool", "bool_") and kind.__module__ == "numpy":
        return bool
    if issubclass(kind, numbers.Integral):
        return int
    return float if issubclass(kind, numbers.Real) else None


def _as_bytes(value: bytes | bytearray) -> bytes:
    return bytes(memoryview(value))


class Budget:
    """The number of items of collections, and of keys among them, left for several values
    together."""

    def __init__(self, items: int = MAX_ITEMS, keys: int = MAX_KEYS) -> None:
        self.items = items
        self.keys = keys

    def take(self, items: int, keys: int = 0) -> None:
        """Subtract items and keys. Raises `ProtocolError` if fewer are left."""
        self.items -= items
        self.keys -= keys
        if self.items < 0 or self.keys < 0:
            raise ProtocolError("too many items or keys together")


def decode(message: Any, resolve: Callable[[str, int], Any], budget: Budget | None = None) -> Any:
    """Return the value of a JSON message.

    Args:
        resolve: returns the object of a reference, such as `("object", 3)`.
        budget: the items left, if the value shares them with others.

    Raises:
        ProtocolError: `encode` never produces this.
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
    if tag == "bytes":
        return _bytes(body)
    if type(body) is not list or len(body) > MAX_ITEMS or tag not in _COLLECTIONS:
        raise ProtocolError("not a value")
    depth += 1
    budget.take(1 + len(body), len(body) if tag in ("set", "dict") else 0)
    if tag in ("list", "tuple"):
        items = [_decoded(item, resolve, budget, depth) for item in body]
        return items if tag == "list" else tuple(items)
    if tag == "set":
        return {_key(item, resolve, budget, depth) for item in body}
    if not all(type(pair) is list and len(pair) == 2 for pair in body):
        raise ProtocolError("not pairs")
    return {_key(k, resolve, budget, depth): _decoded(v, resolve, budget, depth) for k, v in body}


def _bytes(body: Any) -> bytes:
    if type(body) is not str or len(body) > MAX_TEXT or not _HEX.fullmatch(body):
        raise ProtocolError("not bytes")
    return bytes.fromhex(body)


def _key(message: Any, resolve: Callable[[str, int], Any], budget: Budget, depth: int) -> Any:
    """Return a key, or an item of a set, which can be hashed."""
    value = _decoded(message, resolve, budget, depth)
    if not is_safe_key(value):
        raise ProtocolError("a number that is too large to be a key")
    try:
        hash(value)
    except TypeError as error:
        raise ProtocolError("not a key") from error
    return value
