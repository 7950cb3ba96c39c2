"""Reads from /proc the processes that a student's process has started, and their memory.

A process gives itself a name, which may look like a line or a field of these files. So no file is
searched for a word: numbers are read from files that hold numbers alone, from the fields behind the
last bracket that closes a name, or from a line by its beginning, since the kernel writes the line
ends in a name as `\n`.

A process whose first thread has ended goes on with the others; from then on only the files of these
threads show its memory.
"""

from __future__ import annotations

import os

TRIES = 60
"""Number of looks at something that changes meanwhile. Threads that begin and end without pause are
missed several times in a row, but not so often."""

_MOST = 10_000
"""Greatest number of processes that are looked at."""


class Unsteady(Exception):
    """A process changes faster than it can be looked at."""


def read(path: str) -> bytes:
    """Return the content of a file of the kernel's. Python's own file objects take three times as
    long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 16), b""))
    finally:
        os.close(descriptor)


def numbers(path: str) -> list[int]:
    """Return the numbers in a file that holds numbers alone."""
    return [int(each) for each in read(path).split()]


def amount(text: bytes, beginning: bytes) -> int:
    """Return the number right behind the beginning of a line; 0 if no line begins so."""
    _, found, rest = (b"\n" + text).partition(b"\n" + beginning)
    return int(rest.split(maxsplit=1)[0]) if found else 0


def tree(root: int) -> dict[int, int]:
    """Return the processes that `root` started, and `root`, each with its number of threads.

    Raises `Unsteady` if threads begin and end too fast for their children to be seen.
    """
    found: dict[int, int] = {}
    queue = [root]
    while queue and len(found) < _MOST:
        pid = queue.pop()
        if pid not in found:
            found[pid], children = _threads_and_children(pid)
            queue += children
    return found


def _threads_and_children(pid: int) -> tuple[int, list[int]]:
    for _ in range(TRIES):
        children: list[int] = []
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:  # It has ended.
            return 0, []
        try:
            for thread in threads:
                children += numbers(f"/proc/{pid}/task/{thread}/children")
        except OSError:
            continue  # Its children are another thread's from now on.
        return len(threads), children
    raise Unsteady("threads begin and end faster than they can be counted")


def living(pid: int) -> str | None:
    """Return the folder in /proc of the first thread that has not ended; None if all have.

    Raises `Unsteady` if each thread that is looked at has ended meanwhile, and others go on.
    """
    found = _living(pid)
    return None if found is None else found[0]


def kilobytes(pid: int) -> int:
    """Return the memory that a process holds, page tables included.

    Memory that it shares with the process that forked it counts for each of them. Mapped files do
    not count, unless they are in memory alone. Raises `Unsteady` as `living` does.
    """
    if (found := _living(pid)) is None:
        return 0
    _, status = found
    held = amount(status, b"VmRSS:") - amount(status, b"RssFile:")
    return held + amount(status, b"VmSwap:") + amount(status, b"VmPTE:")


def _living(pid: int) -> tuple[str, bytes] | None:
    """Return the folder of such a thread, and the text of its `status`."""
    known: set[str] = set()
    for _ in range(TRIES):
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return None
        if known.issuperset(threads):
            return None
        known.update(threads)
        for thread in threads:
            place = f"/proc/{pid}/task/{thread}"
            try:
                status = read(f"{place}/status")
            except OSError:
                continue
            if b"\nVmRSS:" in status:  # An ended thread has no memory in its status.
                return place, status
    raise Unsteady("threads begin and end faster than they can be looked at")


def processor_seconds(pid: int) -> float:
    """Return the seconds that all threads of a process have had a processor."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    # utime and stime, the 14th and the 15th field; the name is the second.
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
