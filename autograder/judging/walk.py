"""Decides on which base an exercise is tried next, and which of its tries counts. Pure functions.

A notebook is judged from top to bottom, each exercise at its own test cell: the cells before it
have run, those after it have not. A base is what stands there:

| base   | an earlier exercise has                              | later cells |
|--------|------------------------------------------------------|-------------|
| OWN    | the student's cell                                   | not run     |
| WHOLE  | the student's cell                                   | run         |
| MENDED | the solution's cell if it did not get full points    | not run     |
| MODEL  | the solution's cell                                  | not run     |

WHOLE is for answers that need what the student's own later cells define. No base holds the solution
of the tested exercise or of a later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ..model import Cell, Verdict
from .points import share_of

_LACKING = tuple(
    f"raised {kind}"
    for kind in ("NameError", "UnboundLocalError", "AttributeError", "TypeError",
                 "NotImplementedError")
)  # fmt: skip
"""Errors that a test sees if a name is not defined yet, or is a stub's still."""


class Base(Enum):
    """The student process that an exercise is tested in."""

    OWN = "own cells"
    WHOLE = "whole notebook"
    MENDED = "failed exercises mended"
    MODEL = "solution before it"


@dataclass(frozen=True)
class Try:
    """An exercise's hidden tests on one base.

    Attributes:
        given: the earlier exercises whose solution's cells stand there.
    """

    base: Base
    given: tuple[str, ...]
    verdicts: list[Verdict]

    @property
    def share(self) -> float:
        """Share of the tests that passed."""
        return share_of(self.verdicts)

    @property
    def is_late(self) -> bool:
        """True if a test ran into a time limit."""
        return any(verdict.lost == "timeout" for verdict in self.verdicts)

    @property
    def lacks_a_name(self) -> bool:
        """True if a test that did not pass saw an error that an undefined name raises."""
        return any(
            each in _LACKING
            for verdict in self.verdicts
            if not verdict.passed
            for each in verdict.seen
            if type(each) is str
        )


def next_base(
    tries: Sequence[Try],
    earlier: Sequence[str],
    failed: Sequence[str],
    is_answered: bool = True,
    has_later: bool = True,
    is_question: bool = False,
) -> tuple[Base, tuple[str, ...]] | None:
    """Return the base of the next try and the exercises given there; None if there is none.

    Args:
        tries: the tries so far.
        earlier: the ids of all earlier exercises that others may build on.
        failed: those of them that did not get full points.
        is_answered: whether the exercise has an answer.
        has_later: whether a later cell is the student's.
        is_question: whether a letter or a number is asked for. The first that is read counts: an
            answer that depends on the base is no second guess.
    """
    if not tries:
        return Base.OWN, ()
    is_read = not tries[-1].lacks_a_name and not any(each.lost for each in tries[-1].verdicts)
    if tries[-1].share == 1 or (is_question and is_read):
        return None
    tried = {each.given for each in tries}
    if has_later and tries[0].lacks_a_name and len(tries) == 1:
        return Base.WHOLE, ()
    # An answer that took too long after the given solutions would take too long again.
    if not is_answered or (tries[-1].is_late and tuple(failed) in tried):
        return None
    for base, given in ((Base.MENDED, failed), (Base.MODEL, earlier)):
        if tuple(given) not in tried:
            return base, tuple(given)
    return None


def best(tries: Sequence[Try]) -> Try:
    """Return the try that counts: the highest share.

    Of equal ones, prefer the mended base, so that the explanation is about this exercise's mistake
    alone; or the student's own cells if the verdicts there are the same ones.
    """
    order = (Base.MENDED, Base.OWN, Base.MODEL, Base.WHOLE)
    found = max(tries, key=lambda each: (each.share, -order.index(each.base)))
    return next(each for each in tries if each.verdicts is found.verdicts)


def to_explain(tries: Sequence[Try]) -> Try:
    """Return the try on whose base a failure is explained.

    It is the one that counts; of two with the same verdicts the one on the mended base, where the
    public probes meet no other exercise's mistake.
    """
    counts = best(tries)
    alike = (each for each in tries if each.verdicts is counts.verdicts)
    return next((each for each in alike if each.base is Base.MENDED), counts)


def places(cells: Sequence[Cell], exercises: Sequence[str]) -> dict[str, int]:
    """Return how many cells stand before each exercise's test cell.

    Without a test cell, an exercise is tested after its last cell; without any, at the end.
    """
    found = dict.fromkeys(exercises, len(cells))
    found |= {cell.exercise: index + 1 for index, cell in enumerate(cells) if cell.exercise}
    found |= {cell.tests: index for index, cell in enumerate(cells) if cell.tests}
    return found
