"""Runs the cells of a notebook in student processes, and replays them where one is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from course.probes import Observation

from .allowance import FOR_TESTS, Allowance
from .assignments import Exercise
from .channels import RemoteChannel
from .engines import Engine, StudentError
from .outputs import clean_outputs
from .report import LOST
from .sandbox import StudentLost, StudentProcess, WarmServer
from .sandbox.inside import wire
from .texts import fit


@dataclass
class Cell:
    """A code cell to run: its source, and the exercise whose solution cell it is, if any."""

    source: str
    exercise: str | None = None


@dataclass
class Ran:
    """What came of running a cell.

    Attributes:
        lost: how it took the process down, if it did.
        refused: whether no time was left to run it.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    lost: str | None = None
    refused: bool = False


class Shown:
    """What public probes showed in processes that had seen no hidden number.

    That is what the visible checks' table says, for the table is public, and what was seen lately:
    mistakes are much alike.

    Args:
        table: as `tables.build_table` makes it, by exercise.
    """

    _MOST = 50

    def __init__(self, table: Mapping[str, Any] | None = None) -> None:
        self._public = {name: _public_texts(entry) for name, entry in (table or {}).items()}
        self._seen: dict[str, dict[str, None]] = {}

    def add(self, exercise: str, observed: list[list[Observation]] | None) -> None:
        if observed is not None:
            texts = self._seen.setdefault(exercise, {})
            texts[repr(observed)] = None
            if len(texts) > self._MOST:
                del texts[next(iter(texts))]

    def has(self, exercise: str, observed: list[list[Observation]] | None) -> bool:
        if observed is None:
            return False
        text = repr(observed)
        return text in self._public.get(exercise, ()) or text in self._seen.get(exercise, ())


def _public_texts(entry: dict[str, Any]) -> set[str]:
    right = [probe["right"] for probe in entry.get("probes", ())]
    return {repr(right), *(repr(mistake["results"]) for mistake in entry.get("mistakes", ()))}


