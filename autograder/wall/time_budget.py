"""The time that one submission may take: its cells, its tests and every replay."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..errors import StudentLost
from ..model import Limits
from .host import StudentProcess, own_wait

FOR_TESTS = 0.6
"""The share of a submission's time that its cells, on their first run, leave for the tests."""
_TIMES = 25.0
"""Time limit of short student code, as a multiple of the model solution's time, in addition to the
usual limit."""
_TIMES_TRAINING = 5.0
"""Least upper bound of that addition, as a multiple of the model solution's time."""
_LEAST, _LEAST_TIMES = 0.075, 4.0
"""Least limit after many timeouts: so many seconds plus so many times the model solution's time."""


_LESS_FOR_CELLS, _LEAST_FOR_CELLS = 0.4, 0.3
"""Factor on the limit of later cells after each interrupted cell, and the least limit in
seconds."""


def allowed_to_cell(limits: Limits, interrupted: int = 0) -> float:
    """Return the seconds for which a cell may run.

    Args:
        interrupted: how many cells before it ran into this limit.
    """
    seconds = limits.cell_seconds
    return max(seconds * _LESS_FOR_CELLS**interrupted, min(_LEAST_FOR_CELLS, seconds))


def allowed(limits: Limits, model: float, timeouts: int = 0, trains: bool = False) -> float:
    """Return the seconds for which student code may run if the model solution takes `model`
    seconds.

    Args:
        trains: whether it may take at least the time of a training.
        timeouts: how often the submission has run into such limits. Each halves the next.
    """
    longest = max(limits.training_seconds - limits.seconds, _TIMES_TRAINING * model)
    usual = limits.seconds + (longest if trains else min(_TIMES * model, longest))
    return min(usual, max(usual * 0.5**timeouts, _LEAST + _LEAST_TIMES * model))


class TimeBudget:
    """The time left for a submission.

    Time in which others had the processor is not counted, as in `Limits.patience`.

    Args:
        seconds: of wall-clock time, for the whole submission.
        taken: seconds that reading its file has taken.
        is_shared: whether all requests of a submission share the time. Else each may take it whole:
            for the course's own cells.

    Attributes:
        interrupted: how many of the submission's cells ran into the limit of a cell.
    """

    def __init__(self, seconds: float, taken: float = 0.0, is_shared: bool = True) -> None:
        self.seconds = seconds
        self._is_shared = is_shared
        self._started = time.monotonic() - taken
        self._own_wait = own_wait()
        self._processes: list[StudentProcess] = []
        self._asking = 0.0
        self._forgiven = 0
        self.interrupted = 0

    def started(self, process: StudentProcess) -> None:
        """Count this process's time from now on."""
        self._processes.append(process)

    @property
    def used(self) -> float:
        """Seconds used so far, without those in which others had the processor, or the model
        solution was measured."""
        delayed = sum(process.delayed for process in self._processes)
        if not any(process.has_forked for process in self._processes):
            delayed = max(delayed, own_wait() - self._own_wait)
        return time.monotonic() - self._started - delayed - self._asking

    def left(self) -> float:
        """Seconds that are left; below zero if there are none."""
        patience = max((each.limits.patience for each in self._processes), default=1.0)
        latest = self._started + patience * self.seconds
        return min(self.seconds - self.used, latest - time.monotonic())

    @property
    def is_up(self) -> bool:
        return self.left() <= 0

    @property
    def timeouts(self) -> int:
        """Number of the submission's processes that ran into a limit in time."""
        return sum(process.timed_out for process in self._processes) - self._forgiven

    def forgive(self) -> None:
        """Leave the latest timeout out of the count that halves later limits."""
        self._forgiven += 1

    def give(
        self,
        process: StudentProcess,
        model: Callable[[], float] | None = None,
        keep: float = 0.0,
        room: float = math.inf,
        trains: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Limit the process's next requests, together, to the time `allowed`, or the time left.

        Args:
            model: returns the seconds that they take the model solution. It is called only if they
                have used up the usual limit. Without it they may take the time of a cell.
            keep: the share of the submission's time that is kept for later.
            room: bytes that the replies may have.
            trains: whether the requests may train, which takes as long as the student likes.
            limits: the limits, if others than the process's hold.

        Raises `StudentLost` if no time is left.
        """
        if not self._is_shared:
            process.allow(self.seconds, room)
            return
        limits, timeouts = limits or process.limits, self.timeouts
        left = self.left() - keep * self.seconds
        if left <= 0:
            raise StudentLost("timeout", "the submission's time is used up")
        if model is None:
            process.allow(min(allowed_to_cell(limits, self.interrupted), left), room)
            return
        least = min(allowed(limits, 0.0, timeouts, trains), left)

        def more() -> float:
            asked = time.monotonic()
            seconds = min(allowed(limits, model(), timeouts, trains), left)
            # The first measurement may take longer than the time that the student had.
            asking = time.monotonic() - asked
            self._asking += asking
            return seconds - least + asking

        process.allow(least, room, more)
