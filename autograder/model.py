"""Plain data that passes from one step of the grading to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coursecheck.messages import Example

HIDDEN, IN_NOTEBOOK = "hidden", "in-notebook"
"""Places where the tests of an assignment run: in the grader, or in the submitted code's own
process."""


SANDBOXES = AUTO, BUBBLEWRAP, LANDLOCK = "auto", "bubblewrap", "landlock"
"""The kinds of sandbox that a course can ask for; `AUTO` is the first other one that works."""


@dataclass
class Cell:
    """A code cell to run.

    Attributes:
        exercise: the exercise whose solution cell it is, if any.
        is_locked: whether it is the course's own, unchanged by the student.
        tests: the exercise whose test cell it is, if the notebook's own test cells give the points.
    """

    source: str
    exercise: str | None = None
    is_locked: bool = False
    tests: str | None = None


@dataclass
class Ran:
    """The outcome of running a cell.

    Attributes:
        lost: the status with which it ended the process, if it did.
        stopped: if it was interrupted at the end of its time, the lines, counted from 1, of the
            statement and of the innermost call in the cell that ran then; else ().
        refused: whether no time was left to run it.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    lost: str | None = None
    stopped: tuple[int, ...] = ()
    refused: bool = False


@dataclass
class Verdict:
    """The outcome of one hidden test for one student.

    Attributes:
        test: the test's name.
        promise: what must hold, from the test's docstring, in words for the student.
        passed: true only if the test ran to its end and every assertion held.
        lost: "timeout", "out_of_memory" or "crashed" if the process ended, "unreadable" if it sent
            an answer that is too large, or none that the protocol knows.
        broken: the traceback of an error that the test itself raised.
        blames_test: whether such an error shows, by its kind alone, that the test is wrong: a
            `NameError` does. A `ValueError` may come from an answer that the author did not expect.
        raised: the name of the built-in error that ended the test, if the student's process raised
            it.
        line: the line of the test at which it ended, if an assertion or student code did so.
        seen: every value that the test looked at, in order.
        extra: whether it belongs to the part of an exercise that the course can be finished
            without.
        broad: whether the test is about many things at once: its promise says less than others'.
    """

    test: str
    promise: str
    passed: bool = False
    lost: str | None = None
    broken: str = ""
    blames_test: bool = False
    raised: str = ""
    line: str = ""
    seen: list[Any] = field(default_factory=list)
    extra: bool = False
    broad: bool = False


UNJUDGED = "autograder_unjudged"
"""Key in a cell's metadata: its points wait for a person."""


LOST = {
    "timeout": "ran out of time",
    "out_of_memory": "ran out of memory",
    "crashed": "ended the whole process",
    "unreadable": "gave an answer that cannot be read",
}


ADVICE = {
    "timeout": "Look for a loop that never ends, or work that doubles with every step.",
    "out_of_memory": "Look for a list that grows without end, or a number that is far too large.",
    "crashed": "Look for a call that leaves Python, such as `exit()`.",
    "unreadable": "Look for a result that is far too large, or nested too deeply.",
}


LONG_TRAINING = "Look for a loop that never ends, a network that is large, or too many rounds."
"""Advice in place of the one for a timeout, if a training ran out of time."""


CORE_IS_RIGHT = "The core comes out right. The extra part is open: "
"""Begins a message if only the extra part went wrong."""


UNGRADED = (
    "This exercise has no marks yet: a test of it is broken, which is no fault of yours. "
    "Your instructor has been informed."
)


@dataclass
class ExerciseResult:
    """The verdict on one exercise.

    Attributes:
        points: from 0 to `max_points`; None if a person gives them.
        status: passed, partial, failed, timeout, out_of_memory, crashed, unreadable, missing,
            manual, or ungraded if a test is broken.
        message: the text for the student, in plain text.
        misconception: the id of the recognised misconception, if any.
        inferred: the formula that the code computes, in words, if no misconception fits.
        promises: each hidden test's sentence and whether it held.
        example: a public example that went wrong.
        drawing: the example drawn by the course, as SVG; "" if it draws nothing.
        note: further information, such as on a repaired cell.
        extra: whether the course can be finished without it.
        bonus: whether its points come on top of the total.
        flaw: the fault of a test, for instructors alone: it may quote the test.
        answer: a digest that differs for any other answer.
    """

    id: str
    title: str
    max_points: float
    points: float | None = 0.0
    status: str = "failed"
    message: str = ""
    misconception: str | None = None
    inferred: str | None = None
    promises: list[tuple[str, bool]] = field(default_factory=list)
    example: Example | None = None
    drawing: str = ""
    note: str = ""
    extra: bool = False
    bonus: bool = False
    flaw: str = ""
    answer: str = ""


_IN_JSON = (
    "id", "title", "points", "max_points", "status", "message", "misconception", "extra", "bonus",
    "inferred",
)  # fmt: skip
"""Fields of an exercise's result that a report in JSON has."""


def flaw_in_words(assignment: str, exercise: str, flaw: str, tests: str = HIDDEN) -> str:
    """Return the fault of a test as its author reads it."""
    kind = "hidden test" if tests == HIDDEN else "test cell of"
    return (
        f"{assignment}: the {kind} {flaw}\nWhere {exercise} was not passed it was not graded, and "
        "cost nobody a point. Mend this, and grade again."
    )


