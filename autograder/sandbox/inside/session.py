"""One student process: runs the cells, then answers the grader's questions about them."""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress
from typing import Any

from course.probes import play

from . import wire
from .objects import Objects, failure
from .shell import Shell, forget

SELDOM = (1_000_000, 2, 2)
"""When a student's process looks for garbage, as `gc.set_threshold` takes it.

Students' graphs are large and hang together: looking through them all the time takes longer than
what the students' code does. A training's garbage is looked for once in several steps, and what
outlived that twice more: then it is gone before it takes much memory.
"""

_TIMES = 24
_FAILING = "1 / 0"  # which takes long, and does everything often in one run
_CELLS = (
    "from course import *",
    """class Node:
    def __init__(self, data, operands=()):
        self.data = data
        self.operands = tuple(operands)

    def __repr__(self):
        return f"Node({self.data})"


def add(self, other):
    return Node(self.data + other.data, (self, other))


Node.__add__ = add
Node(1.0) + Node(2.0)
""",
)
_STEPS: list[list[Any]] = [
    ["name", -1, "Node"],
    ["call", -2, {"object": -1}, {"list": [2.0]}, {"dict": []}],
    ["set", -3, {"object": -2}, "grad", 1.0],
    ["binary", -4, "add", {"object": -2}, {"object": -2}],
    ["get", None, {"object": -4}, "operands"],
]


class Session:
    """Answers requests on `connection` until it is closed.

    Requests are `{"seed": number, "processors": [...]}`, which has no answer, `{"cell": source}`,
    `{"steps": [...]}`, with `"new"` for the first of a test, and `{"probes": [...]}`. While one is
    being answered, `{"callback": number, "arguments": [...]}` may go the other way, and further
    requests may come before its `{"result": value}` does.
    """

    def __init__(self, shell: Shell, connection: wire.Connection) -> None:
        self._shell = shell
        self._connection = connection
        self._objects = Objects(shell.user_ns, self._call_grader)

    def run(self) -> None:
        # Plain names, taken before any student code could replace what they stand for.
        receive, send = self._connection.receive, self._connection.send
        while True:
            try:
                request = receive()
            except wire.WireError:
                return
            if "seed" in request:
                random.seed(request["seed"])
                with suppress(OSError):
                    os.sched_setaffinity(0, request["processors"])
            else:
                send(self._answer(request))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "cell" in request:
            return self._shell.run_one_cell(request["cell"])
        if "probes" in request:
            return {"observed": [play(probe, self._shell.user_ns) for probe in request["probes"]]}
        if "new" in request:
            self._objects.start_over()
        return self._objects.perform(request["steps"])

    def _call_grader(self, number: int, arguments: list[Any]) -> Any:
        self._connection.send({"callback": number, "arguments": arguments})
        while True:
            message = self._connection.receive()
            if "result" in message:
                return message["result"]
            if "error" in message:
                raise failure(message["error"])
            self._connection.send(self._answer(message))


def rehearse(shell: Shell) -> None:
    """Answer requests such as will come, and forget them.

    The interpreter adapts to what it has run often. What it has not done by then, each student's
    process would do for itself, on memory pages that it would have to copy.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        grader, student = wire.Connection(ours), wire.Connection(theirs)
        requests = [{"cell": cell} for cell in _CELLS] + [{"steps": _STEPS}]
        session = Session(shell, student)
        for request in [{"cell": _FAILING}] * 3 + requests * _TIMES:
            grader.send(request)
            student.send(session._answer(student.receive()))
            grader.receive()
    forget(shell)


def student_main(shell: Shell, connection: socket.socket) -> None:
    """The life of a confined student process."""
    os.chdir(os.environ["HOME"])
    Session(shell, wire.Connection(connection)).run()
