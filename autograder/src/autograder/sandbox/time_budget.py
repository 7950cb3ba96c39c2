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


MORE = 2.0
"""The limit of a cell that has run to its end before, or that holds only code of the course, as a
multiple of the limit of a cell: on a busy machine code takes up to twice the processor time."""
_FAIR = 0.5
"""The share of the time for cells that is kept in equal parts, one for each cell with code of the
student, so that a cell which never ends costs no other cell."""


def allowed_to_cell(limits: Limits, left: float, part: float, later: int) -> float:
    """Return the seconds for which a cell with code of the student may run for the first time.

    Args:
        left: the seconds that are left for this cell and those after it.
        part: the seconds that are kept for each cell.
        later: the number of cells after it with code of the student.
    """
    return min(limits.cell_seconds, max(left - later * part, part))


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
        of_course: the limit of a cell that holds only code of the course, as a multiple of the
            limit of a cell.
    """

    def __init__(
        self,
        seconds: float,
        taken: float = 0.0,
        is_shared: bool = True,
        of_course: float = MORE,
    ) -> None:
        self.seconds = seconds
        self._is_shared = is_shared
        self._of_course = of_course
        self._started = time.thread_time() - taken
        self._latest = time.monotonic() - taken + SLOWEST * seconds
        self._processes: list[StudentProcess] = []
        self._forgiven = 0

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

    def part_of_each(self, cells: int, keep: float = 0.0) -> float:
        """Return the seconds that are kept for each of so many cells with code of the student.

        Args:
            keep: the share of the submission's time, from 0 to 1, that cells leave for the tests.
        """
        return _FAIR * max(0.0, self.left() - keep * self.seconds) / max(cells, 1)

    def give_to_cell(
        self, process: StudentProcess, part: float = 0.0, later: int = 0, keep: float = 0.0
    ) -> None:
        """Limit the time of a cell with code of the student that runs for the first time. The
        arguments are those of `allowed_to_cell` and `part_of_each`.

        Raises `StudentProcessDied` if no time is left.
        """
        left = self._left(keep)
        self._allow(process, allowed_to_cell(process.limits, left, part, later), left)

    def give_to_known_cell(self, process: StudentProcess, has_run: bool) -> None:
        """Limit the time of a cell that has run before, or holds only code of the course.

        Raises `StudentProcessDied` if no time is left.
        """
        times = MORE if has_run else self._of_course
        self._allow(process, times * process.limits.cell_seconds, self._left())

    def give(
        self,
        process: StudentProcess,
        reference_seconds: Callable[[], float] | None = None,
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
            room: the greatest number of bytes of all replies together.
            trains: as for `allowed`.
            limits: limits to use in place of those of the process.

        Raises `StudentProcessDied` if no time is left.
        """
        limits, timeouts, left = limits or process.limits, self.timeouts, self._left()
        if reference_seconds is None:
            self._allow(process, limits.cell_seconds, left, room)
            return
        least = min(allowed(limits, 0.0, timeouts, trains), left)

        def more() -> float:
            return min(allowed(limits, reference_seconds(), timeouts, trains), left) - least

        self._allow(process, least, left, room, more)

    def _left(self, keep: float = 0.0) -> float:
        left = self.left() - keep * self.seconds if self._is_shared else self.seconds
        if left <= 0:
            raise StudentProcessDied(Status.TIMEOUT, "the submission's time is used up")
        return left

    def _allow(
        self,
        process: StudentProcess,
        seconds: float,
        left: float,
        room: float = math.inf,
        more: Callable[[], float] | None = None,
    ) -> None:
        if self._is_shared:
            process.allow(min(seconds, left), room, more, self._latest)
        else:
            process.allow(left, room, latest=time.monotonic() + SLOWEST * left)
