"""Plain data that passes from one step of the grading to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from coursecheck.messages import FailedExample

HIDDEN, IN_NOTEBOOK = "hidden", "in-notebook"
"""The places where an assignment's tests run: in the grader's process, or in the student
process."""

WEAKER = (
    "The notebook's own test cells gave the points. They ran in the same process as the submitted "
    "code, which could forge what they say: this is the weaker kind of verdict."
)
"""Note for instructors on notebooks whose own test cells gave the points."""


NO_RESPONSE = "No response."
"""Comment on an answer that holds nothing or the stub, in nbgrader's words."""

SANDBOXES = AUTO, BUBBLEWRAP, LANDLOCK = "auto", "bubblewrap", "landlock"
"""The kinds of sandbox that a course can ask for; `AUTO` takes bubblewrap if it works on the
machine, else Landlock."""


class Status(StrEnum):
    """The outcome of an exercise."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"
    """The student process sent a reply that is too large or breaks the protocol."""
    MISSING = "missing"
    MANUAL = "manual"
    """A person gives the points."""
    UNGRADED = "ungraded"
    """A hidden test is broken."""


@dataclass
class Cell:
    """A code cell to run.

    Attributes:
        exercise: the id of the exercise whose solution cell this is; None for any other cell.
        is_locked: whether this is a read-only cell, as released.
        tests: the id of the exercise whose test cell this is; None for any other cell, and if
            hidden tests give the points.
    """

    source: str
    exercise: str | None = None
    is_locked: bool = False
    tests: str | None = None


@dataclass
class CellResult:
    """The outcome of running a cell.

    Attributes:
        lost: the status if the cell ended the student process, else None.
        stopped: if the cell was interrupted at the end of its time, two line numbers in the cell,
            counted from 1: of the statement and of the innermost call that ran then; else ().
        refused: whether the cell did not run, since no time was left.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    lost: Status | None = None
    stopped: tuple[int, ...] = ()
    refused: bool = False


@dataclass
class Verdict:
    """The outcome of one hidden test for one student.

    Attributes:
        test: the test's name.
        criterion: what must hold, from the test's docstring, in words for the student.
        passed: true only if the test ran to its end and every assertion held.
        lost: one of `LOST` if the student process ended or sent an unreadable reply; else None.
        broken: the traceback of an error that the test itself raised; "" if it raised none.
        blames_test: whether the class of the error in `broken` shows that the test is wrong: a
            `NameError` does. A `ValueError` may come from an answer that the author did not expect.
        raised: the name of the built-in error that ended the test, if the student process raised
            the error; else "".
        line: file, number and text of the line of the test at which an assertion or student code
            ended it; else "".
        seen: every value that the test looked at, in order.
        extra: whether the test belongs to an extra part of the exercise, without which the course
            can be finished.
        broad: whether the test checks many things at once, so that its criterion tells a student
            little.
        essential: whether an exercise that does not pass this test keeps at most half of its
            points.
    """

    test: str
    criterion: str
    passed: bool = False
    lost: Status | None = None
    broken: str = ""
    blames_test: bool = False
    raised: str = ""
    line: str = ""
    seen: list[Any] = field(default_factory=list)
    extra: bool = False
    broad: bool = False
    essential: bool = False


UNJUDGED = "autograder_unjudged"
"""Key in the metadata of a cell whose points a person still has to give."""


LOST: Mapping[str, str] = {
    Status.TIMEOUT: "ran out of time",
    Status.OUT_OF_MEMORY: "ran out of memory",
    Status.CRASHED: "ended the whole process",
    Status.UNREADABLE: "gave an answer that cannot be read",
}


ADVICE: Mapping[str, str] = {
    Status.TIMEOUT: "Look for a loop that never ends, or work that doubles with every step.",
    Status.OUT_OF_MEMORY: (
        "Look for a list that grows without end, or a number that is far too large."
    ),
    Status.CRASHED: "Look for a call that leaves Python, such as `exit()`.",
    Status.UNREADABLE: "Look for a result that is far too large, or nested too deeply.",
}


LONG_TRAINING = "Look for a loop that never ends, a network that is large, or too many rounds."
"""Replaces the advice for a timeout if the training of a network ran out of time."""


CORE_IS_RIGHT = "The core comes out right. The extra part is open: "
"""Begins the message for the student if only the extra part went wrong."""


HALF = "Without what this exercise is about, at most half of its points count."
"""Ends the message for the student if an essential test kept the points down."""


UNGRADED = (
    "This exercise has no marks yet: a test of it is broken, which is no fault of yours. "
    "Your instructor has been informed."
)


