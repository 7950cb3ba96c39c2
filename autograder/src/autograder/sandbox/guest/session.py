"""The main loop of a student process: runs cells and performs steps as the grader requests."""

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
from .data import SANDBOX, DataFiles
from .shell import STREAMS, Shell, reset
from .steps import Steps

SELDOM = (20_000, 5, 10)
"""Thresholds of the garbage collector in a student process, for `gc.set_threshold`.

A short test ends before the first collection. In a long computation, cyclic garbage is collected
while it is still in the processor's caches: a training takes only half as long as with garbage of a
million objects.
"""

_TIMES = 24
_FAILING = "1 / 0"  # To format a traceback is slow, and runs much of IPython's code many times.
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
    ["import", "coursecheck.examples"],
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

    A request is `{"cell": source, "until": line, "given": code}` (see `Shell.run_one_cell`) or
    `{"steps": […]}` (see `Steps.perform`), and gets one reply. The first message has no reply:
    `{"seed": number, "data": assignment, "processors": […], "output": characters}`, with the seed
    of `random`, the assignment whose data files are copied, the processors to run on, and the
    greatest length of a cell's output.
    """

    def __init__(
        self, shell: Shell, connection: protocol.Connection, data: DataFiles | None = None
    ) -> None:
        self._shell = shell
        self._connection = connection
        self._data = data
        self._steps = Steps(shell.user_ns)
        self._setitimer = signal.setitimer

    def run(self) -> None:
        # Bound before student code runs, since it could replace the attributes.
        receive, send, process_id = self._connection.receive, self._connection.send, os.getpid
        own_id = process_id()
        while True:
            try:
                request = receive()
            except protocol.ProtocolError:
                return
            if "seed" in request:
                random.seed(request["seed"])
                self._shell.outputs.most = request["output"]
                self._enter(request["data"])
                with suppress(OSError):
                    os.sched_setaffinity(0, request["processors"])
            else:
                reply = self.reply_to(request)
                if process_id() != own_id:
                    return  # A process that the cell has forked: only the first one replies.
                send(reply)

    def _enter(self, assignment: str) -> None:
        """Go to the working folder of an assignment."""
        if self._data is not None:
            self._data.lay_out(assignment)
            sys.path.append(os.getcwd())  # At the end, so that no data hides an installed module.

    def reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a cell or perform steps, and return the reply."""
        if "cell" in request:
            until, given = request.get("until", 0), request.get("given", "")
            reply = self._shell.run_one_cell(request["cell"], until, given)
            self._end_alarms()
            return reply
        return self._shell.context.run(self._steps.perform, request)

    def _end_alarms(self) -> None:
        """Disarm the timers that a cell has set, which would interrupt the next cell or step."""
        setitimer = self._setitimer
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            try:
                setitimer(timer, 0.0)
            except BaseException:  # The timer fired during the call, and its handler raised this.
                setitimer(timer, 0.0)


def run_first_cells(shell: Shell, modules: list[str]) -> None:
    """Import packages, then answer requests like those of a test.

    CPython specializes bytecode that has run several times. If that were not done here, before
    student processes are forked, each student process would do it by itself, and copy the memory
    pages that it writes to.

    Args:
        modules: the names of the packages to import.
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
    reset(shell)


def _stream_files() -> dict[str, int]:
    """Make the standard streams files without a name, and return their descriptors."""
    for name, descriptor in STREAMS.items():
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.unlink(name)
        os.dup2(file, descriptor)
        os.close(file)
    return STREAMS


def student_main(shell: Shell, connection: socket.socket, data: DataFiles) -> None:
    """Run a confined student process, from its first message to its end."""
    signal.signal(signal.SIGINT, shell.interrupt)
    home = os.environ["HOME"]
    os.chdir(home)
    # Under Landlock these paths are different in each process. Outputs show the paths that they
    # have under bubblewrap.
    folders = {SANDBOX: "/sandbox", home: HOME, os.environ.get("TMPDIR", "/tmp"): "/tmp"}
    shell.outputs.names = {path: name for path, name in folders.items() if path != name}
    shell.outputs.files = _stream_files()
    Session(shell, protocol.Connection(connection), data).run()
