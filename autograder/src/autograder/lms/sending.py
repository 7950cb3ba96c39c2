"""Sends marks to a learning management system: each mark once, and again after a change.

`imported/ASSIGNMENT/sent_SYSTEM.json` records every mark after it was sent, so that a command that
was stopped resumes there. Sending is idempotent: after a lost response, the same mark is set again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from nbgrader.api import Gradebook

from ..course_folder.course import Course
from ..errors import CourseError
from ..files import write_atomic
from ..gradebook.class_results import class_results
from ..gradebook.late_penalties import LatePenalties
from ..isolation import isolated_errors
from ..pipeline.classroom import course_directory
from .importing import FOLDER

WOULD, SENT, BEFORE, WAITS, NOBODY, FAILED = (
    "would be sent", "sent", "sent before", "waits for a person", "not there", "failed",
)  # fmt: skip
DONE = (WOULD, SENT, BEFORE)
"""States that need no action by a person."""


@dataclass(frozen=True)
class Mark:
    """The mark of one student.

    Attributes:
        student: the student's id in the gradebook.
        user: the student's id in the learning management system.
        points: the mark.
        max_points: the maximum of the mark.
    """

    student: str
    user: str
    points: float
    max_points: float


@dataclass
class SendResult:
    """The outcome of sending one student's mark.

    Attributes:
        student: the student's id in the gradebook.
        state: `WOULD`, `SENT`, `BEFORE`, `WAITS`, `NOBODY` or `FAILED`.
        points: the mark; None if it is unknown.
        detail: the reason for the state; "" if there is none.
    """

    student: str
    state: str
    points: float | None = None
    detail: str = ""


class Platform(Protocol):
    """A learning management system that accepts marks.

    Attributes:
        name: the system and the column for the marks; the record of sent marks has an entry by this
            name.
    """

    name: str

    def connect(self) -> None:
        """Check access, and fetch the state of the column for the marks.

        Raises `CourseError` if that fails.
        """
        ...

    def has(self, mark: Mark) -> bool:
        """Return whether the system has this mark already; False if that is unknown."""
        ...

    def why_unknown(self, user: str) -> str:
        """Return an error message if the system does not have this user; "" if it does."""
        ...

    def send(self, mark: Mark) -> None:
        """Set the user's mark. Raises `CourseError` if that fails."""
        ...


def send_marks(
    course: Course, name: str, platform: Callable[[float], Platform], yes: bool
) -> Iterator[SendResult]:
    """Send the marks of an assignment; yield the outcome for each student.

    Args:
        name: the assignment.
        platform: returns the learning management system, given the maximum of the marks.
        yes: whether to send the marks; if False, they are only listed.

    Raises `CourseError` if the assignment is unknown, or the system cannot be used.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        penalties = LatePenalties(folders.config, gradebook)
        users = {each.id: each.lms_user_id or "" for each in gradebook.students}
        unsettled = penalties.settle_each(users)
        results = class_results(gradebook, name)
    system = platform(results.max_score)
    system.connect()
    record = _Record(course, name, system.name)
    for result in results.submitted:
        user = users[result.student]
        if why := unsettled.get(result.student):
            yield SendResult(result.student, FAILED, detail=why)
            continue
        if result.waiting:
            yield SendResult(result.student, WAITS, detail=", ".join(result.waiting))
            continue
        if not user:
            yield SendResult(
                result.student, NOBODY, result.mark,
                "the gradebook has no lms_user_id of this student",
            )  # fmt: skip
            continue
        mark = Mark(result.student, user, result.mark, results.max_score)
        if record.has(mark) or system.has(mark):
            yield SendResult(result.student, BEFORE, result.mark)
        elif why := system.why_unknown(user):
            yield SendResult(result.student, NOBODY, result.mark, why)
        elif not yes:
            yield SendResult(result.student, WOULD, result.mark)
        else:
            with isolated_errors(result.student) as fault:
                system.send(mark)
                with course.lock():
                    record.add(mark)
            state = FAILED if fault.reason else SENT
            yield SendResult(result.student, state, result.mark, fault.reason)


class _Record:
    """The record of sent marks: a file for each kind of system, by platform and student.

    Args:
        name: the assignment.
        platform: the platform's `name`, whose first word is the kind of system.
    """

    def __init__(self, course: Course, name: str, platform: str) -> None:
        kind = platform.partition(" ")[0]
        self._path = course.root / FOLDER / name / f"sent_{kind}.json"
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
        write_atomic(self._path, json.dumps(self._all, indent=1).encode() + b"\n", 0o600)
