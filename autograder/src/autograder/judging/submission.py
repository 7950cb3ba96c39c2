"""Holds a submission while it is judged: its cells, how they went, the places of exercises and the
seeds of random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b

from ..course_folder.assignments import Assignment, Exercise
from ..notebook.restoring import is_blank
from ..records import LOST, Cell, CellResult, Status
from .policy import places

_LONGEST = 80
"""Greatest number of characters of a cell's first line in a sentence."""


class Submission:
    """The code cells of one submitted notebook.

    Args:
        cells: the code cells, in the order of the notebook.
        key: the key of the hidden tests' random numbers.

    Attributes:
        ran: how each cell went in the reading pass; empty until the reading pass is over.
    """

    def __init__(self, assignment: Assignment, cells: Sequence[Cell], key: bytes) -> None:
        self.assignment = assignment
        self.cells = cells
        self.ran: list[CellResult] = []
        self._key = key

    @cached_property
    def places(self) -> dict[str, int]:
        """By exercise: the number of cells that run before its tests."""
        return places(self.cells, [*self.assignment.exercises])

    @cached_property
    def seed(self) -> bytes:
        """Digest of the key, the assignment's name and all cells."""
        return self._digest(self.cells)

    @property
    def process_seed(self) -> int:
        """Seed of `random` in student processes. All submissions of an assignment have the same
        one, so that an edit of one cell does not change the random numbers in another. No other
        seed can be computed from it."""
        return int.from_bytes(self._digest([])[:6])

    def seed_of(self, exercise: str) -> bytes:
        """Return the seed of the random numbers in an exercise's tests: a digest of the key, the
        assignment, the exercise's own cells and the cells that belong to no exercise."""
        own = [cell for cell in self.cells if cell.exercise in (None, exercise)]
        return self._digest(own, exercise)

    def _digest(self, cells: Sequence[Cell], about: str = "") -> bytes:
        """Return a digest of the assignment, `about` and the cells, which can be computed only with
        the key."""
        digest = blake2b(key=self._key[:64], digest_size=16)
        digest.update(f"{self.assignment.name}\0{about}".encode())
        for cell in cells:
            source = cell.source.encode("utf-8", "surrogatepass")
            digest.update(f"\0{cell.exercise}\0{len(source)}\0".encode() + source)
        return digest.digest()

    def of(self, exercise: str) -> list[Cell]:
        """Return the exercise's own cells."""
        return [cell for cell in self.cells if cell.exercise == exercise]

    def ran_of(self, exercise: str) -> list[tuple[Cell, CellResult]]:
        """Return the exercise's own cells, each with how it went in the reading pass."""
        pairs = zip(self.cells, self.ran, strict=True)
        return [pair for pair in pairs if pair[0].exercise == exercise]

    def is_untouched(self, exercise: Exercise) -> bool:
        """Return whether the exercise has no answer: its cells hold only the stub, or are gone."""
        return all(is_blank(cell.source, exercise.stub) for cell in self.of(exercise.id))

    def earlier(self, exercise: Exercise) -> list[str]:
        """Return the ids of the earlier exercises on which this one may build, in the order of the
        assignment: all except questions and exercises that a person marks."""
        place = self.places[exercise.id]
        return [
            each.id
            for each in self.assignment.exercises.values()
            if not each.form and not each.manual and self.places[each.id] < place
        ]


def cut_short(cells: Iterable[tuple[Cell, CellResult]]) -> list[str]:
    """Return a sentence about each cell, other than test cells, that ran out of time or memory or
    ended the process: names that later cells need may be missing.

    Args:
        cells: the cells, each with how it went.
    """
    sentences = []
    for cell, result in cells:
        how = Status.TIMEOUT if result.stopped else result.lost
        if how and not cell.tests and not result.refused:
            name = cell.exercise or cell.source.strip().partition("\n")[0][:_LONGEST]
            sentences.append(
                f"The cell `{name}` {LOST[how]}: what it defines may be missing below."
            )
    return sentences
