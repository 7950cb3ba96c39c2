"""Names the mistake: the misconception that behaves as the student's code did.

The mutant of each known mistake runs in the sandbox, with the same hidden tests and the same random
numbers as the student's code. The mistake whose mutant fails the same tests, and shows them the
same values on the way, is the diagnosis. Source text is never compared. If the reference solution
itself fails a test, the test is wrong.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from coursecheck.check import fitting_mistakes
from coursecheck.tables import CheckEntry

from ..course_folder.assignments import Exercise
from ..course_folder.misconceptions import Mistake
from ..records import Verdict
from .course_sessions import CourseSessions
from .hidden_tests import Suite
from .observations import Observations
from .policy import Context, SuiteRun
from .solution_check import defect_of

_log = logging.getLogger(__name__)


class Diagnosis:
    """Runs the hidden tests of one assignment on known mistakes, and on the reference solution.

    Args:
        suite: the hidden tests.
        table: the entries of the visible checks' table, by exercise.
        course_sessions: makes the sessions in which the mutants and the solution run.
    """

    def __init__(
        self, suite: Suite, table: dict[str, CheckEntry], course_sessions: CourseSessions
    ) -> None:
        self._suite = suite
        self._table = table
        self._course_sessions = course_sessions

    def name(
        self,
        exercise: Exercise,
        suite_run: SuiteRun,
        observed: Observations | None,
        swept: Sequence[str],
        seed: bytes,
    ) -> tuple[Mistake | None, set[str]]:
        """Return the misconception that explains an exercise's verdicts, or None, and the ids of
        the refuted misconceptions. One is refuted if some hidden test passes on its mutant and not
        on the answer, or on the answer and not on its mutant.

        Args:
            suite_run: the exercise's hidden tests, as they went on the answer.
            observed: the observations of the exercise's public examples, if known.
            swept: the digests of the results of its sweeps; empty if not known.
            seed: the seed of the random numbers in the exercise's tests.
        """
        mistakes = exercise.mistakes
        if observed:
            mistakes = _allowed(exercise, self._table[exercise.id], observed, swept)
        if suite_run.is_late:
            # With a known endless mistake the public examples end, and only a hidden test does not.
            # If they were not observed, the loop is another one.
            found = (mistake for mistake in mistakes if mistake.endless and observed)
            return next(found, None), set()
        in_core, refuted = None, set[str]()
        for mistake in mistakes:
            if mistake.endless:
                continue
            replaced, whole = (
                {exercise.id: mistake.source},
                suite_run.context is Context.FULL_NOTEBOOK,
            )
            target = self._course_sessions.target(exercise.id, replaced, whole)
            fits = how_it_fits(suite_run.verdicts, self._suite.run(exercise.id, target, seed))
            _log.debug("%s: played %s: fits %s", exercise.id, mistake.id, fits or "not")
            if fits == "all":
                return mistake, refuted
            if not fits:
                refuted.add(mistake.id)
            if fits == "core" and in_core is None:
                share = sum(map(_is_core, suite_run.verdicts)) / len(suite_run.verdicts)
                in_core = replace(mistake, keeps=mistake.keeps * share)
        return in_core, refuted

    def defect(self, exercise: Exercise, suite_run: SuiteRun, seed: bytes) -> str:
        """Return the defect of a hidden test that the student's code did not pass; "" if no such
        test has one.

        A test has a defect if the reference solution does not pass it, whatever the student wrote.
        An error that was raised in the test's own code is a defect if it cannot depend on an answer
        (`Verdict.blames_test`). Any other one counts only if the solution does not pass either:
        else the answer caused it, in a way that the author had not foreseen.
        """
        for verdict in suite_run.verdicts:
            if verdict.passed or verdict.lost:
                continue
            why = verdict.broken if verdict.blames_test else ""
            if not why:
                why = defect_of(self._suite, self._course_sessions, exercise.id, verdict.test, seed)
            if why:
                return f"{verdict.test}: {why}"
        return ""


def _allowed(
    exercise: Exercise,
    entry: CheckEntry,
    observed: Observations,
    swept: Sequence[str],
) -> list[Mistake]:
    """Return the misconceptions whose results in the table are those observed on the public
    examples and sweeps, best match first, then the misconceptions that the table does not hold. One
    with other results in the table cannot be the mistake, and its mutant is not run."""
    fitting = fitting_mistakes(entry, observed, swept)
    fitting += fitting_mistakes(entry, observed, swept, in_core=True)
    places = {each["id"]: place for place, each in reversed([*enumerate(fitting)])}
    shown = {each["id"] for each in entry["mistakes"]}
    left = [each for each in exercise.mistakes if each.id in places or each.id not in shown]
    return sorted(left, key=lambda mistake: places.get(mistake.id, len(fitting)))


def how_it_fits(student: Iterable[Verdict], model: Iterable[Verdict]) -> str:
    """Compare the verdicts on the student's code with those on a mistake's mutant, the model.

    Returns:
        "all": the verdicts are alike on every test.
        "core": they are alike on every test of the core, and one of these failed.
        "": the first core test whose verdicts are not alike passed on only one of the two, which
        refutes the mistake.
        "open": none of these holds.
    """
    fits, failed = "all", False
    for mine, its in zip(student, model, strict=False):
        counts = _is_core(mine)
        failed = failed or (counts and not mine.passed)
        if not _alike(mine, its):
            fits = "core"
            if counts:
                return "open" if mine.passed == its.passed else ""
    return fits if failed or fits == "all" else "open"


def _is_core(verdict: Verdict) -> bool:
    """Return whether a test neither belongs to an extra part nor met a stub in the student's
    code."""
    return not (verdict.extra or "raised NotImplementedError" in verdict.seen)


def _alike(student: Verdict, model: Verdict) -> bool:
    """Return whether a test passed on the student's code and on the mutant (the model), or failed
    on both with the same values."""
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
