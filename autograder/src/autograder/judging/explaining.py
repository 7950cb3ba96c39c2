"""Explains failures to students, by what the code does in the context that counted."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from coursecheck import inference
from coursecheck.check import first_wrong, match, tell
from coursecheck.messages import (
    CANNOT_READ,
    FailedExample,
    Row,
    agree_all,
    explain_cell,
    unfinished,
)
from coursecheck.quiz import misformed
from coursecheck.tables import CheckEntry

from ..course_folder.assignments import Exercise
from ..course_folder.misconceptions import Mistake
from ..errors import CourseError, SandboxUnavailable
from ..records import ADVICE, CORE_IS_RIGHT, HALF, LONG_TRAINING, LOST, ExerciseResult, Status
from ..sandbox.time_budget import TimeBudget
from ..texts import fit
from .diagnosis import Diagnosis
from .observations import LaterObservations, Observations, fitted
from .points import points_for, share_of, share_passed
from .policy import Context, SuiteRun
from .public_examples import ExampleResults
from .submission import Submission
from .suite_runs import SuiteRuns

_log = logging.getLogger(__name__)

_LACKED = re.compile(r"name '(\w+)' is not defined|has no attribute '(\w+)'")


@dataclass(frozen=True)
class Evidence:
    """The facts about a submission that are known once its exercises are tested.

    Attributes:
        table: the results of the public examples on the solution and on known mistakes, by
            exercise.
        shown: the results of the public examples on the student's code, by exercise.
        suite_runs: starts sessions in which chosen exercises are replaced.
    """

    submission: Submission
    diagnosis: Diagnosis
    table: dict[str, CheckEntry]
    shown: dict[str, ExampleResults]
    suite_runs: SuiteRuns
    budget: TimeBudget


@dataclass(frozen=True)
class Explanation:
    """An explanation of a failure for the student.

    Attributes:
        misconception: the id of the known mistake, if the failure is one.
        failed_example: a public example or a point of a sweep that shows the failure.
        keeps: the share of the points that the mistake keeps, as `Mistake.keeps`.
    """

    says: str
    misconception: str | None = None
    failed_example: FailedExample | None = None
    keeps: float = 0.0


class Failure:
    """A failed exercise. Each fact about the failure is found out when an explainer first asks for
    it.

    Args:
        suite_run: the run in whose context the failure is explained.
    """

    def __init__(
        self, evidence: Evidence, exercise: Exercise, suite_run: SuiteRun, status: Status
    ) -> None:
        self.evidence = evidence
        self.exercise = exercise
        self.suite_run = suite_run
        self.status = status
        self.submission = evidence.submission
        self.hints = evidence.submission.assignment.hints
        self.own = evidence.shown.get(exercise.id, ExampleResults())

    @cached_property
    def observed(self) -> Observations | None:
        """The public examples' observations in the context that counted; None if there are none.

        The reading pass's own are returned, with the student's texts, if they are the same, or if a
        test ran into a time limit. Other observations hold only values and texts that the public
        table or the reading pass has already.
        """
        exercise, run, suite_runs = self.exercise, self.suite_run, self.evidence.suite_runs
        if run.context is Context.SUBMITTED or run.is_late or not exercise.examples:
            return self.own.examples
        suite_runs.close()
        seen = suite_runs.observe(exercise, run.context, run.replaced, exercise.examples)
        return seen.in_known_words(self.entry, self.own.examples) if seen else None

    @property
    def has_other_mistakes(self) -> bool:
        """True if later cells ran before the tests: these may hold mistakes of their own, so the
        student is shown how the answer behaves without the later cells."""
        return self.suite_run.context is Context.FULL_NOTEBOOK and bool(self.own.examples)

    @property
    def visible(self) -> Observations | None:
        """The public examples' observations that the student is shown."""
        return self.own.examples if self.has_other_mistakes else self.observed

    @property
    def entry(self) -> CheckEntry:
        """The exercise's entry in the public table."""
        return self.evidence.table[self.exercise.id]

    @property
    def right(self) -> Observations:
        """The observations of the public examples on the solution."""
        return [example["right"] for example in self.entry["examples"]]

    @cached_property
    def swept(self) -> Observations | LaterObservations | None:
        """Results of the sweeps with the exercises replaced that were replaced in the context that
        counted. If the reading pass gave the same results, its own are returned, since these may be
        shown to the student. None if no sweep was observed."""
        run, own = self.suite_run, self.own.sweeps
        if self.status in LOST:
            return None
        if not own or not run.replaced:
            return own
        seen = self.evidence.suite_runs.observe(
            self.exercise, Context.SUBMITTED, run.replaced, self.exercise.sweep_examples
        )
        return own if seen and seen.agree(own) else seen

    @cached_property
    def digests(self) -> list[str]:
        """The digests of the sweeps' results; an empty list if the sweeps were not run in the
        context that counted."""
        # With the full notebook, later cells ran before the tests, but not before the sweeps.
        if not self.observed or self.suite_run.context is Context.FULL_NOTEBOOK:
            return []
        if isinstance(self.swept, LaterObservations):
            return self.swept.digests(self.entry)
        return inference.digests(self.entry, self.swept) if self.swept else []

    @cached_property
    def diagnosis(self) -> tuple[Mistake | None, set[str]]:
        """The known mistake that behaves as the answer does, or None, and the ids of the mistakes
        that the hidden tests refute (see `Diagnosis.name`)."""
        name = self.exercise.id
        run_out = self.suite_run.is_late and self.evidence.budget.is_up
        if run_out or lost(self.submission, name) is not None:
            return None, set()
        seed = self.submission.seed_of(name)
        return self.evidence.diagnosis.name(
            self.exercise, self.suite_run, self.observed, self.digests, seed
        )

    @cached_property
    def error_of_cell(self) -> str:
        """A sentence about the error that ended the exercise's own cell; "" if there was none."""
        return error_of_cell(self.submission, self.exercise.id)

    @property
    def passes_core(self) -> bool:
        """True if all tests passed except some of an extra part."""
        return all(verdict.passed or verdict.extra for verdict in self.suite_run.verdicts)

    def core_agrees(self, observed: Observations) -> bool:
        """Return whether all public examples that are not of an extra part have the right
        observations."""
        is_core = [not example.get("extra") for example in self.entry["examples"]]
        return agree_all([*compress(observed, is_core)], [*compress(self.right, is_core)])

    @property
    def is_seen(self) -> bool:
        """True if a public example has a wrong observation."""
        return bool(self.observed) and not agree_all(self.observed or [], self.right)

    @property
    def is_elsewhere(self) -> bool:
        """True if the public examples do not show the failure: a test of the core failed, but the
        core's examples came out right and no stub raised their first error, or no example was
        observed."""
        if self.passes_core or not self.observed:
            return not self.passes_core
        return self.core_agrees(self.observed) and not unfinished(self.observed)

    @property
    def failed_example(self) -> FailedExample | None:
        """The first public example with a wrong observation, if it shows the failure."""
        if self.visible and (self.has_other_mistakes or (self.is_seen and not self.is_elsewhere)):
            return first_wrong(self.entry, self.visible)
        return None


