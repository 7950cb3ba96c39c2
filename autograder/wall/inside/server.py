"""The warm server: a process that forks a confined process for each student of one grader.

The program is started with the numbers of inherited control sockets, one for each grader, and the
names of packages to import. It warms up once, and forks the graders' servers, which share its
memory. It runs in bubblewrap's box, where each student's process gets namespaces of its own, or
directly on the machine, and then Landlock confines it.

A grader sends `{"spawn": id, ...}` with a socket for the new process, `{"kill": id}`, or
`{"interrupt": id}`, which does what Jupyter's stop button does. Its server answers `{"ready":
true}` once and `{"ended": id, "reason": ...}` when a process and all it started are gone. To
`{"times": id}` it replies with the seconds that the process `ran` and those that it `waited` for a
processor. It runs on the processors in `{"processors": [...]}`, and ends when its grader leaves.

When a student's process ends, the kernel ends all it started, if it could start anything. The
server, outside, counts the memory and the threads of each such tree.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import confine, landlock, processes
from .landlock import LandlockBox
from .namespaces import NamespaceBox
from .processes import Unsteady
from .session import SELDOM, rehearse, student_main
from .shell import Shell, warm_shell

_NOT_CONFINED = 41
_CONNECTION = 3
_POLL_SECONDS = 0.02


Box = NamespaceBox | LandlockBox
NewBox = Callable[[dict[str, Any]], Box]
"""Makes the box of a student's process, given its limits."""


def main(folder: str = "") -> None:
    """Run the program.

    Args:
        folder: of a program that Landlock confines: it holds the links to the files that may be
            read, and student processes' own folders. It is removed in the end.
    """
    controls = [socket.socket(fileno=int(each)) for each in sys.argv[1:] if each.isdigit()]
    shell = warm_shell()
    rehearse(shell, [each for each in sys.argv[1:] if not each.isdigit()])
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    for control in controls:
        if os.fork() == 0:
            _never_return(serve, shell, control, controls, folder)
    for control in controls:
        control.close()
    for _ in controls:
        os.wait()
    landlock.remove(folder)


def serve(shell: Shell, control: socket.socket, controls: list[socket.socket], folder: str) -> None:
    """Serve the grader at one of the control sockets until it leaves."""
    confine.die_with_parent()
    for other in controls:
        if other is not control:
            other.close()
    new_box = _landlock_boxes(Path(folder)) if folder else NamespaceBox
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        control.send(b'{"ready": true}')
        Server(control, shell, new_box).serve()


def _landlock_boxes(folder: Path) -> NewBox:
    """Return a factory of boxes in the folder; Landlock confines this server, too, from now on."""
    rules, homes = landlock.readable(folder / "seen"), folder / "homes"
    landlock.restrict([*rules, (str(homes), landlock.WRITE), ("/proc", landlock.WRITE)])
    return lambda limits: LandlockBox(limits, rules, homes)


@dataclass
class Student:
    """A running student process, as the server sees it from outside.

    Attributes:
        pidfd: becomes readable when the process has ended.
        limits: `memory` in bytes and `processes`, threads counted, of its whole tree; `cpu_seconds`
            of each process.
        box: the box that confines it.
        reason: why the server ended it, if it did.
        has_forked: whether processes of its own were seen.
    """

    pid: int
    pidfd: int
    limits: dict[str, Any]
    box: Box
    reason: str | None = None
    has_forked: bool = False

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, by)


