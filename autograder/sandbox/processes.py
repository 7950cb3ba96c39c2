"""Starts student processes from the warm server and talks to them, with every wait bounded."""

from __future__ import annotations

import ctypes
import json
import math
import os
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from . import bubblewrap
from .bubblewrap import SandboxUnavailable
from .conversations import MOST_TURNS, Exchange, Turn
from .inside import wire

_libc = ctypes.CDLL(None)

_START_SECONDS = 60.0
_END_SECONDS = 10.0
_LEAVE_SECONDS = 1.0
_ROUND_TRIP_SECONDS = 0.002
_ROOM = 4 << 20
"""How many bytes of what a process says in one conversation are kept."""


@dataclass(frozen=True)
class Limits:
    """What one student process may use.

    Attributes:
        memory: address space of each process, and resident memory of all, in bytes.
        processes: how many processes and threads.
        file_size: of any one file, in bytes.
        disk_megabytes: of each writable folder.
        cpu_seconds: of each process.
        cell_seconds: wall-clock time of one cell.
        step_seconds: wall-clock time of one request by a grading test.
        test_seconds: wall-clock time of all the requests of one grading test.
        callbacks: how often one request may call back into the grader.
        patience: wall-clock time in which the process was ready to run, and others had the
            processor, is not counted; all in all it may take this many times as long at most.
    """

    memory: int = 1 << 30
    processes: int = 24
    file_size: int = 32 << 20
    disk_megabytes: int = 64
    cpu_seconds: int = 120
    cell_seconds: float = 10.0
    step_seconds: float = 5.0
    test_seconds: float = 30.0
    callbacks: int = 200_000
    patience: float = 5.0


class OtherWords(Exception):
    """Led again, after the same answers, a conversation went otherwise. The process is ended."""


class StudentLost(Exception):
    """The student process is gone. `reason` is "timeout", "out_of_memory" or "crashed"."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class _Program:
    """The sandboxed program of one or more warm servers; it ends when the last of them has left.

    Args:
        sockets: the numbers of the servers' control sockets, as the program is to have them.
    """

    def __init__(self, sockets: list[int]) -> None:
        self._servers = len(sockets)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (read when starting fails)
        self.process = subprocess.Popen(
            bubblewrap.command([*map(str, sockets)]),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=sockets,
            cwd="/",
            env={},
        )

    def last_words(self) -> str:
        """The last line that it wrote, if any."""
        self._log.seek(0)
        lines = self._log.read(20_000).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def leave(self) -> None:
        self._servers -= 1
        if self._servers > 0:
            return
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


class WarmServer:
    """A sandboxed process that student processes are forked from. Use as a context manager.

    Several graders, each in a process of its own, can be `launched` with one program.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._control: socket.socket | None = None
        self._program: _Program | None = None
        self._ended: dict[int, str] = {}
        self._waits: dict[int, float] = {}
        self._unasked: set[int] = set()
        self._count = 0
        self._spare: StudentProcess | None = None

    @classmethod
    def launched(cls, count: int) -> list[WarmServer]:
        """Servers that share one program, which warms up meanwhile.

        Raises `SandboxUnavailable` where the program that confines is missing.
        """
        servers = [cls() for _ in range(count)]
        cls._launch(servers)
        return servers

    @staticmethod
    def _launch(servers: Sequence[WarmServer]) -> None:
        with ExitStack() as given:
            theirs = []
            for server in servers:
                server._control, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                theirs.append(given.enter_context(end).fileno())
            program = _Program(theirs)
        for server in servers:
            server._program = program

    def start(self) -> None:
        """Start the server. Raises `SandboxUnavailable` where student code cannot be confined."""
        if self._control is None:
            self._launch([self])
        assert self._control is not None
        try:
            self._control.settimeout(_START_SECONDS)
            if b"ready" not in self._control.recv(65536):
                raise self._unavailable("the sandbox did not start")
            # A grader that keeps to one processor has its students forked there, too.
            self._send({"processors": sorted(os.sched_getaffinity(0))})
            self._spare = self._fork()
            self._spare.request({"steps": []}, _START_SECONDS)
        except (OSError, StudentLost) as error:
            raise self._unavailable("the sandbox did not start") from error

    def _unavailable(self, what: str) -> SandboxUnavailable:
        said = self._program.last_words() if self._program is not None else ""
        self.close()
        why = f" ({said})" if said else ""
        return SandboxUnavailable(
            f"{what}{why}, so no student code was run. "
            "`autograder doctor` says what is missing and the command that mends it."
        )

    def hand_over(self) -> None:
        """Leave the server to another process that was forked from this one."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def close(self) -> None:
        """End the server and its students' processes."""
        if self._spare is not None:
            with suppress(SandboxUnavailable):
                self._spare.close()
            self._spare = None
        self.hand_over()
        if self._program is not None:
            self._program.leave()
            self._program = None

    def __enter__(self) -> WarmServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def spawn(self, seed: int) -> StudentProcess:
        """A fresh confined process; `seed` is what its `random` module starts from.

        It runs where this process may. Nobody waits for it where one was forked ahead.
        """
        student = self._spare if self._spare is not None else self._fork()
        self._spare = None
        student.tell({"seed": seed, "processors": sorted(os.sched_getaffinity(0))})
        return student

    def fork_ahead(self) -> None:
        """Have the next process forked, while nobody waits for this one."""
        if self._spare is None:
            self._spare = self._fork()

    def _fork(self) -> StudentProcess:
        self._count += 1
        ours, theirs = socket.socketpair()
        with theirs:
            self._send({"spawn": self._count, "limits": asdict(self.limits)}, [theirs.fileno()])
        return StudentProcess(self, self._count, ours)

    def _send(self, request: dict[str, Any], descriptors: list[int] | None = None) -> None:
        assert self._control is not None, "the server is not started"
        body = json.dumps(request).encode()
        self._control.settimeout(_END_SECONDS)
        try:
            socket.send_fds(self._control, [body], descriptors or [])
        except OSError as error:
            raise SandboxUnavailable("the sandbox has ended; start the grading again") from error

    def _end(self, key: int) -> None:
        """Have the process and all it started killed, without waiting for it."""
        self._send({"kill": key})
        self._unasked.add(key)
        # What is not read would fill the way here in the end.
        with suppress(BlockingIOError):
            while True:
                self._read_end(0.0)

    def _wait_for_end(self, key: int, kill: bool) -> str:
        """Wait until the process and all it started are gone; returns how it ended.

        One that is not to be killed gets a moment to leave by itself, for the server then knows
        why it did.
        """
        if kill:
            self._send({"kill": key})
        deadline = time.monotonic() + (_END_SECONDS if kill else _LEAVE_SECONDS)
        while key not in self._ended:
            try:
                self._read_end(max(0.01, deadline - time.monotonic()))
            except TimeoutError as error:
                if not kill:
                    return self._wait_for_end(key, kill=True)
                raise SandboxUnavailable("a student process could not be ended") from error
        return self._ended.pop(key)

    def waited(self, key: int) -> float:
        """For how many seconds the process was ready to run and had no processor."""
        self._send({"waited": key})
        deadline = time.monotonic() + _END_SECONDS
        while key not in self._waits:
            try:
                self._read_end(max(0.01, deadline - time.monotonic()))
            except TimeoutError:
                return 0.0
        return self._waits.pop(key)

    def _read_end(self, seconds: float) -> None:
        """Read one message about a process: that it has ended, or for how long it waited."""
        assert self._control is not None, "the server is not started"
        self._control.settimeout(seconds)
        try:
            body = self._control.recv(65536)
        except (TimeoutError, BlockingIOError):
            raise
        except OSError:
            body = b""
        if not body:
            raise SandboxUnavailable("the sandbox has ended; start the grading again")
        message = json.loads(body)
        if "waited" in message:
            self._waits[message["waited"]] = message["seconds"]
        elif message["ended"] in self._unasked:
            self._unasked.remove(message["ended"])
        else:
            self._ended[message["ended"]] = message["reason"]