def explain_failure(
    result: ExerciseResult, exercise: Exercise, suite_run: SuiteRun, evidence: Evidence
) -> None:
    """Set the result's message, misconception, what it keeps, and failed example.

    If an explainer raises an error, the error is logged and the student reads only the criterion
    that does not hold: an explanation that cannot be made must not stop the grading.
    """
    try:
        failure = Failure(evidence, exercise, suite_run, result.status)
        found = next(filter(None, (explainer(failure) for explainer in EXPLAINERS)))
        _log.debug("%s: diagnosis: %s", exercise.id, found.misconception or "no known mistake")
        example = found.failed_example and _fitted(found.failed_example)
        message = fit(_in_full(failure, found)) + (f"\n\n{example.as_text()}" if example else "")
    except (CourseError, SandboxUnavailable):  # These errors concern every submission.
        raise
    except Exception:
        _log.exception("%s: the failure could not be explained", exercise.id)
        result.message = _criterion(suite_run)
    else:
        result.message, result.failed_example = message, example
        result.misconception, result.keeps = found.misconception, found.keeps


def _unreadable_cell(failure: Failure) -> Explanation | None:
    words = failure.error_of_cell
    return Explanation(words) if words.startswith(CANNOT_READ) else None


def _diagnosed_mistake(failure: Failure) -> Explanation | None:
    mistake, _ = failure.diagnosis
    return _named(failure, mistake.id, mistake.says, mistake.keeps) if mistake else None


