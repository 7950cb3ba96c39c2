"""The instructors' pages: the queue, the class, and each student's attempts."""

from __future__ import annotations

import time

from tornado.web import HTTPError

from .attempts import WAITING, Attempt
from .base_page import Page
from .feedback import lines_of
from .grading import OUTDATED_MARKS


class ClassPage(Page):
    """Page with the grading queue and every student's latest attempt."""

    def get(self) -> None:
        if self.instructor() is not None:
            self.show("class.html", live=self.part())

    def part(self) -> str:
        grading, attempts = self.shared.grading, self.shared.marked(self.shared.attempts.all())
        table: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in attempts:
            table.setdefault((attempt.assignment, attempt.student), []).append(attempt)
        waiting = [each for each in attempts if each.state == WAITING]
        return self.rendered(
            "class_live.html",
            running=[each for each in waiting if each.id in grading.running],
            waiting=[each for each in waiting if each.id not in grading.running],
            table=sorted(table.items()),
            students=self.shared.students(),
            trouble=grading.health.trouble,
            before=[
                OUTDATED_MARKS.format(name=name, number=number)
                for name, number in grading.outdated_marks.items()
            ],
            now=time.time(),
        )


class ClassUpdates(ClassPage):
    async def get(self) -> None:  # type: ignore[override]
        if (visitor := self.instructor()) is not None:
            await self.send_updates(visitor, self.part)


class AttemptHistory(Page):
    """Page with all attempts of one student at one assignment."""

    def get(self) -> None:
        if self.instructor() is None:
            return
        student, name = self.get_argument("student"), self.get_argument("assignment")
        attempts = self.shared.marked(self.shared.attempts.of(student, name))
        if not attempts:
            raise HTTPError(404, "There is no such attempt.")
        shown = [(each, lines_of(each, "mistakes")) for each in attempts]
        named = self.shared.students().get(student, student)
        self.show("history.html", shown=shown, student=student, named=named, assignment=name)