class Server:
    def __init__(self, control: socket.socket, shell: Shell, new_box: NewBox) -> None:
        self._control = control
        self._shell = shell
        self._new_box = new_box
        self._students: dict[int, Student] = {}
        self._next_watch = 0.0

    def serve(self) -> None:
        grader = self._control.fileno()
        while True:
            by_pidfd = {student.pidfd: key for key, student in self._students.items()}
            wait = max(0.0, self._next_watch - time.monotonic()) if by_pidfd else None
            readable, _, _ = select.select([grader, *by_pidfd], [], [], wait)
            for pidfd in set(readable) & set(by_pidfd):
                self._reap(by_pidfd[pidfd])
            if grader in readable:
                message, descriptors, _, _ = socket.recv_fds(self._control, 65536, 1)
                if not message:
                    return self._end_all()
                self._handle(json.loads(message), descriptors)
            if time.monotonic() >= self._next_watch:
                self._watch()

    def _end_all(self) -> None:
        """End all student processes, because the grader has left or ended."""
        for student in self._students.values():
            student.kill()
            os.waitid(os.P_PIDFD, student.pidfd, os.WEXITED)
            student.box.remove()

    def _handle(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if "spawn" in request:
            self._spawn(request["spawn"], request["limits"], descriptors[0])
        elif "kill" in request:
            if student := self._students.get(request["kill"]):
                student.reason = student.reason or "ended"
                student.kill()
        elif "interrupt" in request:
            if student := self._students.get(request["interrupt"]):
                student.kill(signal.SIGINT)
        elif "times" in request:
            student = self._students.get(request["times"])
            ran, waited = (0.0, 0.0) if student is None else _times(student)
            self._report({"times": request["times"], "ran": ran, "waited": waited})
        elif "processors" in request:
            with contextlib.suppress(OSError):  # for speed alone, so an error does not matter
                os.sched_setaffinity(0, request["processors"])

    def _report(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the grader has left, which the next read will show
            self._control.send(json.dumps(message).encode())

    def _spawn(self, key: int, limits: dict[str, Any], descriptor: int) -> None:
        box = self._new_box(limits)
        pid = box.fork()
        if pid == 0:
            _never_return(run_student, self._shell, descriptor, limits, box)
        os.close(descriptor)
        self._students[key] = Student(pid, os.pidfd_open(pid), limits, box)

    def _reap(self, key: int) -> None:
        student = self._students.pop(key)
        _, status, used = os.wait4(student.pid, 0)
        os.close(student.pidfd)
        student.box.remove()
        if student.reason is None and os.WIFSIGNALED(status):
            # SIGKILL comes from the kernel when the processor time is used up, else from outside.
            in_time = used.ru_utime + used.ru_stime < student.limits["cpu_seconds"] - 1
            is_killed = os.WTERMSIG(status) == signal.SIGKILL and in_time
            student.reason = "killed" if is_killed else "crashed"
        elif student.reason is None:
            code = os.waitstatus_to_exitcode(status)
            student.reason = {0: "closed", _NOT_CONFINED: "not confined"}.get(code, "crashed")
        self._report({"ended": key, "reason": student.reason})

    def _watch(self) -> None:
        """End each process tree that exceeds its limits."""
        began = time.thread_time()
        for student in self._students.values():
            try:
                student.reason = student.reason or _excess(student)
            except Unsteady:
                student.reason = "not to be counted"
            if student.reason is not None:
                student.kill()
        # Watching may take a twentieth of a core, no more.
        spent = time.thread_time() - began
        self._next_watch = time.monotonic() + max(_POLL_SECONDS, 20 * spent)


def _excess(student: Student) -> str | None:
    """Return the limit that a process tree exceeds, if any. Raises `Unsteady` if it changes too
    fast."""
    limits, threads = student.limits, processes.tree(student.pid)
    student.has_forked |= len(threads) > 1
    # Shared memory counts for each process: too many of them also hold too much.
    if sum(threads.values()) > limits["processes"]:
        return "too many processes"
    used = sum(map(processes.kilobytes, threads)) + student.box.kilobytes(student.pid)
    if used << 10 > limits["memory"]:
        return "out_of_memory"
    return "too much on its disk" if student.box.is_full(student.pid) else None


def _times(student: Student) -> tuple[float, float | None]:
    """Return the seconds that a process ran, and those that it waited while others had the
    processor.

    Time in which the process waited for its own threads does not count as waiting. Once it has
    started processes, the second number is None: the kernel reports the times of a child only to
    the process that waited for it. Both are 0 if they are not known.
    """
    try:
        ran, waited = processes.numbers(f"/proc/{student.pid}/schedstat")[:2]
        every = processes.processor_seconds(student.pid)
        student.has_forked |= len(processes.tree(student.pid)) > 1
    except (OSError, ValueError, IndexError, Unsteady):
        return 0.0, 0.0
    if student.has_forked:
        return ran / 1e9, None
    others = every - ran / 1e9
    return ran / 1e9, max(0.0, waited / 1e9 - max(0.0, others))


def _never_return(function: Callable[..., None], *arguments: Any) -> None:
    """Call the function in a forked process and leave it without running exit hooks."""
    code = 1
    try:
        function(*arguments)
        code = 0
    except Exception as error:
        traceback.print_exc()
        code = _NOT_CONFINED if isinstance(error, OSError) else 1
    finally:
        os._exit(code)


def run_student(shell: Shell, descriptor: int, limits: dict[str, Any], box: Box) -> None:
    """Confine this process, then run student code in it."""
    confine.die_with_parent()
    confine.be_killed_first()
    box.enter()
    os.setsid()
    # The server's own streams lead to a file that every student process would share.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    # The connection is number 3 in every run, and the only descriptor.
    os.dup2(descriptor, _CONNECTION)
    confine.close_all_from(_CONNECTION + 1)
    confine.limit_resources(limits, box.has_namespaces)
    confine.drop_privileges(box.has_namespaces)
    student_main(shell, socket.socket(fileno=_CONNECTION))


if __name__ == "__main__":
    main()
