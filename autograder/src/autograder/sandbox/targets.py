"""Performs the steps of a hidden test, in a student process or in this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from .fork_server import StudentProcess
from .guest.steps import Steps


class Target(Protocol):
    """Performs requests on a namespace, as `Steps.perform` does.

    Attributes:
        modules: names of the remote helper modules that the namespace's process has already.
    """

    modules: set[str]

    @property
    def taken(self) -> float:
        """Seconds of this thread's processor time that were spent in the target: they do not count
        as time of the test itself."""

    def perform(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def seconds(self) -> float:
        """Return the processor time in seconds of the process that holds the namespace. For a
        student process it is measured from outside."""

    def renew_time(self) -> None:
        """Restart the time limit: the following steps get as much time as a whole test."""


class RemoteTarget:
    """A student process in the sandbox.

    Attributes:
        renew_time: the function that restarts the time limit; by default it does nothing.
        asks_why: whether the reply to a step that fails holds the traceback of the error. Only
            for processes that run the course's own cells.
        why: the traceback in the latest reply; "" if no step failed.
    """

    def __init__(self, process: StudentProcess) -> None:
        self._process = process
        self.asks_why, self.why = False, ""
        self.modules: set[str] = set()
        self.renew_time: Callable[[], None] = lambda: None

    @property
    def taken(self) -> float:
        # The time in which the reference solution was measured while a test ran.
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
    """A namespace in this process, such as an author's notebook.

    The time of its steps is counted in `taken`, so it does not count as time of the test itself.
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