def _mistake_of_the_table(failure: Failure) -> Explanation | None:
    if not failure.observed or not failure.is_seen or failure.is_elsewhere:
        return None
    _, refuted = failure.diagnosis
    known = match(failure.entry, failure.observed, failure.digests)
    # A mistake that the hidden tests refute is named only if the results of sweeps confirm it.
    if known is None or (not failure.entry.get("sweeps") and known["id"] in refuted):
        return None
    return _named(failure, known["id"], known["says"])


def _named(failure: Failure, misconception: str, says: str, keeps: float = 0.0) -> Explanation:
    if not failure.observed or not failure.is_seen:
        return Explanation(says, misconception, keeps=keeps)
    says = f"{says} {unfinished(failure.observed) or ''}".rstrip()
    wrong = first_wrong(failure.entry, failure.observed)
    return Explanation(says, misconception, wrong, keeps=keeps)


def _stopped_cell(failure: Failure) -> Explanation | None:
    return Explanation(failure.error_of_cell) if failure.error_of_cell else None


def _malformed_answer(failure: Failure) -> Explanation | None:
    """Explain, as the visible check does, that the answer to a question is not a letter or not a
    number."""
    name, answer = failure.exercise.id, failure.own.answer
    says = misformed(name, failure.exercise.form, answer[0][0]) if answer else ""
    return Explanation(says, failed_example=failure.failed_example) if says else None


def _name_of_a_later_cell(failure: Failure) -> Explanation | None:
    """Name the later cell that defines a name or attribute which the answer lacks."""
    texts = [
        item["message"]
        for seen in failure.own.examples or []
        for item in seen
        if type(item) is dict and "message" in item
    ]
    cells = failure.submission.cells
    place = failure.submission.places[failure.exercise.id]
    for found in filter(None, map(_LACKED.search, texts)):
        name = found[1] or found[2]
        here, inside = definition(name), definition(name, indent="[ \t]*")
        later = [cell for cell in cells[place:] if here.search(cell.source)]
        if later and not any(inside.search(cell.source) for cell in cells[:place]):
            where = f"the cell of `{later[0].exercise}`" if later[0].exercise else "a cell"
            says = (
                f"Your answer needs `{name}`, which only {where} further down defines. The "
                "notebook is judged from top to bottom, as it is read: define it before this "
                "exercise's test, or do without it."
            )
            return Explanation(says, failed_example=failure.failed_example)
    return None


def _as_the_visible_check(failure: Failure) -> Explanation | None:
    """Explain as the visible check does, by public examples and sweeps."""
    if failure.visible is None:
        return None
    entry, swept, observed = failure.entry, failure.swept, failure.visible
    core_is_right = failure.passes_core and failure.core_agrees(observed)
    # Later observations may hold a secret: they only choose a sentence of the public table.
    later = swept if isinstance(swept, LaterObservations) else None
    shown = None if isinstance(swept, LaterObservations) else swept
    is_seen = not failure.is_elsewhere and not agree_all(observed, failure.right)
    found = tell(entry, observed if is_seen else None, shown, failure.hints, core_is_right)
    if found is not None:
        return Explanation(found.says, failed_example=found.failed_example)
    inferred = later.infer(entry, core_is_right) if later else None
    return Explanation(inferred.says, failed_example=failure.failed_example) if inferred else None


def _broken_criterion(failure: Failure) -> Explanation:
    return Explanation(_criterion(failure.suite_run), failed_example=failure.failed_example)


EXPLAINERS: tuple[Callable[[Failure], Explanation | None], ...] = (
    _unreadable_cell,
    _diagnosed_mistake,
    _mistake_of_the_table,
    _stopped_cell,
    _malformed_answer,
    _name_of_a_later_cell,
    _as_the_visible_check,
    _broken_criterion,
)
"""The explainers in order. The first explanation counts; the last explainer always returns one."""


