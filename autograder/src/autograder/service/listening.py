"""Socket activation: keeps the service's listening sockets open across restarts.

If the sockets were closed between two serving processes, another account on the machine could bind
the address and receive the secrets that browsers send. So a supervisor holds the sockets and starts
the serving processes, one after the other. The supervisor is systemd (with a socket unit) or the
function `supervise`, which passes the sockets in systemd's way (sd_listen_fds(3)). While no process
serves, connections wait in the backlog.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from collections.abc import Iterable

from tornado.netutil import bind_sockets

from ..errors import CourseError
from ..terminal import echo, errors

_FIRST = 3
"""The first file descriptor that systemd passes."""

_COUNT, _FOR = "LISTEN_FDS", "LISTEN_PID"
"""Environment variables: the number of passed sockets, and the id of the process that gets them."""

_SIGNAL_OF_PARENT_S_DEATH = 1  # PR_SET_PDEATHSIG

_BACKLOG = 1024
"""Greatest number of connections that wait until a process accepts them."""

_RESTART_SECONDS = 5
"""Seconds from a failure of the serving process until the next serving process is started."""


def passed_sockets() -> list[socket.socket]:
    """Return the listening sockets that a supervisor passed to this process; [] if none."""
    if os.environ.pop(_FOR, "") != str(os.getpid()):
        return []
    sockets = []
    for number in range(_FIRST, _FIRST + int(os.environ.pop(_COUNT, "0"))):
        os.set_inheritable(number, False)
        sockets.append(socket.socket(fileno=number))
        sockets[-1].setblocking(False)
    return sockets


def open_sockets(address: str, port: int) -> list[socket.socket]:
    """Return sockets that listen at an address and port.

    Raises `CourseError` if that is not possible, for example because the port is in use.
    """
    try:
        return bind_sockets(port, address, backlog=_BACKLOG)
    except OSError as error:
        raise CourseError(
            f"nothing can listen on {address}:{port} ({error.strerror}). Choose another --port."
        ) from error


def supervise(sockets: list[socket.socket]) -> None:
    """Run this command again in a child process that serves on the sockets.

    A child that ends is replaced by a new one. After SIGTERM or Ctrl-C the child is ended, and this
    function returns.
    """
    ends = {signal.SIGTERM, signal.SIGINT}
    # Blocked signals stay pending until sigwait: with handlers, one that arrives between waitpid
    # and the wait would be missed.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*ends, signal.SIGCHLD})
    while True:
        process = _start(sockets, mask)
        is_asked = False
        while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0):
            if signal.sigwait({*ends, signal.SIGCHLD}) in ends:
                is_asked = True
                os.kill(process, signal.SIGTERM)
        has_failed = ended[1] != 0 and not is_asked
        if has_failed:
            echo(f"The service starts again in {_RESTART_SECONDS} s. Ctrl-C ends it.", to=errors)
        if is_asked or signal.sigtimedwait(ends, _RESTART_SECONDS * has_failed):
            return


def _start(sockets: list[socket.socket], mask: Iterable[int]) -> int:
    """Fork and exec the serving process; return its process id.

    Args:
        sockets: the listening sockets, passed to the process.
        mask: the signals that the process starts with as blocked.
    """
    sys.stdout.flush()
    parent = os.getpid()
    process = os.fork()
    if process:
        return process
    try:
        ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENT_S_DEATH, signal.SIGKILL)
        if os.getppid() != parent:  # The parent ended before prctl, which then sends no signal.
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # In sorted order, dup2 never overwrites a descriptor that is still to be moved.
        for number, descriptor in enumerate(sorted(each.fileno() for each in sockets), _FIRST):
            os.dup2(descriptor, number)
            os.set_inheritable(number, True)
        variables = {_COUNT: str(len(sockets)), _FOR: str(os.getpid())}
        line = [sys.executable, "-m", "autograder", *sys.argv[1:]]
        os.execve(sys.executable, line, os.environ | variables)
    except OSError as error:
        echo(f"autograder: {sys.executable} cannot be started ({error.strerror})", "red", errors)
    finally:
        os._exit(1)
