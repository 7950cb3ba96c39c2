"""The time that one submission may take: its cells, its tests, every replay and second chance."""

from __future__ import annotations

import time

from .sandbox import StudentLost, StudentProcess
from .sandbox.processes import own_wait

FOR_TESTS = 0.6
"""The share of a submission's time that its cells, on their first run, leave for the tests."""


class Allowance:
    """What is left of a submission's time.

    Time in which others had the processor is not counted, as in `Limits.patience`.

    Args:
        seconds: of wall-clock time, for the whole submission.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.monotonic()
        self._own_wait = own_wait()
        self._processes: list[StudentProcess] = []

    def started(self, process: StudentProcess) -> None:
        """Count this process's time from now on."""
        self._processes.append(process)

    def left(self) -> float:
        """Seconds that are left; below zero where there are none."""
        taken = time.monotonic() - self._started
        if taken < self.seconds:
            return self.seconds - taken
        delayed = sum(process.delayed for process in self._processes)
        delayed = max(delayed, own_wait() - self._own_wait)
        patience = max((each.limits.patience for each in self._processes), default=1.0)
        return min(self.seconds + delayed, patience * self.seconds) - taken

    @property
    def is_up(self) -> bool:
        return self.left() <= 0

    def give(self, process: StudentProcess, seconds: float, keep: float = 0.0) -> float:
        """Let the process's next requests, together, take so long, or what is left if it is less.

        Args:
            keep: the share of the submission's time that is not given away.

        Returns:
            The seconds that were given.

        Raises:
            StudentLost: nothing is left.
        """
        given = min(seconds, self.left() - keep * self.seconds)
        if given <= 0:
            raise StudentLost("timeout", "the submission's time is used up")
        process.allow(given)
        return given
