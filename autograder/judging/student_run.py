"""Runs the cells of a notebook in student processes, and runs them again where one is lost."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any

from coursecheck import probes
from coursecheck.messages import agree
from coursecheck.probes import Observation, Probe

from ..course_folder.assignments import Exercise
from ..errors import BUILT_IN, StudentLost
from ..model import LOST, Cell, Ran
from ..notebook.outputs import OutputRoom, clean_outputs
from ..texts import fit
from ..wall import StudentProcess, WarmServer
from ..wall.inside import protocol
from ..wall.targets import RemoteTarget
from ..wall.time_budget import FOR_TESTS, TimeBudget
from .solution_times import SolutionTimes

_log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds in which a cell that was interrupted has to reply."""


class Run:
    """The cells of a notebook in a student process, which is replaced when it is lost.

    Args:
        given: working versions, by exercise: cells that are run in the place of its own.
        skipped: exercises whose solution cell is left out.
        before: how the cells went in an earlier run; lost ones are not tried again.
        times: what the model solution takes, if there is one.
        assignment: whose data files lie beside the notebook.
        keep: the share of the submission's time that its cells leave on their first run.
    """

    def __init__(
        self,
        server: WarmServer,
        cells: list[Cell],
        seed: bytes,
        budget: TimeBudget,
        given: Mapping[str, str] | None = None,
        skipped: set[str] | None = None,
        before: list[Ran] | None = None,
        times: SolutionTimes | None = None,
        assignment: str = "",
        keep: float = FOR_TESTS,
    ) -> None:
        self._keep = keep
        self._budget = budget
        self._seed = seed
        self.ran = [Ran(lost=ran.lost, stopped=ran.stopped) for ran in before or ()]
        self.ran = self.ran or [Ran() for _ in cells]
        self._server = server
        self._cells = cells
        self.given = given or {}
        self._skipped = set() if skipped is None else skipped
        self._times = times
        self._assignment = assignment
        self._outputs = OutputRoom()
        self._process: StudentProcess | None = None
        self._target: RemoteTarget | None = None

    @property
    def name(self) -> str:
        """Which process this is, in the log's words."""
        if not self.given:
            return "own process"
        return f"process with working versions of {', '.join(self.given)}"

    def run_cells(self) -> None:
        """Run every cell once; a cell that takes the process down is lost, the others are not."""
        done = 0
        while done < len(self._cells):
            with suppress(StudentLost):
                for index in range(done, len(self._cells)):
                    done = index + 1
                    self._run_cell(self._ready(index), index)
        self._server.fork_ahead()

    def target(self, exercise: str = "", model: Callable[[], float] | None = None) -> RemoteTarget:
        """The student's namespace after all cells, for one hidden test.

        Args:
            exercise: the id of the exercise that is tested.
            model: says how many seconds the test takes the model solution.

        Raises:
            StudentLost: it cannot be had.
        """
        process = self._ready(len(self._cells))
        limits = self._server.limits
        give = partial(self._budget.give, process, model, trains=exercise in limits.trainings)
        give(room=limits.test_bytes)
        if self._target is None:
            self._target = RemoteTarget(process)
        self._target.renew_time = lambda: give(room=process.room)
        return self._target

    def observe(
        self, exercise: Exercise, entry: Mapping[str, Any] | None = None
    ) -> list[list[Observation]] | None:
        """Play the exercise's public probes; returns what they show, or None if that failed.

        What they show may be shown to the student, so no process that has seen a hidden number is
        asked.

        Args:
            exercise: whose probes to play.
            entry: what the public table says of the exercise. With it, of what they show only that
                remains which the table holds, and the kinds of the rest: a text may hold a working
                version that was given here, and so may the digits of a number.
        """
        if self._target is not None:
            raise RuntimeError("an observer has seen no hidden number")
        if entry is None and self.given:
            raise RuntimeError("of a process that was given a solution, the table's words are told")
        found = self._play(exercise, exercise.probes)
        return found if found is None or entry is None else as_in_table(found, entry)

    def observe_samples(self, exercise: Exercise) -> list[list[Observation]] | None:
        """Play the exercise's samples, as probes are played; None where that failed.

        What code computes may be told only where nothing was given: numbers may hold what was.
        """
        if self._target is not None or self.given:
            raise RuntimeError("samples are played where no hidden number and no solution was seen")
        return self._play(exercise, exercise.sample_probes)

    def _play(self, exercise: Exercise, played: Sequence[Probe]) -> list[list[Observation]] | None:
        if not played:
            return None
        with suppress(StudentLost, protocol.ProtocolError):
            process = self._ready(len(self._cells))
            model = partial(self._times.of_probes, exercise) if self._times else None
            limits = self._server.limits
            most = limits.training_seconds / 2 if exercise.id in limits.trainings else math.inf
            self._budget.give(process, model, room=limits.test_bytes, most=most)
            reply = process.request(_played(played))
            return _observations(reply.get("values"), played)
        return None

    def close(self) -> None:
        """End the process. What is asked next is asked of a new one."""
        if self._process is not None:
            self._process.close()
        self._process = self._target = None

    def _ready(self, count: int) -> StudentProcess:
        """A process in which the first `count` cells, lost ones left out, have run."""
        if self._process is None or not self._process.is_open:
            self._process = self._server.spawn(seed_of_cells(self._seed), self._assignment)
            self._target = None
            self._budget.started(self._process)
            _log.debug("%s: started, %d cells to run first", self.name, count)
            for index in range(count):
                self._run_cell(self._process, index, again=True)
            if count == len(self._cells):
                self._server.fork_ahead()
        return self._process

    def _run_cell(self, process: StudentProcess, index: int, again: bool = False) -> None:
        cell, ran = self._cells[index], self.ran[index]
        source = self.given.get(cell.exercise or "")
        if source is not None:
            # An error here, for want of something that another cell defines, makes the tests fail.
            self._budget.give(process)
            process.request({"cell": source})
            _log.debug("%s: working version of %s ran", self.name, cell.exercise)
            return
        if ran.lost or cell.exercise in self._skipped:
            return
        what = f"cell {index + 1} ({cell.exercise or 'no exercise'})"
        started = time.monotonic()
        try:
            self._give_time(process, ran, again)
            reply = self._reply_to(process, cell, ran)
            if reply["error"] == "MemoryError":
                process.close()
                raise StudentLost("out_of_memory")
        except StudentLost as lost:
            ran.lost = lost.reason
            if lost.reason == "timeout" and not ran.refused:
                self._budget.interrupted += 1
            taken = time.monotonic() - started
            _log.debug("%s: %s lost after %.3f s: %s", self.name, what, taken, lost.reason)
            if not again:
                ran.outputs = clean_outputs([_lost_output(lost.reason)])
            raise
        _log.debug("%s: %s ran in %.3f s", self.name, what, time.monotonic() - started)
        if not again:
            # By what a test cell shows it is judged, however much was shown before.
            room = None if cell.tests else self._outputs
            ran.outputs = clean_outputs(reply["outputs"], room)
            count = reply["execution_count"]
            ran.execution_count = count if type(count) is int and 0 <= count < 1 << 31 else None

    def _reply_to(self, process: StudentProcess, cell: Cell, ran: Ran) -> dict[str, Any]:
        """Run a cell and return the reply; a cell that was interrupted, up to where it was."""
        if ran.stopped:
            return process.request({"cell": cell.source, "until": ran.stopped[0]})
        # The rest of a test cell decides its verdict: if it does not end, it has none.
        grace = 0.0 if cell.is_locked else _GRACE
        reply = process.request({"cell": cell.source}, grace=grace)
        if process.interrupted:
            self._budget.interrupted += 1
            ran.stopped = _lines(reply["stopped"], cell.source)
        return reply

    def _give_time(self, process: StudentProcess, ran: Ran, again: bool) -> None:
        keep = 0.0 if again else self._keep
        try:
            self._budget.give(process, None, keep)
        except StudentLost:
            ran.refused = True
            raise


