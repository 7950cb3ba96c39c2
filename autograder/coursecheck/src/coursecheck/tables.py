"""Types for a table of the visible checks, which is a JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from coursecheck.examples import Observation, PublicExample


class SolvedExample(PublicExample):
    """A public example, and what the solution gives for each observed expression."""

    right: list[Observation]


class KnownMistake(TypedDict):
    """A known mistake: `says` is the message, `results` are the mistake's results on the public
    examples, and `sweeps` holds a digest of its results on each sweep; a sweep with "" is not
    compared."""

    id: str
    says: str
    results: list[list[Observation]]
    sweeps: NotRequired[list[str]]


class Region(TypedDict):
    """A condition on the names of a sweep, and the indexes of the points for which it holds."""

    where: str
    points: list[int]


class Quantity(TypedDict):
    """One observed expression of a sweep.

    `formulas` is the text that `inference.pack` makes. `index` holds, by region, the ids of all
    these formulas in a row. `says` holds, by result, the course's sentence on code with this
    result.
    """

    kind: str
    name: str
    says: NotRequired[dict[str, str]]
    index: NotRequired[dict[str, str]]
    formulas: NotRequired[str]


class SweepLines(TypedDict):
    """The code, numbers and expressions of a sweep, as `course_folder.sweeps.Sweep` declares it."""

    code: str
    about: str
    derived: dict[str, str]
    where: str
    names: list[str]
    points: list[list[float]]
    observe: list[str]
    extra: NotRequired[bool]


class SolvedSweep(SweepLines):
    """A sweep with `right`, the solution's results: a list for each point."""

    right: list[list[Observation]]
    regions: list[list[Region]]
    quantities: list[Quantity]


class WrongAnswer(TypedDict):
    """A known wrong answer to a question, and what is wrong with it."""

    answer: str | float
    says: str


class QuestionAnswers(TypedDict):
    """The right answer to a question, and the known wrong ones."""

    right: str | float
    wrong: list[WrongAnswer]


class CheckEntry(TypedDict):
    """An exercise. A question has `form`, the form of its answer, and `answers` if the course shows
    them at once; all other exercises have `examples`. `needs` are the earlier exercises on which it
    builds, in order."""

    title: str
    extra: NotRequired[bool]
    form: NotRequired[str]
    answers: NotRequired[QuestionAnswers]
    needs: NotRequired[list[str]]
    examples: NotRequired[list[SolvedExample]]
    mistakes: NotRequired[list[KnownMistake]]
    sweeps: NotRequired[list[SolvedSweep]]


class CheckTable(TypedDict):
    """The table of an assignment. `made_from` is a digest of what the table was made from, `digest`
    a digest of the rest of the table, and `hints` are the course's hints (`messages.Hints`)."""

    note: str
    assignment: str
    made_from: str
    digest: str
    hints: Sequence[Sequence[str]]
    exercises: dict[str, CheckEntry]
