"""Reads from /proc the processes that a student process has started, their memory and times.

A process chooses its own name, which may imitate a line or a field of a file in /proc. So no file
is searched for a word. Numbers are taken from files that hold only numbers, from the fields after
the last closing bracket, which ends the name, or from the beginning of a line, since the kernel
escapes newlines in a name.

A process can go on after its first thread has ended. From then on, only the files of its other
threads show its memory.
"""

from __future__ import annotations

import os
import time

ATTEMPTS = 60
"""Greatest number of attempts to read something that changes meanwhile. Threads that begin and end
without pause can make several attempts in a row fail, but not this many."""

_MOST = 10_000
"""Greatest number of processes in a tree that are read."""


class ProcessesChanging(Exception):
    """A process changes faster than it can be read: it has changed during each of `ATTEMPTS`."""


def read(path: str) -> bytes:
    """Return the content of a file in /proc, without a Python file object, which would take three
    times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 16), b""))
    finally:
        os.close(descriptor)


def numbers(path: str) -> list[int]:
    """Return the numbers in a file that holds only numbers."""
    return [int(each) for each in read(path).split()]


def amount(text: bytes, beginning: bytes) -> int:
    """Return the number that follows `beginning` in the first line that begins with it; 0 if no
    line does."""
    _, match, rest = (b"\n" + text).partition(b"\n" + beginning)
    return int(rest.split(maxsplit=1)[0]) if match else 0


def tree(root: int) -> dict[int, int]:
    """Return by pid: the number of threads of the process `root` and of each of its descendants.

    Raises `ProcessesChanging` if threads begin and end too fast to read their children.
    """
    threads: dict[int, int] = {}
    queue = [root]
    while queue and len(threads) < _MOST:
        pid = queue.pop()
        if pid not in threads:
            threads[pid], children = _threads_and_children(pid)
            queue += children
    return threads


def _threads_and_children(pid: int) -> tuple[int, list[int]]:
    for _ in range(ATTEMPTS):
        children: list[int] = []
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:  # The process has ended.
            return 0, []
        try:
            for thread in threads:
                children += numbers(f"/proc/{pid}/task/{thread}/children")
        except OSError:
            continue  # A thread has ended: its children belong to another thread now.
        return len(threads), children
    raise ProcessesChanging("threads begin and end faster than they can be counted")


def living(pid: int) -> str | None:
    """Return the folder in /proc of a living thread of a process; None if all threads have ended.

    Raises `ProcessesChanging` if each thread ends before it can be read, while others begin.
    """
    thread = _living(pid)
    return None if thread is None else thread[0]


def kilobytes(pid: int) -> int:
    """Return the kilobytes of memory that a process holds, including its page tables.

    Pages that a process shares with the one that forked it count for both. Mapped files do not
    count, except shared memory. Raises `ProcessesChanging` as `living` does.
    """
    if (thread := _living(pid)) is None:
        return 0
    _, status = thread
    resident = amount(status, b"VmRSS:") - amount(status, b"RssFile:")
    return resident + amount(status, b"VmSwap:") + amount(status, b"VmPTE:")


def _living(pid: int) -> tuple[str, bytes] | None:
    """Return the folder in /proc of a living thread of a process, and the content of its file
    `status`; None if all threads have ended."""
    ended: set[str] = set()
    for _ in range(ATTEMPTS):
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return None
        if ended.issuperset(threads):
            return None
        ended.update(threads)
        for thread in threads:
            folder = f"/proc/{pid}/task/{thread}"
            try:
                status = read(f"{folder}/status")
            except OSError:
                continue
            if b"\nVmRSS:" in status:  # The status of an ended thread does not show memory.
                return folder, status
    raise ProcessesChanging("threads begin and end faster than they can be looked at")


def processor_seconds(root: int) -> float:
    """Return the seconds of processor time that the process `root` and its descendants have used.

    A child that has ended counts only if its parent waited for it: the kernel forgets the time of
    other children. Raises `ProcessesChanging` as `tree` does.
    """
    return sum(map(_own_seconds, tree(root)))


def _own_seconds(pid: int) -> float:
    try:
        # The id is that of clock_getcpuclockid(3): the processor time of all threads.
        seconds = time.clock_gettime(~pid << 3 | 2)
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:  # The process has ended meanwhile.
        return 0.0
    # cutime and cstime, the 16th and the 17th field of the file; the second is the name, and
    # `fields` begins after it.
    return seconds + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
