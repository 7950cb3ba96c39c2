"""Grades a case and compares its verdicts with the expected ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from ...course_folder.assignments import Assignment, load_assignment
from ...course_folder.misconceptions import UNNAMED
from ...judging.grader import Grader
from ...judging.hidden_tests import Suite
from ...judging.models import Models, server_of
from ...judging.rehearsal import rehearse
from ...model import CORE_IS_RIGHT, Cell, ExerciseResult
from ...wall import WarmServer
from .accepted import reason
from .cases import Case

JUDGED_ALONE = ("mutant", "two_in_one", *UNNAMED)
"""Kinds of cases that are judged by the hidden tests' verdicts alone, without messages."""

ENDLESS = "ran out of time"

SECONDS = 6.0
"""Time after which hidden tests count as endless; the slowest known ones that end take 2.7."""


@dataclass
class Outcome:
    """The outcome of the grading tests on a case.

    Attributes:
        killed: the changed exercises that did not get full marks.
        named: those whose mistake was named by its own message.
        alarms: exercises that are right and lost points, with the message they got.
        accepted: why the change may pass all hidden tests, in the course's own words; "" if it may
            not.
        messages: the student's message for each changed exercise.
    """

    kind: str
    id: str
    assignment: str
    exercises: list[str]
    about: str = ""
    killed: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    alarms: dict[str, str] = field(default_factory=dict)
    accepted: str = ""
    messages: dict[str, str] = field(default_factory=dict)


class Judge:
    """Judges cases of one course in a sandbox that stays open. A context manager.

    Args:
        seed: the seed of all random numbers.
    """

    def __init__(self, course: Path, seed: str) -> None:
        self._course = course
        self._seed = seed.encode()
        self._grader = Grader(course, blake2b(self._seed, digest_size=32).digest())
        self._suites: dict[str, Suite] = {}
        self._server: WarmServer | None = None

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._grader.close()
        if self._server is not None:
            self._server.close()
        for suite in self._suites.values():
            suite.close()

    def judge(self, case: Case) -> Outcome:
        """Grade the case: as a student's notebook if messages count, else by the tests alone."""
        outcome = Outcome(case.kind, case.id, case.assignment, list(case.answers), case.about)
        if case.kind in JUDGED_ALONE:
            self._judge_alone(case, outcome)
        else:
            self._judge_as_a_student(case, outcome)
        return outcome

    def _judge_as_a_student(self, case: Case, outcome: Outcome) -> None:
        assignment = load_assignment(self._course, case.assignment)
        whole = set(assignment.exercises) - case.spared
        graded = self._grader.grade(
            case.assignment,
            notebook_cells(assignment, case),
            {case.exercise} if case.kind == "mistake" else whole,
        )
        wrong = {mistake.partition(".")[0]: mistake for mistake in case.mistakes}
        for result in graded.report.exercises:
            if result.status == "manual":
                continue
            if result.status == "ungraded":
                outcome.alarms[result.id] = f"{result.id} cannot be graded: {result.flaw}"
                continue
            lost = result.points != result.max_points
            if result.id not in wrong:
                if lost:
                    outcome.alarms[result.id] = result.message
                continue
            outcome.messages[result.id] = f"{result.misconception}: {result.message}"
            if lost:
                outcome.killed.append(result.id)
            if lost and _is_named(result, assignment, wrong[result.id]):
                outcome.named.append(result.id)

    def _judge_alone(self, case: Case, outcome: Outcome) -> None:
        """Judge by the hidden tests alone, up to the first that decides."""
        passes = (passed for _, passed in self.verdicts(case))
        if not (any(passes) if case.worthless else all(passes)):
            outcome.killed = [case.exercise]
        if case.kind not in UNNAMED:
            outcome.accepted = reason(self._course, case.exercise, case.about)

    def verdicts(self, case: Case) -> Iterator[tuple[str, bool]]:
        """Yield each hidden test of the case's exercise and whether it passed.

        Ends after the first endless test, whose name is replaced by `ENDLESS`.
        """
        assignment = load_assignment(self._course, case.assignment)
        target = self._models(assignment).target(case.exercise, case.answers)
        for verdict in self.suite(assignment).run(case.exercise, target, self._seed):
            if verdict.lost == "timeout":
                yield ENDLESS, False
                return
            yield verdict.test, verdict.passed

    def flaws(self, name: str) -> list[str]:
        """Return the hidden tests of the assignment `name` that the model solution does not pass,
        in words."""
        assignment = load_assignment(self._course, name)
        models = self._models(assignment)
        return rehearse(assignment, self.suite(assignment), models, self._seed)

    def _models(self, assignment: Assignment) -> Models:
        if self._server is None:
            self._server = server_of(self._course)
            self._server.start()
        return Models(assignment, self._server, SECONDS)

    def suite(self, assignment: Assignment) -> Suite:
        """Return the assignment's hidden tests."""
        if assignment.name not in self._suites:
            self._suites[assignment.name] = Suite(assignment.tests, assignment.core_only)
        return self._suites[assignment.name]


def notebook_cells(assignment: Assignment, case: Case) -> list[Cell]:
    """Return the code cells of the solution notebook with the case's answers in place."""
    cells = [Cell(source) for source in assignment.setup.values()]
    for exercise in assignment.exercises.values():
        if not exercise.manual:
            source = case.answers.get(exercise.id, exercise.solution)
            cells.append(Cell(source, exercise.id))
    return cells


def _is_named(result: ExerciseResult, assignment: Assignment, mistake: str) -> bool:
    says = {m.id: m.says for m in assignment.exercises[result.id].mistakes}
    message = result.message.removeprefix(CORE_IS_RIGHT)
    return result.misconception == mistake and message.startswith(says[mistake])
