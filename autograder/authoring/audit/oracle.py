"""Decides by experiment whether a version of a solution cell computes what the right one does.

Its decisions are held against those of the hidden tests, so it uses none of them. The course names
the experiments in its `course.toml`. Each is made on the version and on the notebook's own
solution, or on a reference of the course's.
"""

from __future__ import annotations

import math
import random
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from ...course_folder.assignments import Assignment
from ...course_folder.modules import course_object
from ...course_folder.settings import load_settings
from ...errors import OutOfTime

SECONDS = 3.0
"""Processor time after which an experiment counts as endless."""

TIMES = 2000
"""How often an experiment is made at most, each time with other numbers."""

Names = dict[str, Any]
Experiment = Callable[[Names, random.Random], list[Any]]
"""Takes what a namespace defines and a random generator; returns plain values that it saw."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` once the block has used so many seconds of processor time."""

    def stop(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def same_recursion_limit() -> Iterator[None]:
    """Undo what the code in the block does to Python's recursion limit.

    With a high one, endless recursion in whatever runs later would end this process.
    """
    before = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass(frozen=True)
class Trial:
    """An experiment on an exercise.

    Attributes:
        experiment: what is made.
        times: how often.
        reference: the names that right answers come from; those of the solution if there are none.
        seconds: processor time after which it counts as endless.
    """

    experiment: Experiment
    times: int = TIMES
    reference: Names | None = None
    seconds: float = SECONDS


class Oracle:
    """Judges versions of one assignment's solution cells.

    Args:
        assignment: whose cells.
        experiments: the course's, by exercise.
        seed: what the experiments' numbers are drawn from.
        times: how often an experiment is made at most.
    """

    def __init__(
        self,
        assignment: Assignment,
        experiments: Mapping[str, Sequence[Trial]],
        seed: str = "oracle",
        times: int = TIMES,
    ) -> None:
        self._assignment = assignment
        self._experiments = experiments
        self._times = times
        self._seed = seed
        self._right = assignment.namespace()
        self._expected: dict[tuple[str, int, int], Any] = {}

    def trials(self, exercise: str) -> Sequence[Trial]:
        """The experiments that judge an exercise; none where nobody wrote any."""
        if self._assignment.exercises[exercise].form:
            return (Trial(_answer_to(exercise), 1),)
        return self._experiments.get(exercise, ())

    def differs(self, exercise: str, answers: dict[str, str]) -> bool | None:
        """Whether an exercise computes otherwise than in the solution notebook.

        Args:
            exercise: which one to look at.
            answers: the solution cells that were replaced, by exercise.

        Returns:
            None where no experiment is known for the exercise.
        """
        trials = self.trials(exercise)
        try:
            beside_data = self._assignment.beside_data()
            with redirect_stdout(StringIO()), same_recursion_limit(), beside_data:
                with time_limit(SECONDS):
                    names = self._assignment.namespace(**answers)
                for number, trial in enumerate(trials):
                    for time in range(min(trial.times, self._times)):
                        seen = _run(trial, names, self._rng(exercise, number, time))
                        if not alike(seen, self._expect(exercise, number, time)):
                            return True
        except (Exception, OutOfTime):
            return True
        return False if trials else None

    def _rng(self, exercise: str, number: int, time: int) -> random.Random:
        return random.Random(f"{self._seed} {exercise} {number} {time}")

    def _expect(self, exercise: str, number: int, time: int) -> Any:
        key = (exercise, number, time)
        if key not in self._expected:
            trial = self.trials(exercise)[number]
            names = self._right if trial.reference is None else trial.reference
            self._expected[key] = _run(trial, names, self._rng(*key))
        return self._expected[key]


def _run(trial: Trial, names: dict[str, Any], rng: random.Random) -> list[Any]:
    with suppress(Exception), time_limit(trial.seconds):
        return trial.experiment(names, rng)
    return ["failed"]


def _answer_to(name: str) -> Experiment:
    """The plain answer to a question."""

    def experiment(names: Names, rng: random.Random) -> list[Any]:
        answer = names[name]
        return [answer.strip().lower() if isinstance(answer, str) else float(answer)]

    return experiment


def alike(left: Any, right: Any) -> bool:
    """Whether two experiments saw the same, numbers up to rounding."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(alike, left, right))
    if _is_number(left) and _is_number(right):
        both_nan = left != left and right != right
        return both_nan or math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-7)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def experiments_of(course: Path) -> Mapping[str, Sequence[Trial]]:
    """The experiments that the course's `course.toml` names; none where it names none."""
    place = load_settings(course).audit.experiments
    found: Mapping[str, Sequence[Trial]] = course_object(course, place) if place else {}
    return found