def _lines(stopped: Any, source: str) -> tuple[int, ...]:
    """Return the two lines in which a cell was interrupted; the first line if they are none."""
    count = len(source.splitlines())
    is_so = type(stopped) is list and len(stopped) == 2
    if is_so and all(type(line) is int and 1 <= line <= count for line in stopped):
        return tuple(stopped)
    return 1, 1


def seed_of_cells(seed: bytes) -> int:
    """The seed of `random` in a student's process, from which `seed` itself cannot be computed."""
    return int.from_bytes(blake2b(b"student", key=seed, digest_size=6).digest())


def _lost_output(reason: str) -> dict[str, Any]:
    text = f"This cell {LOST[reason]}; it was stopped and the other cells went on without it."
    return {"output_type": "error", "ename": reason, "evalue": text, "traceback": [text]}


def _played(played: Sequence[Probe]) -> dict[str, Any]:
    """The request that plays some probes: three steps, then one for each probe."""
    steps: list[list[Any]] = [
        ["import", probes.__name__],
        ["getattr", {"step": 0}, "play"],
        ["globals"],
    ]
    for probe in played:
        given = {"list": [protocol.encode(dict(probe), _refuse), {"step": 2}]}
        steps.append(["call", {"step": 1}, given, {"dict": []}])
    return {"steps": steps, "new": True}


