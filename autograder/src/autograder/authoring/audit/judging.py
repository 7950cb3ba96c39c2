"""Grades a case and compares its verdicts with the expected ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from ...course_folder.assignments import Assignment
from ...course_folder.course import Course
from ...course_folder.misconceptions import UNNAMED
from ...judging.course_sessions import CourseSessions, server_of
from ...judging.grader import Grader
from ...judging.hidden_tests import Suite
from ...judging.solution_check import check_solution
from ...records import CORE_IS_RIGHT, Cell, ExerciseResult, Status
from ...sandbox import ForkServer
from .accepted import reason
from .cases import Case

JUDGED_ALONE = ("mutant", "two_in_one", *UNNAMED)
"""Kinds of cases for which only the verdicts of hidden tests are compared, not messages."""

ENDLESS = "ran out of time"

SECONDS = 6.0
"""Seconds of processor time after which a hidden test counts as endless. The slowest one that ends
takes 2.7."""


@dataclass
class CaseOutcome:
    """The outcome of grading a case.

    Attributes:
        exercises: ids of the changed exercises.
        killed: ids of the changed exercises that lost points.
        named: ids of the exercises in `killed` for which the report names the right mistake, and
            whose message begins with that mistake's sentence.
        alarms: false alarms: by id of a right exercise that lost points, the message.
        accepted: the course's reason why the mutant may pass all hidden tests; "" if it must not.
        messages: by id of a changed exercise, the recognised misconception and the message for the
            student.
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
    """Judges cases of one course. A context manager, which keeps the sandbox for all cases.

    Args:
        seed: the seed from which the hidden tests' numbers follow.
    """

    def __init__(self, course: Course, seed: str) -> None:
        self._course = course
        self._seed = seed.encode()
        self._grader = Grader(course, blake2b(self._seed, digest_size=32).digest())
        self._suites: dict[str, Suite] = {}
        self._server: ForkServer | None = None

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

    def judge(self, case: Case) -> CaseOutcome:
        """Grade a case and return the outcome.

        A case of a kind in `JUDGED_ALONE` is graded by the hidden tests only, any other as a
        student's notebook is graded.
        """
        outcome = CaseOutcome(case.kind, case.id, case.assignment, list(case.answers), case.about)
        if case.kind in JUDGED_ALONE:
            self._judge_alone(case, outcome)
        else:
            self._judge_as_a_student(case, outcome)
        return outcome

    def _judge_as_a_student(self, case: Case, outcome: CaseOutcome) -> None:
        assignment = self._course.assignment(case.assignment)
        whole = set(assignment.exercises) - case.spared
        graded = self._grader.grade(
            case.assignment,
            notebook_cells(assignment, case),
            {case.exercise} if case.kind == "mistake" else whole,
        )
        wrong = {mistake.partition(".")[0]: mistake for mistake in case.mistakes}
        for result in graded.report.exercises:
            if result.status == Status.MANUAL:
                continue
            if result.status == Status.UNGRADED:
                outcome.alarms[result.id] = f"{result.id} cannot be graded: {result.defect}"
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

    def _judge_alone(self, case: Case, outcome: CaseOutcome) -> None:
        """Run only the hidden tests of the changed exercise, up to the first whose verdict decides
        the outcome."""
        passes = (passed for _, passed in self.verdicts(case))
        if not (any(passes) if case.worthless else all(passes)):
            outcome.killed = [case.exercise]
        if case.kind not in UNNAMED:
            outcome.accepted = reason(self._course, case.exercise, case.about)

    def verdicts(self, case: Case) -> Iterator[tuple[str, bool]]:
        """Yield the name of each hidden test of the case's exercise, and whether the test passed.

        Ends after the first test that does not end; instead of its name, `ENDLESS` is yielded.
        """
        assignment = self._course.assignment(case.assignment)
        target = self._course_sessions(assignment).target(case.exercise, case.answers)
        for verdict in self.suite(assignment).run(case.exercise, target, self._seed):
            if verdict.lost == Status.TIMEOUT:
                yield ENDLESS, False
                return
            yield verdict.test, verdict.passed

    def defects(self, name: str) -> list[str]:
        """Return a sentence on each hidden test that the solution of the assignment `name` does
        not pass."""
        assignment = self._course.assignment(name)
        course_sessions = self._course_sessions(assignment)
        return check_solution(assignment, self.suite(assignment), course_sessions, self._seed)

    def _course_sessions(self, assignment: Assignment) -> CourseSessions:
        if self._server is None:
            self._server = server_of(self._course)
            self._server.start()
        return CourseSessions(assignment, self._server, SECONDS)

    def suite(self, assignment: Assignment) -> Suite:
        """Return the assignment's hidden tests."""
        if assignment.name not in self._suites:
            self._suites[assignment.name] = Suite(assignment.tests, assignment.core_only)
        return self._suites[assignment.name]


def notebook_cells(assignment: Assignment, case: Case) -> list[Cell]:
    """Return the code cells of the solution notebook, with the case's answers in place of the
    solutions."""
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
