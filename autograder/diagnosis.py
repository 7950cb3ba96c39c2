"""Names the mistake: the misconception that behaves as the student's code did.

Each model is played through the same hidden tests with the same numbers. The one that fails the
same tests, and shows them the same values on the way, is the diagnosis. Source text is never
looked at.
"""

from __future__ import annotations

import math
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from .assignments import Assignment, Exercise, Mistake
from .engines import Engine, LocalChannel
from .suite import Suite, Verdict


class Diagnosis:
    """Plays the models of one assignment.

    Args:
        assignment: whose misconceptions to play.
        suite: its hidden tests.
    """

    def __init__(self, assignment: Assignment, suite: Suite) -> None:
        self._assignment = assignment
        self._suite = suite

    def name(
        self, exercise: Exercise, verdicts: list[Verdict], seed: bytes, suspects: list[Mistake]
    ) -> Mistake | None:
        """The misconception that explains these verdicts, or None.

        Args:
            exercise: what the verdicts are on.
            verdicts: how its hidden tests went.
            seed: what their numbers were drawn from.
            suspects: the misconceptions to try, the likeliest first.
        """
        if any(verdict.lost == "timeout" for verdict in verdicts):
            return next((mistake for mistake in exercise.mistakes if mistake.endless), None)
        for mistake in suspects:
            if not mistake.endless and self._explains(exercise, mistake, verdicts, seed):
                return mistake
        return None

    def _explains(
        self, exercise: Exercise, mistake: Mistake, verdicts: list[Verdict], seed: bytes
    ) -> bool:
        # A model may print, as the student's code would; that is none of the report's business.
        with redirect_stdout(StringIO()):
            scope = self._assignment.namespace(**{exercise.id: mistake.source})
            played = self._suite.run(exercise.id, lambda: Engine(LocalChannel(scope)), seed)
            # `run` is lazy: the first test that goes otherwise ends the comparison.
            return all(map(_alike, verdicts, played))


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
