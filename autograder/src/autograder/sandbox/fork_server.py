"""Starts student processes from the fork server and sends them requests, with every wait bounded.

A student process answers each request with one reply and can send no request itself. A fork server
has one student process in use at a time: the process and all that it started are dead before the
next student process gets a message.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from typing import Any

from ..errors import ProcessKilled, SandboxDied, SandboxUnavailable, StudentProcessDied
from ..records import AUTO, Limits, Status, VisibleFiles
from . import kinds
from .guest import protocol

_libc = ctypes.CDLL(None)

_HUNG_SECONDS = 120.0
"""Seconds by the clock after which a sandbox that does not answer is taken to hang. The number is
so large that no busy machine reaches it."""
_LEAST_BY_CLOCK = 10.0
"""The limit by the clock is at least this many seconds, however short the limit in processor time
is."""
_MOST_BY_CLOCK, _MOST_TIMES = 200.0, 3.0
"""Greatest limit by the clock: the first number in seconds, or the limit in processor time times
the second number if that is more. Code that sleeps for ever is ended then."""
_FIRST_LOOK = 0.05
"""Seconds by the clock after which the processor time of a request is read for the first time."""
_REPLIES = {True: {"outputs", "execution_count", "error", "stopped"}, False: {"values"}}
"""The keys that a reply must have: True, the reply to a cell; False, the reply to steps."""


class _Program:
    """The sandboxed program in which fork servers run. It ends when the last of them is closed.

    Args:
        kind: the name of a kind of sandbox.
        sockets: the file descriptors of the servers' control sockets, which the program inherits.
        visible: what student code may see.
    """

    def __init__(self, kind: str, sockets: list[int], visible: VisibleFiles) -> None:
        self._servers = len(sockets)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (read when starting fails)
        self.process = subprocess.Popen(
            kinds.KINDS[kind].command(
                [*map(str, sockets), *visible.modules, *visible.preload], visible
            ),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=sockets,
            cwd="/",
            env={},
        )

    def last_output_line(self) -> str:
        """Return the last line of the program's output; "" if there is none."""
        self._log.seek(0)
        lines = self._log.read(20_000).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def leave(self) -> None:
        """Note that one fork server was closed. After the last one, wait for the program's end, and
        kill it if it does not end."""
        self._servers -= 1
        if self._servers > 0:
            return
        try:
            self.process.wait(_HUNG_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


class ForkServer:
    """A sandboxed process that student processes are forked from. A context manager.

    Graders in several processes can share one sandboxed program: see `start_fork_servers`.

    Args:
        limits: what a student process may use.
        visible: what student code may see.
        kind: the name of a kind of sandbox, or `AUTO` for the first kind that works here.

    Attributes:
        kind: as the argument; once the program runs, the name of the kind that is used.
        blames_students: whether a student process that was killed by SIGKILL from outside counts as
            crashed by the student's code, instead of raising `ProcessKilled`.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        visible: VisibleFiles | None = None,
        kind: str = AUTO,
    ) -> None:
        self.limits = limits or Limits()
        self.visible = visible or VisibleFiles()
        self.kind = kind
        self.blames_students = False
        self._control: socket.socket | None = None
        self._program: _Program | None = None
        self._ended: dict[int, dict[str, Any]] = {}
        self._times: dict[int, float] = {}
        self._ending: dict[int, StudentProcess] = {}
        self._count = 0
        self._spare: StudentProcess | None = None
        self._current: StudentProcess | None = None

    def clone(self) -> ForkServer:
        """Return a new fork server with the same settings, not started yet."""
        return ForkServer(self.limits, self.visible, self.kind)

    @classmethod
    def start_fork_servers(
        cls,
        count: int,
        limits: Limits | None = None,
        visible: VisibleFiles | None = None,
        kind: str = AUTO,
    ) -> list[ForkServer]:
        """Start one sandboxed program, and return `count` fork servers in it.

        The program imports its modules while the caller goes on; `start` waits until it is ready.

        Raises `SandboxUnavailable` if no kind of sandbox works, or the sandbox's program is
        missing.
        """
        servers = [cls(limits, visible, kind) for _ in range(count)]
        cls._launch(servers)
        return servers

    @staticmethod
    def _launch(servers: Sequence[ForkServer]) -> None:
        kind = kinds.choose(servers[0].kind)
        # Once the program has inherited its ends of the sockets, this process closes its copies of
        # them: else a connection would stay open after its fork server has died.
        with ExitStack() as inherited:
            descriptors = []
            for server in servers:
                server._control, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                descriptors.append(inherited.enter_context(end).fileno())
            program = _Program(kind, descriptors, servers[0].visible)
        for server in servers:
            server.kind, server._program = kind, program

    def start(self) -> None:
        """Start the server and its first student process.

        A server that does not become ready is started once more, since something may have killed
        it.

        Raises `SandboxUnavailable` if no kind of sandbox works, and `SandboxDied` if the second
        server did not become ready either: the kernel refused something, or it was killed.
        """
        try:
            self._start()
        except SandboxDied:
            self._start()

    def _start(self) -> None:
        if self._control is None:
            self._launch([self])
        assert self._control is not None
        try:
            self._control.settimeout(_HUNG_SECONDS)
            if b"ready" not in self._control.recv(65536):
                raise ConnectionResetError
            # If this process is pinned to some processors, the server forks on the same ones.
            self._send({"processors": sorted(os.sched_getaffinity(0))})
            self._spare = self._fork()
            self._spare.allow(_HUNG_SECONDS, latest=time.monotonic() + _HUNG_SECONDS)
            self._spare.request({"steps": []})
        except (OSError, StudentProcessDied, SandboxDied) as error:
            raise self._unavailable("the sandbox did not start") from error

    def _unavailable(self, what: str) -> SandboxDied:
        """Close the server; return the error to raise, with the last line that the program
        printed."""
        said = self._program.last_output_line() if self._program is not None else ""
        self.close()
        why = f" ({said})" if said else ""
        return SandboxDied(
            f"{what}{why}, so no student code was run. "
            "`autograder doctor` says what is missing and the command that mends it."
        )

    def detach(self) -> None:
        """Close this process's end of the control socket, so that only a process forked from this
        one uses the server."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def close(self) -> None:
        """Kill the student processes, and end the fork server."""
        for student in (self._spare, self._current):
            if student is not None:
                with suppress(SandboxUnavailable):
                    student.close()
        self._spare = self._current = None
        self.detach()
        if self._program is not None:
            self._program.leave()
            self._program = None

    def __enter__(self) -> ForkServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def spawn(self, seed: int, assignment: str = "") -> StudentProcess:
        """Return a fresh student process, and kill the one before it.

        The old process and all that it started are dead before the new one gets a message. If a
        process was forked ahead, it is the one that is returned.

        Args:
            seed: the seed of the process's `random` module.
            assignment: the assignment whose data files are put into the process's working folder;
                "" for none.
        """
        if self._current is not None:
            self._current.close()
        student = self._spare if self._spare is not None else self._fork()
        student.allow(math.inf)
        self._spare, self._current = None, student
        self._read_until(lambda: not self._ending)
        processors = sorted(os.sched_getaffinity(0))
        output = self.limits.output_bytes
        student.send({"seed": seed, "data": assignment, "processors": processors, "output": output})
        return student

    def fork_ahead(self) -> None:
        """Ask the server to fork the next student process now, so that `spawn` need not wait. The
        process gets no message before `spawn`."""
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
        self._control.settimeout(_HUNG_SECONDS)
        try:
            socket.send_fds(self._control, [body], descriptors or [])
        except OSError as error:
            raise SandboxDied("the sandbox has ended") from error

    def _end(self, key: int, student: StudentProcess) -> None:
        """Kill a student process and all that it started, without waiting for their end.

        Args:
            key: the number of the process.
        """
        if self._ended.pop(key, None) is None:  # The process has not ended by itself.
            self._send({"kill": key})
            self._ending[key] = student

    def _interrupt(self, key: int) -> None:
        """Interrupt a student process, by its number, as Jupyter's stop button does."""
        self._send({"interrupt": key})

    def _wait_for_end(self, key: int) -> tuple[str, float]:
        """Kill a student process unless it is ending by itself, and wait until it and all that it
        started are gone. Return how the process ended, and the seconds of processor time that they
        used.

        Args:
            key: the number of the process.
        """
        if key not in self._ended:
            self._send({"kill": key})
            self._read_until(lambda: key in self._ended)
        message = self._ended.pop(key)
        return message["reason"], message["used"]

    def used(self, key: int) -> float:
        """Return the seconds of processor time that a student process, given by its number, and all
        that it started have used."""
        self._send({"times": key})
        self._read_until(lambda: key in self._times)
        return self._times.pop(key)

    def _read_until(self, condition: Callable[[], bool]) -> None:
        """Read the server's messages until a condition holds. Raises `SandboxDied` if the server
        ends or does not answer."""
        assert self._control is not None, "the server is not started"
        deadline = time.monotonic() + _HUNG_SECONDS
        while not condition():
            self._control.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                body = self._control.recv(65536)
            except TimeoutError as error:
                raise SandboxDied("the sandbox does not answer") from error
            except OSError:
                body = b""
            if not body:
                raise SandboxDied("the sandbox has ended")
            message = json.loads(body)
            if "times" in message:
                self._times[message["times"]] = message["used"]
            elif student := self._ending.pop(message["ended"], None):
                student.used = message["used"]
            else:
                self._ended[message["ended"]] = message


@contextmanager
def on_one_processor() -> Iterator[None]:
    """Pin this thread, and the student processes that it starts, to its current processor.

    The grader and the student process take turns. On one processor the switch is immediate; to wake
    up a second processor takes longer than most requests.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {_libc.sched_getcpu()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class StudentProcess:
    """A confined process with one student's namespace.

    Time limits are in processor time, of the process and all that it started: the kernel counts it,
    and it does not depend on how busy the machine is. A process that sleeps or waits uses no
    processor time, so there is a second, longer limit by the clock.

    Args:
        server: the fork server that forked the process.
        key: the number by which the server knows the process.
        connection: the socket for requests and replies.

    Attributes:
        limits: what the process may use.
        used: seconds of processor time that were used when they were last read.
        asking: seconds of this thread's processor time that calls of `more` took (see `allow`).
        timed_out: whether the process was ended at a time limit.
        interrupted: whether the latest cell was interrupted at its time limit, and replied then.
    """

    def __init__(self, server: ForkServer, key: int, connection: socket.socket) -> None:
        self.limits = server.limits
        self._server = server
        self._key = key
        self._connection = protocol.Connection(connection)
        self._open = True
        self.used = self.asking = 0.0
        self.timed_out = self.interrupted = False
        self.allow(math.inf)

    @property
    def is_open(self) -> bool:
        return self._open

    def allow(
        self,
        seconds: float,
        room: float = math.inf,
        more: Callable[[], float] | None = None,
        latest: float = math.inf,
    ) -> None:
        """Limit the time of all requests from now on, in total.

        Args:
            seconds: the limit in processor time. The limit by the clock is `Limits.max_slowdown`
                times as long, within bounds.
            room: the greatest number of bytes of all replies together.
            more: a function that is called once when the time is up, and returns the seconds to add
                to the limit.
            latest: the time, as of `time.monotonic`, at which the limit by the clock ends at the
                latest.
        """
        now = time.monotonic()
        self._seconds, self._more = seconds, more
        by_clock = max(_LEAST_BY_CLOCK, self.limits.max_slowdown * seconds)
        most = max(_MOST_BY_CLOCK, _MOST_TIMES * seconds)
        self._latest = min(latest, now + min(by_clock, most))
        # Most requests are so short that reading the processor time takes longer than they do. So
        # it is read first at `_look`, and counted from then on: `_until` is set there.
        self._look, self._until = min(now + _FIRST_LOOK, self._latest), math.inf
        self._connection.room = room

    @property
    def room(self) -> float:
        """Number of bytes that the following replies may have in total."""
        return self._connection.room

    def request(
        self, message: dict[str, Any], seconds: float | None = None, grace: float = 0.0
    ) -> dict[str, Any]:
        """Send a request and wait for its reply.

        Args:
            seconds: a new limit, as for `allow`; None for what is left of the present one.
            grace: a cell whose time is up is interrupted, and has this many seconds to reply. With
                0 the cell is not interrupted, and the process is ended.

        Raises:
            StudentProcessDied: the process had ended, or no reply came in time, or the reply was
                invalid. The process and all that it started were killed.
            ProcessKilled: the process was killed from outside.
        """
        if not self._open:
            raise StudentProcessDied(Status.CRASHED, "the process has ended")
        if seconds is not None:
            self.allow(seconds)
        try:
            self.interrupted = False
            self._connection.send(message, self._look, self._later)
            try:
                reply = self._connection.receive(self._look, self._later)
            except protocol.DeadlineExceeded:
                if not grace:
                    raise
                self._server._interrupt(self._key)
                self.allow(grace, self.room)
                reply = self._connection.receive(self._look, self._later)
                self.interrupted = True
            if type(reply) is not dict or not _REPLIES["cell" in message] <= reply.keys():
                raise protocol.ProtocolError("not a reply to this request")
            return reply
        except protocol.ProtocolError as error:
            raise self._lost(error) from error

    def seconds(self) -> float:
        """Return the seconds of processor time that the process and all that it started have
        used."""
        self.used = max(self.used, self._server.used(self._key))
        return self.used

    def _later(self) -> float | None:
        """Return when the processor time has to be read again, as a time of `time.monotonic`; None
        if the time is up."""
        used = self.seconds()
        if self._until == math.inf:
            self._until = used + self._seconds
        # If this call comes late, the grader or the whole machine stood still: the limit by the
        # clock is moved by the delay.
        self._latest += max(0.0, time.monotonic() - self._look)
        if self._is_up() and self._more is not None:
            more, self._more = self._more, None
            asked, started = time.thread_time(), time.monotonic()
            seconds = more()
            self.asking += time.thread_time() - asked
            self._until += seconds
            self._latest += self.limits.max_slowdown * seconds + time.monotonic() - started
            self.seconds()
        if self._is_up():
            return None
        self._look = min(time.monotonic() + max(self._until - self.used, 0.001), self._latest)
        return self._look

    def _is_up(self) -> bool:
        return self.used >= self._until or time.monotonic() >= self._latest

    def send(self, message: dict[str, Any]) -> None:
        """Send a message that has no reply. If the process has ended, the next request raises."""
        with suppress(protocol.ProtocolError):
            self._connection.send(message, time.monotonic() + _HUNG_SECONDS)

    def close(self) -> None:
        """End the process and all that it started."""
        if self._open:
            self._open = False
            self._connection.close()
            self._server._end(self._key, self)

    def _lost(self, error: protocol.ProtocolError) -> StudentProcessDied | ProcessKilled:
        """End the process after an error of its connection; return the error to raise in its
        place."""
        if isinstance(error, protocol.DeadlineExceeded):
            self.timed_out = True
            self.close()
            return StudentProcessDied(Status.TIMEOUT, str(error))
        self._open = False
        self._connection.close()
        ended, self.used = self._server._wait_for_end(self._key)
        if ended == "killed" and not self._server.blames_students:
            return ProcessKilled("a student process was killed from outside")
        reason = Status.OUT_OF_MEMORY if ended == Status.OUT_OF_MEMORY else Status.CRASHED
        return StudentProcessDied(reason, str(error))

    def __enter__(self) -> StudentProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