def _refuse(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} is no part of a probe")


def _observations(values: Any, played: Sequence[Probe]) -> list[list[Observation]] | None:
    """The probes' observations if they have the right form, else None: they come from outside."""
    if type(values) is not list or len(values) != 3 + len(played):
        return None
    found = [protocol.decode(value, lambda tag, number: None) for value in values[3:]]
    for seen, probe in zip(found, played, strict=True):
        if type(seen) is not list or len(seen) != len(probe["observe"]):
            return None
        if not all(_is_observation(item) for item in seen):
            return None
    return [[_fit(item) for item in seen] for seen in found]


def _fit(item: Observation) -> Observation:
    """An observation whose texts can be shown and written."""
    if type(item) is dict:
        return {key: _fit(value) for key, value in item.items()}
    if type(item) is list:
        return [_fit(each) for each in item]
    return fit(item) if type(item) is str else item


def _is_observation(item: Any) -> bool:
    if item is None or type(item) in (bool, float):
        return True
    if type(item) is int:
        return item.bit_length() <= 64
    if type(item) is str:
        return len(item) <= 1000
    if type(item) is dict and len(item) == 1:
        ((kind, inside),) = item.items()
        if kind == "more":
            return type(inside) is int and inside.bit_length() <= 64
        if kind in probes.COLLECTIONS:
            return type(inside) is list and all(map(_is_item, inside))
    return (
        type(item) is dict
        and tuple(item) in _SHAPES
        and all(type(value) is str and len(value) <= 1000 for value in item.values())
    )


def _is_item(item: Any) -> bool:
    """Whether it may be part of a collection's observation: of a dictionary's, pairs are."""
    is_pair = type(item) is list and len(item) == 2
    return all(map(_is_observation, item)) if is_pair else _is_observation(item)


_SHAPES = (
    ("object",),
    ("float",),
    ("bytes",),
    *(
        ("error", "message", *about, *where)
        for about in ((), ("about",))
        for where in ((), ("line", "where"))
    ),
)
"""The keys of the observations that `coursecheck.probes` makes of values that are not plain."""


def as_in_table(
    observed: list[list[Observation]], entry: Mapping[str, Any]
) -> list[list[Observation]]:
    """The observations with each value replaced: by the public table's own value where one agrees,
    else by the kind of the value."""
    rights = [probe["right"] for probe in entry["probes"]]
    tables = [rights, *(mistake["results"] for mistake in entry["mistakes"])]
    return [
        [
            _in_words_of(item, [table[i][j] for table in tables])
            for j, item in enumerate(seen)
        ]
        for i, seen in enumerate(observed)
    ]  # fmt: skip


def _in_words_of(item: Observation, known: list[Observation]) -> Observation:
    """An observation as the table has it, without what only the student's process says."""
    found = next((each for each in known if agree(item, each)), None)
    if type(item) is dict and "error" in item:
        kind = item["error"] if found or item["error"] in BUILT_IN else "Exception"
        return {"error": kind}
    if found is not None or item is None or type(item) is bool:
        return item if found is None else found
    if type(item) is dict:
        kind = next(iter(item))
        return {"another": kind if kind == "bytes" or kind in probes.COLLECTIONS else "object"}
    return {"another": "text" if type(item) is str else "number"}
