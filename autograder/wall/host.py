"""Starts student processes from the warm server and talks to them, with every wait bounded.

A process answers each request with one reply and can send no request itself. One process of a
server lives at a time. It is dead, with all that it started, before the next one gets a message.
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
from functools import partial
from typing import Any

from ..errors import ProcessKilled, SandboxLost, SandboxUnavailable, StudentLost
from ..model import AUTO, Limits, Visible
from . import kinds
from .inside import protocol

_libc = ctypes.CDLL(None)

_START_SECONDS = 60.0
_END_SECONDS = 10.0
_LEAVE_SECONDS = 1.0
_NOT_ENDED = "a student process could not be ended"
_REPLIES = {True: {"outputs", "execution_count", "error", "stopped"}, False: {"values"}}
"""The keys of the reply to a cell (True), and of the reply to steps (False)."""


class _Program:
    """The sandboxed program of one or more warm servers; it ends when the last of them has left.

    Args:
        kind: the name of a kind of sandbox.
        sockets: the numbers of the servers' control sockets, as the program is to have them.
        visible: what student code may see.
    """

    def __init__(self, kind: str, sockets: list[int], visible: Visible) -> None:
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

    Args:
        limits: what a student process may use.
        visible: what student code may see.
        kind: the name of a kind of sandbox, or `AUTO` for one that works here.

    Attributes:
        kind: the same, by name once it is launched.
        blames_students: whether a student process that something outside seems to have killed is
            taken for one that brought this about itself.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        visible: Visible | None = None,
        kind: str = AUTO,
    ) -> None:
        self.limits = limits or Limits()
        self.visible = visible or Visible()
        self.kind = kind
        self.blames_students = False
        self._control: socket.socket | None = None
        self._program: _Program | None = None
        self._ended: dict[int, str] = {}
        self._times: dict[int, tuple[float, float | None]] = {}
        self._ending: set[int] = set()
        self._count = 0
        self._spare: StudentProcess | None = None
        self._current: StudentProcess | None = None

    def another(self) -> WarmServer:
        """Return a server like this one, which is not started yet."""
        return WarmServer(self.limits, self.visible, self.kind)

    @classmethod
    def launched(
        cls,
        count: int,
        limits: Limits | None = None,
        visible: Visible | None = None,
        kind: str = AUTO,
    ) -> list[WarmServer]:
        """Servers that share one program, which warms up meanwhile.

        Raises `SandboxUnavailable` where no kind of sandbox works, or the program that confines is
        missing.
        """
        servers = [cls(limits, visible, kind) for _ in range(count)]
        cls._launch(servers)
        return servers

    @staticmethod
    def _launch(servers: Sequence[WarmServer]) -> None:
        kind = kinds.chosen(servers[0].kind)
        with ExitStack() as given:
            theirs = []
            for server in servers:
                server._control, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                theirs.append(given.enter_context(end).fileno())
            program = _Program(kind, theirs, servers[0].visible)
        for server in servers:
            server.kind, server._program = kind, program

    def start(self) -> None:
        """Start the server.

        Raises `SandboxUnavailable` where student code cannot be confined; `SandboxLost` where the
        server did not come up, since the kernel refuses it or something has ended it.
        """
        if self._control is None:
            self._launch([self])
        assert self._control is not None
        try:
            self._control.settimeout(_START_SECONDS)
            if b"ready" not in self._control.recv(65536):
                raise ConnectionResetError
            # A grader that keeps to one processor has its students forked there, too.
            self._send({"processors": sorted(os.sched_getaffinity(0))})
            self._spare = self._fork()
            self._spare.request({"steps": []}, _START_SECONDS)
        except (OSError, StudentLost, SandboxLost) as error:
            raise self._unavailable("the sandbox did not start") from error

    def _unavailable(self, what: str) -> SandboxLost:
        said = self._program.last_words() if self._program is not None else ""
        self.close()
        why = f" ({said})" if said else ""
        return SandboxLost(
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
        for student in (self._spare, self._current):
            if student is not None:
                with suppress(SandboxUnavailable):
                    student.close()
        self._spare = self._current = None
        self.hand_over()
        if self._program is not None:
            self._program.leave()
            self._program = None

    def __enter__(self) -> WarmServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def spawn(self, seed: int, assignment: str = "") -> StudentProcess:
        """A fresh confined process; `seed` is what its `random` module starts from.

        The process before it is ended, and is dead with all that it started before this one gets a
        message. The new process runs on the processors that this one may use. There is no wait
        where it was forked ahead.
        """
        if self._current is not None:
            self._current.close()
        student = self._spare if self._spare is not None else self._fork()
        self._spare, self._current = None, student
        self._read_until(lambda: not self._ending, _END_SECONDS, _NOT_ENDED)
        processors = sorted(os.sched_getaffinity(0))
        output = self.limits.output_bytes
        student.tell({"seed": seed, "data": assignment, "processors": processors, "output": output})
        return student

    def fork_ahead(self) -> None:
        """Have the next process forked, while nobody waits for it. It gets no message yet."""
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
            raise SandboxLost("the sandbox has ended") from error

    def _end(self, key: int) -> None:
        """Have the process and all it started killed, without waiting for it."""
        if self._ended.pop(key, None) is None:  # it has not ended by itself
            self._send({"kill": key})
            self._ending.add(key)

    def _interrupt(self, key: int) -> None:
        """Interrupt the process as Jupyter's stop button does."""
        self._send({"interrupt": key})

    def _wait_for_end(self, key: int, kill: bool) -> str:
        """Wait until the process and all it started are gone; returns how it ended.

        A process that is not to be killed gets a moment to end by itself: the server then knows its
        exit status.
        """
        if kill or not self._read_until(lambda: key in self._ended, _LEAVE_SECONDS):
            self._send({"kill": key})
            self._read_until(lambda: key in self._ended, _END_SECONDS, _NOT_ENDED)
        return self._ended.pop(key)

    def times(self, key: int) -> tuple[float, float | None]:
        """For how many seconds the process ran, and was ready to run and had no processor.

        The second is None where it has started processes, which may have had the processor.
        """
        self._send({"times": key})
        self._read_until(lambda: key in self._times, _END_SECONDS, "the sandbox does not answer")
        return self._times.pop(key)

    def _read_until(self, is_so: Callable[[], bool], seconds: float, otherwise: str = "") -> bool:
        """Read messages about processes, that one has ended or for how long it waited, until
        something is so; false where it takes longer, or the end with these words."""
        assert self._control is not None, "the server is not started"
        deadline = time.monotonic() + seconds
        while not is_so():
            self._control.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                body = self._control.recv(65536)
            except TimeoutError as error:
                if not otherwise:
                    return False
                raise SandboxLost(otherwise) from error
            except OSError:
                body = b""
            if not body:
                raise SandboxLost("the sandbox has ended")
            message = json.loads(body)
            if "times" in message:
                self._times[message["times"]] = message["ran"], message["waited"]
            elif message["ended"] in self._ending:
                self._ending.remove(message["ended"])
            else:
                self._ended[message["ended"]] = message["reason"]
        return True


