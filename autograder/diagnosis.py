"""Names the mistake: the misconception that behaves as the student's code did.

Each model is played, once a class, through the same hidden tests with the same numbers. The one
that fails the same tests, and shows them the same values on the way, is the diagnosis. Source text
is never looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import count
from typing import Any

from course.check import contradicted
from course.messages import agree_all
from course.probes import Observation

from .assignments import Assignment, Exercise, Mistake
from .channels import LocalChannel
from .engines import Engine
from .runs import Shown
from .suite import Suite, Verdict


class Diagnosis:
    """Plays the models of one assignment.

    Args:
        assignment: whose misconceptions to play.
        suite: its hidden tests.
        table: the visible checks' table, by exercise.

    Attributes:
        shown: what the public probes have shown of students' code.
    """

    _MOST = 1000
    """How many different observations the suspects are kept for."""

    def __init__(self, assignment: Assignment, suite: Suite, table: dict[str, Any]) -> None:
        self.shown = Shown(table)
        self._assignment = assignment
        self._suite = suite
        self._table = table
        self._suspects: dict[tuple[str, str], list[Mistake]] = {}
        self._played: dict[tuple[str, bytes], _Played] = {}

    def name(
        self,
        exercise: Exercise,
        verdicts: list[Verdict],
        seed: bytes,
        observed: list[list[Observation]] | None,
    ) -> Mistake | None:
        """The misconception that explains these verdicts, or None.

        Args:
            exercise: what the verdicts are on.
            verdicts: how its hidden tests went.
            seed: what their numbers were drawn from.
            observed: what its public probes showed, if that is known.
        """
        if any(verdict.lost == "timeout" for verdict in verdicts):
            return next((mistake for mistake in exercise.mistakes if mistake.endless), None)
        for mistake in self._suspected(exercise, observed) if observed else exercise.mistakes:
            if not mistake.endless and self._explains(exercise, mistake, verdicts, seed):
                return mistake
        return None

    def _suspected(self, exercise: Exercise, observed: list[list[Observation]]) -> list[Mistake]:
        """As `_allowed`, worked out once for all who show the same."""
        key = exercise.id, repr(observed)
        if key not in self._suspects:
            if len(self._suspects) == self._MOST:
                self._suspects.clear()
            self._suspects[key] = _allowed(exercise, self._table[exercise.id], observed)
        return self._suspects[key]

    def _explains(
        self, exercise: Exercise, mistake: Mistake, verdicts: list[Verdict], seed: bytes
    ) -> bool:
        key = (mistake.id, seed)
        if key not in self._played:
            self._played[key] = _Played(self._play(exercise, mistake, seed))
        return all(map(_alike, verdicts, self._played[key]))

    def _play(self, exercise: Exercise, mistake: Mistake, seed: bytes) -> Iterator[Verdict]:
        scope = self._assignment.namespace(**{exercise.id: mistake.source})
        yield from self._suite.run(exercise.id, lambda: Engine(LocalChannel(scope)), seed)


def _allowed(
    exercise: Exercise, entry: dict[str, Any], observed: list[list[Observation]]
) -> list[Mistake]:
    """The misconceptions that what was observed allows, the likeliest first."""
    unlike = contradicted(entry, observed)
    shown = {each["id"]: each["results"] for each in entry["mistakes"]}
    fitting = {name for name, results in shown.items() if agree_all(observed, results)}
    # Where nothing fits, it may be one that the public probes say nothing of.
    likely = fitting or {mistake.id for mistake in exercise.mistakes} - set(shown)
    left = [mistake for mistake in exercise.mistakes if mistake.id not in unlike]
    return sorted(left, key=lambda mistake: mistake.id not in likely)


class _Played:
    """The verdicts on a model, each found out when it is first asked for and then kept."""

    def __init__(self, verdicts: Iterator[Verdict]) -> None:
        self._coming = verdicts
        self._known: list[Verdict] = []

    def __iter__(self) -> Iterator[Verdict]:
        for index in count():
            if index == len(self._known):
                # A model may print, as the student's code would: that is not for the report.
                with redirect_stdout(StringIO()):
                    verdict = next(self._coming, None)
                if verdict is None:
                    return
                # What was seen matters where a test failed, and can be much.
                self._known.append(replace(verdict, seen=[]) if verdict.passed else verdict)
            yield self._known[index]


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
