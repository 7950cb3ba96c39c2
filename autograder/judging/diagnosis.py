"""Names the mistake: the misconception that behaves as the student's code did.

Each model runs behind the wall, through the same hidden tests with the same numbers. The one
that fails the same tests, and shows them the same values on the way, is the diagnosis. Source text
is never looked at. If the model solution itself fails a test, the test is wrong.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from typing import Any

from coursecheck.check import fitting_mistakes
from coursecheck.probes import Observation

from ..course_folder.assignments import Exercise
from ..course_folder.misconceptions import Mistake
from ..model import Verdict
from .hidden_tests import Suite
from .models import Models
from .rehearsal import flaw_of
from .walk import Base, Try

_log = logging.getLogger(__name__)


class Diagnosis:
    """Runs the hidden tests of one assignment on known mistakes, and on the model solution.

    Args:
        table: the visible checks' table, by exercise.
        models: the student processes in which the mistakes and the solution run.
    """

    def __init__(self, suite: Suite, table: dict[str, Any], models: Models) -> None:
        self._suite = suite
        self._table = table
        self._models = models

    def name(
        self,
        exercise: Exercise,
        tried: Try,
        observed: list[list[Observation]] | None,
        sampled: list[list[Observation]] | None,
        seed: bytes,
    ) -> tuple[Mistake | None, set[str]]:
        """Return the misconception that explains these verdicts, or None, and the ids of those that
        are refuted: a hidden test passes on one of the two, and not on the other.

        Args:
            tried: how its hidden tests went.
            observed: the observations of its public probes, if known.
            sampled: those of its samples, if known.
            seed: the seed of the exercise's numbers.
        """
        if tried.is_late:
            # If the public probes do not end either, it is another endless loop than the test's.
            found = (mistake for mistake in exercise.mistakes if mistake.endless and observed)
            return next(found, None), set()
        mistakes = exercise.mistakes
        if observed:
            mistakes = _allowed(exercise, self._table[exercise.id], observed, sampled)
        in_core, refuted = None, set[str]()
        for mistake in mistakes:
            if mistake.endless:
                continue
            replaced, whole = {exercise.id: mistake.source}, tried.base is Base.WHOLE
            target = self._models.target(exercise.id, replaced, whole)
            fits = how_it_fits(tried.verdicts, self._suite.run(exercise.id, target, seed))
            _log.debug("%s: played %s: fits %s", exercise.id, mistake.id, fits or "not")
            if fits == "all":
                return mistake, refuted
            if not fits:
                refuted.add(mistake.id)
            in_core = in_core or (mistake if fits == "core" else None)
        return in_core, refuted

    def flaw(self, exercise: Exercise, tried: Try, seed: bytes) -> str:
        """Return the fault of the hidden tests that a student did not pass; "" if there is none.

        An error that the test itself raised is a mistake of its author's, unless the model solution
        passes: then an answer caused it that the author had not foreseen. A test that the model
        solution does not pass is wrong, whatever the student wrote.
        """
        for verdict in tried.verdicts:
            if verdict.passed or verdict.lost:
                continue
            why = verdict.broken if verdict.blames_test else ""
            if not why:
                why = flaw_of(self._suite, self._models, exercise.id, verdict.test, seed)
            if why:
                return f"{verdict.test}: {why}"
        return ""


def _allowed(
    exercise: Exercise,
    entry: dict[str, Any],
    observed: list[list[Observation]],
    sampled: list[list[Observation]] | None,
) -> list[Mistake]:
    """Return the misconceptions that behave as observed on the public probes and samples, by the
    table. One with other results there is another mistake, and is not run."""
    fitting = fitting_mistakes(entry, observed, sampled)
    fitting += fitting_mistakes(entry, observed, sampled, in_core=True)
    places = {each["id"]: place for place, each in reversed([*enumerate(fitting)])}
    shown = {each["id"] for each in entry["mistakes"]}
    left = [each for each in exercise.mistakes if each.id in places or each.id not in shown]
    return sorted(left, key=lambda mistake: places.get(mistake.id, len(fitting)))


def how_it_fits(student: Iterable[Verdict], model: Iterable[Verdict]) -> str:
    """Return "all" or "core" if a model's verdicts are the student's on these tests, "" if one of
    the core passes on the model or the student alone, and "open" otherwise.

    The core is without tests of an extra part and those that met a stub. It explains nothing if all
    of it passed.
    """
    fits, failed = "all", False
    for mine, its in zip(student, model, strict=False):
        counts = not (mine.extra or "raised NotImplementedError" in mine.seen)
        failed = failed or (counts and not mine.passed)
        if not _alike(mine, its):
            fits = "core"
            if counts:
                return "open" if mine.passed == its.passed else ""
    return fits if failed or fits == "all" else "open"


def _alike(student: Verdict, model: Verdict) -> bool:
    """Return whether the student and the model both passed a test, or failed it on the same
    values."""
    if student.passed != model.passed:
        return False
    if student.passed:
        return True
    return len(student.seen) == len(model.seen) and all(map(_same, student.seen, model.seen))


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) or isinstance(right, float):
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            both_nan = left != left and right != right
            return both_nan or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
        return False
    return bool(left == right)