@dataclass
class Report:
    """The verdicts on one submission.

    Attributes:
        tests: `HIDDEN`, or `IN_NOTEBOOK` for the weaker kind, which submitted code could forge.
        sandbox: the kind of sandbox that it ran in.
    """

    assignment: str
    exercises: list[ExerciseResult]
    notes: list[str] = field(default_factory=list)
    seed: str = ""
    tests: str = HIDDEN
    sandbox: str = ""

    @property
    def flaws(self) -> list[str]:
        """Flaws of tests, in words for their author."""
        return [
            flaw_in_words(self.assignment, result.id, result.flaw, self.tests)
            for result in self.exercises
            if result.flaw
        ]

    @property
    def score(self) -> float:
        return round(sum(result.points or 0.0 for result in self.exercises), 2)

    @property
    def max_score(self) -> float:
        return round(sum(each.max_points for each in self.exercises if not each.bonus), 2)

    @property
    def by_hand(self) -> str:
        """The points that a person has still to give, in words; "" if there are none."""
        waits = [each for each in self.exercises if each.points is None and each.status == "manual"]
        if not waits:
            return ""
        names = ", ".join(each.id for each in waits)
        return f"up to {sum(each.max_points for each in waits):g} more for {names}"

    def as_json(self) -> dict[str, Any]:
        """Return the report in the form that `autograder check --json` prints."""
        return {
            "assignment": self.assignment,
            "tests": self.tests,
            "sandbox": self.sandbox,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [
                {key: getattr(result, key) for key in _IN_JSON}
                | ({"flaw": result.flaw} if result.flaw else {})
                for result in self.exercises
            ],
            "notes": self.notes,
            "seed": self.seed,
        }


@dataclass
class Judged:
    """The verdicts on a notebook and the outputs of its cells."""

    report: Report
    ran: list[Ran]


@dataclass
class Marks:
    """The marks of one graded notebook for the gradebook.

    Attributes:
        points: by test cell or written answer; None if a person gives them.
        unanswered: by solution cell, whether it is as it was released.
    """

    points: dict[str, float | None]
    unanswered: dict[str, bool]


@dataclass(frozen=True)
class Job:
    """One submitted notebook to grade.

    Attributes:
        where: the file's name, for messages.
        content: the file's content; None if it may not be read.
        refused: why it may not be read.
        stamp: a digest of the content.
        versions: all else that the marks depend on.
    """

    assignment: str
    student: str
    where: str
    content: bytes | None
    refused: str = ""
    stamp: str = ""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass
class Graded:
    """The outcome of a job.

    Attributes:
        text: the content of the graded notebook's file.
        error: why the file could not be graded, if so; all marks are 0 then. Without a report, why
            the submission has no marks at all.
        is_disturbed: whether a cause outside of it kept it from being graded, so that it may
            succeed when it runs alone.
    """

    report: Report | None = None
    text: str = ""
    marks: Marks | None = None
    error: str | None = None
    is_disturbed: bool = False


@dataclass
class Outcome:
    """The outcome of one submission.

    Attributes:
        report: the verdicts.
        error: why it could not be graded, if so, now or before; the marks are then 0.
        skipped: whether it had been graded before and has not changed.
        refused: whether it was left alone, and no mark was stored; `error` or `warning` says why.
        penalty: the points taken off because it came late.
        warning: a remark for a person, such as on an odd time of submission.
    """

    student: str
    assignment: str
    report: Report | None = None
    error: str | None = None
    skipped: bool = False
    refused: bool = False
    penalty: float = 0.0
    warning: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits of one student process.

    Attributes:
        memory: address space of each process, and memory of all together, in bytes.
        processes: how many processes and threads.
        file_size: of any one file, in bytes.
        disk_megabytes: of each writable folder.
        cpu_seconds: of each process.
        seconds: the least limit of all public probes of an exercise together and of each hidden
            test, in processor time and sleep. `TimeBudget` raises it if the model solution takes
            long.
        training_seconds: the limit of each training of a test in the exercises `trainings`, and the
            greatest one in the others, unless the model solution takes over a second.
        trainings: ids of the exercises in which networks are trained, or other work is done of
            which the student decides how long it takes.
        cell_seconds: the limit of each cell before it is interrupted. Each interrupted cell lowers
            the limit of those after it (`allowed_to_cell`).
        test_bytes: of all the replies to the requests of one hidden test.
        output_bytes: of the outputs of one cell; the rest is dropped.
        patience: time in which the process was ready to run, and others had the processor, is not
            counted; all in all it may take this many times as long at most.
    """

    memory: int = 1 << 30
    processes: int = 24
    file_size: int = 32 << 20
    disk_megabytes: int = 64
    cpu_seconds: int = 120
    seconds: float = 0.5
    training_seconds: float = 4.0
    trainings: tuple[str, ...] = ()
    cell_seconds: float = 10.0
    test_bytes: int = 4 << 20
    output_bytes: int = 1_000_000
    patience: float = 20.0


@dataclass(frozen=True)
class Visible:
    """Packages and files that student code may see beside Python's own library.

    Attributes:
        packages: distributions that it may import, with all that they need.
        modules: packages by the names that they are imported by, without their requirements. They
            are imported before a student's first cell runs.
        data: files that lie beside a notebook: the assignment, the name there, and the path.
        preload: more modules that are imported before that, of `packages` and `modules`, so that
            not every process has to read them.
    """

    packages: tuple[str, ...] = ("ipython",)
    modules: tuple[str, ...] = ()
    data: tuple[tuple[str, str, str], ...] = ()
    preload: tuple[str, ...] = ()
