"""Lets students ask for another look at an exercise, and shows them what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from nbgrader.api import Gradebook

from ..course_folder.course import Course
from ..gradebook import history
from ..gradebook.class_results import due_date
from .attempts import GRADED, Attempt


@dataclass(frozen=True)
class Asking:
    """The requests of a student about an exercise, and whether another is allowed now.

    Attributes:
        asks: what the student asked and people replied, the last one last.
        may_ask: whether the student may ask for another look now.
    """

    asks: Sequence[history.Ask]
    may_ask: bool


class AskedExercises:
    """The exercises about which students ask or may ask.

    Attributes:
        most: greatest number of exercises of an assignment about which a student may ask.
    """

    def __init__(self, course: Course, gradebook: Gradebook) -> None:
        self._course, self._gradebook = course, gradebook
        self._rules = course.settings.marking
        self.most = self._rules.asks
        self._is_shown_at_once = course.settings.service.before_due == "mistakes"

    def of(self, attempt: Attempt, level: str) -> dict[str, Asking]:
        """Return, by exercise, what was asked and may be asked; {} unless the student sees the mark
        that the attempt gives.

        Args:
            attempt: the attempt, with the points that the gradebook holds now.
            level: the level of feedback that the student may see, one of `settings.SHOWN`.
        """
        if level != "mistakes" or not attempt.counts or attempt.state != GRADED or attempt.error:
            return {}
        name, db = self._name(attempt), self._gradebook.db
        try:
            asks = history.asks(db.connection(), name, attempt.student)
            given = history.markings(db.connection(), name, attempt.student)
            due = due_date(self._gradebook, attempt.assignment, attempt.student)
        finally:
            db.commit()
        shown = datetime.fromtimestamp(attempt.graded or 0.0, UTC)
        if due is not None and not self._is_shown_at_once:
            shown = max(shown, due.replace(tzinfo=UTC))
        since = {each.exercise: datetime.fromisoformat(each.time) for each in given}
        left = self._rules.asks - len({each.exercise for each in asks})
        of_exercise: dict[str, list[history.Ask]] = {}
        for each in asks:
            of_exercise.setdefault(each.exercise, []).append(each)
        until = datetime.now(UTC) - timedelta(days=self._rules.ask_days)
        return {
            each["id"]: Asking(
                of_exercise.get(each["id"], ()),
                left > 0
                and each["id"] not in of_exercise
                and each["points"] is not None
                and each["points"] < each["max_points"]
                and max(shown, since.get(each["id"], shown)) > until,
            )
            for each in attempt.report.get("exercises", ())
        }

    def ask(self, attempt: Attempt, exercise: str, words: str) -> None:
        """Store that the student asks for another look."""
        db, who = self._gradebook.db, attempt.student
        ask = history.Ask(who, self._name(attempt), who, exercise, words)
        history.add_ask(db.connection(), ask)
        db.commit()

    def _name(self, attempt: Attempt) -> str:
        path = self._course.notebook_path(attempt.assignment)
        return history.recorded_name(path.folder, path.notebook)
