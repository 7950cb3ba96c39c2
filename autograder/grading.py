"""Grades one notebook: runs its cells behind the wall, tests each exercise, explains failures.

An exercise is graded on the student's own notebook first. If it fails while others have failed
too, it gets a second chance in which the failed exercises before it work and those after it are
left out, so that a mistake costs its own exercise only. The working versions stay in the grader,
which tells the student's process what they do to its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from course.check import first_wrong, load_table, match
from course.messages import CANNOT_READ, agree_all, explain, explain_cell
from course.probes import Observation

from .allowance import Allowance
from .assignments import Assignment, CourseError, Exercise, load_assignment
from .diagnosis import Diagnosis
from .engines import Engine
from .lending import give
from .report import ADVICE, LOST, ExerciseResult, Report, points_for
from .runs import Cell, Ran, Run
from .sandbox import Limits, WarmServer, on_one_processor
from .suite import Suite, Verdict
from .tables import build_table
from .texts import fit


@dataclass
class Graded:
    """The verdicts on a notebook and what its cells displayed."""

    report: Report
    ran: list[Ran]


class Grader:
    """Grades notebooks of one course, with everything warm. Use as a context manager.

    Args:
        course: the course folder.
        key: what the hidden tests' random numbers are keyed with, 16 bytes or more.
        limits: what a student process may use.
        submission_seconds: wall-clock time that one notebook may take with all its tests, replays
            and second chances.
    """

    def __init__(
        self,
        course: Path,
        key: bytes,
        limits: Limits | None = None,
        submission_seconds: float = 300.0,
    ) -> None:
        self.course = course
        self.submission_seconds = submission_seconds
        self._key = key
        self._server = WarmServer(limits)
        self._suites: dict[Path, Suite] = {}
        self._tables: dict[str, tuple[Assignment, dict[str, Any]]] = {}
        self._diagnoses: dict[str, tuple[Assignment, Diagnosis]] = {}
        self._started = False

    def use(self, server: WarmServer) -> None:
        """Use this server, which was launched ahead, and launch none."""
        self._server = server

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self, name: str) -> None:
        """Load what grading an assignment needs. Raises `CourseError` for what is wrong with it."""
        assignment = load_assignment(self.course, name)
        self._suite(assignment)
        self._table(assignment)

    def start(self) -> None:
        """Start the sandbox, unless it is. Raises `SandboxUnavailable` where there can be none."""
        if not self._started:
            self._server.start()
            self._started = True

    def close(self) -> None:
        for suite in self._suites.values():
            suite.close()
        self._suites.clear()
        if self._started:
            self._server.close()
            self._started = False

    def grade(self, name: str, cells: list[Cell], only: set[str] | None = None) -> Graded:
        """Grade the code cells of a notebook, given in order.

        Args:
            name: the assignment.
            cells: every code cell that is to run.
            only: grade these exercises alone.

        Raises:
            SandboxUnavailable: student code cannot be confined here; nothing was run.
        """
        self.start()
        assignment = load_assignment(self.course, name)
        suite = self._suite(assignment)
        seed = self._seed(name)
        grading = _Grading(
            assignment,
            suite,
            self._table(assignment),
            self._diagnosis(assignment),
            self._server,
            cells,
            seed,
            Allowance(self.submission_seconds),
            only,
        )
        with on_one_processor():
            results = grading.results()
        return Graded(Report(name, results, grading.notes(), seed.hex()), grading.ran)

    def _suite(self, assignment: Assignment) -> Suite:
        """The assignment's hidden tests. Raises `CourseError` where they do not belong to it."""
        path = assignment.tests
        if path not in self._suites:
            self._suites[path] = Suite(path)
        _require_one_course(assignment, self._suites[path])
        return self._suites[path]

    def _table(self, assignment: Assignment) -> dict[str, Any]:
        """The public probes' right results and each misconception's, by exercise.

        The visible checks' own table holds them. An assignment that has none yet gets one made,
        which takes a while where a probe trains a network.
        """
        known, table = self._tables.get(assignment.name, (None, {}))
        if known is not assignment:
            try:
                table = load_table(assignment.name)["exercises"]
            except FileNotFoundError:
                table = build_table(assignment)["exercises"]
            self._tables[assignment.name] = (assignment, table)
        return table

    def _diagnosis(self, assignment: Assignment) -> Diagnosis:
        known, diagnosis = self._diagnoses.get(assignment.name, (None, None))
        if known is not assignment or diagnosis is None:
            suite = self._suite(assignment)
            diagnosis = Diagnosis(assignment, suite, self._table(assignment))
            self._diagnoses[assignment.name] = (assignment, diagnosis)
        return diagnosis

    def _seed(self, name: str) -> bytes:
        """All who hand in an assignment get the same numbers, and nobody can foretell them."""
        return blake2b(name.encode(), key=self._key[:64], digest_size=16).digest()


