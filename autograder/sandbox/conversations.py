"""What was said before: where a student process answers as another one did, the rest is known.

A hidden test is a conversation. It asks, the process answers or calls back, and what the test says
next, and its verdict in the end, follow from what it heard. So no test need lead a conversation
that was held before: while the same answers come, byte for byte, the same is said.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

_ROOM = 16 << 20
_MOST = _ROOM // 50
"""How many bytes one conversation may take, so that nobody fills the room for all."""
_TURN = 400
"""About how many bytes a turn takes beside what is said in it."""
MOST_TURNS = _MOST // _TURN
"""How many turns a conversation may have that is to be kept."""


class Exchange(NamedTuple):
    """What was said to a process, and what it said to that.

    Attributes:
        frame: what was sent.
        asks: whether that was a request, and not the result of a call.
        body: what came.
        calls: whether that was a call, and not the answer to the request.
    """

    frame: bytes
    asks: bool
    body: bytes
    calls: bool


class Turn:
    """What is said at one point of a conversation, and what is known to have been said to it.

    Attributes:
        frame: what is sent; None where nothing is known, or the conversation has ended.
        asks: whether that is a request.
        called: whether a call led here, which this is to answer.
        ending: how the conversation ended here, if it did.
    """

    __slots__ = ("_answers", "asks", "called", "ending", "frame")

    def __init__(self, called: bool = False) -> None:
        self.frame: bytes | None = None
        self.asks = False
        self.called = called
        self.ending: Any = None
        self._answers: dict[bytes, Turn] = {}

    def after(self, body: bytes) -> Turn | None:
        """What comes next where `body` was said to this, if that is known."""
        return self._answers.get(_digest(body))

    def answered(self, exchange: Exchange) -> Turn:
        """Learn what was said to this; gives what comes next."""
        self.frame, self.asks = exchange.frame, exchange.asks
        return self._answers.setdefault(_digest(exchange.body), Turn(exchange.calls))


class Conversations:
    """The conversations that were held so far, by topic, as many as there is room for."""

    def __init__(self) -> None:
        self._first: dict[Any, Turn] = {}
        self._room = _ROOM

    def about(self, topic: Any) -> Turn:
        """The first turn of a conversation."""
        return self._first.setdefault(topic, Turn())

    def learn(self, topic: Any, said: list[Exchange], ending: Any, size: int) -> None:
        """Keep how a conversation went.

        Args:
            size: about how many bytes the ending takes.
        """
        size += sum(len(each.frame) + _TURN for each in said)
        if size > min(self._room, _MOST):
            return
        self._room -= size
        turn = self.about(topic)
        for exchange in said:
            turn = turn.answered(exchange)
        turn.ending = ending


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=20).digest()
