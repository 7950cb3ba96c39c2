"""Sends marks to a learning management system: each student's once, and again if it has changed.

Sent marks are recorded in `imported/ASSIGNMENT/sent_SYSTEM.json`, after each single mark. A command
that was stopped goes on where it was; if an answer was lost, the mark is sent again, which sets the
same number: a mark is set, never added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from nbgrader.api import Gradebook

from ...errors import CourseError
from ...faults import kept_at
from ...files import one_at_a_time, write_whole
from ...gradebook.class_results import class_results
from ...gradebook.late_penalties import LatePenalties
from ...pipeline.classroom import course_directory
from .importing import FOLDER

WOULD, SENT, BEFORE, WAITS, NOBODY, FAILED = (
    "would be sent", "sent", "sent before", "waits for a person", "not there", "failed",
)  # fmt: skip
DONE = (WOULD, SENT, BEFORE)
"""States that need no action by a person."""


@dataclass(frozen=True)
class Mark:
    """The mark of one student."""

    student: str
    user: str
    points: float
    max_points: float


@dataclass
class Sent:
    """The outcome of sending one student's mark; `told` explains it."""

    student: str
    state: str
    points: float | None = None
    told: str = ""


class Platform(Protocol):
    """A learning management system that accepts marks.

    Attributes:
        name: the system and its column, unique in the record.
    """

    name: str

    def look(self) -> None:
        """Check that the system can be used. Raises `CourseError` if it cannot."""
        ...

    def has(self, mark: Mark) -> bool:
        """Return whether this very mark is known to be there."""
        ...

    def lacks(self, user: str) -> str:
        """Return why there is no such user, in words; "" if there is one, or the system cannot
        say."""
        ...

    def send(self, mark: Mark) -> None:
        """Set the user's mark. Raises `CourseError` if that fails."""
        ...


def send_marks(
    course: Path, name: str, platform: Callable[[float], Platform], yes: bool
) -> Iterator[Sent]:
    """Send the marks of an assignment, or list those to send; yield each student's when it is done.

    Args:
        platform: makes the system, given the maximum of points.
        yes: whether to send.

    Raises `CourseError` if the assignment is unknown, or the system cannot be used.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        penalties = LatePenalties(folders.config, gradebook)
        users = {each.id: each.lms_user_id or "" for each in gradebook.students}
        unsettled = penalties.settle_each(users)
        results = class_results(gradebook, name)
    there = platform(results.max_score)
    there.look()
    record = _Record(course, name, there.name)
    for result in results.submitted:
        user = users[result.student]
        if why := unsettled.get(result.student):
            yield Sent(result.student, FAILED, told=why)
            continue
        if result.waiting:
            yield Sent(result.student, WAITS, told=", ".join(result.waiting))
            continue
        if not user:
            yield Sent(
                result.student, NOBODY, result.mark,
                "the gradebook has no lms_user_id of this student",
            )  # fmt: skip
            continue
        mark = Mark(result.student, user, result.mark, results.max_score)
        if record.has(mark) or there.has(mark):
            yield Sent(result.student, BEFORE, result.mark)
        elif why := there.lacks(user):
            yield Sent(result.student, NOBODY, result.mark, why)
        elif not yes:
            yield Sent(result.student, WOULD, result.mark)
        else:
            with kept_at(result.student) as fault:
                there.send(mark)
                with one_at_a_time(course):
                    record.add(mark)
            state = FAILED if fault.reason else SENT
            yield Sent(result.student, state, result.mark, fault.reason)


class _Record:
    """The marks that were sent, by student."""

    def __init__(self, course: Path, name: str, platform: str) -> None:
        kind = platform.partition(" ")[0]
        self._path = course / FOLDER / name / f"sent_{kind}.json"
        try:
            self._all: dict[str, dict[str, Any]] = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            self._all = {}
        except (OSError, ValueError) as error:
            raise CourseError(
                f"{self._path} is damaged ({error}). Put it aside; all marks are then sent again."
            ) from error
        self._sent = self._all.setdefault(platform, {})

    def has(self, mark: Mark) -> bool:
        before = self._sent.get(mark.student)
        return before is not None and (before["user"], before["points"], before["max_points"]) == (
            mark.user, mark.points, mark.max_points
        )  # fmt: skip

    def add(self, mark: Mark) -> None:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        self._sent[mark.student] = {
            "user": mark.user, "points": mark.points, "max_points": mark.max_points, "time": when
        }  # fmt: skip
        write_whole(self._path, json.dumps(self._all, indent=1).encode() + b"\n", 0o600)
