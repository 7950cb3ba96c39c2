"""Replaces functions of Python that need a system call which the filter refuses.

The fork server installs the replacements, so that every student process has them. Under bubblewrap,
a program that student code starts gets them when it imports `multiprocessing`.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import os
import resource
import time

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


def install() -> None:
    """Put the replacements in place of Python's own functions."""
    _multiprocessing.SemLock = SemLock
    resource.getrusage = getrusage
