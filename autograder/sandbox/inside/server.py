"""The warm server: a fresh program that forks a confined process for each student.

Started with the number of an inherited control socket. The grader sends `{"spawn": id, ...}` with
a socket for the new process, or `{"kill": id}`; the server answers `{"ready": true}` once and
`{"ended": id, "reason": ...}` when a process and all it started are gone.

    server ── supervisor (counts memory and processes) ── init (pid 1 inside) ── student
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
from itertools import chain
from typing import Any

from . import confine
from .session import student_main
from .shell import Shell, warm_shell

_ENDED = {0: "closed", 41: "not confined", 42: "out_of_memory", 43: "too many processes"}
_POLL_SECONDS = 0.02


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    shell = warm_shell()
    gc.collect()
    gc.freeze()
    control.send(b'{"ready": true}')
    Server(control, shell).serve()


class Server:
    def __init__(self, control: socket.socket, shell: Shell) -> None:
        self._control = control
        self._shell = shell
        self._supervisors: dict[int, tuple[int, int]] = {}  # id -> pidfds: supervisor's, init's

    def serve(self) -> None:
        while True:
            by_pidfd = {pidfd: key for key, (pidfd, _) in self._supervisors.items()}
            readable, _, _ = select.select([self._control.fileno(), *by_pidfd], [], [])
            for pidfd in set(readable) & set(by_pidfd):
                self._reap(by_pidfd[pidfd])
            if self._control.fileno() in readable:
                message, descriptors, _, _ = socket.recv_fds(self._control, 65536, 1)
                if not message:
                    return
                self._handle(json.loads(message), descriptors)

    def _handle(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if "spawn" in request:
            self._spawn(request, descriptors[0])
        elif request.get("kill") in self._supervisors:
            _, init = self._supervisors[request["kill"]]
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(init, signal.SIGKILL)

    def _spawn(self, request: dict[str, Any], descriptor: int) -> None:
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            self._control.close()
            for pidfd in chain.from_iterable(self._supervisors.values()):
                os.close(pidfd)
            _never_return(supervise, self._shell, descriptor, write_end, request)
        os.close(descriptor)
        os.close(write_end)
        init = int(os.read(read_end, 20) or pid)
        os.close(read_end)
        self._supervisors[request["spawn"]] = (os.pidfd_open(pid), os.pidfd_open(init))

    def _reap(self, key: int) -> None:
        supervisor, init = self._supervisors.pop(key)
        status = os.waitid(os.P_PIDFD, supervisor, os.WEXITED)
        os.close(supervisor)
        os.close(init)
        code = status.si_status if status is not None else 1
        reason = _ENDED.get(code, "crashed")
        self._control.send(json.dumps({"ended": key, "reason": reason}).encode())


def _never_return(function: Any, *arguments: Any) -> None:
    """Call the function in a forked process and leave it without running anybody's exit hooks."""
    code = 1
    try:
        code = function(*arguments) or 0
    except OSError:
        traceback.print_exc()
        code = 41
    finally:
        os._exit(code)


def supervise(shell: Shell, descriptor: int, report: int, start: dict[str, Any]) -> int:
    """Start the confined process and watch it; returns the exit code that says how it ended."""
    confine.die_with_parent()
    confine.new_namespaces()
    init = os.fork()
    if init == 0:
        os.close(report)
        _never_return(run_init, shell, descriptor, start)
    os.close(descriptor)
    os.write(report, str(init).encode())
    os.close(report)
    return _watch(init, start["limits"])


def _watch(init: int, limits: dict[str, int]) -> int:
    """Wait for the process tree to end, and end it where it outgrows its limits."""
    base = _resident_pages(os.getpid())
    most = limits["memory"] // os.sysconf("SC_PAGE_SIZE")
    pidfd = os.pidfd_open(init)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    pause = _POLL_SECONDS
    while not poller.poll(pause * 1000):
        started = time.perf_counter()
        pids, threads = _tree(init)
        used = sum(max(0, _resident_pages(pid) - base) for pid in pids)
        if used > most or threads > limits["processes"] + 2:
            os.kill(init, signal.SIGKILL)
            os.waitpid(init, 0)
            return 42 if used > most else 43
        # Watching may take a twentieth of a core, no more.
        pause = max(_POLL_SECONDS, 20 * (time.perf_counter() - started))
    _, status = os.waitpid(init, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


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


def run_init(shell: Shell, descriptor: int, start: dict[str, Any]) -> int:
    """Pid 1 of the confined process tree: when it leaves, the kernel ends all the others."""
    confine.die_with_parent()
    limits = start["limits"]
    confine.private_file_systems(limits["disk_megabytes"])
    # Without a handler, pid 1 is out of reach of every signal from inside.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    student = os.fork()
    if student == 0:
        _never_return(run_student, shell, descriptor, start)
    os.close(descriptor)
    while True:
        pid, status = os.wait()
        if pid == student:
            return 0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else 1


def run_student(shell: Shell, descriptor: int, start: dict[str, Any]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    # The server's own streams lead to a file that every student process would share.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    confine.limit_resources(start["limits"])
    confine.drop_privileges()
    connection = socket.socket(fileno=descriptor)
    student_main(shell, connection, start)
    return 0


if __name__ == "__main__":
    main()
