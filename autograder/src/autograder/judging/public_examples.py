"""Runs the reading pass: the cells, public examples and questions, before any hidden test.

No process of the submission has seen a hidden number or a solution at this time, so the student may
read all outputs and observations of the reading pass.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from coursecheck.examples import PublicExample

from ..course_folder.assignments import Exercise
from ..sandbox import ForkServer
from ..sandbox.time_budget import TimeBudget
from .notebook_session import NotebookSession
from .observations import Observations
from .reference_times import ReferenceTimes
from .submission import Submission

_log = logging.getLogger(__name__)

_KEEP = 0.7
"""Public examples are run only while at least this share of the submission's time is left, so that
the rest is for the hidden tests."""


@dataclass(frozen=True)
class ExampleResults:
    """Observations of an exercise's code, made where the exercise is tested. An attribute is None
    if its observations could not be made, or if the exercise has nothing to observe.

    Attributes:
        examples: the observations of the exercise's public examples.
        sweeps: the observations of the exercise's sweeps.
        answer: the answer to a question, as the only observation of one example.
    """

    examples: Observations | None = None
    sweeps: Observations | None = None
    answer: Observations | None = None


def read(
    submission: Submission,
    exercises: Iterable[Exercise],
    server: ForkServer,
    budget: TimeBudget,
    times: ReferenceTimes,
) -> dict[str, ExampleResults]:
    """Run all cells. Where an exercise is tested, run its public examples and sweeps, or read the
    letter or number of its answer. Return the observations by exercise, and set `submission.ran`.

    After the examples of an exercise run into a time limit, no examples of later exercises are run:
    these may call the same slow code.
    """
    session = NotebookSession(
        server, submission.cells, submission.process_seed, budget,
        assignment=submission.assignment.name,
    )  # fmt: skip
    shown: dict[str, ExampleResults] = {}
    asked = [
        each
        for each in exercises
        if (each.examples or each.form) and not submission.is_untouched(each)
    ]
    timeouts = 0
    try:
        for exercise in sorted(asked, key=lambda each: submission.places[each.id]):
            place = submission.places[exercise.id]
            session.run_to(place)
            if timeouts or budget.left() < _KEEP * budget.seconds:
                continue
            before = budget.timeouts
            shown[exercise.id] = _play(session, place, exercise, times)
            timeouts = budget.timeouts - before
            if timeouts and (exercise.id in server.limits.trainings or shown[exercise.id].examples):
                # This timeout does not shorten later limits: all examples of an exercise together
                # may take longer than a training in one test, and no verdict depends on sweeps.
                budget.forgive()
        session.run_all()
    finally:
        session.close()
    submission.ran = session.ran
    return shown


def _play(
    session: NotebookSession, place: int, exercise: Exercise, times: ReferenceTimes
) -> ExampleResults:
    play: Any = partial(
        session.observe, place, exercise, reference_seconds=partial(times.of_examples, exercise)
    )
    answer = play([PublicExample(code="", observe=[exercise.id])]) if exercise.form else None
    examples = play(exercise.examples) if exercise.examples else None
    _log.debug("%s: %s public examples observed", exercise.id, len(examples or ()))
    # Sweeps are run even if all examples are right. Whether a hidden test fails is known only
    # later, when the student may no longer be shown what a process says.
    sweeps = play(exercise.sweep_examples) if examples and exercise.sweeps else None
    return ExampleResults(examples, sweeps, answer)
