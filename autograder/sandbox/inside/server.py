"""The warm server: a fresh program that forks a confined process for each student.

Started with the numbers of inherited control sockets, one for each grader. A grader sends
`{"spawn": id, ...}` with a socket for the new process, or `{"kill": id}`; the server answers
`{"ready": true}` once and `{"ended": id, "reason": ...}` when a process and all it started are
gone. Asked `{"waited": id}`, it says for how many `seconds` the process had to wait for a
processor. It ends when the last grader has left.

A student's process is pid 1 of its own namespace: when it ends, the kernel ends all it started.
The server, outside, counts the memory and the threads of each such tree.
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
from typing import Any

from . import confine
from .session import rehearse, student_main
from .shell import Shell, warm_shell

_NOT_CONFINED = 41
_CONNECTION = 3
_POLL_SECONDS = 0.02


def main() -> None:
    controls = [socket.socket(fileno=int(number)) for number in sys.argv[1:]]
    shell = warm_shell()
    rehearse(shell)
    confine.prepare()
    gc.collect()
    gc.freeze()
    # Students' graphs are large and hang together: looking through them all the time takes
    # longer than what the students' code does.
    gc.set_threshold(200_000, 20, 20)
    for control in controls:
        with contextlib.suppress(OSError):  # the grader has left already
            control.send(b'{"ready": true}')
    Server(controls, shell).serve()


@dataclass
class Student:
    """A running student process, as the server sees it from outside.

    Attributes:
        pidfd: becomes readable when the process has ended.
        limits: `memory` in bytes and `processes`, threads counted, of its whole tree.
        reason: why the server ended it, if it did.
    """

    pid: int
    pidfd: int
    limits: dict[str, int]
    reason: str | None = None

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


class Server:
    """Serves several graders. A student's key is its grader's control socket and its id there."""

    def __init__(self, controls: list[socket.socket], shell: Shell) -> None:
        self._controls = {control.fileno(): control for control in controls}
        self._shell = shell
        self._students: dict[tuple[int, int], Student] = {}
        self._next_watch = 0.0

    def serve(self) -> None:
        while self._controls:
            by_pidfd = {student.pidfd: key for key, student in self._students.items()}
            wait = max(0.0, self._next_watch - time.monotonic()) if by_pidfd else None
            readable, _, _ = select.select([*self._controls, *by_pidfd], [], [], wait)
            for pidfd in set(readable) & set(by_pidfd):
                self._reap(by_pidfd[pidfd])
            for number in set(readable) & set(self._controls):
                message, descriptors, _, _ = socket.recv_fds(self._controls[number], 65536, 1)
                if message:
                    self._handle(number, json.loads(message), descriptors)
                else:
                    self._leave(number)
            if time.monotonic() >= self._next_watch:
                self._watch()

    def _leave(self, grader: int) -> None:
        """A grader has left, or was lost: its students end."""
        self._controls.pop(grader).close()
        for key in [key for key in self._students if key[0] == grader]:
            student = self._students.pop(key)
            student.kill()
            os.waitid(os.P_PIDFD, student.pidfd, os.WEXITED)
            os.close(student.pidfd)

    def _handle(self, grader: int, request: dict[str, Any], descriptors: list[int]) -> None:
        if "spawn" in request:
            self._spawn((grader, request["spawn"]), request["limits"], descriptors[0])
        elif "kill" in request:
            if student := self._students.get((grader, request["kill"])):
                student.kill()
        elif "waited" in request:
            student = self._students.get((grader, request["waited"]))
            seconds = 0.0 if student is None else _waited(student.pid)
            self._tell(grader, {"waited": request["waited"], "seconds": seconds})

    def _tell(self, grader: int, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # it has left, which will be read next
            self._controls[grader].send(json.dumps(message).encode())

    def _spawn(self, key: tuple[int, int], limits: dict[str, int], descriptor: int) -> None:
        pid = confine.fork_into_namespaces()
        if pid == 0:
            _never_return(run_student, self._shell, descriptor, limits)
        os.close(descriptor)
        self._students[key] = Student(pid, os.pidfd_open(pid), limits)

    def _reap(self, key: tuple[int, int]) -> None:
        student = self._students.pop(key)
        status = os.waitid(os.P_PIDFD, student.pidfd, os.WEXITED)
        os.close(student.pidfd)
        if student.reason is None:
            code = status.si_status if status is not None else 1
            student.reason = {0: "closed", _NOT_CONFINED: "not confined"}.get(code, "crashed")
        self._tell(key[0], {"ended": key[1], "reason": student.reason})

    def _watch(self) -> None:
        """End each process tree that has outgrown its limits."""
        started = time.monotonic()
        base = _resident_pages(os.getpid())
        for student in self._students.values():
            pids, threads = _tree(student.pid)
            used = sum(max(0, _resident_pages(pid) - base) for pid in pids)
            if used * os.sysconf("SC_PAGE_SIZE") > student.limits["memory"]:
                student.reason = "out_of_memory"
            elif threads > student.limits["processes"]:
                student.reason = "too many processes"
            if student.reason is not None:
                student.kill()
        # Watching may take a twentieth of a core, no more.
        now = time.monotonic()
        self._next_watch = now + max(_POLL_SECONDS, 20 * (now - started))


def _tree(root: int) -> tuple[list[int], int]:
    """The processes that `root` started, itself among them, and how many threads they have."""
    pids: list[int] = []
    queue = [root]
    count = 0
    while queue and len(pids) < 10_000:
        pid = queue.pop()
        pids.append(pid)
        try:
            threads = os.listdir(f"/proc/{pid}/task")
            count += len(threads)
            for thread in threads:
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    queue += map(int, file.read().split())
        except OSError:
            continue
    return pids, count


def _resident_pages(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError):
        return 0


def _waited(root: int) -> float:
    """For how many seconds a process was ready to run while others had the processor.

    Where these others are of its own making, they do not count.
    """
    try:
        ran, waited = map(int, _fields(f"/proc/{root}/schedstat")[:2])
        ticks = 0
        for pid in _tree(root)[0]:
            # After the name, which may hold anything: utime, stime, cutime and cstime.
            ticks += sum(map(int, _fields(f"/proc/{pid}/stat")[-39:-35]))
    except (OSError, ValueError):
        return 0.0
    others = ticks / os.sysconf("SC_CLK_TCK") - ran / 1e9
    return max(0.0, waited / 1e9 - max(0.0, others))


def _fields(path: str) -> list[str]:
    with open(path) as file:
        return file.read().split()


def _never_return(function: Callable[..., None], *arguments: Any) -> None:
    """Call the function in a forked process and leave it without running anybody's exit hooks."""
    code = 1
    try:
        function(*arguments)
        code = 0
    except OSError:
        traceback.print_exc()
        code = _NOT_CONFINED
    finally:
        os._exit(code)


def run_student(shell: Shell, descriptor: int, limits: dict[str, int]) -> None:
    """Confine this process, then be the student."""
    confine.die_with_parent()
    confine.map_user()
    confine.private_file_systems(limits["disk_megabytes"])
    os.setsid()
    # The server's own streams lead to a file that every student process would share.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    # The connection is number 3 in every run, and nothing else is held.
    os.dup2(descriptor, _CONNECTION)
    os.closerange(_CONNECTION + 1, 256)
    confine.limit_resources(limits)
    confine.drop_privileges()
    student_main(shell, socket.socket(fileno=_CONNECTION))


if __name__ == "__main__":
    main()