@dataclass
class ExerciseResult:
    """The verdict on one exercise.

    Attributes:
        points: from 0 to `max_points`; None if a person gives them.
        message: what the student reads, as plain text.
        misconception: the id of the recognised misconception, if any.
        keeps: the share of the points that the misconception keeps, if the hidden tests confirm it.
        criteria: the criterion of each hidden test, and whether the test was passed.
        essential: the criteria of the essential tests that were not passed.
        failed_example: a public example that went wrong, if any.
        drawing: the failed example as the course draws it, as SVG; "" without a drawing.
        note: further information, such as on a repaired cell.
        extra: whether the course can be finished without this exercise.
        bonus: whether the points come on top of the total.
        defect: the test defect, "" if there is none. It may quote the hidden test, so that only
            instructors may read it.
        answer: a digest of the answer, to notice later that the answer has changed.
        reason: the context whose verdicts counted, and why; "" if no hidden test was run.
        needs: the earlier exercises on which this one builds.
    """

    id: str
    title: str
    max_points: float
    points: float | None = 0.0
    status: Status = Status.FAILED
    message: str = ""
    misconception: str | None = None
    criteria: list[tuple[str, bool]] = field(default_factory=list)
    essential: list[str] = field(default_factory=list)
    keeps: float = 0.0
    failed_example: FailedExample | None = None
    drawing: str = ""
    note: str = ""
    extra: bool = False
    bonus: bool = False
    defect: str = ""
    answer: str = ""
    reason: str = ""
    needs: list[str] = field(default_factory=list)


def up_to(points: dict[str, float]) -> str:
    """Return a phrase on the points that a person still has to give.

    Args:
        points: by id of an exercise without points, the most points that a person can give.
    """
    return f"up to {sum(points.values()):g} more for {', '.join(points)}"


_IN_JSON = (
    "id", "title", "points", "max_points", "status", "message", "misconception", "extra", "bonus",
    "note", "essential", "keeps", "reason", "needs",
)  # fmt: skip
"""Fields of an `ExerciseResult` that `Report.as_json` returns. They are printed with `--json`, and
stored in the graded notebook, from which the feedback page is made."""


def defect_in_words(assignment: str, exercise: str, defect: str, tests: str = HIDDEN) -> str:
    """Return the message on a test defect for the test's author.

    Args:
        defect: which test is wrong and how, as in `ExerciseResult.defect`.
        tests: `HIDDEN` or `IN_NOTEBOOK`.
    """
    kind = "hidden test" if tests == HIDDEN else "test cell of"
    return (
        f"{assignment}: the {kind} {defect}\nWhere {exercise} was not passed it was not graded, "
        "and cost nobody a point. Mend this, and grade again."
    )


@dataclass
class Report:
    """The verdicts on one submission.

    Attributes:
        notes: further information on the submission as a whole, for the student.
        seed: the seed of the hidden tests' numbers.
        tests: `HIDDEN`, or `IN_NOTEBOOK` for the weaker kind, which submitted code could forge.
        sandbox: the kind of sandbox in which the submission ran.
    """

    assignment: str
    exercises: list[ExerciseResult]
    notes: list[str] = field(default_factory=list)
    seed: str = ""
    tests: str = HIDDEN
    sandbox: str = ""

    @property
    def defects(self) -> list[str]:
        """Messages on test defects, for the tests' author."""
        return [
            defect_in_words(self.assignment, result.id, result.defect, self.tests)
            for result in self.exercises
            if result.defect
        ]

    @property
    def score(self) -> float:
        return round(sum(result.points or 0.0 for result in self.exercises), 2)

    @property
    def max_score(self) -> float:
        return round(sum(each.max_points for each in self.exercises if not each.bonus), 2)

    @property
    def by_hand(self) -> str:
        """A phrase on the points that a person still has to give; "" if there are none."""
        waits = [
            each for each in self.exercises if each.points is None and each.status == Status.MANUAL
        ]
        if not waits:
            return ""
        return up_to({each.id: each.max_points for each in waits})

    def as_json(self) -> dict[str, Any]:
        """Return the report as `autograder check --json` prints it and graded notebooks store
        it."""
        return {
            "assignment": self.assignment,
            "tests": self.tests,
            "sandbox": self.sandbox,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [
                {key: getattr(result, key) for key in _IN_JSON}
                | ({"defect": result.defect} if result.defect else {})
                for result in self.exercises
            ],
            "notes": self.notes,
            "seed": self.seed,
        }


