"""The fork server: a process that forks a confined process for each student of one grader.

The arguments of the program are the file descriptors of inherited control sockets, one for each
grader, and the names of packages to import. The program loads IPython and the packages once, then
forks a fork server for each grader; the fork servers share its memory pages. The program runs in
bubblewrap's sandbox, where each student process gets namespaces of its own, or directly on the
machine, where Landlock confines it.

A grader sends these messages to its fork server:

- `{"spawn": id, "limits": ...}`, with a socket: fork a student process that uses the socket.
- `{"kill": id}`: kill the student process, unless it is ending by itself.
- `{"interrupt": id}`: interrupt the student process, as Jupyter's stop button does.
- `{"times": id}`: reply `{"times": id, "used": seconds}`, with the processor time of the student
  process and all that it started.
- `{"processors": [...]}`: run on these processors from now on.

The fork server sends `{"ready": true}` once, and `{"ended": id, "reason": ..., "used": seconds}`
when a student process and all that it started are gone. It ends when its grader closes the socket.

When a student process ends, the kernel ends all that it started, since it is pid 1 of a namespace;
under Landlock it can start no process. The fork server measures the memory and the threads of each
process tree from outside.
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

from . import confine, landlock, processes, standins
from .data import DataFiles
from .landlock import LandlockBox
from .namespaces import NamespaceBox
from .processes import ProcessesChanging
from .session import SELDOM, run_first_cells, student_main
from .shell import Shell, start_shell

_NOT_CONFINED = 41
_CONNECTION = 3
_POLL_SECONDS = 0.02


Box = NamespaceBox | LandlockBox
NewBox = Callable[[dict[str, Any]], Box]
"""A function that returns the box of a student process with these limits. A box confines a
process, by namespaces or by Landlock."""


def main(folder: str = "") -> None:
    """Run the program until all graders have closed their sockets.

    Args:
        folder: under Landlock, the folder with links to the readable files and with the private
            folders of student processes, which is removed at the end; "" under bubblewrap.
    """
    controls = [socket.socket(fileno=int(each)) for each in sys.argv[1:] if each.isdigit()]
    standins.install()
    standins.refuse_sockets_in_words()
    if folder:
        standins.run_processes_as_threads()
    shell = start_shell()
    run_first_cells(shell, [each for each in sys.argv[1:] if not each.isdigit()])
    # The garbage collector does not write to frozen objects, so forked processes share the memory
    # pages of these.
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
    """Serve one grader until it closes its socket.

    Args:
        control: the control socket of this grader.
        controls: the control sockets of all graders.
        folder: as for `main`.
    """
    confine.die_with_parent()
    for other in controls:
        if other is not control:
            other.close()
    new_box = _landlock_boxes(Path(folder)) if folder else NamespaceBox
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        control.send(b'{"ready": true}')
        Server(control, shell, new_box).serve()


def _landlock_boxes(folder: Path) -> NewBox:
    """Confine this fork server by Landlock, and return the function that makes the boxes of its
    student processes."""
    rules, homes = landlock.readable(folder / "seen"), folder / "homes"
    landlock.restrict([*rules, (str(homes), landlock.WRITE), ("/proc", landlock.WRITE)])
    return lambda limits: LandlockBox(limits, rules, homes)


@dataclass
class Student:
    """A running student process, seen from outside.

    Attributes:
        pid: the pid of the process, as the server sees it.
        pidfd: the pid file descriptor of the process, readable once the process has ended.
        limits: `memory` in bytes and `processes` (with threads) of the whole process tree, and
            `cpu_seconds` of each process.
        box: the box that confines the process.
        reason: why the server ended the process; None if it did not.
        used: seconds of processor time of the whole process tree, as last read.
    """

    pid: int
    pidfd: int
    limits: dict[str, Any]
    box: Box
    reason: str | None = None
    used: float = 0.0

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to the process; do nothing if it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, by)


class Server:
    """Forks the student processes of one grader, watches their limits, and reports their ends."""

    def __init__(self, control: socket.socket, shell: Shell, new_box: NewBox) -> None:
        self._control = control
        self._shell = shell
        self._new_box = new_box
        self._students: dict[int, Student] = {}
        self._data: DataFiles | None = None
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
        """Kill all student processes, since the grader has closed its socket."""
        for student in self._students.values():
            student.kill()
            os.waitid(os.P_PIDFD, student.pidfd, os.WEXITED)
            student.box.remove()

    def _handle(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if "spawn" in request:
            self._spawn(request["spawn"], request["limits"], descriptors[0])
        elif "kill" in request:
            if student := self._students.get(request["kill"]):
                # A process that is ending has no living thread, and its exit status is the reason.
                if student.reason is None and _lives(student):
                    student.reason = "ended"
                student.kill()
        elif "interrupt" in request:
            if student := self._students.get(request["interrupt"]):
                student.kill(signal.SIGINT)
        elif "times" in request:
            student = self._students.get(request["times"])
            self._report({"times": request["times"], "used": _used(student) if student else 0.0})
        elif "processors" in request:
            with contextlib.suppress(OSError):  # This is only for speed: an error does not matter.
                os.sched_setaffinity(0, request["processors"])

    def _report(self, message: dict[str, Any]) -> None:
        # An error means that the grader has left, which the next read will show.
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())

    def _spawn(self, key: int, limits: dict[str, Any], descriptor: int) -> None:
        if self._data is None:
            self._data = DataFiles(limits["disk_megabytes"] << 20, limits["file_size"])
        limits["disk_megabytes"] += self._data.megabytes
        box = self._new_box(limits)
        pid = box.fork()
        if pid == 0:
            _never_return(run_student, self._shell, descriptor, limits, box, self._data)
        os.close(descriptor)
        self._students[key] = Student(pid, os.pidfd_open(pid), limits, box)

    def _reap(self, key: int) -> None:
        """Collect the exit status of a student process that has ended, and report the reason of its
        end to the grader."""
        student = self._students.pop(key)
        _, status, used = os.wait4(student.pid, 0)
        os.close(student.pidfd)
        student.box.remove()
        seconds = used.ru_utime + used.ru_stime
        if student.reason is None and os.WIFSIGNALED(status):
            # The kernel sends SIGKILL at the limit RLIMIT_CPU. A SIGKILL before that limit comes
            # from outside.
            in_time = seconds < student.limits["cpu_seconds"] - 1
            is_killed = os.WTERMSIG(status) == signal.SIGKILL and in_time
            student.reason = "killed" if is_killed else "crashed"
        elif student.reason is None:
            code = os.waitstatus_to_exitcode(status)
            student.reason = {0: "closed", _NOT_CONFINED: "not confined"}.get(code, "crashed")
        seconds = max(seconds, student.used)
        self._report({"ended": key, "reason": student.reason, "used": seconds})

    def _watch(self) -> None:
        """End each student process, with all that it started, that exceeds its limits."""
        began = time.thread_time()
        for student in self._students.values():
            try:
                student.reason = student.reason or _excess(student)
            except ProcessesChanging:
                student.reason = "not to be counted"
            if student.reason is not None:
                student.kill()
        # Watching takes at most a twentieth of the time of a processor.
        spent = time.thread_time() - began
        self._next_watch = time.monotonic() + max(_POLL_SECONDS, 20 * spent)


def _excess(student: Student) -> str | None:
    """Return the reason for which a process tree has to be ended, if it exceeds a limit; else None.

    Raises `ProcessesChanging` if the process tree changes too fast to be measured.
    """
    limits, threads = student.limits, processes.tree(student.pid)
    # Checked first: memory that processes share counts for each of them, so too many processes
    # would also exceed the limit of memory.
    if sum(threads.values()) > limits["processes"]:
        return "too many processes"
    used = sum(map(processes.kilobytes, threads)) + student.box.kilobytes(student.pid)
    if used << 10 > limits["memory"]:
        return "out_of_memory"
    return "too much on its disk" if student.box.is_full(student.pid) else None


def _lives(student: Student) -> bool:
    with contextlib.suppress(ProcessesChanging):
        return processes.living(student.pid) is not None
    return True


def _used(student: Student) -> float:
    """Return the seconds of processor time that a process tree has used: at least as many as at the
    last call, though the kernel forgets the time of a child that nobody waited for."""
    with contextlib.suppress(ProcessesChanging):
        student.used = max(student.used, processes.processor_seconds(student.pid))
    return student.used


def _never_return(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a forked process, then exit without calling exit hooks, which belong to
    the parent."""
    code = 1
    try:
        function(*arguments)
        code = 0
    except Exception as error:
        traceback.print_exc()
        code = _NOT_CONFINED if isinstance(error, OSError) else 1
    finally:
        os._exit(code)


def run_student(
    shell: Shell, descriptor: int, limits: dict[str, Any], box: Box, data: DataFiles
) -> None:
    """Confine this process, then run student code in it.

    Args:
        descriptor: the file descriptor of the socket for requests.
    """
    confine.die_with_parent()
    confine.be_killed_first()
    box.enter()
    os.setsid()
    # The server's standard streams are a log file that all student processes would share.
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    # The socket gets the same number in every process, since student code can see the number. All
    # other descriptors are closed.
    os.dup2(descriptor, _CONNECTION)
    confine.close_all_from(_CONNECTION + 1)
    confine.limit_resources(limits, box.has_namespaces)
    confine.drop_privileges(box.has_namespaces)
    student_main(shell, socket.socket(fileno=_CONNECTION), data)


if __name__ == "__main__":
    main()
