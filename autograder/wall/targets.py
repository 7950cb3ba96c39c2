"""Performs the steps of a hidden test: behind the wall, or in this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from .host import StudentProcess
from .inside.steps import Steps


class Target(Protocol):
    """Performs requests of steps on a namespace, as `Steps.perform` describes.

    Attributes:
        modules: the names of the helper modules that were sent.
    """

    modules: set[str]

    @property
    def taken(self) -> float:
        """Seconds of this thread's processor time that the target has used, rather than the
        test."""

    def perform(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def seconds(self) -> float:
        """Return a clock outside the student's process, which runs only while that process
        computes."""

    def renew_time(self) -> None:
        """Give the following steps as much time as a whole test."""


class RemoteTarget:
    """A student process behind the wall.

    Attributes:
        renew_time: gives the following steps as much time as a whole test.
        asks_why: whether replies have the traceback of an error: for the course's own cells alone.
        why: the latest traceback.
    """

    def __init__(self, process: StudentProcess) -> None:
        self._process = process
        self.asks_why, self.why = False, ""
        self.modules: set[str] = set()
        self.renew_time: Callable[[], None] = lambda: None

    @property
    def taken(self) -> float:
        # The model solution is measured in the middle of a test.
        return self._process.asking

    def perform(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self.asks_why:
            return self._process.request(request)
        reply = self._process.request({**request, "why": True})
        self.why = str(reply.get("why", ""))
        return reply

    def seconds(self) -> float:
        return self._process.seconds()


class LocalTarget:
    """A namespace in this process: an author's notebook, or a model of a mistake.

    The time of its steps does not count as a test's own.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._steps = Steps(namespace)
        self.modules: set[str] = set()
        self.taken = 0.0

    def perform(self, request: dict[str, Any]) -> dict[str, Any]:
        started = time.thread_time()
        try:
            return self._steps.perform(request)
        finally:
            self.taken += time.thread_time() - started

    def seconds(self) -> float:
        return time.thread_time()

    def renew_time(self) -> None:
        pass
