"""Carries the steps of grading tests to a namespace: behind the wall, or in this process."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

from .sandbox.conversations import Exchange, Turn
from .sandbox.inside import wire
from .sandbox.inside.objects import Objects, failure
from .sandbox.processes import StudentProcess


class Channel(Protocol):
    """Carries steps to a namespace and brings the answer back."""

    def perform(self, steps: list[Any]) -> dict[str, Any]: ...

    def register(self, function: Callable[..., Any]) -> int: ...

    def follow(self, turn: Turn) -> Any:
        """As `StudentProcess.follow`."""

    @property
    def said(self) -> list[Exchange] | None:
        """As `StudentProcess.said`."""

    @property
    def lent(self) -> tuple[str, ...]:
        """The exercises whose functions there are the grader's, in the order in which they came."""

    def next_number(self) -> int:
        """A number below zero that names no object there yet."""


class RemoteChannel:
    """To a student process behind the wall."""

    def __init__(self, process: StudentProcess, lent: tuple[str, ...] = ()) -> None:
        self._process = process
        self.lent = lent

    def next_number(self) -> int:
        return self._process.next_number()

    def perform(self, steps: list[Any]) -> dict[str, Any]:
        return self._process.request({"steps": steps}, self._process.limits.step_seconds)

    def register(self, function: Callable[..., Any]) -> int:
        return self._process.register(function)

    def follow(self, turn: Turn) -> Any:
        return None if self.said is None else self._process.follow(turn)

    @property
    def said(self) -> list[Exchange] | None:
        return self._process.said


class LocalChannel:
    """To a namespace in this process, by the same messages."""

    said = None
    lent: tuple[str, ...] = ()

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._objects = Objects(namespace, self._callback)
        self._functions: list[Callable[..., Any]] = []
        self._numbers = count(-1, -1)

    def perform(self, steps: list[Any]) -> dict[str, Any]:
        return self._objects.perform(steps)

    def next_number(self) -> int:
        return next(self._numbers)

    def register(self, function: Callable[..., Any]) -> int:
        self._functions.append(function)
        return len(self._functions) - 1

    def follow(self, turn: Turn) -> None:
        """Nothing is written down of what is said here."""

    def _callback(self, number: int, arguments: list[Any]) -> Any:
        try:
            return self._functions[number](*arguments)
        except wire.WireError:
            raise
        except Exception as error:
            raise failure(type(error).__name__) from error
