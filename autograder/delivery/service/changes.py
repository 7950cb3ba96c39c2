"""Tells what can be handed in, whether it has changed since, and which marks are of before."""

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
"""Of what marks depend on, what the course's own files say."""


class Changes:
    """Compares what a course's marks depend on now with what it was.

    Args:
        course: the course folder.
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
        """Whether the marks of an assignment depend on what they did, at this moment."""
        try:
            return name not in self._each or self._state([name]) == self._each[name]
        except (OSError, CourseError):
            return False

    def look(self) -> bool | None:
        """Whether something has changed; None where it may not have come to rest yet.

        Raises `CourseError` where it has, and the course is not whole as it is.
        """
        try:
            names = released(self._course)
            now = self._state(names)
        except OSError:  # A file is just being put in another's place.
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
    """The assignments that can be handed in: with hidden tests, and known to the gradebook.

    Raises `CourseError` where there is none.
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
    """How many students' last grading was by other tests or settings than today's.

    Returns:
        The number by assignment, where there are any.
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
