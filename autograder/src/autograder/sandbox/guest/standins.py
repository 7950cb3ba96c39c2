"""Replaces functions of Python that need a file or a system call which the sandbox refuses.

The fork server installs the replacements, so that every student process has them. Under bubblewrap,
a program that student code starts gets them when it imports `multiprocessing`.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import errno
import mmap
import os
import pwd
import resource
import socket
import time
from tempfile import TemporaryFile
from typing import Any

_FIRST_PAUSE, _LONGEST_PAUSE = 50e-6, 10e-3


class SemLock(_multiprocessing.SemLock):
    """Semaphore of `multiprocessing` that polls with exponential backoff.

    Python's own semaphore waits on a shared futex, which has no effect under the filter.
    """

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while not (acquired := super().acquire(False)) and block:
            left = pause if deadline is None else deadline - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        return bool(acquired)

    def __enter__(self) -> bool:
        return self.acquire()


def getrusage(who: int) -> resource.struct_rusage:
    """Return processor times as `resource.getrusage` does, and 0 in all other fields.

    The system call would also return counts of page faults, by which two processes could exchange
    messages.
    """
    ticks = os.times()
    if who == resource.RUSAGE_CHILDREN:
        times = ticks.children_user, ticks.children_system
    else:
        whole = time.thread_time() if who == resource.RUSAGE_THREAD else time.process_time()
        system = min(ticks.system, whole)
        times = whole - system, system
    return resource.struct_rusage((*times, *[0] * (resource.struct_rusage.n_sequence_fields - 2)))


def getpwuid(uid: int) -> pwd.struct_passwd:
    """Return the entry of this process's user, which no file holds that student code can read.

    Raises `KeyError` for any other user, as `pwd.getpwuid` does.
    """
    if uid != os.getuid():
        raise KeyError(f"getpwuid(): uid not found: {uid}")
    user, home = os.environ["USER"], os.environ["HOME"]
    return pwd.struct_passwd((user, "x", uid, os.getgid(), user, home, "/bin/sh"))


def statvfs(path: Any) -> os.statvfs_result:
    """Return numbers of a full disk: the real ones would tell what other processes write."""
    os.stat(path)
    return os.statvfs_result((4096, 4096, 1 << 14, 0, 0, 1 << 12, 0, 0, 0, 255, 0))


def cpu_count() -> int:
    """Return the number of processors that this process may use.

    Pools start as many processes by default, and a large machine has more than the limit allows.
    """
    return len(os.sched_getaffinity(0))


class SharedMap(mmap.mmap):
    """Memory map that has a file: no limit counts memory which processes share without one."""

    def __new__(
        cls, fileno: int, length: int, flags: int = mmap.MAP_SHARED, *more: Any, **options: Any
    ) -> SharedMap:
        if fileno != -1 or flags & mmap.MAP_PRIVATE:
            return super().__new__(cls, fileno, length, flags, *more, **options)
        with TemporaryFile() as file:
            file.truncate(length)
            flags &= ~mmap.MAP_ANONYMOUS
            return super().__new__(cls, file.fileno(), length, flags, *more, **options)


_NO_SOCKET = (
    "the sandbox refuses a socket unless socket.socketpair makes it: no server and no connection, "
    "even within one notebook"
)


def refuse_sockets_in_words() -> None:
    """Have Python say which call the sandbox refuses, in place of "Operation not permitted"."""
    from asyncio import base_events

    create, serve = socket.socket.__init__, base_events.Server.__init__

    def create_socket(self: Any, *arguments: Any, **options: Any) -> None:
        try:
            create(self, *arguments, **options)
        except PermissionError as error:
            raise PermissionError(error.errno, _NO_SOCKET) from None

    def create_server(self: Any, loop: Any, sockets: Any, *arguments: Any) -> None:
        # Python 3.11 passes over each socket that it cannot create.
        if not sockets:
            raise PermissionError(errno.EPERM, _NO_SOCKET)
        serve(self, loop, sockets, *arguments)

    socket.socket.__init__ = create_socket  # type: ignore[method-assign]
    base_events.Server.__init__ = create_server  # type: ignore[assignment]


def install() -> None:
    """Put the replacements in place of Python's own functions."""
    os.statvfs = statvfs
    os.cpu_count = cpu_count
    _multiprocessing.SemLock = SemLock
    resource.getrusage = getrusage
    pwd.getpwuid = getpwuid
    mmap.mmap = SharedMap  # type: ignore[misc]


def run_processes_as_threads() -> None:
    """Give `multiprocessing` and process pools threads in place of processes, for student code that
    may start no process. Most of them are Python's own, from `multiprocessing.dummy`."""
    import multiprocessing
    from concurrent.futures import ThreadPoolExecutor, process
    from multiprocessing import context, dummy
    from multiprocessing.pool import ThreadPool

    class Process(dummy.DummyProcess):
        def __init__(self, *arguments: Any, daemon: bool = True, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.daemon = daemon

        def close(self) -> None:
            pass

    class ProcessPoolExecutor(ThreadPoolExecutor):
        def __init__(
            self, max_workers: Any = None, mp_context: Any = None,
            initializer: Any = None, initargs: Any = (), **_: Any,
        ) -> None:  # fmt: skip
            super().__init__(max_workers, "", initializer, initargs)

    def pool(processes: Any = None, initializer: Any = None, initargs: Any = (), *_: Any) -> Any:
        return ThreadPool(processes, initializer, initargs)

    names = {name: getattr(dummy, name) for name in dummy.__all__}
    names |= {"Process": Process, "Pool": pool}
    for name, each in names.items():
        setattr(multiprocessing, name, each)
        for kind in (context.BaseContext, *context.BaseContext.__subclasses__()):
            setattr(kind, name, staticmethod(each))
    process.ProcessPoolExecutor = ProcessPoolExecutor  # type: ignore[misc, assignment]
