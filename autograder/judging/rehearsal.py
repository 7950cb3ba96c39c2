"""Grades the model solution behind the wall; its author mends what it does not pass there."""

from __future__ import annotations

from ..course_folder.assignments import Assignment
from ..model import Verdict, flaw_in_words
from ..wall.targets import RemoteTarget
from .hidden_tests import Suite
from .models import Models

_SEED = bytes(16)
_SHOWN = 10
"""The number of values that a test looked at that are shown, the last ones."""


def rehearse(
    assignment: Assignment, suite: Suite, models: Models, seed: bytes = _SEED
) -> list[str]:
    """Return the hidden tests that the model solution does not pass, in words for their author.

    Args:
        seed: what the tests' numbers are drawn from.
    """
    flaws = []
    for exercise in suite.exercises:
        target = models.target(exercise)
        for test in suite.promises(exercise):
            if flaw := flaw_of(suite, exercise, test.test, target(test.test), seed):
                flaws.append(flaw_in_words(assignment.name, exercise, f"{test.test}: {flaw}"))
    return flaws


def flaw_of(suite: Suite, exercise: str, test: str, target: RemoteTarget, seed: bytes) -> str:
    """Return why the model solution does not pass a hidden test; "" if it passes.

    The values are the author's own, so they are shown, with the line of the test and the traceback
    of what the solution raised.
    """
    target.asks_why = True
    right = suite.run_test(exercise, test, target, seed)
    if right.passed:
        return ""
    return right.broken or f"{_reason(right)}\n{_details(right, target.why)}".strip()


def _reason(right: Verdict) -> str:
    if right.lost:
        return f"the sandbox lost the model solution's process ({right.lost})"
    return (
        "the model solution does not pass this test with these numbers. (Objects of the student's "
        "are equal to themselves alone: student.equal(a, b) asks their own `__eq__`.)"
    )


def _details(right: Verdict, why: str) -> str:
    seen = ", ".join(repr(each)[:200] for each in right.seen[-_SHOWN:])
    parts = [right.line and f"It ended at {right.line}", seen and f"It saw, last: {seen}", why]
    return "\n".join(filter(None, parts))
