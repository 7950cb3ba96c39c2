"""The time that one submission may take: its cells, its tests and every replay.

Times are seconds of processor time, so that no limit depends on how busy the machine is. Only a
much longer limit for the whole submission is by the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..errors import StudentProcessDied
from ..records import Limits, Status
from .fork_server import StudentProcess

FOR_TESTS = 0.6
"""The share of a submission's time that its cells leave for the tests when they run for the first
time."""
SLOWEST = 3.0
"""The limit of a submission by the clock, as a multiple of its limit in processor time."""
_TIMES = 25.0
"""The usual limit of a test is raised by this multiple of the reference solution's time, up to an
upper bound (see `allowed`)."""
_TIMES_TRAINING = 5.0
"""The upper bound of what is added to the usual limit is at least this multiple of the reference
solution's time."""
_LEAST, _LEAST_TIMES = 0.075, 4.0
"""Least limit after many timeouts: the first number in seconds, plus the second number times the
reference solution's time."""


_LESS_FOR_CELLS, _LEAST_FOR_CELLS = 0.4, 0.3
"""Each interrupted cell multiplies the limit of the later cells by the first number. The second
number is the least limit, in seconds."""


def allowed_to_cell(limits: Limits, interrupted: int = 0) -> float:
    """Return the seconds for which a cell may run.

    Args:
        interrupted: how many earlier cells were interrupted at their limit.
    """
    seconds = limits.cell_seconds
    return max(seconds * _LESS_FOR_CELLS**interrupted, min(_LEAST_FOR_CELLS, seconds))


def allowed(
    limits: Limits, reference_seconds: float, timeouts: int = 0, trains: bool = False
) -> float:
    """Return the seconds for which student code may run if the reference solution takes
    `reference_seconds` seconds.

    Args:
        limits: the limits in course.toml.
        timeouts: how often the submission has run into such limits. Each timeout halves the limit.
        trains: whether the code may take the time of a training, `limits.training_seconds`, even if
            the reference solution is fast.
    """
    longest = max(limits.training_seconds - limits.seconds, _TIMES_TRAINING * reference_seconds)
    usual = limits.seconds + (longest if trains else min(_TIMES * reference_seconds, longest))
    return min(usual, max(usual * 0.5**timeouts, _LEAST + _LEAST_TIMES * reference_seconds))


class TimeBudget:
    """The processor time that is left for a submission. It counts the time of the submission's
    student processes, and that of the calling thread, which judges the submission.

    Args:
        seconds: the processor time for the whole submission.
        taken: seconds that were used already, to read the submission's file.
        is_shared: whether all requests of the submission share `seconds`. If False, each request
            may take all of it, as for the course's own cells.

    Attributes:
        interrupted: how many of the submission's cells have reached the time limit of a cell.
    """

    def __init__(self, seconds: float, taken: float = 0.0, is_shared: bool = True) -> None:
        self.seconds = seconds
        self._is_shared = is_shared
        self._started = time.thread_time() - taken
        self._latest = time.monotonic() - taken + SLOWEST * seconds
        self._processes: list[StudentProcess] = []
        self._forgiven = 0
        self.interrupted = 0

    def started(self, process: StudentProcess) -> None:
        """Count the time of this student process, too."""
        self._processes.append(process)

    @property
    def used(self) -> float:
        """Seconds of processor time used so far. The time of a student process is that which was
        last read (`StudentProcess.used`)."""
        processes = sum(process.used for process in self._processes)
        return time.thread_time() - self._started + processes

    def left(self) -> float:
        """Return the seconds that are left; zero or less if the time is up."""
        return min(self.seconds - self.used, self._latest - time.monotonic())

    @property
    def is_up(self) -> bool:
        return self.left() <= 0

    @property
    def timeouts(self) -> int:
        """Number of the submission's student processes that were ended at a time limit, without
        those that were forgiven."""
        return sum(process.timed_out for process in self._processes) - self._forgiven

    def forgive(self) -> None:
        """Leave one timeout out of `timeouts`, so that it does not halve later limits."""
        self._forgiven += 1

    def give(
        self,
        process: StudentProcess,
        reference_seconds: Callable[[], float] | None = None,
        keep: float = 0.0,
        room: float = math.inf,
        trains: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Limit the time of the next requests to a student process, in total: to the time that they
        are allowed, or to the time left for the submission if that is less.

        Args:
            reference_seconds: a function that returns the seconds that these requests take with the
                reference solution. It is called only if the requests have used up the usual limit.
                If it is None, the requests may take the time of a cell.
            keep: the share of the submission's time, from 0 to 1, that must be left afterwards.
            room: the greatest number of bytes of all replies together.
            trains: as for `allowed`.
            limits: limits to use in place of those of the process.

        Raises `StudentProcessDied` if no time is left.
        """
        if not self._is_shared:
            process.allow(self.seconds, room, latest=time.monotonic() + SLOWEST * self.seconds)
            return
        limits, timeouts = limits or process.limits, self.timeouts
        left = self.left() - keep * self.seconds
        if left <= 0:
            raise StudentProcessDied(Status.TIMEOUT, "the submission's time is used up")
        if reference_seconds is None:
            seconds = min(allowed_to_cell(limits, self.interrupted), left)
            process.allow(seconds, room, latest=self._latest)
            return
        least = min(allowed(limits, 0.0, timeouts, trains), left)

        def more() -> float:
            return min(allowed(limits, reference_seconds(), timeouts, trains), left) - least

        process.allow(least, room, more, self._latest)