def _in_full(failure: Failure, found: Explanation) -> str:
    """Return an explanation with what the student has to know besides: that the core is right, what
    a known mistake takes, or that an essential test halves the points. If the process was lost and
    no mistake is known, a sentence on the loss stands in place of the explanation."""
    says, keeps, verdicts = found.says, found.keeps, failure.suite_run.verdicts
    if failure.passes_core:
        says = CORE_IS_RIGHT + says
    if failure.status in LOST and not found.misconception:
        says = _lost_process(failure)
    share, worth = share_of(verdicts, keeps), failure.exercise.max_points
    points = points_for(share, worth)
    if points > points_for(share_of(verdicts), worth):
        says = f"{says} For what is right you keep {points:g} of {worth:g} points."
    if share < max(share_passed(verdicts), keeps):
        says = f"{says} {HALF}"
    return says


def _lost_process(failure: Failure) -> str:
    status, name, suite_runs = failure.status, failure.exercise.id, failure.evidence.suite_runs
    if name in suite_runs.cut_short:
        return "The notebook's time was used up before this could be tested to the end."
    subject = "cell itself" if lost(failure.submission, name) else "code"
    trains = status == Status.TIMEOUT and name in suite_runs.trainings
    return f"The {subject} {LOST[status]}. {LONG_TRAINING if trains else ADVICE[status]}"


def definition(name: str, indent: str = "") -> re.Pattern[str]:
    """Return the pattern of a line that defines a name. Matching takes time linear in the length of
    the line.

    Args:
        indent: the pattern of the white space before the definition; by default none is allowed.
    """
    # A keyword argument of a call is no definition, nor is an assignment inside a function.
    return re.compile(
        rf"^{indent}(def|class) {name}\b|^(\w+, *)*{name}[ \t]*[,=](?!=)"
        rf"|^{indent}\w+\.{name}[ \t]*=(?!=)",
        re.MULTILINE,
    )


def _fitted(example: FailedExample) -> FailedExample:
    rows = [Row(row.expression, fitted(row.seen), fitted(row.expected)) for row in example.rows]
    return FailedExample(example.code, rows)


def _criterion(suite_run: SuiteRun) -> str:
    broken = [verdict for verdict in suite_run.verdicts if not verdict.passed]
    if not broken:
        return ""
    # A comparison that failed says more than a test that an error ended before it could compare.
    broken.sort(key=lambda each: (each.extra, bool(each.raised or each.broken), each.broad))
    first = broken[0]
    if not (first.raised or first.broken):
        return f"This does not hold yet: {first.criterion}"
    # In another context a solution may have run, and the error's text may hold some of it.
    raised = first.raised if suite_run.context is Context.SUBMITTED else ""
    how = f" ({raised})" if raised else ""
    return f"An error{how} ended the test of this: {first.criterion}"


def lost(submission: Submission, exercise: str) -> Status | None:
    """Return the status with which an exercise's own cell ended the student process, or None."""
    return next((ran.lost for _, ran in submission.ran_of(exercise) if ran.lost), None)


def stopped(submission: Submission, exercise: str) -> str:
    """Return a sentence with the line in which an exercise's cell was interrupted; "" if no cell of
    the exercise was interrupted."""
    for cell, ran in submission.ran_of(exercise):
        if ran.stopped:
            number = ran.stopped[-1]
            line = cell.source.splitlines()[number - 1].strip()[:200]
            return fit(f"The cell took too long, and was stopped in line {number}, `{line}`.")
    return ""


def error_of_cell(submission: Submission, exercise: str) -> str:
    """Return a sentence about the error that ended an exercise's own cell; "" if there was none."""
    if words := stopped(submission, exercise):
        return f"{words} What comes after that in the cell never ran."
    for cell, ran in submission.ran_of(exercise):
        for output in ran.outputs:
            if output.get("output_type") == "error":
                trace = "\n".join(output["traceback"])
                error = output["ename"], output["evalue"], trace
                hints = submission.assignment.hints
                return fit(explain_cell(*error, cell.source, hints))
    return ""
