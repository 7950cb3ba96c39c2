"""Grades notebooks of one course; if the sandbox ends meanwhile, once more in another one."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from ..course_folder.assignments import load_assignment, source_of
from ..course_folder.own_notebooks import source_cells
from ..course_folder.settings import load_settings
from ..course_folder.versions import versions
from ..errors import ProcessKilled, SandboxLost, SandboxUnavailable
from ..files import one_at_a_time, write_whole
from ..model import IN_NOTEBOOK, Cell, Judged, Limits, flaw_in_words
from ..notebook.restoring import cells_to_run
from ..wall import WarmServer, on_one_processor
from ..wall.memory import count_oom_kills
from ..wall.time_budget import TimeBudget
from .one_notebook import judge
from .own_test_cells import judge_by_own_cells
from .prepared import Prepared, require_released
from .rehearsal import flaws_of_test_cells, rehearse
from .submission import Submission

_log = logging.getLogger(__name__)

_LOST_TWICE = (
    "the sandbox was lost while this submission was graded, and once more when it was tried again. "
    "Nothing of it was stored. Something outside ends it, such as the kernel for want of memory: "
    "make room or try fewer --workers, and grade again."
)


class Grader:
    """Grades notebooks of one course; keeps its sandbox and the loaded tests. A context manager.

    Args:
        key: the key of the hidden tests' random numbers, 16 bytes or more.
        limits: of a student process; by default those of course.toml.
        submission_seconds: wall-clock time that one notebook may take with all its tests, replays
            and bases; by default that of course.toml.

    Attributes:
        is_alone: whether this is the only grading on this machine meanwhile.
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
        self._prepared: dict[str, Prepared] = {}
        self._rehearsed: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        self.is_alone = True
        self._started = False
        self._has_started = False

    def use(self, server: WarmServer) -> None:
        """Use this server, started or not, in place of the one before."""
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

    def prepare(self, name: str) -> Prepared | None:
        """Return the loaded tests and tables of an assignment, read again if a file changed.

        None if the notebook's own test cells give the points. Raises `CourseError` for an invalid
        course.
        """
        assignment = load_assignment(self.course, name)
        if assignment.in_notebook:
            require_released(assignment)
            return None
        prepared = self._prepared.get(name)
        if prepared is None or not prepared.is_current(assignment):
            if prepared is not None:
                prepared.close()
                del self._prepared[name]
            prepared = self._prepared[name] = Prepared(assignment, self._server)
        if prepared.table is None:
            self.start()
            prepared.make_table()
        return prepared

    def rehearse(self, name: str) -> list[str]:
        """Return the tests that the model solution does not pass behind the wall, in words.

        A solution that passed with the same versions is not tried again. If the sandbox ends
        meanwhile, the rehearsal runs once more in another one.
        """
        try:
            return self._rehearse(name)
        except SandboxLost as error:
            self._replace_server(name, error)
            return self._rehearse(name)

    def _rehearse(self, name: str) -> list[str]:
        prepared = self.prepare(name)
        now = versions(self.course, self._key, name)
        if self._known_to_pass().get(name) == now:
            return []
        self.start()
        if prepared is None:
            broken = self._flaws_of_test_cells(name)
            flaws = [flaw_in_words(name, *each, IN_NOTEBOOK) for each in broken.items()]
        else:
            flaws = rehearse(prepared.assignment, prepared.suite, prepared.models)
        if not flaws:
            with one_at_a_time(self.course):
                known = {**self._known_to_pass(), name: now}
                write_whole(self._record, json.dumps(known).encode(), 0o644)
        return flaws

    @property
    def _record(self) -> Path:
        return self.course / ".autograder_rehearsed"

    def _known_to_pass(self) -> dict[str, dict[str, str]]:
        """Return the versions with which the solution passed all tests, by assignment."""
        try:
            known: dict[str, dict[str, str]] = json.loads(self._record.read_text("utf-8"))
            return known
        except (OSError, ValueError):
            return {}

    def _flaws_of_test_cells(self, name: str) -> dict[str, str]:
        """Return why the source notebook does not pass its own test cells, by exercise."""
        now = versions(self.course, self._key, name)
        if self._known_to_pass().get(name) == now:
            return {}
        before, flaws = self._rehearsed.get(name, ({}, {}))
        if before != now:
            source, assignment = source_of(self.course, name), load_assignment(self.course, name)
            own = NotebookNode(cells=source_cells(self.course, source))
            cells = [cell for _, cell in cells_to_run(own, with_tests=True)]
            submission = Submission(assignment, cells, self._key)
            budget = TimeBudget(self.submission_seconds)
            judged = judge_by_own_cells(submission, self._server, budget)
            flaws = flaws_of_test_cells(source.parent, assignment, cells, judged)
            self._rehearsed[name] = now, flaws
        return flaws

    def start(self) -> None:
        """Start the sandbox if it is not running. Raises `SandboxUnavailable` if it cannot
        start."""
        if not self._started:
            self._server.start()
            self._started = self._has_started = True

    def close(self) -> None:
        """End the sandbox, and drop the prepared assignments."""
        for prepared in self._prepared.values():
            prepared.close()
        self._prepared.clear()
        if self._started:
            self._server.close()
            self._started = False

    def grade(
        self, name: str, cells: list[Cell], only: set[str] | None = None, taken: float = 0.0
    ) -> Judged:
        """Grade the code cells of a notebook, given in order.

        If the sandbox ends or does not start, the notebook is graded once more in another one. So
        it is if a student process was killed from outside, which is no verdict. If that happens
        each time, with memory left and no other notebook graded beside it, the student's code is
        the cause.

        Args:
            cells: every code cell that is to run.
            only: grade these exercises alone.
            taken: seconds of the submission's time that reading it has taken.

        Raises:
            SandboxUnavailable: student code cannot be confined here; none was run.
            SandboxLost: the second sandbox ended as well; this notebook has no verdict.
        """
        oom_kills = count_oom_kills()
        for _ in range(2):
            try:
                return self._grade(name, cells, only, taken)
            except SandboxLost as error:
                lost = error
                self._replace_server(name, error)
        if not self._has_started:
            raise SandboxUnavailable(str(lost)) from lost
        if isinstance(lost, ProcessKilled) and self.is_alone and count_oom_kills() == oom_kills:
            # The machine is idle otherwise, and memory is left: the student's code itself causes
            # the kill.
            self._server.blames_students = True
            try:
                return self._grade(name, cells, only, taken)
            finally:
                self._server.blames_students = False
        raise SandboxLost(_LOST_TWICE) from lost

    def _replace_server(self, name: str, error: SandboxLost) -> None:
        _log.info("%s: the sandbox was lost: %s", name, error)
        self._server.close()
        self.use(self._server.another())

    def _grade(self, name: str, cells: list[Cell], only: set[str] | None, taken: float) -> Judged:
        self.start()
        prepared = self.prepare(name)
        submission = Submission(load_assignment(self.course, name), cells, self._key)
        budget = TimeBudget(self.submission_seconds, taken)
        with on_one_processor():
            if prepared is None:
                flaws = partial(self._flaws_of_test_cells, name)
                judged = judge_by_own_cells(submission, self._server, budget, only, flaws)
            else:
                judged = judge(submission, prepared, self._server, budget, only)
        judged.report.sandbox = self._server.kind
        left = budget.left()
        _log.info("%s: judged, with %.1f of %g s left", name, left, self.submission_seconds)
        return judged
