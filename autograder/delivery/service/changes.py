"""Finds changes of the course: assignments, versions of marks, and marks from before a change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Gradebook

from ...course_folder.assignments import load_assignment, names_with_hidden_tests
from ...course_folder.key import course_key
from ...course_folder.settings import load_settings
from ...course_folder.versions import versions
from ...errors import CourseError
from ...gradebook import history
from ...pipeline.classroom import course_directory

_CONFIG = "nbgrader_config.py"
_OF_A_COURSE = ("assignment", "course", "key")
"""Versions of a mark that come from the course's own files."""


class Changes:
    """Compares the present versions of a course's files with earlier ones.

    Args:
        names: its assignments that can be handed in.
    """

    def __init__(self, course: Path, names: list[str]) -> None:
        self._course = course
        self._before = self._last = self._state(names)
        self._each = {name: self._state([name]) for name in names}

    def _state(self, names: list[str]) -> tuple[str, ...]:
        key = course_key(self._course)
        found = [(self._course / _CONFIG).read_text("utf-8", "replace"), *names]
        for name in names:
            now = versions(self._course, key, name)
            found += [now[each] for each in _OF_A_COURSE]
        return tuple(found)

    def is_as_before(self, name: str) -> bool:
        """Return whether the versions of an assignment are unchanged at this moment."""
        try:
            return name not in self._each or self._state([name]) == self._each[name]
        except (OSError, CourseError):
            return False

    def look(self) -> bool | None:
        """Return whether the course has changed; None while files may still be changing.

        Raises `CourseError` if it has, and the course is invalid as it is.
        """
        try:
            names = released(self._course)
            now = self._state(names)
        except OSError:  # A file is being replaced just now.
            return None
        last, self._last = self._last, now
        if now == self._before:
            return False
        if now != last:
            return None
        load_settings(self._course)
        for name in names:
            load_assignment(self._course, name)
        return True


def released(course: Path) -> list[str]:
    """Return the assignments that can be handed in: with hidden tests, and in the gradebook.

    Raises `CourseError` if there is none.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        known = {each.name for each in gradebook.assignments}
    names = [name for name in names_with_hidden_tests(course) if name in known]
    if not names:
        raise CourseError(
            "the gradebook has no assignment with hidden tests yet: run `nbgrader "
            "generate_assignment NAME` first"
        )
    return names


def given_before(course: Path, gradebook: Gradebook, names: Iterable[str]) -> dict[str, int]:
    """Return the number of students whose last grading used other tests or settings than today's.

    Returns:
        The number by assignment, if it is not 0.
    """
    key, found = course_key(course), {}
    for name in names:
        now = versions(course, key, name)
        last = {each.student: each.versions for each in history.entries(gradebook, name)}
        older = [
            each
            for each in last.values()
            if any(each.get(what) != now[what] for what in _OF_A_COURSE)
        ]
        if older:
            found[name] = len(older)
    gradebook.db.commit()
    return found
