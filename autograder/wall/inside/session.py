"""One student process: runs cells and performs steps at the grader's request."""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from . import protocol
from .confine import HOME
from .shell import Shell, forget
from .steps import Steps

# The folder that holds this package, and beside it those of the assignments' files.
_SANDBOX = os.path.abspath(f"{__file__}/../../..")

SELDOM = (20_000, 5, 10)
"""Thresholds of the garbage collector in a student's process, for `gc.set_threshold`.

A short test ends before a collection. A long computation's cyclic garbage is found while it is
still in the processor's caches: a training takes half the time that it takes if a million objects
pile up.
"""

_TIMES = 24
_FAILING = "1 / 0"  # a traceback is slow to make, and runs most code paths often
_CELLS = (
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
_LOOKS = {"list": ["node.data", "node", "node.operands"]}
_STEPS: list[list[Any]] = [
    ["name", "Node"],
    ["call", {"step": 0}, {"list": [2.0]}, {"dict": []}],
    ["setattr", {"step": 1}, "weight", 1.0],
    ["add", {"step": 1}, {"step": 1}],
    ["getattr", {"step": 3}, "operands"],
    ["import", "coursecheck.probes"],
    ["getattr", {"step": 5}, "play"],
    ["globals"],
    [
        "call",
        {"step": 6},
        {"list": [{"dict": [["code", "node = Node(3.0)"], ["observe", _LOOKS]]}, {"step": 7}]},
        {"dict": []},
    ],
]


class Session:
    """Answers requests on `connection` until it is closed.

    A request is `{"cell": source, "until": line}` (see `Shell.run_one_cell`) or `{"steps": […]}`
    (see `Steps.perform`) and gets one reply.
    The first message, `{"seed": number, "data": folder, "processors": […], "output": bytes}`,
    gets none.
    """

    def __init__(self, shell: Shell, connection: protocol.Connection) -> None:
        self._shell = shell
        self._connection = connection
        self._steps = Steps(shell.user_ns)
        self._setitimer = signal.setitimer

    def run(self) -> None:
        # Plain names, taken before any student code could replace the functions.
        receive, send = self._connection.receive, self._connection.send
        while True:
            try:
                request = receive()
            except protocol.ProtocolError:
                return
            if "seed" in request:
                random.seed(request["seed"])
                self._shell.outputs.most = request["output"]
                _link_data(request["data"])
                with suppress(OSError):
                    os.sched_setaffinity(0, request["processors"])
            else:
                send(self.reply_to(request))

    def reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        if "cell" in request:
            reply = self._shell.run_one_cell(request["cell"], request.get("until", 0))
            self._end_alarms()
            return reply
        return self._steps.perform(request)

    def _end_alarms(self) -> None:
        """End the timers that a cell started: they would interrupt the next cell or step."""
        setitimer = self._setitimer
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            try:
                setitimer(timer, 0.0)
            except BaseException:  # The timer went off during the call above.
                setitimer(timer, 0.0)


def rehearse(shell: Shell, modules: list[str]) -> None:
    """Import these packages, answer requests like those of a test, and discard the results.

    The interpreter adapts to code that it has run often. Without this, each student's process would
    adapt by itself, on memory pages that it would have to copy.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        grader, student = protocol.Connection(ours), protocol.Connection(theirs)
        session = Session(shell, student)
        for name in modules:
            if error := session.reply_to({"cell": f"import {name}"})["error"]:
                raise ImportError(f"importing {name}, which course.toml names, raised {error}")
        requests = [{"cell": cell} for cell in _CELLS] + [{"steps": _STEPS, "new": True}]
        for request in [{"cell": _FAILING}] * 3 + requests * _TIMES:
            grader.send(request)
            student.send(session.reply_to(student.receive()))
            grader.receive()
    forget(shell)


def _link_data(folder: str) -> None:
    """Link the files of an assignment into the current folder."""
    if folder:
        with suppress(FileNotFoundError):
            for name in os.listdir(f"{_SANDBOX}/data/{folder}"):
                os.symlink(f"{_SANDBOX}/data/{folder}/{name}", name)


def student_main(shell: Shell, connection: socket.socket) -> None:
    """Run a confined student process, from its first message to its end."""
    signal.signal(signal.SIGINT, shell.interrupt)
    home = os.environ["HOME"]
    os.chdir(home)
    sys.path.append(home)  # Last, so that no data file hides an installed module.
    elsewhere = {_SANDBOX: "/sandbox", home: HOME, os.environ.get("TMPDIR", "/tmp"): "/tmp"}
    shell.outputs.names = {path: name for path, name in elsewhere.items() if path != name}
    Session(shell, protocol.Connection(connection)).run()
