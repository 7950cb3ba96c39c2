"""Walks a notebook before any hidden test: outputs, public probes and samples for the student.

No process of the submission has seen a hidden number or a solution yet, so that the student may
read all of this.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from coursecheck.messages import agree_all
from coursecheck.probes import Observation

from ..course_folder.assignments import Exercise
from ..wall import WarmServer
from ..wall.time_budget import TimeBudget
from .solution_times import SolutionTimes
from .submission import Submission
from .trunk import Trunk

_log = logging.getLogger(__name__)

_KEEP = 0.7
"""The share of a submission's time that probes leave for the tests."""


@dataclass(frozen=True)
class Shown:
    """Observations of an exercise's code at its place, each None if it could not be made.

    Attributes:
        probes: of its public probes.
        samples: of its samples, if a probe came out wrong.
    """

    probes: list[list[Observation]] | None = None
    samples: list[list[Observation]] | None = None


def read(
    submission: Submission,
    exercises: Iterable[Exercise],
    server: WarmServer,
    budget: TimeBudget,
    times: SolutionTimes,
    table: Mapping[str, Any],
) -> dict[str, Shown]:
    """Run all cells; run the probes of each answer at its place, and samples if a probe came out
    wrong.

    After an exercise runs into a time limit, no other one's probes are run: they may use it.
    Sets `submission.ran`.
    """
    trunk = Trunk(
        server, submission.cells, submission.process_seed, budget,
        assignment=submission.assignment.name,
    )  # fmt: skip
    shown: dict[str, Shown] = {}
    asked = [each for each in exercises if each.probes and not submission.is_untouched(each)]
    timeouts = 0
    try:
        for exercise in sorted(asked, key=lambda each: submission.places[each.id]):
            place = submission.places[exercise.id]
            trunk.run_to(place)
            if timeouts or budget.left() < _KEEP * budget.seconds:
                continue
            before = budget.timeouts
            shown[exercise.id] = _play(trunk, place, exercise, times, table[exercise.id])
            timeouts = budget.timeouts - before
            if timeouts and exercise.id in server.limits.trainings:
                # All its probes together may take longer than a training of its tests.
                budget.forgive()
        trunk.run_all()
    finally:
        trunk.close()
    submission.ran = trunk.ran
    return shown


def _play(
    trunk: Trunk, place: int, exercise: Exercise, times: SolutionTimes, entry: Mapping[str, Any]
) -> Shown:
    play: Any = partial(trunk.observe, place, exercise, model=partial(times.of_probes, exercise))
    probes = play(exercise.probes)
    _log.debug("%s: %s public examples observed", exercise.id, len(probes or ()))
    right = [probe["right"] for probe in entry.get("probes", [])]
    is_wrong = probes and not agree_all(probes, right)
    samples = play(exercise.sample_probes) if is_wrong and exercise.samples else None
    return Shown(probes, samples)
