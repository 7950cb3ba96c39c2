"""Tells by experiment whether a version of a solution cell computes what the right one does.

It judges the hidden tests, so it knows nothing of them. Expression graphs are compared with the
reference engine, everything else with the notebook's own solution.
"""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from typing import Any

from .. import reference
from ..assignments import Assignment
from .experiments import (
    FUNCTIONS,
    Experiment,
    alike,
    checked,
    decided,
    descended,
    differentiated,
    drawn,
    expressions,
    in_order,
    in_order_hard,
    made,
    passed_back,
    pushed,
    same_as,
    slopes,
    steps,
    steps_hard,
    traced,
    traced_hard,
    weighted,
    zeroed,
)
from .network_experiments import (
    cross_entropies,
    descents,
    layers,
    learned,
    losses,
    modules,
    networks,
    neurons,
    rates,
    seeded,
    sequences,
    trainings,
)

SECONDS = 3.0
"""Processor time after which an experiment counts as endless."""

GRAPHS = 2000
"""How many random graphs two engines must agree on to be taken for equal."""


class OutOfTime(BaseException):
    """The code used up its processor time. Nothing that it catches itself is a parent of this."""


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
    """An experiment, how often it is repeated, and whether the reference can do it as well."""

    experiment: Experiment
    times: int = GRAPHS
    reference: bool = False


_ARITHMETIC = Trial(expressions(), reference=True)
_FUNCTIONS = Trial(expressions(FUNCTIONS), reference=True)
_TRIALS: dict[str, tuple[Trial, ...]] = {
    "node": (Trial(made, 200), _ARITHMETIC),
    **dict.fromkeys(("add", "mul", "pow", "neg_sub", "div", "reverse"), (_ARITHMETIC,)),
    **dict.fromkeys(("exp", "log", "tanh", "relu", "sigmoid", "extra_ops"), (_FUNCTIONS,)),
    "trace": (Trial(traced), Trial(traced_hard, 1)),
    "manual_backward": (Trial(pushed),),
    "numerical": (Trial(slopes),),
    "topological_order": (Trial(in_order), Trial(in_order_hard, 1)),
    "backward": (
        Trial(differentiated("backward"), reference=True),
        Trial(steps("backward")),
        Trial(steps_hard("backward", 300), 1),
    ),
    "zero_grad": (Trial(zeroed),),
    "check_gradients": (Trial(checked),),
    "deep": (
        Trial(differentiated("backward_without_recursion"), reference=True),
        Trial(steps("backward_without_recursion")),
        Trial(steps_hard("backward_without_recursion", 100_000), 1),
    ),
    "dot_source": (Trial(drawn, 500),),
    "q18": (Trial(weighted),),
    "q19": (Trial(passed_back),),
    "q20": (Trial(descended),),
    "q21": (Trial(decided, 10),),
    "module": (Trial(modules, 200),),
    "neuron": (Trial(neurons, 500),),
    "layer": (Trial(layers, 300),),
    "mlp": (Trial(networks, 300),),
    "linear_sequential": (Trial(sequences, 300),),
    **{name: (Trial(losses(name)),) for name in ("mse", "bce", "hinge")},
    "cross_entropy": (Trial(cross_entropies),),
    "sgd": (Trial(descents),),
    "schedule": (Trial(rates),),
    "train": (Trial(trainings, 500),),
    **{
        task: (*(Trial(learned(task, seed), 1) for seed in range(10)), Trial(seeded(task), 1))
        for task in ("xor", "four_points", "moons")
    },
}


class Oracle:
    """Judges versions of one assignment's solution cells.

    Args:
        assignment: whose cells.
        seed: what the experiments' numbers are drawn from.
        graphs: how often an experiment is repeated at most.
    """

    def __init__(self, assignment: Assignment, seed: str = "oracle", graphs: int = GRAPHS) -> None:
        self._assignment = assignment
        self._graphs = graphs
        self._seed = seed
        self._right = assignment.namespace()
        self._expected: dict[tuple[str, int, int], Any] = {}

    def trials(self, exercise: str) -> tuple[Trial, ...]:
        """The experiments that judge an exercise; none where nobody wrote any."""
        if self._assignment.exercises[exercise].form:
            return (Trial(same_as(exercise), 1),)
        return _TRIALS.get(exercise, ())

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
            with redirect_stdout(StringIO()), same_recursion_limit():
                with time_limit(SECONDS):
                    names = self._assignment.namespace(**answers)
                for number, trial in enumerate(trials):
                    for time in range(min(trial.times, self._graphs)):
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
            names = vars(reference) if trial.reference else self._right
            self._expected[key] = _run(trial, names, self._rng(*key))
        return self._expected[key]


def _run(trial: Trial, names: dict[str, Any], rng: random.Random) -> list[Any]:
    with suppress(Exception), time_limit(SECONDS):
        return trial.experiment(names, rng)
    return ["failed"]
