"""Judges one notebook: runs its cells behind the wall, tests each exercise, explains failures.

An exercise is graded on the student's own notebook first. If it fails while others have failed
too, it gets a second chance: a fresh process in which the solution's cells stand in the place of
the others', so that a mistake costs its own exercise only. Processes live one after another, and
none that was given an exercise's solution is alive while that exercise is tested.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coursecheck import inference
from coursecheck.check import first_wrong, match
from coursecheck.messages import CANNOT_READ, Example, agree_all, explain, explain_cell
from coursecheck.probes import Observation

from ..course_folder.assignments import Assignment, Exercise
from ..model import ADVICE, LOST, Cell, ExerciseResult, Ran, Verdict
from ..texts import fit
from ..wall import WarmServer
from ..wall.targets import RemoteTarget
from ..wall.time_budget import TimeBudget
from .diagnosis import Diagnosis
from .hidden_tests import Suite
from .points import points_for, share_of
from .solution_times import SolutionTimes
from .student_run import Run

_log = logging.getLogger(__name__)

_QUICK = 0.25
"""Seconds that an exercise's tests may take on the way to all their verdicts."""

_REACHES_OUT = re.compile(
    r"\b(?:get_ipython|builtins|__builtins__|ctypes|gc|importlib|setattr|signal|threading)\b"
    r"|\bsys\.(?!setrecursionlimit\b)|\bfrom sys\b"
    r"|\b(?:copy|decimal|functools|itertools|locale|math|operator|os|random|time|warnings)"
    r"\.\w+\s*=(?!=)"
    r"|^[%!]",
    re.MULTILINE,
)
"""What a cell mentions that may change the process for the cells and tests of others."""

UNGRADED = (
    "This exercise has no marks yet: a hidden test of it is broken, which is no fault of yours. "
    "Your instructor has been told."
)


@dataclass
class _Final:
    """The verdicts that count for an exercise.

    Attributes:
        run: where they were given, if working versions of other exercises stood there.
        observed: what its public probes showed there.
        is_missing: whether there is no answer.
    """

    verdicts: list[Verdict]
    run: Run | None = None
    observed: list[list[Observation]] | None = None
    is_missing: bool = False


