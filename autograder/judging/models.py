"""Runs the course's own cells behind the wall: the solution, and models of mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cachetools import LRUCache

from coursecheck.messages import Example, describe
from coursecheck.probes import Observation, Probe

from ..course_folder.assignments import Assignment, Exercise
from ..course_folder.settings import load_settings
from ..errors import CourseError, StudentError, StudentLost
from ..model import Cell
from ..wall import WarmServer
from ..wall.inside import protocol
from ..wall.proxies import Student
from ..wall.targets import RemoteTarget
from ..wall.time_budget import TimeBudget
from .trunk import Trunk


def server_of(course: Path) -> WarmServer:
    """Return a sandbox as course.toml asks for, not started yet."""
    settings = load_settings(course)
    return WarmServer(settings.limits, settings.visible, settings.sandbox)


class Models:
    """Student processes that hold the solution, with some exercises' cells replaced.

    Args:
        server: starts the processes, each in the place of the one before.
        seconds: the time limit of each cell and each test.
    """

    def __init__(self, assignment: Assignment, server: WarmServer, seconds: float = 120.0) -> None:
        self.assignment = assignment
        self._server = server
        self._seconds = seconds
        self._drawn: LRUCache[tuple[object, ...], str] = LRUCache(maxsize=500)
        self._solution: Trunk | None = None

    def trunk(
        self, exercise: str, replaced: Mapping[str, str] | None = None, whole: bool = False
    ) -> tuple[Trunk, int]:
        """Return a trunk of the course's cells, and the place of an exercise's tests in it.

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
        return Trunk(self._server, cells, 0, budget, assignment=name), place

    def solution(self, exercise: str) -> tuple[Trunk, int]:
        """Return a trunk of the solution, and the place of an exercise's tests in it.

        The trunk is shared by calls with rising places.
        """
        fresh, place = self.trunk(exercise)
        if self._solution is None or not self._solution.reaches(place):
            self._solution = fresh
        return self._solution, place

    def target(
        self, exercise: str, replaced: Mapping[str, str] | None = None, whole: bool = False
    ) -> Callable[[str], RemoteTarget]:
        """Return a fresh process for the tests of an exercise, as `Suite.run` asks for it."""
        trunk, place = self.trunk(exercise, replaced, whole)
        return lambda test: trunk.target(place)

    def drawn(self, exercise: str, example: Example, helpers: dict[str, bytes]) -> str:
        """Return a failed public example as an SVG drawing by the course; "" if it draws none.

        Args:
            helpers: the course's helper modules, one of which draws.
        """
        wrong = [(row.expression, describe(row.seen)) for row in example.rows if not row.right]
        key = exercise, example.code, *wrong
        if not self.assignment.drawing or example.fails_alike:
            return ""
        if key not in self._drawn:
            module, _, function = self.assignment.drawing.partition(":")
            if module not in helpers:
                raise CourseError(
                    f"course.toml: grading.drawing names {module}, and there is no "
                    f"grading_tests/inside/{module}.py: correct it there, or write it"
                )
            trunk, place = self.solution(exercise)
            with suppress(StudentLost, StudentError, protocol.ProtocolError):
                student = Student(trunk.target(place), helpers)
                draw = getattr(getattr(student.inside, module), function)
                self._drawn[key] = str(draw(student._step("globals"), example.code, wrong))
        return self._drawn.setdefault(key, "")

    def observed(
        self, exercise: Exercise, played: Sequence[Probe], source: str | None = None
    ) -> list[list[Observation]] | None:
        """Run probes at an exercise's place; None if its cell or a probe ends the process.

        Args:
            source: the source to run in place of the solution.
        """
        trunk, place = self.trunk(exercise.id, None if source is None else {exercise.id: source})
        try:
            return trunk.observe(place, exercise, played)
        finally:
            trunk.close()
