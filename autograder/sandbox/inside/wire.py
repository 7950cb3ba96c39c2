"""The language spoken across the wall: length-prefixed JSON frames of plain values.

A frame is four bytes of length, big-endian, then UTF-8 JSON. Only exact primitives travel; every
other object stays where it is and is named by an opaque handle. Nothing is pickled or evaluated.
"""

from __future__ import annotations

import json
import math
import numbers
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

MAX_FRAME = 16 * 1024 * 1024
MAX_PARTS = 2_000_000
"""How many lists, objects and items a frame may hold: each takes far more memory than room."""
MAX_DEPTH = 20
MAX_ITEMS = 200_000
MAX_INT_BITS = 256
MAX_TEXT = 1_000_000

_HEADER = struct.Struct(">I")
_CHUNK = 1 << 14
_AT_ONCE = socket.MSG_DONTWAIT
_COLLECTIONS: dict[str, type | tuple[type, ...]] = {
    "tuple": tuple,
    "list": (list, deque),
    "set": (set, frozenset),
    "dict": dict,
}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class WireError(Exception):
    """The other side sent something outside the protocol, or closed the connection."""


class TimeIsUp(WireError):
    """The deadline passed before a whole frame was through."""


class Closed(WireError):
    """The other side has closed the connection."""


class Connection:
    """One end of the way across the wall. Deadlines are in seconds of `time.monotonic`."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived = bytearray()
        # One for all that comes: the system would be asked for each, and to take it back.
        self._chunk = memoryview(bytearray(_CHUNK))
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
            WireError: the message is too large.
        """
        self.send_frame(to_frame(message), deadline)

    def send_frame(self, frame: bytes, deadline: float | None = None) -> None:
        """Send what `to_frame` made of a message. Raises as `send` does."""
        try:
            if deadline is None:
                self._socket.sendall(frame)
                return
            sent = self._send_now(frame)
            while sent < len(frame):
                if not self._is_ready(select.POLLOUT, deadline):
                    raise TimeIsUp("the message was not taken in time")
                sent += self._send_now(memoryview(frame)[sent:])
        except OSError as error:
            raise Closed("the connection was closed") from error

    def _send_now(self, part: bytes | memoryview) -> int:
        """Send as much as there is room for; how many bytes that was."""
        try:
            return self._socket.send(part, _AT_ONCE)
        except BlockingIOError:
            return 0

    def receive(
        self, deadline: float | None = None, later: Callable[[], float | None] | None = None
    ) -> Any:
        """Read one message.

        Args:
            later: asked at the deadline for another one; None from it means that time is up.

        Raises:
            TimeIsUp: the deadline passed first.
            Closed: the other side is gone.
            WireError: the frame is not the JSON it must be.
        """
        return to_message(self.receive_body(deadline, later))

    def receive_body(
        self, deadline: float | None = None, later: Callable[[], float | None] | None = None
    ) -> bytes:
        """Read one message, which `to_message` has still to be made of. Raises as `receive`."""
        arrived = self._arrived
        if not arrived:
            chunk = self._read(deadline, later)
            # Most often a message comes whole, and alone.
            if len(chunk) == _HEADER.size + int.from_bytes(chunk[: _HEADER.size]):
                return bytes(chunk[_HEADER.size :])
            arrived += chunk
        while len(arrived) < _HEADER.size:
            arrived += self._read(deadline, later)
        (length,) = _HEADER.unpack_from(arrived)
        if length > MAX_FRAME:
            raise WireError(f"a message of {length} bytes is over the limit of {MAX_FRAME}")
        end = _HEADER.size + length
        while len(arrived) < end:
            arrived += self._read(deadline, later)
        body = bytes(arrived[_HEADER.size : end])
        del arrived[:end]
        return body

    def _read(self, deadline: float | None, later: Callable[[], float | None] | None) -> memoryview:
        try:
            while deadline is not None and not self._is_ready(select.POLLIN, deadline):
                deadline = later() if later is not None else None
                if deadline is None:
                    raise TimeIsUp("no answer in time")
            count = self._socket.recv_into(self._chunk)
        except OSError as error:
            raise Closed("the connection was closed") from error
        if count == 0:
            raise Closed("the connection was closed")
        return self._chunk[:count]

    def _is_ready(self, event: int, deadline: float) -> bool:
        """Wait until the socket can be read or written; false where the deadline came first."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        return bool(self._polls[event].poll(left * 1000))


def to_frame(message: Any) -> bytes:
    """A message as it travels. Raises `WireError` where it is too large."""
    body = _ENCODER.encode(message).encode()
    if len(body) > MAX_FRAME:
        raise WireError(f"a message of {len(body)} bytes is over the limit of {MAX_FRAME}")
    return _HEADER.pack(len(body)) + body


def to_message(body: bytes) -> Any:
    """The message in what was received. Raises `WireError` where it is not the JSON it must be."""
    if len(body) > MAX_PARTS and sum(map(body.count, (b"{", b"[", b","))) > MAX_PARTS:
        raise WireError("too many items")
    try:
        text = body.decode()
        message, read = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from error
    if read != len(text):
        raise WireError("more than a message")
    return message


def encode(value: Any, handle: Callable[[Any], dict[str, int]], depth: int = 0) -> Any:
    """The JSON form of `value`.

    Numbers of any kind (numpy's too, and subclasses of float) become plain ones, and so does text;
    tuples, lists, sets and dicts travel by value; for anything else `handle(value)` gives the
    opaque name, also for what is built on these and can be called, or equals only itself.
    """
    kind: Any = type(value)
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is str:
        return value if len(value) <= MAX_TEXT else handle(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() <= MAX_INT_BITS else handle(value)
    form = _form(kind)
    if form is None:
        return handle(value)
    if not isinstance(form, str):
        return encode(form(value), handle, depth)
    if depth >= MAX_DEPTH or len(value) > MAX_ITEMS:
        return handle(value)
    depth += 1
    if form == "dict":
        pairs = value.items()
        return {form: [[encode(k, handle, depth), encode(v, handle, depth)] for k, v in pairs]}
    items = [encode(item, handle, depth) for item in value]
    if form == "set":  # The order in it comes from where the objects happen to lie.
        items.sort(key=repr)
    return {form: items}


@lru_cache(maxsize=1000)
def _form(kind: Any) -> str | Callable[[Any], bool | int | float | str] | None:
    """How values of a kind travel: the name of a collection, what makes a built-in number or text
    of a numpy scalar or of a subclass's object, or None where an opaque name stands for them."""
    if kind.__eq__ is object.__eq__ or any("__call__" in vars(each) for each in kind.__mro__):
        return None  # It is itself and not what it holds, such as a network that is a list.
    for form, kinds in _COLLECTIONS.items():
        if issubclass(kind, kinds):
            return form
    if issubclass(kind, str):
        return str.__str__
    if issubclass(kind, float):
        return float.__float__
    if issubclass(kind, int):
        return int.__int__
    if kind.__name__ == "bool" and kind.__module__ == "numpy":
        return bool
    if issubclass(kind, numbers.Integral):
        return int
    return float if issubclass(kind, numbers.Real) else None


def decode(message: Any, resolve: Callable[[str, int], Any], depth: int = 0) -> Any:
    """The value that the JSON `message` stands for; `resolve(kind, number)` finds objects.

    Raises `WireError` for anything that `encode` does not produce.
    """
    kind = type(message)
    if kind is float or kind is bool or message is None:
        return message
    if kind is int and message.bit_length() <= MAX_INT_BITS:
        return message
    if kind is str and len(message) <= MAX_TEXT:
        return message
    if kind is not dict or len(message) != 1 or depth > MAX_DEPTH:
        raise WireError("not a value")
    ((tag, body),) = message.items()
    if type(body) is int and tag in ("object", "function", "lent"):
        return resolve(tag, body)
    if tag == "float" and body in ("nan", "inf", "-inf"):
        return float(body)
    if type(body) is list and len(body) > MAX_ITEMS:
        raise WireError("too many items")
    if tag in ("tuple", "list", "set") and type(body) is list:
        depth += 1
        items = [item if type(item) is float else decode(item, resolve, depth) for item in body]
        if tag == "set":
            return _hashable_set(items)
        return tuple(items) if tag == "tuple" else items
    if tag == "dict" and type(body) is list:
        return {
            _hashable(decode(key, resolve, depth + 1)): decode(item, resolve, depth + 1)
            for key, item in (_pair(entry) for entry in body)
        }
    raise WireError("not a value")


def _pair(entry: Any) -> tuple[Any, Any]:
    if type(entry) is not list or len(entry) != 2:
        raise WireError("not a pair")
    return entry[0], entry[1]


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise WireError("not a key") from error
    return value


def _hashable_set(items: list[Any]) -> set[Any]:
    return {_hashable(item) for item in items}
