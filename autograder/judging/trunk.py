"""Runs the cells of a notebook in order in a student process, and in a new one if it ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from coursecheck.probes import Observation, Probe

from ..course_folder.assignments import Exercise
from ..errors import StudentLost
from ..model import LOST, Cell, Ran
from ..notebook.outputs import OutputRoom, clean_outputs
from ..wall import StudentProcess, WarmServer
from ..wall.inside import protocol
from ..wall.targets import RemoteTarget
from ..wall.time_budget import FOR_TESTS, TimeBudget
from .observations import observations, request_of

_log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds that an interrupted cell has to reply."""


class Trunk:
    """A student process that runs a notebook's cells in order, and is replaced if it ends.

    Args:
        seed: the seed of the process's `random` module.
        given: the solution's cells, by exercise, that run in the place of the student's.
        before: how the cells went in an earlier trunk; those that ended it are not run, outputs are
            not kept.
        assignment: its data files lie beside the notebook.
        keep: the share of the submission's time that the cells leave on their first run.

    Attributes:
        name: the trunk's name in the log.
        ran: how each cell went.
    """

    def __init__(
        self,
        server: WarmServer,
        cells: Sequence[Cell],
        seed: int,
        budget: TimeBudget,
        given: Mapping[str, str] | None = None,
        before: Sequence[Ran] | None = None,
        assignment: str = "",
        keep: float = FOR_TESTS,
    ) -> None:
        self._server = server
        self._cells = cells
        self._seed = seed
        self._budget = budget
        self.given = given or {}
        self.name = f"trunk given {', '.join(self.given)}" if given else "own trunk"
        self._assignment = assignment.partition("/")[0]
        self._keep = keep
        self.ran = [Ran(lost=ran.lost, stopped=ran.stopped) for ran in before or ()]
        self._first = len(cells) if before else 0
        self.ran = self.ran or [Ran() for _ in cells]
        self._outputs = OutputRoom()
        self._process: StudentProcess | None = None
        self._place = 0
        self._target: RemoteTarget | None = None
        held = {cell.exercise for cell in cells}
        self._sources = [
            self.given.get(cell.exercise or (cell.tests if cell.tests not in held else "") or "")
            for cell in cells
        ]

    def lost(self, exercise: str) -> str | None:
        """Return the status with which an exercise's own cell ended the process, or None."""
        pairs = zip(self._cells, self.ran, strict=True)
        return next(
            (ran.lost for cell, ran in pairs if cell.exercise == exercise and ran.lost), None
        )

    def reaches(self, place: int) -> bool:
        """Return whether the process has run no cell that comes after a place."""
        return self._process is None or not self._process.is_open or self._place <= place

    def run_to(self, place: int) -> StudentProcess:
        """Run the cells before a place, and return the process; cells that end it are left out.

        Raises `StudentLost` if a given cell cannot be run.
        """
        while True:
            if self._process is None or not self._process.is_open:
                self._process = self._server.spawn(self._seed, self._assignment)
                self._place, self._target = 0, None
                self._budget.started(self._process)
                _log.debug("%s: started, %d cells to run first", self.name, place)
            if self._place >= place:
                self._server.fork_ahead()
                return self._process
            self._place += 1
            self._run_cell(self._process, self._place - 1)

    def run_all(self) -> None:
        """Run every cell, and end the process."""
        try:
            self.run_to(len(self._cells))
        finally:
            self.close()

    def target(
        self, place: int, exercise: str = "", model: Callable[[], float] | None = None
    ) -> RemoteTarget:
        """Return the student's namespace at a place, for one hidden test.

        Args:
            exercise: the id of the exercise that is tested.
            model: returns the seconds that the test takes the model solution.

        Raises `StudentLost` if no process reached the place.
        """
        process = self.run_to(place)
        limits = self._server.limits
        give = partial(self._budget.give, process, model, trains=exercise in limits.trainings)
        give(room=limits.test_bytes)
        if self._target is None:
            self._target = RemoteTarget(process)
        self._target.renew_time = lambda: give(room=process.room)
        return self._target

    def observe(
        self,
        place: int,
        exercise: Exercise,
        played: Sequence[Probe],
        model: Callable[[], float] | None = None,
    ) -> list[list[Observation]] | None:
        """Run probes at a place; return the observations, None if the process ended.

        The student may read observations, so a process that has seen a hidden number is not used.
        """
        with suppress(StudentLost, protocol.ProtocolError):
            process = self.run_to(place)
            if self._target is not None:
                raise RuntimeError("an observer has seen no hidden number")
            limits = self._server.limits
            if exercise.id in limits.trainings:
                limits = replace(limits, training_seconds=limits.training_seconds / 2)
            self._budget.give(process, model, room=limits.test_bytes, limits=limits)
            return observations(process.request(request_of(played)).get("values"), played)
        return None

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def _run_cell(self, process: StudentProcess, index: int) -> None:
        cell, ran, source = self._cells[index], self.ran[index], self._sources[index]
        if source is not None:
            # An error here, because another cell's name is missing, makes the tests fail.
            self._budget.give(process)
            process.request({"cell": source})
            _log.debug("%s: solution of %s ran", self.name, cell.exercise or cell.tests)
            return
        if ran.lost or not cell.source:
            return
        is_first = index >= self._first
        self._first = max(self._first, index + 1)
        where = f"cell {index + 1} ({cell.exercise or 'no exercise'})"
        started = time.monotonic()
        try:
            ran.refused = True
            self._budget.give(process, None, self._keep if is_first else 0.0)
            ran.refused = False
            reply = self._reply_to(process, cell, ran)
            if reply["error"] == "MemoryError":
                process.close()
                raise StudentLost("out_of_memory")
        except StudentLost as lost:
            ran.lost = lost.reason
            if lost.reason == "timeout" and not ran.refused:
                self._budget.interrupted += 1
            taken = time.monotonic() - started
            _log.debug("%s: %s lost after %.3f s: %s", self.name, where, taken, lost.reason)
            if is_first:
                ran.outputs = clean_outputs([_lost_output(lost.reason)])
            return
        _log.debug("%s: %s ran in %.3f s", self.name, where, time.monotonic() - started)
        if is_first:
            # A test cell is judged by its outputs, however much was shown before.
            room = None if cell.tests else self._outputs
            ran.outputs = clean_outputs(reply["outputs"], room)
            count = reply["execution_count"]
            ran.execution_count = count if type(count) is int and 0 <= count < 1 << 31 else None

    def _reply_to(self, process: StudentProcess, cell: Cell, ran: Ran) -> dict[str, Any]:
        """Run a cell and return the reply.

        A cell that was interrupted in an earlier run stops before the statement of the interrupt.
        """
        if ran.stopped:
            return process.request({"cell": cell.source, "until": ran.stopped[0]})
        # The rest of a test cell decides its verdict: if it does not end, it has none.
        grace = 0.0 if cell.is_locked else _GRACE
        reply = process.request({"cell": cell.source}, grace=grace)
        if process.interrupted:
            self._budget.interrupted += 1
            ran.stopped = _lines(reply["stopped"], cell.source)
        return reply


def _lines(stopped: Any, source: str) -> tuple[int, ...]:
    """Return the two lines in which a cell was interrupted; the first line if these are invalid."""
    count = len(source.splitlines())
    is_so = type(stopped) is list and len(stopped) == 2
    if is_so and all(type(line) is int and 1 <= line <= count for line in stopped):
        return tuple(stopped)
    return 1, 1


def _lost_output(reason: str) -> dict[str, Any]:
    text = f"This cell {LOST[reason]}; it was stopped and the other cells went on without it."
    return {"output_type": "error", "ename": reason, "evalue": text, "traceback": [text]}
