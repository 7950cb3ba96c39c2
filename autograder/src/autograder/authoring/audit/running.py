"""Runs the audit in several processes, and sums up the outcomes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing.util import Finalize

from ...course_folder.course import Course
from ...course_folder.misconceptions import UNNAMED
from ...pipeline.workers import spawning
from .cases import KINDS, Case, all_cases
from .judging import JUDGED_ALONE, CaseOutcome, Judge

SEED = "audit"
NAMED = 0.97
MUTANTS_KILLED = 0.95


@dataclass
class Count:
    """Counts for one kind of case. `cases` and `alarms` are numbers of cases, `accepted` is the
    number of mutants that pass and that the course accepts, and all others are numbers of changed
    exercises."""

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
        seed: the seed of everything that is drawn.
        outcomes: one for each case.
        gaps: sentences on test defects, and on exercises with too few misconceptions.
        unchecked: exercises without misconceptions, as `ASSIGNMENT: EXERCISE`.
        without_docstring: hidden tests without a docstring, as `ASSIGNMENT: TEST`.
    """

    seed: str
    outcomes: list[CaseOutcome] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    without_docstring: list[str] = field(default_factory=list)

    def of(self, kind: str, assignment: str | None = None) -> list[CaseOutcome]:
        """Return the outcomes of one kind of case; of all assignments if `assignment` is None."""
        return [
            each
            for each in self.outcomes
            if each.kind == kind and assignment in (None, each.assignment)
        ]

    def count(self, kind: str, assignment: str | None = None) -> Count:
        """Return the counts over the outcomes that `of` returns.

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
    def survivors(self) -> list[CaseOutcome]:
        """Mutants that pass all hidden tests and that the course does not accept."""
        return [each for each in self.of("mutant") if not each.killed and not each.accepted]

    @property
    def failures(self) -> list[CaseOutcome]:
        """Cases whose verdicts are not as expected, surviving mutants included."""
        return [each for each in self.outcomes if not is_as_expected(each)]

    @property
    def passed(self) -> bool:
        """True if the audit is passed: there are no gaps and no false alarms, every wrong answer
        loses points except a few mutants, and nearly all mistakes are named (`MUTANTS_KILLED`,
        `NAMED`)."""
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


def is_as_expected(outcome: CaseOutcome) -> bool:
    """Return whether every wrong exercise of a case lost points, and no right exercise did.

    A mutant that the course accepts may pass. If the case's kind is not in `JUDGED_ALONE`, the
    report must also name each mistake.
    """
    if outcome.alarms:
        return False
    if outcome.kind in JUDGED_ALONE:
        return bool(outcome.killed or outcome.accepted)
    if outcome.kind == "variant":
        return True
    return len(outcome.killed) == len(outcome.named) == len(outcome.messages)


def audit(
    course: Course,
    names: list[str],
    workers: int,
    seed: str = SEED,
    chosen: Callable[[Case], Case | None] = lambda case: case,
    show: Callable[[int, int, CaseOutcome | None], None] = lambda done, total, outcome: None,
) -> Audit:
    """Judge all cases of some assignments, and return the results.

    Args:
        names: the assignments.
        workers: the number of processes.
        seed: the seed of everything that is drawn.
        chosen: takes a case and returns the case to judge in its place, or None to leave it out.
        show: called after each case with the number of finished cases, the number of all cases, and
            the latest outcome; before the first case with 0, the number, and None.
    """
    result = Audit(seed)
    cases: list[Case] = []
    least = course.settings.audit.misconceptions
    for name in names:
        with Judge(course, seed) as judge:
            result.gaps += judge.defects(name)
            suite = judge.suite(assignment := course.assignment(name))
            result.without_docstring += [f"{name}: {test}" for test in suite.without_docstring]
        cases += filter(None, map(chosen, all_cases(course, assignment, seed)))
        for exercise in assignment.exercises.values():
            number = len(exercise.mistakes)
            if exercise.manual:
                continue
            if number < least:
                result.gaps.append(
                    f"{name}: {exercise.id} has {number} misconceptions of at least {least} in "
                    f"grading_tests/misconceptions/{name}/{exercise.id}.py"
                )
            elif not number:
                result.unchecked.append(f"{name}: {exercise.id}")
    # The longest cases come first, so that the processes finish at about the same time.
    cases.sort(key=lambda case: (not case.endless, KINDS.index(case.kind)))
    show(0, len(cases), None)
    with ProcessPoolExecutor(workers, spawning(), _start_worker, (course, seed)) as processes:
        running = [processes.submit(_judge, case) for case in cases]
        for done, future in enumerate(as_completed(running), 1):
            result.outcomes.append(future.result())
            show(done, len(cases), result.outcomes[-1])
    index = {(case.assignment, case.kind, case.id): number for number, case in enumerate(cases)}
    result.outcomes.sort(key=lambda each: index[each.assignment, each.kind, each.id])
    return result


_judges: list[Judge] = []


def _start_worker(course: Course, seed: str) -> None:
    judge = Judge(course, seed)
    _judges.append(judge)
    Finalize(judge, judge.close, exitpriority=10)


def _judge(case: Case) -> CaseOutcome:
    return _judges[0].judge(case)
