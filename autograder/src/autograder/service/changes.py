"""Detects changes of the course's files during the service; counts marks from before a change."""

from __future__ import annotations

from collections.abc import Iterable

from nbgrader.api import Gradebook

from ..course_folder.course import Course
from ..course_folder.settings import load_settings
from ..course_folder.versions import versions
from ..errors import CourseError
from ..gradebook import history
from ..pipeline.classroom import course_directory

_CONFIG = "nbgrader_config.py"
_COURSE_VERSIONS = ("assignment", "course", "key")
"""Kinds of versions in a record of a grading that depend on the course's own files only."""


class Changes:
    """Compares the versions of a course's files with those at the start of the service.

    Args:
        course: the course folder.
        names: the assignments that can be handed in.
    """

    def __init__(self, course: Course, names: list[str]) -> None:
        self._course = course
        self._before = self._last = self._state(names)
        self._by_assignment = {name: self._state([name]) for name in names}

    def _state(self, names: list[str]) -> tuple[str, ...]:
        key = self._course.key
        state = [(self._course.root / _CONFIG).read_text("utf-8", "replace"), *names]
        for name in names:
            now = versions(self._course, key, name)
            state += [now[kind] for kind in _COURSE_VERSIONS]
        return tuple(state)

    def is_as_before(self, name: str) -> bool:
        """Return whether the assignment's files are now the same as at the start of the service."""
        try:
            return (
                name not in self._by_assignment or self._state([name]) == self._by_assignment[name]
            )
        except (OSError, CourseError):
            return False

    def poll(self) -> bool | None:
        """Return whether the course has changed since the start; None while files may be changing.

        The result is True only if two calls one after the other find the same changed state.
        Raises `CourseError` if the changed course is invalid.
        """
        try:
            names = released(self._course)
            now = self._state(names)
        except OSError:  # A file is being replaced just now.
            return None
        last, self._last = self._last, now
        if now == self._before:
            return False
        if now != last:  # Somebody may be in the middle of copying files.
            return None
        load_settings(self._course.root)
        for name in names:
            self._course.assignment(name)
        return True


def released(course: Course) -> list[str]:
    """Return the names of the assignments that can be handed in.

    They are in the gradebook and have hidden tests. Raises `CourseError` if there is none.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        in_gradebook = {each.name for each in gradebook.assignments}
    names = [name for name in course.names_with_hidden_tests() if name in in_gradebook]
    if not names:
        raise CourseError(
            "the gradebook has no assignment with hidden tests yet: run `nbgrader "
            "generate_assignment NAME` first"
        )
    return names


def outdated_marks(course: Course, gradebook: Gradebook, names: Iterable[str]) -> dict[str, int]:
    """Return by assignment how many students have a mark from other tests or settings than today's.

    A student's last grading decides. Assignments without a student like this are left out.

    Args:
        names: the assignments to look at.
    """
    key, counts = course.key, {}
    for name in names:
        now = versions(course, key, name)
        # Entries are sorted by time, so that the dict keeps each student's last one.
        last = {entry.student: entry.versions for entry in history.entries(gradebook, name)}
        outdated = sum(
            any(used.get(kind) != now[kind] for kind in _COURSE_VERSIONS) for used in last.values()
        )
        if outdated:
            counts[name] = outdated
    gradebook.db.commit()
    return counts