class Run:
    """The cells of a notebook in a student process, which is replaced when it is lost.

    Args:
        given: exercises whose solution cell is replaced by a working version.
        skipped: exercises whose solution cell is left out.
        before: how the cells went in an earlier run; lost ones are not tried again.
        shown: what public probes showed elsewhere; kept up to date.
    """

    def __init__(
        self,
        server: WarmServer,
        cells: list[Cell],
        seed: bytes,
        allowance: Allowance,
        given: dict[str, Callable[[Engine], None]] | None = None,
        skipped: set[str] | None = None,
        before: list[Ran] | None = None,
        shown: Shown | None = None,
    ) -> None:
        self._allowance = allowance
        self._seed = seed
        self.ran = [Ran(lost=ran.lost) for ran in before] if before else [Ran() for _ in cells]
        self._server = server
        self._cells = cells
        self.given = given or {}
        self._skipped = skipped or set()
        self._process: StudentProcess | None = None
        self._lenders: list[tuple[str, Engine]] = []
        self._observer: Run | None = None
        self._observed: dict[str, list[list[Observation]] | None] = {}
        self._shown = Shown() if shown is None else shown
        self._tested = False

    def run_cells(self) -> None:
        """Run every cell once; a cell that takes the process down is lost, the others are not."""
        done = 0
        while done < len(self._cells):
            with suppress(StudentLost):
                for index in range(done, len(self._cells)):
                    done = index + 1
                    self._run_cell(self._ready(index), index)
        self._server.fork_ahead()

    def engine(self) -> Engine:
        """The student's namespace after all cells. Raises `StudentLost` if it cannot be had."""
        self._tested = True
        process = self._ready(len(self._cells))
        self._allowance.give(process, self._server.limits.test_seconds)
        process.start_over()
        for _, lender in self._lenders:
            lender.start_over()
        return Engine(RemoteChannel(process, tuple(name for name, _ in self._lenders)))

    def observe(self, exercise: Exercise) -> list[list[Observation]] | None:
        """Play the exercise's public probes; returns what they show, or None if that failed.

        What they show may be shown to the student, so a process that has seen hidden numbers does
        not decide it: another one is made then, unless it was shown before.
        """
        if exercise.id not in self._observed:
            self._observed[exercise.id] = self._observe(exercise)
        return self._observed[exercise.id]

    def shown_before(self, exercise: Exercise) -> list[list[Observation]] | None:
        """What the probes show in this process, if one that saw no hidden number showed the same.

        None also where there is no process any more.
        """
        if (
            exercise.id not in self._observed
            and self._process is not None
            and self._process.is_open
        ):
            seen = self._play(exercise)
            if self._shown.has(exercise.id, seen):
                self._observed[exercise.id] = seen
        return self._observed.get(exercise.id)

    def _observe(self, exercise: Exercise) -> list[list[Observation]] | None:
        observer = self
        if self._tested:
            if seen := self.shown_before(exercise):
                return seen
            if self._observer is None:
                self._observer = Run(
                    self._server,
                    self._cells,
                    self._seed,
                    self._allowance,
                    self.given,
                    self._skipped,
                    self.ran,
                )
            observer = self._observer
        seen = observer._play(exercise)
        self._shown.add(exercise.id, seen)
        return seen

    def _play(self, exercise: Exercise) -> list[list[Observation]] | None:
        if not exercise.probes:
            return None
        with suppress(StudentLost):
            process = self._ready(len(self._cells))
            self._allowance.give(process, self._server.limits.test_seconds)
            message: dict[str, Any] = {"probes": exercise.probes}
            answer = process.request(message, self._server.limits.step_seconds)
            return _observations(answer.get("observed"), exercise)
        return None

    def close(self) -> None:
        if self._observer is not None:
            self._observer.close()
            self._observer = None
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ready(self, count: int) -> StudentProcess:
        """A process in which the first `count` cells, lost ones left out, have run."""
        if self._process is None or not self._process.is_open:
            self._process = self._server.spawn(seed_of_cells(self._seed))
            self._lenders = []
            self._allowance.started(self._process)
            for index in range(count):
                self._run_cell(self._process, index, again=True)
            if count == len(self._cells):
                self._server.fork_ahead()
        return self._process

    def _run_cell(self, process: StudentProcess, index: int, again: bool = False) -> None:
        cell, ran = self._cells[index], self.ran[index]
        if cell.exercise is not None and cell.exercise in self.given:
            # Where the student's other cells leave nothing to build on, the tests will tell.
            with suppress(StudentError):
                try:
                    self._allowance.give(process, self._server.limits.cell_seconds)
                    lender = Engine(RemoteChannel(process))
                    self._lenders.append((cell.exercise, lender))
                    self.given[cell.exercise](lender)
                except wire.WireError as error:
                    process.close()
                    raise StudentLost("crashed", str(error)) from error
            return
        if ran.lost or cell.exercise in self._skipped:
            return
        try:
            seconds = self._time_for(process, ran, again)
            answer = process.request({"cell": cell.source}, seconds)
            if answer.get("error") == "MemoryError":
                process.close()
                raise StudentLost("out_of_memory")
        except StudentLost as lost:
            ran.lost = lost.reason
            if not again:
                ran.outputs = clean_outputs([_lost_output(lost.reason)])
            raise
        if not again:
            ran.outputs = clean_outputs(answer.get("outputs"))
            count = answer.get("execution_count")
            ran.execution_count = count if type(count) is int and 0 <= count < 1 << 31 else None

    def _time_for(self, process: StudentProcess, ran: Ran, again: bool) -> float:
        keep = 0.0 if again else FOR_TESTS
        try:
            return self._allowance.give(process, self._server.limits.cell_seconds, keep)
        except StudentLost:
            ran.refused = True
            raise


def seed_of_cells(seed: bytes) -> int:
    """What `random` starts from in a student's process, which must not know the seed by it."""
    return int.from_bytes(blake2b(b"student", key=seed, digest_size=6).digest())


def _lost_output(reason: str) -> dict[str, Any]:
    text = f"This cell {LOST[reason]}; it was stopped and the other cells went on without it."
    return {"output_type": "error", "ename": reason, "evalue": text, "traceback": [text]}


def _observations(answer: Any, exercise: Exercise) -> list[list[Observation]] | None:
    """The probes' observations if they have the right form, else None: they come from outside."""
    if type(answer) is not list or len(answer) != len(exercise.probes):
        return None
    for seen, probe in zip(answer, exercise.probes, strict=True):
        if type(seen) is not list or len(seen) != len(probe["observe"]):
            return None
        if not all(_is_observation(item) for item in seen):
            return None
    return [[_fit(item) for item in seen] for seen in answer]


def _fit(item: Observation) -> Observation:
    """An observation whose texts can be shown and written."""
    if type(item) is dict:
        return {key: _fit(value) for key, value in item.items()}
    return fit(item) if type(item) is str else item


def _is_observation(item: Any) -> bool:
    if item is None or type(item) in (bool, float):
        return True
    if type(item) is int:
        return item.bit_length() <= 64
    if type(item) is str:
        return len(item) <= 1000
    return (
        type(item) is dict
        and 0 < len(item) <= 4
        and all(key in ("error", "message", "line", "where", "object", "float") for key in item)
        and all(v is None or (type(v) is str and len(v) <= 1000) for v in item.values())
    )
