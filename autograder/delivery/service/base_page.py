"""The common parts of all pages of the service: visitors, rendering, and updates.

A page is plain HTML. Changes arrive as server-sent events, each a new version of the part of the
page that is called `live`, so that an open page shows progress and feedback by itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry, Student
from tornado.escape import to_unicode
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from ...course_folder.settings import load_settings
from ...gradebook.class_results import due_date
from ...pipeline.classroom import course_directory
from .attempts import Attempts, now_utc
from .feedback import pages
from .grading import Grading
from .inbound import Inbound
from .policy import shown_now

MOST_OPEN_PAGES = 8
"""Greatest number of pages of one person that get updates at the same time."""

SECRET = "link"
"""Name of the cookie that keeps the secret part of a link."""

_STILL_HERE_SECONDS = 15
"""Seconds without an update after which an open page gets a sign of life, so that no proxy ends the
connection."""

_SEND_SECONDS = 60
"""Seconds after which a page that does not read is disconnected."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Visitor:
    """The person who asks for a page."""

    name: str
    teaches: bool


class News:
    """Wakes the open pages of students for whom there are changes. Belongs to the event loop."""

    def __init__(self) -> None:
        self._events: dict[str | None, asyncio.Event] = {}

    def wake(self, students: Iterable[str]) -> None:
        """Wake the pages of these students, and those of the whole class."""
        for each in {*students, None}:
            if event := self._events.pop(each, None):
                event.set()

    def next(self, student: str | None) -> asyncio.Event:
        """Return an event for the next change for a student; None stands for the whole class."""
        return self._events.setdefault(student, asyncio.Event())


class Shared:
    """Data that all pages use.

    Args:
        names: the assignments that may be handed in.
        grading: the thread that grades.

    Attributes:
        open_pages: how many pages of each person get updates.
        uploading: the students whose upload is on its way.
    """

    def __init__(self, course: Path, names: list[str], grading: Grading) -> None:
        settings, folders = load_settings(course), course_directory(course)
        self.title, self.rules, self.names = settings.title, settings.service, names
        self.grading = grading
        self.attempts = Attempts(course)
        self.inbound = Inbound(folders.config, folders.course_id, self.attempts, self.rules)
        self._gradebook = Gradebook(folders.db_url, folders.course_id)
        self.news = News()
        self.open_pages: Counter[Visitor] = Counter()
        self.uploading: set[str] = set()

    def students(self) -> dict[str, str]:
        """Return the class: each student's name for people, by id."""
        students = {each.id: _name(each) for each in self._gradebook.students}
        self._gradebook.db.commit()
        return students

    def student_name(self, student: str) -> str:
        """Return a student's name for people; the id itself if it is not in the class."""
        try:
            return _name(self._gradebook.find_student(student))
        except MissingEntry:
            return student
        finally:
            self._gradebook.db.commit()

    def level(self, assignment: str, student: str) -> str:
        """Return the part of an assignment's feedback that a student may see now, one of
        `settings.SHOWN`."""
        try:
            due = due_date(self._gradebook, assignment, student)
        finally:
            self._gradebook.db.commit()
        return shown_now(self.rules, due, now_utc())


def _name(student: Student) -> str:
    parts = (student.first_name, student.last_name)
    return " ".join(part for part in parts if part) or str(student.id)


class Page(RequestHandler):
    """A page of the service; it knows its visitor by a cookie, and can refuse to be shown."""

    shared: Shared

    def initialize(self, shared: Shared) -> None:
        self.shared = shared

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def visitor(self) -> Visitor | None:
        """Return the visitor, by the secret of their link; None if it is invalid."""
        found = self.shared.attempts.whose(self.get_cookie(SECRET) or "")
        return None if found is None else Visitor(*found)

    def refuse(self) -> None:
        """Answer a visitor without a valid link."""
        self.set_status(403)
        self.show("message.html", text="Open the link that was sent to you.")

    def named(self, visitor: Visitor) -> str:
        """Return a person's name for people, with the id if that differs."""
        name = self.shared.student_name(visitor.name)
        return name if name == visitor.name else f"{name} ({visitor.name})"

    def student(self) -> Visitor | None:
        """Return the visitor; if there is none, answer the request with a refusal."""
        visitor = self.visitor()
        if visitor is None:
            self.refuse()
        return visitor

    def instructor(self) -> Visitor | None:
        visitor = self.student()
        if visitor is not None and not visitor.teaches:
            raise HTTPError(404)
        return visitor

    def show(self, template: str, **given: Any) -> None:
        self.finish(self.rendered(template, **given))

    def rendered(self, template: str, **given: Any) -> str:
        return pages().get_template(template).render(
            title=self.shared.title, root=self.settings["prefix"], token=self._token, **given
        )  # fmt: skip

    def _token(self) -> str:
        """Return the token that forms and streams of events have to send, unknown to other
        sites."""
        return str(to_unicode(self.xsrf_token))

    def write_error(self, status_code: int, **about: Any) -> None:
        error = about.get("exc_info", (None, None, None))[1]
        reason = error.log_message if isinstance(error, HTTPError) and status_code != 500 else ""
        self.show("message.html", text=reason or f"{status_code}: {self._reason}")

    async def send_updates(self, visitor: Visitor, render: Callable[[], str]) -> None:
        """Send a part of a page, and again after each change, as long as the visitor may see it."""
        shared, about = self.shared, None if visitor.teaches else visitor.name
        if shared.open_pages[visitor] >= MOST_OPEN_PAGES:
            raise HTTPError(429, "Too many of your pages are open. Close some.")
        self.set_header("Content-Type", "text/event-stream")
        # A proxy in front may not hold it back.
        self.set_header("X-Accel-Buffering", "no")
        # Browsers would wait for longer before they ask again.
        self.write("retry: 1000\n")
        sent, next_sign = None, 0.0
        shared.open_pages[visitor] += 1
        try:
            # A link may be renewed while the page is open.
            while self.visitor() == visitor:
                # Asked for first, so that a change while the part is sent is sent, too.
                changed = shared.news.next(about)
                text = render()
                if text != sent:
                    self.write(f"data: {json.dumps(text)}\n\n")
                    sent, next_sign = text, time.monotonic() + _STILL_HERE_SECONDS
                elif time.monotonic() >= next_sign:
                    # Sent at fixed times, so that the time of a hidden change does not show.
                    self.write(": still here\n\n")
                    next_sign = time.monotonic() + _STILL_HERE_SECONDS
                await asyncio.wait_for(self.flush(), _SEND_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), next_sign - time.monotonic())
                await asyncio.sleep(0.1)  # Many changes may come at once.
        except (StreamClosedError, TimeoutError):
            return
        finally:
            shared.open_pages[visitor] -= 1
            if not shared.open_pages[visitor]:
                del shared.open_pages[visitor]
