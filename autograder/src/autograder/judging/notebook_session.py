"""Runs the cells of a notebook in order in a student process, and again in a new student process
if one ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from coursecheck.examples import PublicExample

from ..course_folder.assignments import Exercise
from ..errors import StudentProcessDied
from ..notebook.outputs import OutputRoom, clean_outputs
from ..records import LOST, Cell, CellResult, Status
from ..sandbox import ForkServer, StudentProcess
from ..sandbox.guest import protocol
from ..sandbox.targets import RemoteTarget
from ..sandbox.time_budget import FOR_TESTS, TimeBudget
from .observations import LaterObservations, Observations, observations, request_of

_log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds that an interrupted cell has to reply."""


class NotebookSession:
    """A student process that runs a notebook's cells in order. If it ends, a new one takes its
    place, and runs the cells from the first one on.

    Args:
        server: the fork server that starts the student processes.
        cells: the notebook's code cells, in order.
        seed: the seed of the process's `random` module.
        budget: the time of the submission; each cell and each test takes from it.
        replaced: by exercise, the compiled solution (see `compiled`) that runs in place of the
            student's cell. Python and IPython are shown the student's text as its source.
        before: how the cells went in an earlier session. Cells that ended its process are not run,
            and no outputs are kept.
        assignment: the assignment's name; its data files are put beside the notebook.
        keep: the share of the submission's time, from 0 to 1, that the cells leave for the tests
            when they run for the first time.
        have_run: whether the cells, except test cells, have run in another session.

    Attributes:
        replaced: as the argument.
        name: the session's name in the log.
        ran: how each cell went, in order.
    """

    def __init__(
        self,
        server: ForkServer,
        cells: Sequence[Cell],
        seed: int,
        budget: TimeBudget,
        replaced: Mapping[str, bytes] | None = None,
        before: Sequence[CellResult] | None = None,
        assignment: str = "",
        keep: float = FOR_TESTS,
        have_run: bool = False,
    ) -> None:
        self._server = server
        self._cells = cells
        self._seed = seed
        self._budget = budget
        self.replaced = replaced or {}
        self.name = f"session with {', '.join(self.replaced)}" if replaced else "own session"
        self._assignment = assignment.partition("/")[0]
        self._keep = keep
        self._have_run = have_run
        self._with_student_code = [
            bool(cell.source) and not (cell.is_locked and not cell.tests) for cell in cells
        ]
        self._part = budget.part_of_each(sum(self._with_student_code), keep)
        self.ran = [CellResult(lost=ran.lost, stopped=ran.stopped) for ran in before or ()]
        self._first = len(cells) if before else 0
        self._is_later = before is not None
        self.ran = self.ran or [CellResult() for _ in cells]
        self._outputs = OutputRoom()
        self._process: StudentProcess | None = None
        self._place = 0
        self._target: RemoteTarget | None = None
        held = {cell.exercise for cell in cells}
        self._replacing = [
            self.replaced.get(cell.exercise or (cell.tests if cell.tests not in held else "") or "")
            for cell in cells
        ]

    def lost(self, exercise: str) -> Status | None:
        """Return the status with which an exercise's own cell ended the process, or None."""
        pairs = zip(self._cells, self.ran, strict=True)
        return next(
            (ran.lost for cell, ran in pairs if cell.exercise == exercise and ran.lost), None
        )

    def reaches(self, place: int) -> bool:
        """Return whether the session can still run to a place: its process has run no cell after
        the place, or a new process would be started."""
        return self._process is None or not self._process.is_open or self._place <= place

    def run_to(self, place: int) -> StudentProcess:
        """Run the first `place` cells that have not run yet, and return the student process. If a
        cell ends the process, a new one runs the cells again, without that cell.

        Raises `StudentProcessDied` if a replaced cell cannot be run.
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
        self, place: int, exercise: str = "", reference_seconds: Callable[[], float] | None = None
    ) -> RemoteTarget:
        """Return the target of one hidden test: the student's namespace after the first `place`
        cells.

        Args:
            exercise: the id of the exercise that is tested.
            reference_seconds: a function that returns the seconds of processor time that the test
                takes with the reference solution. The test's time limit follows from it.

        Raises `StudentProcessDied` if no process reached the place.
        """
        process = self.run_to(place)
        limits = self._server.limits
        give = partial(
            self._budget.give, process, reference_seconds, trains=exercise in limits.trainings
        )
        give(room=limits.test_bytes)
        if self._target is None:
            self._target = RemoteTarget(process)
        self._target.renew_time = lambda: give(room=process.room)
        return self._target

    def observe(
        self,
        place: int,
        exercise: Exercise,
        played: Sequence[PublicExample],
        reference_seconds: Callable[[], float] | None = None,
    ) -> Observations | None:
        """Run public examples after the first `place` cells, and return the observations of each;
        None if the process ended.

        The student may read these observations. So only the first session of a submission, the one
        without `before`, may make them, and only before a hidden test runs in it.

        Args:
            reference_seconds: a function that returns the seconds of processor time that the
                examples take with the reference solution.
        """
        if self._is_later:
            raise RuntimeError("what a later process shows is never formatted")
        return self._observations(place, exercise, played, reference_seconds)

    def observe_later(
        self, place: int, exercise: Exercise, played: Sequence[PublicExample]
    ) -> LaterObservations | None:
        """Run public examples after the first `place` cells, and return the observations, which
        must not be shown to the student; None if the process ended."""
        rows = self._observations(place, exercise, played)
        return None if rows is None else LaterObservations(rows)

    def _observations(
        self,
        place: int,
        exercise: Exercise,
        played: Sequence[PublicExample],
        reference_seconds: Callable[[], float] | None = None,
    ) -> Observations | None:
        with suppress(StudentProcessDied, protocol.ProtocolError):
            process = self.run_to(place)
            if self._target is not None:
                raise RuntimeError("an observer has seen no hidden number")
            limits = self._server.limits
            trains = exercise.id in limits.trainings
            if trains:
                limits = replace(limits, training_seconds=limits.training_seconds / 2)
            self._budget.give(
                process, reference_seconds, room=limits.test_bytes, trains=trains, limits=limits
            )
            return observations(process.request(request_of(played)).get("values"), played)
        return None

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def _run_cell(self, process: StudentProcess, index: int) -> None:
        cell, ran, replaced = self._cells[index], self.ran[index], self._replacing[index]
        if replaced is not None:
            # If the solution raises an error, because a name of another cell is missing, the reply
            # is not looked at: the tests fail then.
            self._budget.give_to_known_cell(process, has_run=True)
            shown = {"cell": "" if ran.lost else cell.source, "until": _until(ran)}
            process.request({**shown, "given": replaced.hex()})
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
            self._give_time(process, index, is_first)
            ran.refused = False
            reply = self._reply_to(process, cell, ran)
            if reply["error"] == "MemoryError":
                process.close()
                raise StudentProcessDied(Status.OUT_OF_MEMORY)
        except StudentProcessDied as lost:
            ran.lost = lost.reason
            taken = time.monotonic() - started
            _log.debug("%s: %s lost after %.3f s: %s", self.name, where, taken, lost.reason)
            if is_first:
                ran.outputs = clean_outputs([_lost_output(lost.reason)])
            return
        _log.debug("%s: %s ran in %.3f s", self.name, where, time.monotonic() - started)
        if is_first:
            # A test cell is judged by its outputs, so these are kept even if the outputs of earlier
            # cells have used up the room.
            room = None if cell.tests else self._outputs
            ran.outputs = clean_outputs(reply["outputs"], room)
            count = reply["execution_count"]
            ran.execution_count = count if type(count) is int and 0 <= count < 1 << 31 else None

    def _give_time(self, process: StudentProcess, index: int, is_first: bool) -> None:
        has_run = not is_first or (self._have_run and not self._cells[index].tests)
        if has_run or not self._with_student_code[index]:
            self._budget.give_to_known_cell(process, has_run)
        else:
            later = sum(self._with_student_code[index + 1 :])
            self._budget.give_to_cell(process, self._part, later, self._keep)

    def _reply_to(self, process: StudentProcess, cell: Cell, ran: CellResult) -> dict[str, Any]:
        """Run a cell and return the student process's reply.

        A cell that was interrupted in an earlier run is run only up to the statement in which it
        was interrupted.
        """
        if ran.stopped:
            return process.request({"cell": cell.source, "until": _until(ran)})
        reply = process.request({"cell": cell.source}, grace=_GRACE)
        if process.interrupted:
            ran.stopped = _lines(reply["stopped"], cell.source)
        return reply


def _until(ran: CellResult) -> int:
    """Return the number of the line before which an interrupted cell stops when the cell runs
    again; 0 if the cell was not interrupted."""
    return ran.stopped[0] if ran.stopped else 0


def _lines(stopped: Any, source: str) -> tuple[int, ...]:
    """Return the two line numbers that a student process sent for an interrupted cell: that of the
    statement at which a later run stops, and that of the interrupt. If they are invalid, 1 and
    1."""
    count = len(source.splitlines())
    is_so = type(stopped) is list and len(stopped) == 2
    if is_so and all(type(line) is int and 1 <= line <= count for line in stopped):
        return tuple(stopped)
    return 1, 1


def _lost_output(reason: Status) -> dict[str, Any]:
    text = f"This cell {LOST[reason]}; it was stopped and the other cells went on without it."
    return {"output_type": "error", "ename": reason.value, "evalue": text, "traceback": [text]}
