"""Grades notebooks of one course, everything kept warm; again, where the sandbox was lost."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from coursecheck.check import load_table

from ..course_folder.assignments import Assignment, load_assignment, stamps_of_tests
from ..course_folder.settings import load_settings
from ..course_folder.versions import versions
from ..errors import CourseError, ProcessKilled, SandboxLost, SandboxUnavailable
from ..files import write_whole
from ..model import Cell, Judged, Limits
from ..wall import WarmServer, on_one_processor
from ..wall.memory import count_oom_kills
from ..wall.time_budget import TimeBudget
from .check_tables import build_table, made_from
from .hidden_tests import Suite
from .models import Models
from .one_notebook import judge
from .own_test_cells import judge_by_own_cells
from .rehearsal import rehearse
from .solution_times import SolutionTimes
from .submission import Submission

_log = logging.getLogger(__name__)

_LOST_TWICE = (
    "the sandbox was lost while this submission was graded, and once more when it was tried again. "
    "Nothing of it was stored. Something outside ends it, such as the kernel for want of memory: "
    "make room or try fewer --workers, and grade again."
)


class Grader:
    """Grades notebooks of one course, with everything warm. Use as a context manager.

    Args:
        course: the course folder.
        key: what the hidden tests' random numbers are keyed with, 16 bytes or more.
        limits: what a student process may use; by default what course.toml says.
        submission_seconds: wall-clock time that one notebook may take with all its tests, replays
            and bases; by default what course.toml says.

    Attributes:
        is_alone: whether nothing else is graded on this machine meanwhile.
    """

    def __init__(
        self,
        course: Path,
        key: bytes,
        limits: Limits | None = None,
        submission_seconds: float | None = None,
    ) -> None:
        self.course = course
        self._settings = load_settings(course)
        self.submission_seconds = submission_seconds or self._settings.submission_seconds
        self._key = key
        settings = self._settings
        self._server = WarmServer(limits or settings.limits, settings.visible, settings.sandbox)
        self._suites: dict[Path, tuple[Any, Suite]] = {}
        self._tables: dict[str, tuple[Assignment, dict[str, Any]]] = {}
        self._played: dict[str, tuple[Assignment, Models]] = {}
        self._times: dict[str, tuple[Any, SolutionTimes]] = {}
        self.is_alone = True
        self._started = False
        self._has_started = False

    def use(self, server: WarmServer) -> None:
        """Use this server, which was launched ahead, and launch no other."""
        if self._started:
            self._server.close()
            self._started = False
        self._server = server
        self._forget_the_course()

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self, name: str) -> None:
        """Load what grading an assignment needs. Raises `CourseError` for what is wrong with it."""
        assignment = load_assignment(self.course, name)
        if not assignment.in_notebook:
            self._suite(assignment)
            self._table(assignment)

    def rehearse(self, name: str) -> list[str]:
        """Return the hidden tests that the model solution does not pass behind the wall, in words.

        What passed once is not tried again with the same versions. An assignment that is graded
        otherwise has none.
        """
        assignment = load_assignment(self.course, name)
        if assignment.in_notebook or not assignment.tests.exists():
            return []
        record = self.course / ".autograder_rehearsed"
        now = versions(self.course, self._key, name)
        try:
            known = json.loads(record.read_text("utf-8"))
        except (OSError, ValueError):
            known = {}
        if known.get(name) == now:
            return []
        self.start()
        flaws = rehearse(assignment, self._suite(assignment), self._models(assignment))
        if not flaws:
            write_whole(record, json.dumps({**known, name: now}).encode(), 0o644)
        return flaws

    def start(self) -> None:
        """Start the sandbox, unless it is. Raises `SandboxUnavailable` where there can be none."""
        if not self._started:
            self._server.start()
            self._started = self._has_started = True

    def close(self) -> None:
        for _, suite in self._suites.values():
            suite.close()
        self._suites.clear()
        self._forget_the_course()
        if self._started:
            self._server.close()
            self._started = False

    def _forget_the_course(self) -> None:
        for _, times in self._times.values():
            times.close()
        self._times.clear()
        self._played.clear()

    def grade(
        self, name: str, cells: list[Cell], only: set[str] | None = None, taken: float = 0.0
    ) -> Judged:
        """Grade the code cells of a notebook, given in order.

        Where the sandbox is lost meanwhile, or does not start, this is tried once more with
        another one. So it is where a student process is killed from outside, which is no verdict:
        only where that happens each time, with nothing beside it and memory left, it is the
        student's doing.

        Args:
            name: the assignment.
            cells: every code cell that is to run.
            only: grade these exercises alone.
            taken: seconds of the submission's time that reading it has taken.

        Raises:
            SandboxUnavailable: student code cannot be confined here; nothing was run.
            SandboxLost: the other one was lost as well; nothing is known of this notebook.
        """
        oom_kills = count_oom_kills()
        for _ in range(2):
            try:
                return self._in_sandbox(name, cells, only, taken)
            except SandboxLost as error:
                lost = error
                _log.info("%s: the sandbox was lost: %s", name, error)
                self._renew_server()
        if not self._has_started:
            raise SandboxUnavailable(str(lost)) from lost
        if isinstance(lost, ProcessKilled) and self.is_alone and count_oom_kills() == oom_kills:
            # Nothing else runs, and memory is left: the student's code itself causes the kill.
            self._server.blames_students = True
            try:
                return self._in_sandbox(name, cells, only, taken)
            finally:
                self._server.blames_students = False
        raise SandboxLost(_LOST_TWICE) from lost

    def _renew_server(self) -> None:
        """Put another server, which is not started yet, in the place of one that was lost."""
        self._server.close()
        self._server = self._server.another()
        self._started = False
        self._forget_the_course()

    def _in_sandbox(
        self, name: str, cells: list[Cell], only: set[str] | None, taken: float
    ) -> Judged:
        self.start()
        judged = self._grade(name, cells, only, taken)
        judged.report.sandbox = self._server.kind
        return judged

    def _grade(self, name: str, cells: list[Cell], only: set[str] | None, taken: float) -> Judged:
        assignment = load_assignment(self.course, name)
        submission = Submission(assignment, cells, self._key)
        budget = TimeBudget(self.submission_seconds, taken)
        if assignment.in_notebook:
            _require_released(assignment)
            with on_one_processor():
                return judge_by_own_cells(submission, self._server, budget, only)
        suite = self._suite(assignment)
        table, times = self._table(assignment), self._solution_times(assignment)
        models = self._models(assignment)
        with on_one_processor():
            judged = judge(submission, suite, table, times, models, self._server, budget, only)
        left = budget.left()
        _log.info("%s: judged, with %.1f of %g s left", name, left, self.submission_seconds)
        return judged

    def _suite(self, assignment: Assignment) -> Suite:
        """The assignment's hidden tests, read again where one of their files has changed.

        Raises:
            CourseError: they do not belong to the assignment.
        """
        path = assignment.tests
        stamps = (*stamps_of_tests(path), assignment.core_only)
        known, suite = self._suites.get(path, (None, None))
        if suite is None or known != stamps:
            if suite is not None:
                suite.close()
            suite = Suite(path, assignment.core_only)
            self._suites[path] = stamps, suite
        _require_one_course(assignment, suite)
        return suite

    def _table(self, assignment: Assignment) -> dict[str, Any]:
        """The public probes' right results and each misconception's, by exercise.

        The visible checks' own table holds them. An assignment that has none yet, or an old one,
        gets one made, which takes a while where a probe computes for long.
        """
        known, table = self._tables.get(assignment.name, (None, {}))
        if known is not assignment:
            found: dict[str, Any] = {}
            with suppress(FileNotFoundError):
                found = load_table(assignment.table)
            if found.get("made_from") != made_from(assignment):
                self.start()
                found = build_table(assignment, self._models(assignment))
            table = found["exercises"]
            self._tables[assignment.name] = (assignment, table)
        return table

    def _models(self, assignment: Assignment) -> Models:
        """Return what plays the solution and models of mistakes, made anew where these changed."""
        known, models = self._played.get(assignment.name, (None, None))
        if models is None or known is not assignment:
            models = Models(assignment, self._server)
            self._played[assignment.name] = assignment, models
        return models

    def _solution_times(self, assignment: Assignment) -> SolutionTimes:
        """The times of the model solution, measured again where it or its tests have changed."""
        stamps = stamps_of_tests(assignment.tests)
        known, times = self._times.get(assignment.name, (None, None))
        if times is None or times.assignment is not assignment or known != stamps:
            if times is not None:
                times.close()
            times = SolutionTimes(assignment, self._server.another())
            self._times[assignment.name] = stamps, times
        return times


def _require_one_course(assignment: Assignment, suite: Suite) -> None:
    """Raises `CourseError` where source, release and hidden tests have other exercises or points.

    By such a course right answers would lose points.
    """
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
    _require_released(assignment)


def _require_released(assignment: Assignment) -> None:
    """Raises `CourseError` where an exercise is worth something else in the release."""
    name = assignment.name
    exercises = assignment.exercises.values()
    if changed := [each.id for each in exercises if each.released_points != each.total_points]:
        raise CourseError(
            f"source/{name}/{name}.ipynb: {', '.join(changed)} not worth what the release says: "
            f"run `nbgrader generate_assignment {name} --force`, and grade again"
        )
