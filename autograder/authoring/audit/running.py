"""Runs the audit in several processes and sums it up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path

from ...course_folder.assignments import load_assignment
from ...course_folder.misconceptions import UNNAMED
from ...course_folder.settings import load_settings
from .cases import KINDS, Case, all_cases
from .judging import JUDGED_ALONE, Judge, Outcome

SEED = "audit"
NAMED = 0.97
MUTANTS_KILLED = 0.95


@dataclass
class Count:
    """Numbers of exercises in the cases of one kind, by outcome."""

    cases: int = 0
    wrong: int = 0
    killed: int = 0
    named: int = 0
    alarms: int = 0
    accepted: int = 0


@dataclass
class Audit:
    """The results of an audit.

    Attributes:
        seed: the seed of all random numbers.
        outcomes: one for each case.
        gaps: exercises that lack tests or misconceptions, in words.
        unchecked: exercises without misconceptions, as `ASSIGNMENT: EXERCISE`.
        without_docstring: hidden tests without one, as `ASSIGNMENT: TEST`.
    """

    seed: str
    outcomes: list[Outcome] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    without_docstring: list[str] = field(default_factory=list)

    def of(self, kind: str, assignment: str | None = None) -> list[Outcome]:
        """Return the outcomes of one kind of case."""
        return [
            each
            for each in self.outcomes
            if each.kind == kind and assignment in (None, each.assignment)
        ]

    def count(self, kind: str, assignment: str | None = None) -> Count:
        """Return the sums over the outcomes of one kind.

        A mutant that passes and that the course accepts is not counted as wrong.
        """
        total = Count()
        for each in self.of(kind, assignment):
            total.cases += 1
            total.alarms += len(each.alarms) > 0
            if each.accepted and not each.killed:
                total.accepted += 1
            elif kind != "variant":
                total.wrong += len(each.messages) or 1
                total.killed += len(each.killed)
                total.named += len(each.named)
        return total

    @property
    def survivors(self) -> list[Outcome]:
        """Mutants that pass all hidden tests and that the course does not accept."""
        return [each for each in self.of("mutant") if not each.killed and not each.accepted]

    @property
    def failures(self) -> list[Outcome]:
        """Cases whose verdicts are not as expected, surviving mutants included."""
        return [each for each in self.outcomes if not is_as_it_should_be(each)]

    @property
    def passed(self) -> bool:
        """True if the required shares are reached."""
        alone, pairs, joined = map(self.count, ("mistake", "two_exercises", "two_in_one"))
        unnamed = map(self.count, UNNAMED)
        changed = self.count("mutant")
        return (
            not self.gaps
            and all(each.killed == each.wrong for each in (alone, pairs, joined, *unnamed))
            and all(each.named >= NAMED * each.wrong for each in (alone, pairs))
            and changed.killed >= MUTANTS_KILLED * changed.wrong
            and not any(self.count(kind).alarms for kind in KINDS)
        )


def is_as_it_should_be(outcome: Outcome) -> bool:
    """Return whether no right exercise of a case lost points, and each wrong one did.

    A mutant that the course accepts may pass. Unless the hidden tests are judged alone, the report
    must also name each mistake.
    """
    if outcome.alarms:
        return False
    if outcome.kind in JUDGED_ALONE:
        return bool(outcome.killed or outcome.accepted)
    if outcome.kind == "variant":
        return True
    return len(outcome.killed) == len(outcome.named) == len(outcome.messages)


def audit(
    course: Path,
    names: list[str],
    workers: int,
    seed: str = SEED,
    chosen: Callable[[Case], Case | None] = lambda case: case,
    show: Callable[[int, int, Outcome | None], None] = lambda done, total, outcome: None,
) -> Audit:
    """Run the grading tests of some assignments on every known case.

    Args:
        seed: the seed of all random numbers.
        chosen: returns the case to run in the place of each, or None to leave it out.
        show: called with the number of cases that are done, their number, and the latest
            outcome.
    """
    result = Audit(seed)
    cases: list[Case] = []
    least = load_settings(course).audit.misconceptions
    for name in names:
        with Judge(course, seed) as judge:
            result.gaps += judge.flaws(name)
            suite = judge.suite(assignment := load_assignment(course, name))
            result.without_docstring += [f"{name}: {test}" for test in suite.without_docstring]
        cases += filter(None, map(chosen, all_cases(course, assignment, seed)))
        for exercise in assignment.exercises.values():
            many = len(exercise.mistakes)
            if exercise.manual:
                continue
            if many < least:
                result.gaps.append(
                    f"{name}: {exercise.id} has {many} misconceptions of at least {least} in "
                    f"grading_tests/misconceptions/{name}/{exercise.id}.py"
                )
            elif not many:
                result.unchecked.append(f"{name}: {exercise.id}")
    # The longest cases go first, so that no process is left alone with one in the end.
    cases.sort(key=lambda case: (not case.endless, KINDS.index(case.kind)))
    show(0, len(cases), None)
    with ProcessPoolExecutor(
        workers, get_context("spawn"), _start_worker, (course, seed)
    ) as processes:
        running = [processes.submit(_judge, case) for case in cases]
        for done, future in enumerate(as_completed(running), 1):
            result.outcomes.append(future.result())
            show(done, len(cases), result.outcomes[-1])
    place = {(case.assignment, case.kind, case.id): number for number, case in enumerate(cases)}
    result.outcomes.sort(key=lambda each: place[each.assignment, each.kind, each.id])
    return result


_judges: list[Judge] = []


def _start_worker(course: Path, seed: str) -> None:
    judge = Judge(course, seed)
    _judges.append(judge)
    Finalize(judge, judge.close, exitpriority=10)


def _judge(case: Case) -> Outcome:
    return _judges[0].judge(case)
