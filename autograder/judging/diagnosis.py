"""Names the mistake: the misconception that behaves as the student's code did.

Each model is played through the same hidden tests with the same numbers. The one that fails the
same tests, and shows them the same values on the way, is the diagnosis. Source text is never looked
at. Where the model solution itself fails a test, the test is wrong and not the student.
"""

from __future__ import annotations

import logging
import math
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from coursecheck.check import contradicted
from coursecheck.messages import agree_all
from coursecheck.probes import Observation

from ..course_folder.assignments import Assignment, Exercise
from ..course_folder.misconceptions import Mistake
from ..model import Verdict
from ..wall.targets import LocalTarget
from .hidden_tests import Suite

_log = logging.getLogger(__name__)


class Diagnosis:
    """Plays the models of one assignment through the hidden tests of one submission.

    Args:
        assignment: whose misconceptions to play.
        suite: its hidden tests.
        table: the visible checks' table, by exercise.
    """

    def __init__(self, assignment: Assignment, suite: Suite, table: dict[str, Any]) -> None:
        self._assignment = assignment
        self._suite = suite
        self._table = table

    def name(
        self,
        exercise: Exercise,
        verdicts: list[Verdict],
        observed: list[list[Observation]] | None,
        seed: bytes,
    ) -> Mistake | None:
        """The misconception that explains these verdicts, or None.

        Args:
            exercise: what the verdicts are on.
            verdicts: how its hidden tests went.
            observed: what its public probes showed, if that is known.
            seed: what the exercise's numbers are drawn from.
        """
        if any(verdict.lost == "timeout" for verdict in verdicts):
            return next((mistake for mistake in exercise.mistakes if mistake.endless), None)
        mistakes = exercise.mistakes
        if observed:
            mistakes = _allowed(exercise, self._table[exercise.id], observed)
        for mistake in mistakes:
            if mistake.endless:
                continue
            fits = self._explains(exercise, mistake, verdicts, seed)
            _log.debug("%s: played %s: %s", exercise.id, mistake.id, "fits" if fits else "differs")
            if fits:
                return mistake
        return None

    def _explains(
        self, exercise: Exercise, mistake: Mistake, verdicts: list[Verdict], seed: bytes
    ) -> bool:
        target = self._target(exercise, mistake.source)
        # A model may print or warn, as the student's code may: that is not for the report.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            played = self._suite.run(exercise.id, lambda _: target, seed)
            return all(map(_alike, verdicts, played))

    def _target(self, exercise: Exercise, source: str) -> LocalTarget:
        """Return the solution notebook's names at the exercise's place, its cell replaced."""
        scope = self._assignment.namespace_at(exercise.id, source)
        return LocalTarget(scope, self._assignment.data_folder)

    def flaw(self, exercise: Exercise, verdict: Verdict, seed: bytes) -> str:
        """What is wrong with a hidden test that a student did not pass; "" where nothing is.

        An error that the test itself raised is a mistake of its author's, unless the model solution
        passes: then an answer caused it that the author had not foreseen. A test that the model
        solution does not pass is wrong, whatever the student wrote.
        """
        if verdict.blames_test:
            return verdict.broken
        solution = self._target(exercise, exercise.solution)
        with redirect_stdout(StringIO()):
            right = self._suite.run_test(exercise.id, verdict.test, solution, seed)
        if right.passed:
            return ""
        return right.broken or (
            "the model solution does not pass this test with these numbers. (Objects of the "
            "student's are equal to themselves alone: student.equal(a, b) asks their own `__eq__`.)"
        )


def _allowed(
    exercise: Exercise, entry: dict[str, Any], observed: list[list[Observation]]
) -> list[Mistake]:
    """The misconceptions that what was observed allows, the likeliest first."""
    unlike = contradicted(entry, observed)
    shown = {each["id"]: each["results"] for each in entry["mistakes"]}
    fitting = {name for name, results in shown.items() if agree_all(observed, results)}
    # Where no model fits, the mistake may be one that the public probes do not show.
    likely = fitting or {mistake.id for mistake in exercise.mistakes} - set(shown)
    left = [mistake for mistake in exercise.mistakes if mistake.id not in unlike]
    return sorted(left, key=lambda mistake: mistake.id not in likely)


def _alike(student: Verdict, model: Verdict) -> bool:
    """Whether a test went the same way, and a failed one for the same reason."""
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
