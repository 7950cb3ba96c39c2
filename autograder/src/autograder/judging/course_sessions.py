"""Runs the course's own cells in the sandbox: the solution, and the mutants of mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from cachetools import LRUCache

from coursecheck.examples import PublicExample
from coursecheck.messages import FailedExample, describe

from ..course_folder.assignments import Assignment, Exercise
from ..course_folder.course import Course
from ..errors import CourseError, StudentError, StudentProcessDied
from ..records import Cell
from ..sandbox import ForkServer
from ..sandbox.guest import protocol
from ..sandbox.proxies import Student
from ..sandbox.targets import RemoteTarget
from ..sandbox.time_budget import TimeBudget
from .notebook_session import NotebookSession
from .observations import Observations


def server_of(course: Course) -> ForkServer:
    """Return a fork server, not started yet, with the limits and the sandbox set in course.toml."""
    settings = course.settings
    return ForkServer(settings.limits, settings.visible, settings.sandbox)


class CourseSessions:
    """Notebook sessions that run the solution, with other code in place of some solution cells.

    Args:
        server: the fork server that starts the student processes.
        seconds: the limit, in seconds of processor time, of each cell and each test.
    """

    def __init__(self, assignment: Assignment, server: ForkServer, seconds: float = 120.0) -> None:
        self.assignment = assignment
        self._server = server
        self._seconds = seconds
        self._drawn: LRUCache[tuple[object, ...], str] = LRUCache(maxsize=500)
        self._solution: NotebookSession | None = None

    def session(
        self, exercise: str, replaced: Mapping[str, str] | None = None, whole: bool = False
    ) -> tuple[NotebookSession, int]:
        """Return a session of the course's cells, and the place of an exercise's tests in it: the
        number of cells that run before the tests.

        Args:
            replaced: by exercise, the source to run in place of the solution.
            whole: whether the cells after the exercise run as well.
        """
        solved = [each for each in self.assignment.exercises.values() if not each.manual]
        cells = [Cell(source) for source in self.assignment.setup.values()]
        cells += [Cell((replaced or {}).get(each.id, each.solution), each.id) for each in solved]
        ids = [cell.exercise for cell in cells]
        place = len(cells) if whole or exercise not in ids else ids.index(exercise) + 1
        budget = TimeBudget(self._seconds, is_shared=False)
        name = self.assignment.name
        return NotebookSession(self._server, cells, 0, budget, assignment=name), place

    def solution(self, exercise: str) -> tuple[NotebookSession, int]:
        """Return a session of the solution, and the place of an exercise's tests in it.

        Calls for later and later exercises share one session; a call for an exercise whose place
        the session has passed starts a new one.
        """
        fresh, place = self.session(exercise)
        if self._solution is None or not self._solution.reaches(place):
            self._solution = fresh
        return self._solution, place

    def target(
        self, exercise: str, replaced: Mapping[str, str] | None = None, whole: bool = False
    ) -> Callable[[str], RemoteTarget]:
        """Return the function that `Suite.run` calls for each test of an exercise: it returns the
        target in a new session. The arguments are those of `session`."""
        session, place = self.session(exercise, replaced, whole)
        return lambda test: session.target(place)

    def drawn(self, exercise: str, failed_example: FailedExample, helpers: dict[str, bytes]) -> str:
        """Return the SVG drawing that the course's drawing function makes of a failed public
        example; "" if it makes none.

        Args:
            helpers: the course's remote helper modules, by name. `grading.drawing` in course.toml
                names the one with the drawing function.
        """
        wrong = [
            (row.expression, describe(row.seen)) for row in failed_example.rows if not row.right
        ]
        key = exercise, failed_example.code, *wrong
        if not self.assignment.drawing or failed_example.fails_alike:
            return ""
        if key not in self._drawn:
            module, _, function = self.assignment.drawing.partition(":")
            if module not in helpers:
                raise CourseError(
                    f"course.toml: grading.drawing names {module}, and there is no "
                    f"grading_tests/remote/{module}.py: correct it there, or write it"
                )
            session, place = self.solution(exercise)
            with suppress(StudentProcessDied, StudentError, protocol.ProtocolError):
                student = Student(session.target(place), helpers)
                draw = getattr(getattr(student.remote, module), function)
                self._drawn[key] = str(draw(student._step("globals"), failed_example.code, wrong))
        return self._drawn.setdefault(key, "")

    def observed(
        self, exercise: Exercise, played: Sequence[PublicExample], source: str | None = None
    ) -> Observations | None:
        """Run public examples where an exercise is tested, and return the observations of each;
        None if the process ended.

        Args:
            source: the source to run in place of the exercise's solution, if any.
        """
        session, place = self.session(
            exercise.id, None if source is None else {exercise.id: source}
        )
        try:
            return session.observe(place, exercise, played)
        finally:
            session.close()