@dataclass
class JudgedNotebook:
    """The verdicts on a notebook, and the outcome of running each of its code cells."""

    report: Report
    ran: list[CellResult]


@dataclass
class Marks:
    """The marks of one graded notebook for the gradebook.

    Attributes:
        points: by grade_id of a test cell or written answer; None if a person gives the points.
        unanswered: by grade_id of a solution cell, whether the student left it as released.
    """

    points: dict[str, float | None]
    unanswered: dict[str, bool]


@dataclass(frozen=True)
class Job:
    """One submitted notebook to grade.

    Attributes:
        where: the file's path, for messages.
        content: the file's content; None if the file is refused.
        refused: the reason for the refusal, or "".
        stamp: a digest of the content.
        versions: the versions of everything else that the marks depend on, as
            `course_folder.versions` names them.
    """

    assignment: str
    student: str
    where: str
    content: bytes | None
    refused: str = ""
    stamp: str = ""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass
class GradedNotebook:
    """The outcome of a job.

    Attributes:
        text: the graded notebook as JSON.
        error: if there is a report: why the file could not be read, so that all marks are 0; if
            there is none: why the submission has no marks. None if nothing went wrong.
        is_worker_failure: whether the worker or its sandbox failed, so that a retry may succeed.
    """

    report: Report | None = None
    text: str = ""
    marks: Marks | None = None
    error: str | None = None
    is_worker_failure: bool = False


@dataclass
class SubmissionOutcome:
    """The outcome of one submission.

    Attributes:
        report: the verdicts.
        error: why the submission could not be graded, in this run or before, so that the marks
            are 0.
        skipped: whether the submission was graded before and has not changed.
        outdated: whether a skipped one was graded before the course's files changed.
        refused: whether nothing was stored; `error` or `warning` says why.
        penalty: the late penalty in points.
        score: the points in the gradebook, including those given by hand; the late penalty is not
            subtracted.
        earlier: the points of an earlier submission that this one replaces; None if there is none.
        unmarked: by id of an exercise that a person still has to mark, its maximum of points.
        again: the exercises whose marks by hand a person has to review.
        warning: a warning for the instructor, such as on a time of submission in the future.
    """

    student: str
    assignment: str
    report: Report | None = None
    error: str | None = None
    skipped: bool = False
    outdated: bool = False
    refused: bool = False
    penalty: float = 0.0
    score: float = 0.0
    earlier: float | None = None
    unmarked: dict[str, float] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    warning: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits of one student process.

    Attributes:
        memory: bytes of address space of each process, and of memory of all processes together.
        processes: number of processes and threads.
        file_size: bytes of one file.
        disk_megabytes: size of each writable folder.
        cpu_seconds: processor time of each process.
        seconds: processor time of each hidden test, and of all public examples of an exercise
            together. `TimeBudget` raises this limit if the reference solution takes long.
        training_seconds: processor time of each training of a network in a test of one of the
            exercises `trainings`. In other exercises `TimeBudget` raises `seconds` at most to this
            value, unless the reference solution takes over a second.
        trainings: ids of the exercises in which networks are trained, or other work is done whose
            amount the student decides.
        cell_seconds: processor time of each cell before it is interrupted; `TimeBudget` says which
            cells may take more.
        test_bytes: bytes of all replies to the requests of one hidden test.
        output_bytes: bytes of the outputs of one cell; the rest is dropped.
        max_slowdown: wall-clock limit, as a multiple of the limit in processor time: it ends code
            that sleeps or waits, and allows for a busy machine.
    """

    memory: int = 1 << 30
    processes: int = 24
    file_size: int = 32 << 20
    disk_megabytes: int = 64
    cpu_seconds: int = 120
    seconds: float = 0.5
    training_seconds: float = 4.0
    trainings: tuple[str, ...] = ()
    cell_seconds: float = 30.0
    test_bytes: int = 4 << 20
    output_bytes: int = 1_000_000
    max_slowdown: float = 20.0


@dataclass(frozen=True)
class VisibleFiles:
    """Packages and files that student code may see beside Python's own library.

    Attributes:
        packages: names of distributions that student code may import, with their requirements.
        modules: import names of packages that student code may import, without their requirements.
            They are imported before a student's first cell runs.
        data: data files, each as the assignment's name, the file's path as the notebook gives it,
            relative or whole, and its path on this machine.
        preload: further modules of these packages that the fork server imports, so that not every
            student process has to load them.
    """

    packages: tuple[str, ...] = ("ipython",)
    modules: tuple[str, ...] = ()
    data: tuple[tuple[str, str, str], ...] = ()
    preload: tuple[str, ...] = ()
