"""Grades notebooks of one course. If the sandbox ends during a grading, the grading is repeated
once in a new sandbox."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from ..course_folder.course import Course
from ..course_folder.own_notebooks import read_cells
from ..course_folder.versions import versions
from ..errors import ProcessKilled, SandboxDied, SandboxUnavailable
from ..files import write_atomic
from ..notebook.restoring import cells_to_run
from ..records import IN_NOTEBOOK, Cell, CellResult, JudgedNotebook, Limits, defect_in_words
from ..sandbox import ForkServer, on_one_processor
from ..sandbox.memory import count_oom_kills
from ..sandbox.time_budget import TimeBudget
from .notebook_session import NotebookSession
from .one_notebook import judge
from .own_test_cells import judge_by_own_cells
from .prepared import LoadedAssignment, require_released
from .solution_check import check_solution, defects_of_test_cells, failing_cells
from .submission import Submission

_log = logging.getLogger(__name__)

_LOST_TWICE = (
    "the sandbox was lost while this submission was graded, and once more when it was tried again. "
    "Nothing of it was stored. Something outside ends it, such as the kernel for want of memory: "
    "make room or try fewer --workers, and grade again."
)


class Grader:
    """Grades notebooks of one course, with one sandbox and the loaded tests kept between them.

    A context manager that ends the sandbox.

    Args:
        course: the course's folder.
        key: the key of the hidden tests' random numbers, 16 bytes or more.
        limits: the limits of a student process; by default those of course.toml.
        submission_seconds: processor time that one notebook may take with all its tests, replays
            and contexts; by default that of course.toml.

    Attributes:
        is_alone: whether no other grading runs on this machine at the same time.
    """

    def __init__(
        self,
        course: Course,
        key: bytes,
        limits: Limits | None = None,
        submission_seconds: float | None = None,
    ) -> None:
        self.course = course
        self._settings = course.settings
        self.submission_seconds = submission_seconds or self._settings.submission_seconds
        self._key = key
        settings = self._settings
        self._server = ForkServer(limits or settings.limits, settings.visible, settings.sandbox)
        self._prepared: dict[str, LoadedAssignment] = {}
        self._checked: dict[str, tuple[dict[str, str], dict[str, str], list[CellResult]]] = {}
        self.is_alone = True
        self._started = False
        self._has_started = False

    def use(self, server: ForkServer) -> None:
        """Use this fork server in place of the present one. `start` was not called on it yet, but
        its program may run already."""
        if self._started:
            self._server.close()
            self._started = False
        self._server = server
        for prepared in self._prepared.values():
            prepared.use(server)

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self, name: str) -> LoadedAssignment | None:
        """Return the loaded tests and tables of the assignment NAME. They are read again if one of
        their files changed.

        None if the notebook's own test cells give the points. Raises `CourseError` for an invalid
        course.
        """
        assignment = self.course.assignment(name)
        if assignment.in_notebook:
            require_released(assignment)
            return None
        prepared = self._prepared.get(name)
        if prepared is None or not prepared.is_current(assignment):
            if prepared is not None:
                prepared.close()
                del self._prepared[name]
            prepared = self._prepared[name] = LoadedAssignment(assignment, self._server)
        if prepared.table is None:
            self.start()
            prepared.make_table()
        return prepared

    def check_solution(self, name: str) -> list[str]:
        """Return a message for each test that the reference solution does not pass in the sandbox.

        A solution that passed with the same versions of all files is not checked again. If the
        sandbox ends during the check, the check is repeated once in a new sandbox.
        """
        try:
            return self._check_solution(name)
        except SandboxDied as error:
            self._replace_server(name, error)
            return self._check_solution(name)

    def _check_solution(self, name: str) -> list[str]:
        now = versions(self.course, self._key, name)
        if self._known_to_pass().get(name) == now:
            return []
        prepared = self.prepare(name)
        self._require_stubs(name)
        self.start()
        cells = self._source_cells(name)
        if prepared is None:
            broken = self._defects_of_test_cells(name)
            defects = [defect_in_words(name, *each, IN_NOTEBOOK) for each in broken.items()]
            ran = self._checked[name][2]
        else:
            defects = check_solution(prepared.assignment, prepared.suite, prepared.course_sessions)
            budget = TimeBudget(self.submission_seconds, of_course=1.0)
            session = NotebookSession(self._server, cells, 0, budget, assignment=name)
            session.run_all()
            ran = session.ran
        defects += failing_cells(self.course.assignment(name), cells, ran, defects)
        if not defects:
            with self.course.lock():
                known = {**self._known_to_pass(), name: now}
                write_atomic(self._record, json.dumps(known).encode(), 0o644)
        return defects

    def _require_stubs(self, name: str) -> None:
        """Raise `CourseError` if the stubs in the release are not those that the source gives."""
        # Imported late: a solution that is known to pass does not need it, and the import is slow.
        from ..course_folder.release import require_stubs

        place = self.course.notebook_path(name)
        require_stubs(self.course, place.folder, place.notebook)

    @property
    def _record(self) -> Path:
        return self.course.root / ".autograder_checked"

    def _known_to_pass(self) -> dict[str, dict[str, str]]:
        """Return by assignment: the versions of the files with which the solution passed all
        tests."""
        try:
            known: dict[str, dict[str, str]] = json.loads(self._record.read_text("utf-8"))
            return known
        except (OSError, ValueError):
            return {}

    def _defects_of_test_cells(self, name: str) -> dict[str, str]:
        """Return by exercise: why the source notebook does not pass its own test cell."""
        now = versions(self.course, self._key, name)
        if self._known_to_pass().get(name) == now:
            return {}
        before, defects, _ = self._checked.get(name, ({}, {}, []))
        if before != now:
            assignment, cells = self.course.assignment(name), self._source_cells(name)
            submission = Submission(assignment, cells, self._key)
            budget = TimeBudget(self.submission_seconds, of_course=1.0)
            judged = judge_by_own_cells(submission, self._server, budget)
            defects = defects_of_test_cells(assignment, cells, judged)
            self._checked[name] = now, defects, judged.ran
        return defects

    def _source_cells(self, name: str) -> list[Cell]:
        """Return the code cells of the source notebook; test cells only if they give the points."""
        assignment = self.course.assignment(name)
        own = NotebookNode(cells=read_cells(*self.course.source_files(name)))
        return [cell for _, cell in cells_to_run(own, with_tests=assignment.in_notebook)]

    def start(self) -> None:
        """Start the sandbox if it is not running.

        Raises `SandboxUnavailable` if no kind of sandbox works, and `SandboxDied` if the sandbox
        does not start.
        """
        if not self._started:
            self._server.start()
            self._started = self._has_started = True

    def end_sandbox(self) -> None:
        """End the sandbox; `start` starts a new one."""
        self._server.close()
        self.use(self._server.clone())

    def close(self) -> None:
        """End the sandbox, and close the loaded assignments."""
        for prepared in self._prepared.values():
            prepared.close()
        self._prepared.clear()
        if self._started:
            self._server.close()
            self._started = False

    def grade(
        self, name: str, cells: list[Cell], only: set[str] | None = None, taken: float = 0.0
    ) -> JudgedNotebook:
        """Grade the code cells of a notebook.

        If the sandbox ends or does not start, or a student process is killed from outside, the
        notebook is graded once more in a new sandbox: being killed is no verdict. If the student
        process is killed again, no other notebook is being graded, and the kernel ended no process
        for want of memory, the student's code is taken to be the cause, and is graded with that.

        Args:
            name: the assignment.
            cells: every code cell that is to run, in the order of the notebook.
            only: the ids of the exercises to grade; by default all.
            taken: seconds of the submission's time that were used to read it.

        Raises:
            SandboxUnavailable: student code cannot be confined here; none was run.
            SandboxDied: the second sandbox ended as well; this notebook has no verdict.
        """
        oom_kills = count_oom_kills()
        for _ in range(2):
            try:
                return self._grade(name, cells, only, taken)
            except SandboxDied as error:
                lost = error
                self._replace_server(name, error)
        if not self._has_started:
            raise SandboxUnavailable(str(lost)) from lost
        if isinstance(lost, ProcessKilled) and self.is_alone and count_oom_kills() == oom_kills:
            # No other notebook is graded, and the kernel ended no process for want of memory: the
            # student's code itself causes the kill.
            self._server.blames_students = True
            try:
                return self._grade(name, cells, only, taken)
            finally:
                self._server.blames_students = False
        raise SandboxDied(_LOST_TWICE) from lost

    def _replace_server(self, name: str, error: SandboxDied) -> None:
        _log.info("%s: the sandbox was lost: %s", name, error)
        self.end_sandbox()

    def _grade(
        self, name: str, cells: list[Cell], only: set[str] | None, taken: float
    ) -> JudgedNotebook:
        self.start()
        prepared = self.prepare(name)
        submission = Submission(self.course.assignment(name), cells, self._key)
        budget = TimeBudget(self.submission_seconds, taken)
        with on_one_processor():
            if prepared is None:
                defects = partial(self._defects_of_test_cells, name)
                judged = judge_by_own_cells(submission, self._server, budget, only, defects)
            else:
                judged = judge(submission, prepared, self._server, budget, only)
        judged.report.sandbox = self._server.kind
        left = budget.left()
        _log.info("%s: judged, with %.1f of %g s left", name, left, self.submission_seconds)
        return judged