def own_wait() -> float:
    """For how many seconds this thread was ready to run and had no processor, if it is known."""
    try:
        # Asked before each hidden test; Python's own file objects take five times as long.
        descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        try:
            return int(os.read(descriptor, 100).split()[1]) / 1e9
        finally:
            os.close(descriptor)
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
            are looked for only when a time is up or measured.
        asking: seconds of the grader's processor time that it took to learn for how much longer
            requests may take.
        timed_out: whether it ran into a limit in time, and was ended.
        interrupted: whether the latest cell was interrupted, and replied.
        has_forked: whether it was seen to have started processes. While they have the processor,
            neither it nor the grader has it, and that is no delay by others.
    """

    def __init__(self, server: WarmServer, key: int, connection: socket.socket) -> None:
        self.limits = server.limits
        self._server = server
        self._key = key
        self._connection = protocol.Connection(connection)
        self._open = True
        self._until = math.inf
        self._more: Callable[[], float] | None = None
        self.asking = 0.0
        self.timed_out = self.interrupted = False
        self.has_forked = False
        self._started = time.monotonic()
        self._own_wait = own_wait()
        self.delayed = 0.0

    @property
    def is_open(self) -> bool:
        return self._open

    def allow(
        self,
        seconds: float,
        room: float = math.inf,
        more: Callable[[], float] | None = None,
    ) -> None:
        """Let all requests from now on, together, take this long.

        Args:
            room: how many bytes their replies may have, together.
            more: asked, once, for how many seconds more they may take, when these are over.
        """
        self._until = self._now() + seconds
        self._more = more
        self._connection.room = room

    @property
    def room(self) -> float:
        """How many bytes the replies may still have."""
        return self._connection.room

    def request(
        self, message: dict[str, Any], seconds: float = math.inf, grace: float = 0.0
    ) -> dict[str, Any]:
        """Send a request and wait for its reply.

        Args:
            seconds: what this one may take, if it is less than what is allowed.
            grace: seconds in which a cell may reply after it was interrupted at the end of its
                time. With 0 it is not interrupted, and the process is ended.

        Raises:
            StudentLost: no reply came in time, or none that keeps to the protocol. The process and
                all it started are ended then.
            ProcessKilled: something outside has killed the process.
        """
        if not self._open:
            raise StudentLost("crashed", "the process has ended")
        own = self._now() + seconds
        at = min(own, self._until) + self.delayed
        try:
            self.interrupted = False
            self._connection.send(message, at)
            try:
                reply = self._connection.receive(at, partial(self._later, own))
            except protocol.TimeIsUp:
                if not grace:
                    raise
                self._server._interrupt(self._key)
                self._until = self._now() + grace
                at = self._until + self.delayed
                reply = self._connection.receive(at, partial(self._later, math.inf))
                self.interrupted = True
            if type(reply) is not dict or not _REPLIES["cell" in message] <= reply.keys():
                raise protocol.ProtocolError("not a reply to this request")
            return reply
        except protocol.ProtocolError as error:
            raise self._lost(error) from error

    def seconds(self) -> float:
        """For how long the process has run: whatever else the machine does is left out."""
        ran, _ = self._server.times(self._key)
        return ran or self._now()

    def _now(self) -> float:
        return time.monotonic() - self.delayed

    def _look_for_delays(self) -> None:
        _, waited = self._server.times(self._key)
        if waited is None:
            self.has_forked = True
            return
        waited += own_wait() - self._own_wait
        most = (1 - 1 / self.limits.patience) * (time.monotonic() - self._started)
        self.delayed = max(self.delayed, min(waited, most))

    def _later(self, own: float) -> float | None:
        """By when the reply must be there, in the time of `time.monotonic`, if it is not too late.

        Args:
            own: by when it must be in the time that counts, whatever else is allowed.
        """
        if self._now() >= min(own, self._until):
            self._look_for_delays()
        if self._now() >= self._until and self._more is not None:
            more, self._more = self._more, None
            asked = time.thread_time()
            self._until += more()
            self.asking += time.thread_time() - asked
            self._look_for_delays()
        until = min(own, self._until)
        return None if self._now() >= until else until + self.delayed

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that has no reply. Where the process is gone, the next request raises."""
        with suppress(protocol.ProtocolError):
            self._connection.send(message, time.monotonic() + _END_SECONDS)

    def close(self) -> None:
        """End the process and all it started."""
        if self._open:
            self._open = False
            self._connection.close()
            self._server._end(self._key)

    def _lost(self, error: protocol.ProtocolError) -> StudentLost | ProcessKilled:
        """End the process after an error on the way to it; returns what is to be raised."""
        if isinstance(error, protocol.TimeIsUp):
            self.timed_out = True
            self.close()
            return StudentLost("timeout", str(error))
        self._open = False
        self._connection.close()
        leaving = isinstance(error, protocol.Closed)
        ended = self._server._wait_for_end(self._key, kill=not leaving)
        if ended == "killed" and not self._server.blames_students:
            return ProcessKilled("a student process was killed from outside")
        reason = "out_of_memory" if ended == "out_of_memory" else "crashed"
        return StudentLost(reason, str(error))

    def __enter__(self) -> StudentProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