def _require_one_course(assignment: Assignment, suite: Suite) -> None:
    """Raises `CourseError` where source, release and hidden tests have other exercises or points.

    By such a course right answers would lose points.
    """
    name = assignment.name
    exercises = assignment.exercises.values()
    graded = {each.id for each in exercises if not each.manual}
    if untested := graded - set(suite.exercises):
        raise CourseError(
            f"{assignment.tests}: no test grades {', '.join(sorted(untested))}: write one under "
            f'`@exercise("{min(untested)}")`'
        )
    if unknown := set(suite.exercises) - graded:
        raise CourseError(
            f"{assignment.tests}: tests grade {', '.join(sorted(unknown))}, which the notebook "
            "does not have: name an exercise that it has, or delete them"
        )
    if changed := [each.id for each in exercises if each.released_points != each.max_points]:
        raise CourseError(
            f"source/{name}/{name}.ipynb: {', '.join(changed)} not worth what the release says: "
            f"run `nbgrader generate_assignment {name} --force`, and grade again"
        )


class _Grading:
    """The grading of one notebook."""

    def __init__(
        self,
        assignment: Assignment,
        suite: Suite,
        table: dict[str, Any],
        diagnosis: Diagnosis,
        server: WarmServer,
        cells: list[Cell],
        seed: bytes,
        allowance: Allowance,
        only: set[str] | None,
    ) -> None:
        self._assignment = assignment
        self._suite = suite
        self._server = server
        self._cells = cells
        self._seed = seed
        self._table = table
        self._diagnosis = diagnosis
        self._only = only
        self._allowance = allowance
        self._cut_short: dict[str, None] = {}
        self._own = Run(server, cells, seed, allowance, shown=diagnosis.shown)
        self.ran = self._own.ran
        self._runs: dict[tuple[frozenset[str], frozenset[str]], Run] = {}
        self._judged: dict[tuple[Run, str], tuple[list[Verdict], Iterator[Verdict]]] = {}
        self._failed: list[str] = []
        self._plain: set[str] = set()
        self._wrong: list[str] = []

    def results(self) -> list[ExerciseResult]:
        """One result an exercise, in the notebook's order."""
        exercises = self._assignment.exercises.values()
        try:
            self._own.run_cells()
            chosen = [e for e in exercises if self._only is None or e.id in self._only]
            for exercise in chosen:
                # One that fails after another most often passes with that one working. It is
                # tested here until it fails, and to the end only where that turns out to matter.
                if not exercise.manual and self._fails(exercise, enough=bool(self._failed)):
                    # Nothing builds on a plain answer: it is left out when others get a second
                    # chance, and the right one is not told to the student's process.
                    if exercise.form:
                        self._plain.add(exercise.id)
                    else:
                        self._failed.append(exercise.id)
            return [self._result(exercise) for exercise in chosen]
        finally:
            for run in (self._own, *self._runs.values()):
                run.close()

    def notes(self) -> list[str]:
        """What else has to be said of the whole submission."""
        if not self._cut_short and not any(ran.refused for ran in self.ran):
            return []
        names = ", ".join(f"`{name}`" for name in self._cut_short) or "cells at the end"
        return [
            f"The {self._allowance.seconds:g} seconds that this notebook may take with all its "
            f"tests were used up. Not run, or not tested to the end: {names}. Look for cells and "
            "functions that take long: they use up the time of those after them."
        ]

    def _fails(self, exercise: Exercise, enough: bool) -> bool:
        """Whether it fails on the student's own notebook."""
        if any(ran.refused for cell, ran in self._pairs() if cell.exercise == exercise.id):
            self._cut_short[exercise.id] = None
        return _share(self._verdicts(self._own, exercise, enough)) < 1

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
        lost = self._lost_cell(exercise) if run is self._own else None
        if lost is None:
            for verdict in self._suite.run(exercise.id, run.engine, self._seed):
                next(unrun)
                lost = verdict.lost
                if lost == "timeout" and self._allowance.is_up:
                    self._cut_short[exercise.id] = None
                yield verdict
                if lost:
                    break
        for verdict in unrun:
            verdict.lost = lost
            yield verdict

    def _result(self, exercise: Exercise) -> ExerciseResult:
        result = ExerciseResult(exercise.id, exercise.title, exercise.max_points)
        if exercise.manual:
            result.points, result.status = None, "manual"
            result.message = "A person reads and marks this answer."
            return result
        if self._is_missing(exercise):
            result.status = "missing"
            held = any(cell.exercise == exercise.id for cell in self._cells)
            what = "The cell still holds the stub." if held else "There is no such cell."
            result.message = f"No answer was found. {what}"
            result.promises = [(each.promise, False) for each in self._suite.promises(exercise.id)]
            self._note_wrong(exercise)
            return result
        if exercise.id not in self._failed or self._lost_cell(exercise) is not None:
            verdicts, run = self._verdicts(self._own, exercise), None
        else:
            verdicts, run = self._second_chance(exercise)
            if run.given and _share(verdicts) > _share(self._verdicts(self._own, exercise, True)):
                names = ", ".join(f"`{name}`" for name in run.given)
                result.note = f"Graded with working versions of {names}."
        share = _share(verdicts)
        result.points = points_for(share, exercise.max_points)
        result.promises = [(verdict.promise, verdict.passed) for verdict in verdicts]
        lost = next((verdict.lost for verdict in verdicts if verdict.lost), None)
        result.status = lost or ("passed" if share == 1 else "partial" if share else "failed")
        if share < 1:
            self._note_wrong(exercise)
            observed = run.observe(exercise) if run else None
            self._explain(result, exercise, verdicts, observed)
        return result

    def _note_wrong(self, exercise: Exercise) -> None:
        if not exercise.form:
            self._wrong.append(exercise.id)

    def _is_missing(self, exercise: Exercise) -> bool:
        sources = [cell.source for cell in self._cells if cell.exercise == exercise.id]
        untouched = all(source.split() == exercise.stub.split() for source in sources)
        return untouched and not any(
            verdict.passed for verdict in self._verdicts(self._own, exercise)
        )

    def _lost_cell(self, exercise: Exercise) -> str | None:
        """How the exercise's solution cell took the process down, if it did."""
        for cell, ran in self._pairs():
            if cell.exercise == exercise.id and ran.lost:
                return ran.lost
        return None

    def _second_chance(self, exercise: Exercise) -> tuple[list[Verdict], Run]:
        """The tests again without other exercises' mistakes: the best verdicts, and their run.

        First with the wrong exercises before this one working, then with the failed ones after it
        left out as well, in case one of them broke what this one had made.
        """
        later = self._failed[self._failed.index(exercise.id) + 1 :]
        if self._wrong:
            run = self._run_with(self._wrong, [])
            verdicts = self._verdicts(run, exercise)
            if _share(verdicts) < 1:
                verdicts = _better(verdicts, self._verdicts(self._own, exercise))
        else:
            verdicts = self._verdicts(self._own, exercise)
            if not later or self._is_cause(exercise, verdicts, later):
                return verdicts, self._own
            # What it shows is wanted before it is tested.
            run = self._run_with([], later)
            run.observe(exercise)
        if later and _share(verdicts) < 1:
            without = self._run_with(self._wrong, later)
            again = self._verdicts(without, exercise)
            if _share(again) > _share(verdicts):
                return again, without
        return verdicts, run

    def _is_cause(self, exercise: Exercise, verdicts: list[Verdict], later: list[str]) -> bool:
        """Whether a known mistake in this exercise is why the later ones have failed.

        Its tests went exactly as with that mistake alone, and where it is mended all others pass.
        So none of them broke what this one made, and it need not be tested without them.
        """
        observed = self._own.shown_before(exercise)
        if observed is None:
            return False
        if self._diagnosis.name(exercise, verdicts, self._seed, observed) is None:
            return False
        mended = self._run_with([exercise.id], [])
        others = [self._assignment.exercises[each] for each in later]
        return all(_share(self._verdicts(mended, each, enough=True)) == 1 for each in others)

    def _run_with(self, wrong: list[str], skipped: list[str]) -> Run:
        """A run in which some exercises work and some are left out; made once, then shared."""
        key = (frozenset(wrong), frozenset(skipped))
        if key not in self._runs:
            given = {name: self._give(name) for name in wrong}
            self._runs[key] = Run(
                self._server,
                self._cells,
                self._seed,
                self._allowance,
                given,
                {*skipped, *self._plain},
                self.ran,
                self._diagnosis.shown,
            )
        return self._runs[key]

    def _give(self, exercise: str) -> Callable[[Engine], None]:
        solution = self._assignment.exercises[exercise].solution
        setup = list(self._assignment.setup.values())
        return lambda engine: give(engine, solution, setup)

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
        if not self._allowance.is_up:
            mistake = self._diagnosis.name(exercise, verdicts, self._seed, observed)
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
            says = explain(observed or [], right) or _plain_words(verdicts)
        if result.status in LOST and not mistake:
            says = f"The code {LOST[result.status]}. {ADVICE[result.status]}"
            if exercise.id in self._cut_short:
                says = "The notebook's time was used up before this could be tested to the end."
        result.misconception = name
        result.example = example
        result.message = says + (f"\n\n{example.as_text()}" if example else "")

    def _cell_error(self, exercise: Exercise) -> str:
        """In words, how the exercise's own cell stopped with an error, if it did."""
        for cell, ran in self._pairs():
            for output in ran.outputs if cell.exercise == exercise.id else []:
                if output.get("output_type") == "error":
                    trace = "\n".join(output["traceback"])
                    told = explain_cell(output["ename"], output["evalue"], trace, cell.source)
                    return fit(told)
        return ""


def _better(again: list[Verdict], before: list[Verdict]) -> list[Verdict]:
    """The verdicts that give more; where equal, the second: they show this mistake alone."""
    gained = _share(again) - _share(before)
    lost = any(verdict.lost for verdict in again)
    return again if gained > 0 or (gained == 0 and not lost) else before


def _share(verdicts: list[Verdict]) -> float:
    """The share of the tests that passed; nothing to pass is nothing passed."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else 0.0


def _plain_words(verdicts: list[Verdict]) -> str:
    broken = [verdict.promise for verdict in verdicts if not verdict.passed]
    errors = {verdict.error for verdict in verdicts if verdict.error}
    text = f"This does not hold yet: {broken[0]}" if broken else ""
    return text + (f" The code raised {', '.join(sorted(errors))}." if errors else "")
