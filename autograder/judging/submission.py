"""Holds a submission for judging: its cells, places of exercises, seeds, and how cells went."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b

from ..course_folder.assignments import Assignment, Exercise
from ..model import Cell, Ran
from .walk import places


class Submission:
    """The code cells of one notebook in order.

    Args:
        key: the key of the hidden tests' random numbers.

    Attributes:
        ran: how each cell went in the reading walk, once it is over.
    """

    def __init__(self, assignment: Assignment, cells: Sequence[Cell], key: bytes) -> None:
        self.assignment = assignment
        self.cells = cells
        self.ran: list[Ran] = []
        self._key = key

    @cached_property
    def places(self) -> dict[str, int]:
        """Number of cells that run before each exercise's tests."""
        return places(self.cells, [*self.assignment.exercises])

    @cached_property
    def seed(self) -> bytes:
        """Digest of the key and all cells."""
        return self._digest(self.cells)

    @property
    def process_seed(self) -> int:
        """Seed of `random` in student processes, the same for a whole class, so that points do not
        depend on other cells. No other seed can be computed from it."""
        return int.from_bytes(self._digest([])[:6])

    def seed_of(self, exercise: str) -> bytes:
        """Return the seed of an exercise's numbers: a digest of the key, the assignment, the
        exercise's own cells and those that belong to no exercise."""
        own = [cell for cell in self.cells if cell.exercise in (None, exercise)]
        return self._digest(own, exercise)

    def _digest(self, cells: Sequence[Cell], about: str = "") -> bytes:
        """Return a digest that can be computed only with the key."""
        digest = blake2b(key=self._key[:64], digest_size=16)
        digest.update(f"{self.assignment.name}\0{about}".encode())
        for cell in cells:
            source = cell.source.encode("utf-8", "surrogatepass")
            digest.update(f"\0{cell.exercise}\0{len(source)}\0".encode() + source)
        return digest.digest()

    def of(self, exercise: str) -> list[Cell]:
        """Return the exercise's own cells."""
        return [cell for cell in self.cells if cell.exercise == exercise]

    def ran_of(self, exercise: str) -> list[tuple[Cell, Ran]]:
        """Return the exercise's own cells and how each went."""
        pairs = zip(self.cells, self.ran, strict=True)
        return [pair for pair in pairs if pair[0].exercise == exercise]

    def is_untouched(self, exercise: Exercise) -> bool:
        """Return whether the exercise's cells hold the stub, or are gone."""
        return all(cell.source.split() == exercise.stub.split() for cell in self.of(exercise.id))

    def earlier(self, exercise: Exercise) -> list[str]:
        """Return the earlier exercises on which this one may build, in order.

        An answer that is a letter or a number, or that a person marks, is not among them.
        """
        place = self.places[exercise.id]
        return [
            each.id
            for each in self.assignment.exercises.values()
            if not each.form and not each.manual and self.places[each.id] < place
        ]
