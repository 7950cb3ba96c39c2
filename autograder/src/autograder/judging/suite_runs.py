"""Tests the exercises of a submission, each in as many contexts as the policy asks for."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from coursecheck.examples import PublicExample

from ..course_folder.assignments import Exercise
from ..errors import StudentProcessDied
from ..records import CellResult, Status, Verdict
from ..sandbox import ForkServer
from ..sandbox.time_budget import TimeBudget
from .compiled_solutions import compiled
from .hidden_tests import Suite
from .notebook_session import NotebookSession
from .observations import LaterObservations
from .policy import (
    Conclusion,
    Context,
    NextRun,
    Situation,
    SuiteRun,
    conclusions,
    gains,
    keeps_verdicts,
    next_run,
    suspects,
)
from .reference_times import ReferenceTimes
from .submission import Submission

_log = logging.getLogger(__name__)


class SuiteRuns:
    """Runs the hidden tests of a submission's exercises. One notebook session exists at a time.

    Attributes:
        cut_short: the ids of the exercises that could not be tested to the end, since the
            submission's time was used up; a dict without values, to keep their order.
    """

    def __init__(
        self,
        submission: Submission,
        suite: Suite,
        server: ForkServer,
        budget: TimeBudget,
        times: ReferenceTimes,
    ) -> None:
        self._submission = submission
        self._suite = suite
        self._server = server
        self._budget = budget
        self._times = times
        self._session: NotebookSession | None = None
        self.cut_short: dict[str, None] = {}

    def run(self, exercises: Sequence[Exercise]) -> dict[str, Conclusion]:
        """Test the exercises as the policy decides; return the conclusion for each."""
        submission = self._submission
        by_id = {each.id: each for each in sorted(exercises, key=self._index)}
        situations = {
            name: Situation(
                submission.earlier(exercise),
                not submission.is_untouched(exercise),
                _has_later(submission, exercise),
                bool(exercise.form),
                name in self.trainings,
            )
            for name, exercise in by_id.items()
        }
        self._run_all(by_id, situations)
        self._find_circles(by_id, situations)
        self._run_all(by_id, situations)
        self.close()
        return conclusions(situations)

    def _run_all(
        self, exercises: Mapping[str, Exercise], situations: Mapping[str, Situation]
    ) -> None:
        """Add the runs that the policy asks for to the situations."""
        while wanted := next_run(situations):
            name, run = wanted
            _log.debug("%s: next %s, since %s", name, run.context.value, run.reason)
            situations[name].runs.append(self._run_suite(exercises[name], run))

    def _index(self, exercise: Exercise) -> int:
        return self._submission.places[exercise.id]

    @property
    def trainings(self) -> Collection[str]:
        """The ids of the exercises for which course.toml allows the time of a training."""
        return self._server.limits.trainings

    def close(self) -> None:
        """End the notebook session, if there is one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def session(self, replaced: Sequence[str], place: int, retry: bool = False) -> NotebookSession:
        """Return a session in which these exercises are replaced, and which can still run to a
        place: the present session, or a new one.

        Args:
            replaced: the ids of the exercises whose solution runs in place of the answer.
            place: the number of cells that are to run before the tests.
            retry: whether a new session runs cells again that ended the process in the reading
                pass, since a cell that is replaced now may have been the cause.
        """
        session = self._session
        if (
            session is None
            or tuple(session.replaced) != tuple(replaced)
            or not session.reaches(place)
        ):
            self.close()
            submission = self._submission
            assignment = submission.assignment
            before = submission.ran
            if retry:
                before = [
                    ran if cell.exercise in replaced else CellResult(stopped=ran.stopped)
                    for cell, ran in zip(submission.cells, before, strict=True)
                ]
            self._session = session = NotebookSession(
                self._server, submission.cells, submission.process_seed, self._budget,
                {name: compiled(assignment, assignment.exercises[name]) for name in replaced},
                before, assignment.name,
            )  # fmt: skip
        return session

    def observe(
        self,
        exercise: Exercise,
        context: Context,
        replaced: tuple[str, ...],
        examples: Sequence[PublicExample],
    ) -> LaterObservations | None:
        """Run examples where the exercise is tested in a context, and return the observations; None
        if the process ended.

        Args:
            replaced: the ids of the exercises whose solution runs in place of the answer.
        """
        place = self.place(exercise, context)
        return self.session(replaced, place).observe_later(place, exercise, examples)

    def place(self, exercise: Exercise, context: Context) -> int:
        """Return the number of cells that run before the exercise's tests in a context."""
        whole = len(self._submission.cells)
        return whole if context is Context.FULL_NOTEBOOK else self._submission.places[exercise.id]

    def _run_suite(self, exercise: Exercise, run: NextRun) -> SuiteRun:
        """Run the exercise's hidden tests in a context.

        If there was a run before, the tests that failed in it run first; the others run only if
        `keeps_verdicts` does not keep the verdicts of that run.
        """
        arguments = exercise, run.context, run.replaced
        if run.before:
            only = {verdict.test for verdict in run.before.failed}
            are_all = len(run.before.failed) == len(run.before.verdicts)
            now: list[Verdict] = []
            keeps = keeps_verdicts(run, now)
            for verdict in self._verdicts(*arguments, only):
                now.append(verdict)
                keeps = keeps_verdicts(run, now)
                if keeps or (keeps is False and not are_all):
                    break
            if keeps:
                _log.debug("%s: %s: the verdicts stay", exercise.id, run.context.value)
                return SuiteRun(run.context, run.replaced, run.before.verdicts, run.before)
            if are_all:
                return _logged(exercise, SuiteRun(run.context, run.replaced, now))
            # The failed tests ran before the others. An answer may keep state between tests, so
            # all tests run once more, in their usual order and in a new process.
            self.close()
        found = SuiteRun(run.context, run.replaced, [*self._verdicts(*arguments)])
        return _logged(exercise, found)

    def _verdicts(
        self,
        exercise: Exercise,
        context: Context,
        replaced: tuple[str, ...],
        only: Collection[str] | None = None,
    ) -> Iterator[Verdict]:
        """Yield the verdict of each hidden test, in order. If the process ends, the tests that
        have not run are lost with the same status.

        Args:
            only: the names of the tests to run; by default all.
        """
        criteria = self._suite.criteria(exercise.id)
        unrun = iter([each for each in criteria if only is None or each.test in only])
        place = self.place(exercise, context)
        session = self.session(replaced, place, context is Context.ALL_REPLACED)
        with suppress(StudentProcessDied):
            session.run_to(place)
        lost = session.lost(exercise.id)
        if any(ran.refused for _, ran in self._submission.ran_of(exercise.id)):
            self.cut_short[exercise.id] = None
        if lost is None:
            started = time.monotonic()
            for verdict in self._suite.run(
                exercise.id,
                lambda test: session.target(
                    place, exercise.id, partial(self._times.of_test, exercise.id, test)
                ),
                self._submission.seed_of(exercise.id),
                only,
            ):
                next(unrun)
                _log_verdict(exercise, verdict, context, time.monotonic() - started)
                lost = verdict.lost
                if lost == Status.TIMEOUT and self._budget.is_up:
                    self.cut_short[exercise.id] = None
                yield verdict
                if lost:
                    break
                started = time.monotonic()
        for verdict in unrun:
            verdict.lost = lost
            _log.debug("%s: test %s not run: %s", exercise.id, verdict.test, lost)
            yield verdict

    def _find_circles(
        self, exercises: Mapping[str, Exercise], situations: Mapping[str, Situation]
    ) -> None:
        """Set the `circle` of exercises that pass more tests only with each other's solution."""
        for partner, exercise in exercises.items():
            suspected = suspects(partner, situations)
            if suspected and self._gains(exercise, suspected, situations):
                for name in suspected:
                    if self._gains(exercise, [name], situations):
                        _log.debug("%s and %s: a circle", partner, name)
                        situations[name].circle.add(partner)

    def _gains(
        self,
        exercise: Exercise,
        replaced: Sequence[str],
        situations: Mapping[str, Situation],
    ) -> bool:
        """Return whether an exercise passes a test that it failed, once these exercises are
        replaced and all cells of the notebook run."""
        failed = conclusions(situations)[exercise.id].counts.failed
        names = {verdict.test for verdict in failed}
        found = self._verdicts(exercise, Context.FULL_NOTEBOOK, tuple(replaced), names)
        for before, now in zip(failed, found, strict=True):
            gained = gains(before, now)
            if gained:
                # Only the failed tests ran here, and an answer that keeps state between calls may
                # pass because of that. Then it also passes without replaced exercises.
                alone = self._verdicts(exercise, Context.FULL_NOTEBOOK, (), names)
                return not next(each for each in alone if each.test == now.test).passed
            if gained is False:
                return False
        return False


def _has_later(submission: Submission, exercise: Exercise) -> bool:
    """Return whether a cell after the exercise's tests holds code of the student: it is neither
    locked, nor empty, nor a stub without an answer."""
    exercises = submission.assignment.exercises
    return any(
        cell.source.strip() and not cell.is_locked
        for cell in submission.cells[submission.places[exercise.id] :]
        if cell.exercise is None or not submission.is_untouched(exercises[cell.exercise])
    )


def _logged(exercise: Exercise, suite_run: SuiteRun) -> SuiteRun:
    passed = sum(verdict.passed for verdict in suite_run.verdicts)
    _log.debug(
        "%s: %s (replaced: %s): %d of %d tests passed",
        exercise.id, suite_run.context.value, ", ".join(suite_run.replaced) or "nothing", passed,
        len(suite_run.verdicts),
    )  # fmt: skip
    return suite_run


def _log_verdict(exercise: Exercise, verdict: Verdict, context: Context, seconds: float) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        how = "passed" if verdict.passed else verdict.lost or "did not pass"
        _log.debug(
            "%s: test %s %s in %.3f s, %s", exercise.id, verdict.test, how, seconds, context.value
        )
