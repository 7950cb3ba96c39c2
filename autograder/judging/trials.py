"""Tests the exercises of a submission, each on as many bases as it needs."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial

from coursecheck.probes import Observation, Probe

from ..course_folder.assignments import Exercise
from ..errors import StudentLost
from ..model import Ran, Verdict
from ..wall import WarmServer
from ..wall.time_budget import TimeBudget
from .hidden_tests import Suite
from .solution_times import SolutionTimes
from .submission import Submission
from .trunk import Trunk
from .walk import Base, Try, best, next_base

_log = logging.getLogger(__name__)


class Trials:
    """The tries of a submission's exercises. One trunk lives at a time.

    Attributes:
        cut_short: the exercises for whose tests the submission's time did not suffice.
    """

    def __init__(
        self,
        submission: Submission,
        suite: Suite,
        server: WarmServer,
        budget: TimeBudget,
        times: SolutionTimes,
    ) -> None:
        self._submission = submission
        self._suite = suite
        self._server = server
        self._budget = budget
        self._times = times
        self._trunk: Trunk | None = None
        self.cut_short: dict[str, None] = {}

    def run(self, exercises: Sequence[Exercise]) -> dict[str, list[Try]]:
        """Return the tries of each exercise.

        All are tried on their own cells first, in one trunk, which then goes on to the end for
        those that lack a name; only after that run tries with given solutions.
        """
        submission = self._submission
        exercises = sorted(exercises, key=lambda each: submission.places[each.id])
        tries: dict[str, list[Try]] = {each.id: [] for each in exercises}
        for asked in ((Base.OWN,), (Base.WHOLE,), (Base.MENDED, Base.MODEL)):
            for exercise in exercises:
                earlier = submission.earlier(exercise)
                failed = [each for each in earlier if each in tries and not _is_full(tries[each])]
                found, is_answered = tries[exercise.id], not submission.is_untouched(exercise)
                has_later, is_question = _has_later(submission, exercise), bool(exercise.form)
                while next_try := next_base(
                    found, earlier, failed, is_answered, has_later, is_question
                ):
                    if next_try[0] not in asked:
                        break
                    # Verdicts with the cells below do not hold without them, so all tests run.
                    before = best(found).base if found else Base.WHOLE
                    found.append(
                        self._try(exercise, *next_try)
                        if Base.WHOLE in (before, next_try[0])
                        else self._better(exercise, *next_try, best(found))
                    )
        self._drop_circles(exercises, tries)
        self.close()
        return tries

    @property
    def trainings(self) -> Collection[str]:
        """Exercises in which networks are trained."""
        return self._server.limits.trainings

    def close(self) -> None:
        """End the trunk."""
        if self._trunk is not None:
            self._trunk.close()
            self._trunk = None

    def trunk(self, given: Sequence[str], place: int, retry: bool = False) -> Trunk:
        """Return a trunk with these solutions given that has run no cell after a place.

        Args:
            retry: whether cells that ended the process run again, since other cells may be the
                cause.
        """
        trunk = self._trunk
        if trunk is None or tuple(trunk.given) != tuple(given) or not trunk.reaches(place):
            self.close()
            submission = self._submission
            exercises = submission.assignment.exercises
            self._trunk = trunk = Trunk(
                self._server, submission.cells, submission.process_seed, self._budget,
                {name: exercises[name].solution for name in given},
                [Ran(stopped=ran.stopped) for ran in submission.ran] if retry else submission.ran,
                submission.assignment.name,
            )  # fmt: skip
        return trunk

    def observe(
        self, exercise: Exercise, base: Base, given: tuple[str, ...], probes: Sequence[Probe]
    ) -> list[list[Observation]] | None:
        """Run probes at the exercise's place on a base; None if the process ended."""
        place = self.place(exercise, base)
        return self.trunk(given, place).observe(place, exercise, probes)

    def place(self, exercise: Exercise, base: Base) -> int:
        """Return how many cells stand before the exercise's tests on a base."""
        whole = len(self._submission.cells)
        return whole if base is Base.WHOLE else self._submission.places[exercise.id]

    def _try(self, exercise: Exercise, base: Base, given: tuple[str, ...]) -> Try:
        """Run the exercise's tests on a base.

        After the submission's first timeout they run once more on the own cells, since the machine
        may have stood still. The limit is then half as long.
        """
        tried = Try(base, given, [*self._verdicts(exercise, base, given)])
        is_first = tried.is_late and self._budget.timeouts < 2
        if is_first and base is Base.OWN and exercise.id not in self.trainings:
            tried = Try(base, given, [*self._verdicts(exercise, base, given)])
        return _logged(exercise, tried)

    def _better(self, exercise: Exercise, base: Base, given: tuple[str, ...], before: Try) -> Try:
        """Run the exercise's tests on a base with more solutions given: those that did not pass
        before, and all of them if one of these passes now.

        If none passes, the verdicts stay those from before, unless a test on the mended base saw
        other values: then other exercises' mistakes had a part in them, and the new verdicts are
        kept.
        """
        failed = [each for each in before.verdicts if not each.passed]
        now: list[Verdict] = []
        is_alike = True
        for verdict in self._verdicts(exercise, base, given, {each.test for each in failed}):
            is_alike &= not verdict.passed and verdict.seen == failed[len(now)].seen
            now.append(verdict)
            if is_alike and base is Base.MODEL:
                break  # The mistake is its own, whatever stands before it.
        if not any(each.passed for each in now) and (is_alike or base is Base.MODEL):
            return Try(base, given, before.verdicts)
        if len(now) < len(before.verdicts):
            # An answer may keep something from one test to the next, so that their order counts.
            self.close()
            now = [*self._verdicts(exercise, base, given)]
        return _logged(exercise, Try(base, given, now))

    def _verdicts(
        self,
        exercise: Exercise,
        base: Base,
        given: tuple[str, ...],
        only: Collection[str] | None = None,
    ) -> Iterator[Verdict]:
        """Yield each hidden test's verdict; after the process ended, the rest are lost, too."""
        promises = self._suite.promises(exercise.id)
        unrun = iter([each for each in promises if only is None or each.test in only])
        place = self.place(exercise, base)
        trunk = self.trunk(given, place, base is Base.MODEL)
        with suppress(StudentLost):
            trunk.run_to(place)
        lost = trunk.lost(exercise.id)
        if any(ran.refused for _, ran in self._submission.ran_of(exercise.id)):
            self.cut_short[exercise.id] = None
        if lost is None:
            started = time.monotonic()
            for verdict in self._suite.run(
                exercise.id,
                lambda test: trunk.target(
                    place, exercise.id, partial(self._times.of_test, exercise.id, test)
                ),
                self._submission.seed_of(exercise.id),
                only,
            ):
                next(unrun)
                _log_verdict(exercise, verdict, base, time.monotonic() - started)
                lost = verdict.lost
                if lost == "timeout" and self._budget.is_up:
                    self.cut_short[exercise.id] = None
                yield verdict
                if lost:
                    break
                started = time.monotonic()
        for verdict in unrun:
            verdict.lost = lost
            _log.debug("%s: test %s not run: %s", exercise.id, verdict.test, lost)
            yield verdict

    def _drop_circles(self, exercises: Sequence[Exercise], tries: dict[str, list[Try]]) -> None:
        """Drop the tries of two exercises that pass more tests only with each other's solution.

        Two answers that do nothing but call each other would otherwise both earn points.
        """
        for partner in exercises:
            if _is_full(tries[partner.id]) or self._submission.is_untouched(partner):
                continue
            gained = [
                each.id
                for each in exercises
                if partner.id in best(tries[each.id]).given
                and best(tries[each.id]).share > tries[each.id][0].share
            ]
            if gained and self._gains(partner, gained, tries):
                for name in gained:
                    if self._gains(partner, [name], tries):
                        _log.debug("%s and %s: a circle", partner.id, name)
                        kept = [each for each in tries[name] if partner.id not in each.given]
                        tries[name][:] = kept

    def _gains(self, exercise: Exercise, given: Sequence[str], tries: dict[str, list[Try]]) -> bool:
        """Return whether an exercise passes more of its tests if later solutions are given."""
        failed = [each for each in best(tries[exercise.id]).verdicts if not each.passed]
        names = {each.test for each in failed}
        found = self._verdicts(exercise, Base.WHOLE, tuple(given), names)
        for before, now in zip(failed, found, strict=True):
            if now.passed:
                # An answer that keeps values between calls may pass because fewer tests ran before.
                alone = self._verdicts(exercise, Base.WHOLE, (), names)
                return not next(each for each in alone if each.test == now.test).passed
            if now.seen == before.seen:
                return False  # Verdicts with the same values owe nothing to the solutions.
        return False


def _has_later(submission: Submission, exercise: Exercise) -> bool:
    """Return whether a cell after the exercise's tests is the student's, and no stub."""
    exercises = submission.assignment.exercises
    return any(
        cell.source.strip() and not cell.is_locked
        for cell in submission.cells[submission.places[exercise.id] :]
        if cell.exercise is None or not submission.is_untouched(exercises[cell.exercise])
    )


def _is_full(tries: Sequence[Try]) -> bool:
    return any(each.share == 1 for each in tries)


def _logged(exercise: Exercise, tried: Try) -> Try:
    passed = sum(verdict.passed for verdict in tried.verdicts)
    _log.debug(
        "%s: %s, given %s: %d of %d tests passed",
        exercise.id, tried.base.value, ", ".join(tried.given) or "nothing", passed,
        len(tried.verdicts),
    )  # fmt: skip
    return tried


def _log_verdict(exercise: Exercise, verdict: Verdict, base: Base, seconds: float) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        how = "passed" if verdict.passed else verdict.lost or "did not pass"
        _log.debug(
            "%s: test %s %s in %.3f s, %s", exercise.id, verdict.test, how, seconds, base.value
        )