class Judging:
    """The judging of one notebook, whose student processes live one after another.

    Args:
        table: the public probes' results, by exercise.
        times: what the model solution takes.
        seed: what the submission's numbers are drawn from.
        only: judge these exercises alone.

    Attributes:
        ran: how each cell went.
    """

    def __init__(
        self,
        assignment: Assignment,
        suite: Suite,
        table: dict[str, Any],
        times: SolutionTimes,
        server: WarmServer,
        cells: list[Cell],
        seed: bytes,
        budget: TimeBudget,
        only: set[str] | None,
    ) -> None:
        self._assignment = assignment
        self._suite = suite
        self._server = server
        self._cells = cells
        self._seed = seed
        self._table = table
        self._diagnosis = Diagnosis(assignment, suite, table, seed)
        self._only = only
        self._budget = budget
        self._cut_short: dict[str, None] = {}
        self._times = times
        self._own = Run(server, cells, seed, budget, times=times, assignment=assignment.name)
        self.ran = self._own.ran
        self._runs: dict[tuple[str, ...], Run] = {(): self._own}
        self._first: dict[str, Run] = {}
        self._endless: list[str] = []
        self._judged: dict[tuple[Run, str], tuple[list[Verdict], Iterator[Verdict]]] = {}
        self._observed: dict[str, list[list[Observation]] | None] = {}
        self._failed: list[str] = []
        self._plain: set[str] = set()
        self._wrong: list[str] = []
        self._taken = 0.0
        self._suspects: list[str] = []

    def results(self) -> list[ExerciseResult]:
        """One result an exercise, in the notebook's order."""
        exercises = self._assignment.exercises.values()
        chosen = [e for e in exercises if self._only is None or e.id in self._only]
        try:
            self._own.run_cells()
            self._observe_first(chosen)
            for exercise in chosen:
                if not exercise.manual and self._fails(exercise):
                    # Nothing builds on a plain answer: it is left out when others get a second
                    # chance, and the right one is not sent to the student's process.
                    if exercise.form:
                        self._plain.add(exercise.id)
                    else:
                        self._failed.append(exercise.id)
            self._suspects = [each.id for each in chosen if self._may_disturb(each)]
            judged = {each.id: self._final(each) for each in chosen if not each.manual}
            # From here on only explanations are looked for, where no hidden number was seen.
            for run in self._runs.values():
                run.close()
            results = [self._result(each, judged.get(each.id)) for each in chosen]
            _log_points(results)
            return results
        finally:
            for run in self._runs.values():
                run.close()

    @property
    def seconds_left(self) -> float:
        """What is left of the submission's time."""
        return self._budget.left()

    def notes(self) -> list[str]:
        """Notes on the whole submission, for its report."""
        if not self._cut_short and not any(ran.refused for ran in self.ran):
            return []
        names = ", ".join(f"`{name}`" for name in self._cut_short) or "cells at the end"
        return [
            f"The {self._budget.seconds:g} seconds that this notebook may take with all its "
            f"tests were used up. Not run, or not tested to the end: {names}. Look for cells and "
            "functions that take long: they use up the time of those after them."
        ]

    def _fails(self, exercise: Exercise) -> bool:
        """Whether it fails on the student's own notebook.

        One that fails after another most often passes with that one working. Where its tests take
        long, they are run here until one fails, and to the end only where that matters. Exercises
        that ran into a time limit would hold up those that use them: they are working already.
        """
        if any(ran.refused for cell, ran in self._pairs() if cell.exercise == exercise.id):
            self._cut_short[exercise.id] = None
        started = time.monotonic()
        run = self._run_with(self._endless)
        verdicts = self._verdicts(run, exercise, enough=bool(self._failed))
        if _is_late(verdicts) and exercise.id not in self._server.limits.trainings:
            # The machine may have stood still. Code that never ends costs half of that again.
            del self._judged[run, exercise.id]
            verdicts = self._verdicts(run, exercise, enough=bool(self._failed))
        if time.monotonic() - started < _QUICK:
            self._verdicts(run, exercise)
        if run.given and share_of(verdicts) < 1 and not _is_late(verdicts):
            # It may rely on how the student's other cells differ from the solution.
            own = self._verdicts(self._own, exercise)
            if share_of(own) > share_of(verdicts):
                run, verdicts = self._own, own
        self._first[exercise.id] = run
        if _is_late(verdicts) and not exercise.form:
            self._endless.append(exercise.id)
        return share_of(verdicts) < 1

    def _pairs(self) -> Iterator[tuple[Cell, Ran]]:
        return zip(self._cells, self.ran, strict=True)

    def _verdicts(self, run: Run, exercise: Exercise, enough: bool = False) -> list[Verdict]:
        """Each hidden test's verdict; those up to the first that did not pass, if that is enough.

        The list is always the same, and grows when more are asked for.
        """
        key = (run, exercise.id)
        verdicts, rest = self._judged.setdefault(key, ([], self._judge(run, exercise)))
        if enough and any(not verdict.passed for verdict in verdicts):
            return verdicts
        for verdict in rest:
            verdicts.append(verdict)
            if enough and not verdict.passed:
                break
        return verdicts

    def _judge(self, run: Run, exercise: Exercise) -> Iterator[Verdict]:
        """The verdicts, each when it is asked for; once the process is lost the rest are, too."""
        unrun = iter(self._suite.promises(exercise.id))
        lost = self._lost_cell(exercise, run)

        def target(test: str) -> RemoteTarget:
            return run.target(exercise.id, partial(self._times.of_test, exercise.id, test))

        if lost is None:
            started = time.monotonic()
            for verdict in self._suite.run(exercise.id, target, self._seed):
                next(unrun)
                _log_verdict(exercise, verdict, run, time.monotonic() - started)
                lost = verdict.lost
                if lost == "timeout" and self._budget.is_up:
                    self._cut_short[exercise.id] = None
                yield verdict
                if lost:
                    break
                started = time.monotonic()
        for verdict in unrun:
            verdict.lost = lost
            _log.debug("%s: test %s not run: %s", exercise.id, verdict.test, lost)
            yield verdict

    def _final(self, exercise: Exercise) -> _Final:
        """The verdicts that count for an exercise: its own, or those of its second chance."""
        first = self._first[exercise.id]
        if self._is_missing(exercise):
            final = _Final(self._verdicts(first, exercise), is_missing=True)
        elif self._may_try_again(exercise):
            final = self._second_chance(exercise)
        else:
            final = _Final(self._verdicts(first, exercise), first if first.given else None)
        if _log.isEnabledFor(logging.DEBUG):
            where = final.run.name if final.run else self._own.name
            passed = sum(verdict.passed for verdict in final.verdicts)
            _log.debug(
                "%s: the verdicts that count are of the %s: %d of %d tests passed",
                exercise.id, where, passed, len(final.verdicts),
            )  # fmt: skip
        for verdict in final.verdicts:
            is_wrong = not (verdict.passed or verdict.lost or final.is_missing)
            verdict.broken = self._diagnosis.flaw(exercise, verdict) if is_wrong else ""
        if share_of(final.verdicts) < 1 and not exercise.form:
            self._wrong.append(exercise.id)
        return final

    def _may_disturb(self, exercise: Exercise) -> bool:
        """Whether its cell may have changed the process for others, also where it passes."""
        if exercise.manual or exercise.form:
            return False
        own = [cell.source for cell in self._cells if cell.exercise == exercise.id]
        return any(map(_REACHES_OUT.search, own))

    def _may_try_again(self, exercise: Exercise) -> bool:
        """Whether others may be why it fails: not where its own cell takes the process down, or
        where it ran into a time limit while all of them worked."""
        if exercise.id not in self._failed:
            return False
        if {*self._suspects} - {exercise.id}:
            return True
        if self._lost_cell(exercise) is not None:
            return False
        first = self._first[exercise.id]
        others = {*self._failed} - {exercise.id}
        is_late = _is_late(self._verdicts(first, exercise, enough=True))
        return bool(others - first.given.keys() if is_late else others)

    def _is_lost(self, exercise: Exercise) -> bool:
        """Whether the first test that it fails on the own notebook takes the process down."""
        verdicts = self._verdicts(self._first[exercise.id], exercise, enough=True)
        return any(each.lost for each in [each for each in verdicts if not each.passed][:1])

    def _second_chance(self, exercise: Exercise) -> _Final:
        """The tests again without other exercises' mistakes: the best verdicts.

        First with the wrong exercises before this one working, in a process that is shared by all
        that this helps; then with all other failed ones working, in case this one is wrong itself,
        or a later one broke what it had made; and with those that pass but may disturb others, as
        by a hook.
        """
        others = [e for e in dict.fromkeys((*self._failed, *self._suspects)) if e != exercise.id]
        if self._wrong and self._wrong != others and not self._is_lost(exercise):
            shared = self._run_with(self._wrong)
            verdicts = self._verdicts(shared, exercise)
            if share_of(verdicts) == 1:
                return _Final(verdicts, shared)
        alone = self._run_with(others)
        was_late = _is_late(self._verdicts(self._first[exercise.id], exercise))
        # It may have been tested in until now, and an observer must have seen no hidden number.
        alone.close()
        observed = None if was_late else alone.observe(exercise, self._table.get(exercise.id))
        final = _Final(self._verdicts(alone, exercise), alone, observed)
        alone.close()
        if share_of(final.verdicts) < 1:
            first = self._first[exercise.id]
            own = self._verdicts(first, exercise)
            if share_of(own) > share_of(final.verdicts) or any(
                each.lost for each in final.verdicts
            ):
                return _Final(own, first if first.given else None)
        return final

    def _run_with(self, names: Sequence[str]) -> Run:
        """The run in which these exercises work; the student's own if there are none."""
        key = tuple(names)
        if key not in self._runs:
            given = {name: self._assignment.exercises[name].solution for name in names}
            # Without a cell that disturbs others, those that were lost to it may run.
            before = None if set(self._suspects).intersection(names) else self.ran
            self._runs[key] = Run(
                self._server, self._cells, self._seed, self._budget, given, self._plain, before,
                self._times, self._assignment.name,
            )  # fmt: skip
        return self._runs[key]

    def _observe_first(self, chosen: list[Exercise]) -> None:
        """Record what public probes show in the student's own notebook, before any process of the
        submission has seen a hidden number or a solution: the student may read all of this.

        The tests get a process of their own: what one exercise does to the others when it is played
        shall cost them nothing. Where cells take so long that they leave no time to run them again
        and again, nothing is observed, and the tests run at once; and nothing more after an
        exercise that ran into a time limit, for others may use it.
        """
        timeouts, taken = self._budget.timeouts, self._budget.seconds - self._budget.left()
        self._taken = taken
        for exercise in chosen:
            if self._budget.left() < 3 * taken:
                break
            if not exercise.probes or self._is_untouched(exercise):
                continue
            seen = self._observed[exercise.id] = self._own.observe(exercise)
            _log.debug("%s: %s public examples observed", exercise.id, len(seen or ()))
            if self._budget.timeouts > timeouts:
                if exercise.id in self._server.limits.trainings:
                    # All its probes together may take longer than a training of its tests.
                    self._budget.forgive()
                break
        if self._observed:
            self._own.close()

    def _result(self, exercise: Exercise, final: _Final | None) -> ExerciseResult:
        result = ExerciseResult(
            exercise.id,
            exercise.title,
            exercise.max_points,
            extra=exercise.extra,
            bonus=exercise.bonus,
        )
        if final is None:
            # What counts for nothing waits for nobody.
            result.points, result.status = None if exercise.max_points else 0.0, "manual"
            result.message = "A person reads and marks this answer."
            return result
        flaws = [f"{each.test}: {each.broken}" for each in final.verdicts if each.broken]
        if flaws or not final.verdicts:
            result.points, result.status = None, "ungraded"
            result.message = UNGRADED
            skipped = self._suite.skipped.get(exercise.id, [])
            result.flaw = flaws[0] if flaws else f"all tests are skipped: {', '.join(skipped)}"
            return result
        result.promises = [(verdict.promise, verdict.passed) for verdict in final.verdicts]
        if final.is_missing:
            result.status = "missing"
            held = any(cell.exercise == exercise.id for cell in self._cells)
            what = "The cell still holds the stub." if held else "There is no such cell."
            result.message = f"No answer was found. {what}"
            return result
        share = share_of(final.verdicts)
        own_verdicts, _ = self._judged.get((self._own, exercise.id), ([], None))
        if final.run is not None and share > share_of(own_verdicts):
            names = ", ".join(f"`{name}`" for name in final.run.given)
            result.note = f"Graded with working versions of {names}."
        result.points = points_for(share, exercise.max_points)
        lost = next((verdict.lost for verdict in final.verdicts if verdict.lost), None)
        result.status = lost or ("passed" if share == 1 else "partial" if share else "failed")
        if share == 1 and (stopped := self._stopped(exercise)):
            rest = "What it had defined until then was graded."
            result.note = " ".join(filter(None, [result.note, stopped, rest]))
        if share < 1:
            own = self._observed.get(exercise.id)
            # Where the student's own notebook shows something else than with others' mistakes
            # mended, that may be their doing.
            alike = own and final.observed and agree_all(own, final.observed)
            shown = own if alike or final.run is None else final.observed
            self._explain(result, exercise, final.verdicts, shown)
        return result

    def _is_untouched(self, exercise: Exercise) -> bool:
        sources = [cell.source for cell in self._cells if cell.exercise == exercise.id]
        return all(source.split() == exercise.stub.split() for source in sources)

    def _is_missing(self, exercise: Exercise) -> bool:
        return self._is_untouched(exercise) and not any(
            verdict.passed for verdict in self._verdicts(self._first[exercise.id], exercise)
        )

    def _lost_cell(self, exercise: Exercise, run: Run | None = None) -> str | None:
        """How the exercise's solution cell took the process down, if it did: in this run, or in the
        student's own."""
        for cell, ran in zip(self._cells, (run or self._own).ran, strict=True):
            if cell.exercise == exercise.id and ran.lost:
                return ran.lost
        return None

    def _explain(
        self,
        result: ExerciseResult,
        exercise: Exercise,
        verdicts: list[Verdict],
        observed: list[list[Observation]] | None,
    ) -> None:
        entry = self._table[exercise.id] if observed else {}
        right = [probe["right"] for probe in entry.get("probes", [])]
        mistake = None
        if not self._budget.is_up and self._lost_cell(exercise) is None:
            mistake = self._diagnosis.name(exercise, verdicts, observed)
        says, name = (mistake.says, mistake.id) if mistake else ("", None)
        example = None
        if observed and not agree_all(observed, right):
            example = first_wrong(entry, observed)
            known = None if mistake else match(entry, observed)
            if known is not None:
                says, name = known["says"], known["id"]
        stopped = self._cell_error(exercise)
        if stopped.startswith(CANNOT_READ) or (stopped and not says):
            says, name, example = stopped, None, None
        if not says:
            says = explain(observed or [], right, self._assignment.hints)
            if not says:
                says, shown = self._infer(result, exercise, observed)
                result.inferred, example = says or None, shown or example
            says = says or _plain_words(verdicts)
        if result.status in LOST and not mistake:
            what = "code" if self._lost_cell(exercise) is None else "cell itself"
            says = f"The {what} {LOST[result.status]}. {ADVICE[result.status]}"
            if exercise.id in self._cut_short:
                says = "The notebook's time was used up before this could be tested to the end."
        _log.debug("%s: diagnosis: %s", exercise.id, name or "no known mistake")
        result.misconception = name
        result.example = example
        result.message = says + (f"\n\n{example.as_text()}" if example else "")

    def _infer(
        self,
        result: ExerciseResult,
        exercise: Exercise,
        observed: list[list[Observation]] | None,
    ) -> tuple[str, Example | None]:
        """What the code computes, in words, and a sample that shows it; "" where it is not known.

        Numbers are free only in the student's own notebook, with nothing given. Where something was
        given, that notebook is asked only if its probes show the same there.
        """
        own = self._observed.get(exercise.id)
        if not own or observed != own or not exercise.samples or result.status in LOST:
            return "", None
        if self._budget.left() < 3 * self._taken:
            return "", None
        entry = self._table[exercise.id]
        seen = self._own.observe_samples(exercise)
        found = inference.infer(entry, seen) if seen else None
        _log.debug("%s: inferred: %s", exercise.id, found.says if found else "nothing")
        return (found.says, inference.example(entry, seen, found)) if found and seen else ("", None)

    def _stopped(self, exercise: Exercise) -> str:
        """Return in which line the exercise's cell was interrupted, in words; "" if it ended."""
        for cell, ran in self._pairs():
            if cell.exercise == exercise.id and ran.stopped:
                number = ran.stopped[-1]
                line = cell.source.splitlines()[number - 1].strip()[:200]
                return fit(f"The cell took too long, and was stopped in line {number}, `{line}`.")
        return ""

    def _cell_error(self, exercise: Exercise) -> str:
        """In words, how the exercise's own cell stopped with an error, if it did."""
        if stopped := self._stopped(exercise):
            return f"{stopped} What comes after that in the cell never ran."
        for cell, ran in self._pairs():
            for output in ran.outputs if cell.exercise == exercise.id else []:
                if output.get("output_type") == "error":
                    trace = "\n".join(output["traceback"])
                    told = explain_cell(output["ename"], output["evalue"], trace, cell.source)
                    return fit(told)
        return ""


def _log_verdict(exercise: Exercise, verdict: Verdict, run: Run, seconds: float) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        how = "passed" if verdict.passed else verdict.lost or "did not pass"
        _log.debug(
            "%s: test %s %s in %.3f s, %s", exercise.id, verdict.test, how, seconds, run.name
        )


def _log_points(results: list[ExerciseResult]) -> None:
    if _log.isEnabledFor(logging.INFO):
        for each in results:
            points = "no points yet" if each.points is None else f"{each.points:g} points"
            _log.info("%s: %s, %s of %g", each.id, each.status, points, each.max_points)


def _is_late(verdicts: list[Verdict]) -> bool:
    """Whether one of the tests ran into a time limit."""
    return any(verdict.lost == "timeout" for verdict in verdicts)


def _plain_words(verdicts: list[Verdict]) -> str:
    broken = [verdict.promise for verdict in verdicts if not verdict.passed]
    return f"This does not hold yet: {broken[0]}" if broken else ""