def own_wait() -> float:
    """For how many seconds this thread was ready to run and had no processor, if it is known."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@contextmanager
def on_one_processor() -> Iterator[None]:
    """Keep this thread, and students' processes that it starts, on the processor that it is on.

    A grader and the process that it talks to take turns. On one processor they hand over at once;
    to wake up another one takes longer than most of what they have to say.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {_libc.sched_getcpu()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class StudentProcess:
    """One confined process holding one student's namespace.

    Attributes:
        delayed: seconds of its time that are not counted, since others had the processor. They
            are looked for only when a time is up.
        said: what was said since `start_over`; None before it, where that was too much, and where
            it does not follow from the answers alone.
    """

    def __init__(self, server: WarmServer, key: int, connection: socket.socket) -> None:
        self.limits = server.limits
        self._server = server
        self._key = key
        self._connection = wire.Connection(connection)
        self._open = True
        self._functions: list[Callable[..., Any]] = []
        self._number = 0
        self._served = 0
        self._first: tuple[int, int, bool] | None = None
        self._until = math.inf
        self._started = time.monotonic()
        self._own_wait = own_wait()
        self.delayed = 0.0
        self.said: list[Exchange] | None = None
        self._is_new = False
        self._to_repeat: deque[tuple[bytes, bytes]] = deque()
        self._room = 0

    def _now(self) -> float:
        """The time that counts, in seconds: it stood still while others had the processor."""
        return time.monotonic() - self.delayed

    def allow(self, seconds: float) -> None:
        """Let all requests from now on, together, take this long, as well as each its own time."""
        self._until = self._now() + seconds

    def _later(self, deadline: float) -> float | None:
        """A deadline of the time that counts as one of `time.monotonic`; None if it has passed."""
        if self._now() >= deadline:
            waited = self._server.waited(self._key) + own_wait() - self._own_wait
            most = (1 - 1 / self.limits.patience) * (time.monotonic() - self._started)
            self.delayed = max(self.delayed, min(waited, most))
        return None if self._now() >= deadline else deadline + self.delayed

    @property
    def is_open(self) -> bool:
        return self._open

    def register(self, function: Callable[..., Any]) -> int:
        """Give `function(*wire arguments) -> wire value` a number that student code can call."""
        self._functions.append(function)
        return len(self._functions) - 1

    def request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return the answer.

        Calls that the student code makes into the grader meanwhile are served, and count
        against the same time, but for their way here and back.

        Raises:
            StudentLost: no right-formed answer came within `seconds`; the process is ended.
        """
        before = self._until
        deadline = min(self._now() + seconds, before)
        callbacks = self.limits.callbacks
        # What the grader asks while it serves a call is part of this request.
        self._until = deadline
        try:
            answer = self._exchange(message, deadline, asks=True)
            while "callback" in answer:
                callbacks -= 1
                if callbacks < 0:
                    raise wire.TimeIsUp("the grader was called too often")
                # The way here and back, on a busy machine, is not the student's doing.
                self._until = deadline = min(deadline + _ROUND_TRIP_SECONDS, before)
                answer = self._exchange(self._serve(answer), deadline, asks=False)
            return answer
        except wire.WireError as error:
            raise self._lost(error) from error
        finally:
            self._until = before

    def next_number(self) -> int:
        """A number below zero that names no object in the process yet."""
        self._number -= 1
        return self._number

    def start_over(self) -> None:
        """Forget what got a number since this was called first, here and in the process.

        From now on what is said is written down, as far as there is room for it. Where the cells
        have called functions of the grader's, though, what these do now may depend on it.
        """
        if self._first is None:
            self._first = len(self._functions), self._number, self._served == 0
        functions, self._number, from_nothing = self._first
        del self._functions[functions:]
        self._is_new = True
        self.said = [] if from_nothing else None
        self._to_repeat.clear()
        self._room = _ROOM

    def follow(self, turn: Turn) -> Any:
        """Say what was said to a process that answered as this one does; returns how it ended.

        Where this one answers otherwise the result is None. The grader then has to lead the
        conversation from its start: it hears what has been answered, and goes on from there.

        Raises:
            StudentLost: as for `request`.
        """
        until = [self._until]  # and each request's own, the outermost first
        try:
            while turn.frame is not None:
                if turn.asks:
                    until.append(min(self._now() + self.limits.step_seconds, until[-1]))
                body = self._hear(turn.frame, until[-1])
                self._to_repeat.append((turn.frame, body))
                after = turn.after(body)
                if after is None:
                    return None
                turn = after
                if turn.called:
                    until[-1] = min(until[-1] + _ROUND_TRIP_SECONDS, until[-2])
                else:
                    until.pop()
        except wire.WireError as error:
            raise self._lost(error) from error
        self._to_repeat.clear()
        return turn.ending

    def _exchange(self, message: dict[str, Any], deadline: float, asks: bool) -> dict[str, Any]:
        """Send a message; returns the answer, or the call that comes before it."""
        if self._is_new:
            message["new"] = True
            self._is_new = False
        frame = wire.to_frame(message)
        if self._to_repeat:
            said, body = self._to_repeat.popleft()
            if said != frame:
                self.close()
                raise OtherWords("the test does not depend on the answers alone")
        else:
            body = self._hear(frame, deadline)
        answer = wire.to_message(body)
        if type(answer) is not dict:
            raise wire.WireError("not an answer")
        self._room -= len(body)
        if self.said is not None:
            self.said.append(Exchange(frame, asks, body, "callback" in answer))
            if self._room < 0 or len(self.said) > MOST_TURNS:
                self.said = None
        return answer

    def _hear(self, frame: bytes, deadline: float) -> bytes:
        """Send a frame, and wait for what comes."""
        self._connection.send_frame(frame, deadline + self.delayed)
        at = deadline + self.delayed
        return self._connection.receive_body(at, partial(self._later, deadline))

    def _serve(self, call: dict[str, Any]) -> dict[str, Any]:
        number, arguments = call.get("callback"), call.get("arguments")
        if type(number) is not int or not 0 <= number < len(self._functions):
            raise wire.WireError("no such function")
        if type(arguments) is not list:
            raise wire.WireError("not arguments")
        self._served += 1
        try:
            return {"result": self._functions[number](*arguments)}
        except (StudentLost, OtherWords, wire.WireError):
            raise
        except Exception as error:
            return {"error": type(error).__name__}

    def tell(self, message: dict[str, Any]) -> None:
        """Send what has no answer. Where the process is gone, the next request will tell."""
        with suppress(wire.WireError):
            self._connection.send(message, time.monotonic() + _END_SECONDS)

    def close(self) -> None:
        """End the process and all it started."""
        if self._open:
            self._open = False
            self._connection.close()
            self._server._end(self._key)

    def _lost(self, error: wire.WireError) -> StudentLost:
        """End the process after an error on the way to it; returns what is to be raised."""
        if isinstance(error, wire.TimeIsUp):
            self.close()
            return StudentLost("timeout", str(error))
        self._open = False
        self._connection.close()
        leaving = isinstance(error, wire.Closed)
        ended = self._server._wait_for_end(self._key, kill=not leaving)
        reason = "out_of_memory" if ended == "out_of_memory" else "crashed"
        return StudentLost(reason, str(error))

    def __enter__(self) -> StudentProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
