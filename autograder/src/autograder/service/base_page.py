"""Base class and shared state of the service's pages: visitors, rendering, and updates.

A page is plain HTML. To show progress and feedback without a reload, an open page receives
server-sent events, each of which replaces the content of the page's element `live`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Gradebook, MissingEntry, Student
from tornado.escape import to_unicode
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from ..course_folder.course import Course
from ..gradebook.class_results import due_date
from ..marking.answer_pages import Marking
from ..pipeline.classroom import course_directory
from .asking import AskedExercises
from .attempts import Attempt, Attempts, Role, now_utc
from .feedback import CountingPages, marked, pages
from .grading import Grading
from .inbound import Inbound
from .rules import visible_level

MOST_OPEN_PAGES = 8
"""Greatest number of open pages of one person that receive updates at the same time."""

SECRET = "link"
"""Name of the cookie that holds the secret token of a person's link."""

_STILL_HERE_SECONDS = 15
"""Seconds without an update after which an open page gets a keep-alive, so that no proxy closes the
connection."""

_SEND_SECONDS = 60
"""Seconds after which a client that does not read is disconnected."""

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
    """The authenticated person who requests a page.

    Attributes:
        name: the student's id, or the instructor's or grader's name.
        role: what the person may see.
    """

    name: str
    role: Role

    @property
    def teaches(self) -> bool:
        return self.role is Role.INSTRUCTOR


class News:
    """Wakes the open pages of students for whom something changed.

    Not thread-safe: only the event loop's thread may call its methods.
    """

    def __init__(self) -> None:
        self._events: dict[str | None, asyncio.Event] = {}

    def wake(self, students: Iterable[str]) -> None:
        """Wake the open pages of these students, and the instructors' pages of the class."""
        for student in {*students, None}:
            # Each event is used for one change: a page that waits again gets a new event by `next`.
            if event := self._events.pop(student, None):
                event.set()

    def next(self, student: str | None) -> asyncio.Event:
        """Return the event that is set at the next change for a student, or (None) for anybody."""
        return self._events.setdefault(student, asyncio.Event())


class ServiceState:
    """The state that all pages share.

    Args:
        names: the assignments that may be handed in.
        grading: the thread that grades.
        marking: what the marking pages share.

    Attributes:
        title: the course's title.
        rules: the service's settings from `course.toml`.
        names: the assignments that may be handed in.
        grading: the thread that grades.
        attempts: the table of attempts, for the event loop's thread.
        marking: what the marking pages share.
        inbound: accepts uploads.
        asked: the exercises about which students ask or may ask.
        counting_pages: renders the feedback pages of attempts that count.
        news: wakes open pages.
        open_pages: by visitor: the number of open pages that receive updates.
        uploading: the ids of students with an upload in progress.
    """

    def __init__(
        self, course: Course, names: list[str], grading: Grading, marking: Marking
    ) -> None:
        settings, folders = course.settings, course_directory(course)
        self.title, self.rules, self.names = settings.title, settings.service, names
        self.grading = grading
        self.attempts = Attempts(course)
        self.marking = marking
        self.inbound = Inbound(course, folders.config, folders.course_id, self.attempts, self.rules)
        self._gradebook = Gradebook(folders.db_url, folders.course_id)
        self.counting_pages = CountingPages(course, folders)
        self.asked = AskedExercises(course, self._gradebook)
        self.news = News()
        self.open_pages: Counter[Visitor] = Counter()
        self.uploading: set[str] = set()

    def students(self) -> dict[str, str]:
        """Return each student's display name, by student id."""
        students = {each.id: _name(each) for each in self._gradebook.students}
        # End the read transaction, so that the next call reads the gradebook's current state.
        self._gradebook.db.commit()
        return students

    def student_name(self, student: str) -> str:
        """Return a student's display name; the id if the gradebook has no such student."""
        try:
            return _name(self._gradebook.find_student(student))
        except MissingEntry:
            return student
        finally:
            self._gradebook.db.commit()

    def marked(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Return the attempts; those that count have the points that the gradebook holds now."""
        return marked(self._gradebook, attempts)

    def level(self, assignment: str, student: str) -> str:
        """Return the level of an assignment's feedback that a student may see now, one of
        `settings.SHOWN`."""
        try:
            due = due_date(self._gradebook, assignment, student)
        finally:
            self._gradebook.db.commit()
        return visible_level(self.rules, due, now_utc())


def _name(student: Student) -> str:
    parts = (student.first_name, student.last_name)
    return " ".join(part for part in parts if part) or str(student.id)


class Page(RequestHandler):
    """Base of the pages: authenticates the visitor, renders templates, streams updates."""

    shared: ServiceState

    def initialize(self, shared: ServiceState) -> None:
        self.shared = shared

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def visitor(self) -> Visitor | None:
        """Return the visitor, whom a link's secret token identifies; None without a valid token.

        A browser sends the token as a cookie, a monitoring program as a bearer token.
        """
        bearer = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        owner = self.shared.attempts.owner_of(self.get_cookie(SECRET) or bearer)
        return None if owner is None else Visitor(*owner)

    def refuse(self) -> None:
        """Answer 403 to a visitor without a valid link."""
        self.set_status(403)
        self.show("message.html", text="Open the link that was sent to you.")

    def named(self, visitor: Visitor) -> str:
        """Return a person's display name, followed by the id in parentheses if the id differs."""
        name = self.shared.student_name(visitor.name)
        return name if name == visitor.name else f"{name} ({visitor.name})"

    def visitor_with(self, *roles: Role) -> Visitor | None:
        """Return the visitor if it has one of the roles.

        Without a visitor, answer the request by `refuse`, and return None. A visitor with another
        role gets 404, as for an unknown page.
        """
        visitor = self.visitor()
        if visitor is None:
            self.refuse()
        elif visitor.role not in roles:
            raise HTTPError(404)
        return visitor

    def student(self) -> Visitor | None:
        """Return the visitor, a student or an instructor, as `visitor_with` does."""
        return self.visitor_with(Role.STUDENT, Role.INSTRUCTOR)

    def instructor(self) -> Visitor | None:
        """Return the visitor, an instructor, as `visitor_with` does."""
        return self.visitor_with(Role.INSTRUCTOR)

    def show(self, template: str, **context: Any) -> None:
        self.finish(self.rendered(template, **context))

    def rendered(self, template: str, **context: Any) -> str:
        return pages().get_template(template).render(
            title=self.shared.title, root=self.settings["prefix"], token=self._token, **context
        )  # fmt: skip

    def _token(self) -> str:
        """Return the XSRF token, which forms and streams of updates send.

        Other sites cannot read the token.
        """
        return str(to_unicode(self.xsrf_token))

    def write_error(self, status_code: int, **about: Any) -> None:
        # The visitor reads the messages of `HTTPError`s that the pages raise. The message of an
        # unexpected exception (500) may hold confidential data, and is not shown.
        error = about.get("exc_info", (None, None, None))[1]
        reason = error.log_message if isinstance(error, HTTPError) and status_code != 500 else ""
        self.show("message.html", text=reason or f"{status_code}: {self._reason}")

    async def send_updates(self, visitor: Visitor, render: Callable[[], str]) -> None:
        """Send the content of the page's element `live` after each change, until the page closes.

        The response is a stream of server-sent events.

        Args:
            visitor: the person for whom the page was opened. The stream ends when the request no
                longer authenticates this person.
            render: returns the content as HTML, which is sent if it differs from the last one.
        """
        shared, about = self.shared, None if visitor.teaches else visitor.name
        if shared.open_pages[visitor] >= MOST_OPEN_PAGES:
            raise HTTPError(429, "Too many of your pages are open. Close some.")
        self.set_header("Content-Type", "text/event-stream")
        # Tells nginx not to buffer the stream.
        self.set_header("X-Accel-Buffering", "no")
        # Milliseconds until a browser reconnects; browsers' default is longer.
        self.write("retry: 1000\n")
        sent, next_sign = None, 0.0
        shared.open_pages[visitor] += 1
        try:
            # Check the visitor before each update: a link may be revoked while the page is open.
            while self.visitor() == visitor:
                # Get the event before rendering, so that a change during rendering is not missed.
                changed = shared.news.next(about)
                started = time.monotonic()
                text = render()
                took = time.monotonic() - started
                if text != sent:
                    self.write(f"data: {json.dumps(text)}\n\n")
                    sent, next_sign = text, time.monotonic() + _STILL_HERE_SECONDS
                elif time.monotonic() >= next_sign:
                    # A keep-alive, at fixed intervals: its time must not tell when something
                    # changed that the student may not see.
                    self.write(": still here\n\n")
                    next_sign = time.monotonic() + _STILL_HERE_SECONDS
                await asyncio.wait_for(self.flush(), _SEND_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), next_sign - time.monotonic())
                # Wait, so that several changes cause one update, and that rendering takes at most
                # a tenth of the time: the page of a large class takes long.
                await asyncio.sleep(max(0.1, 9 * took))
        except (StreamClosedError, TimeoutError, asyncio.CancelledError):
            # The client has disconnected or the service ends: nobody would read an error.
            return
        finally:
            shared.open_pages[visitor] -= 1
            if not shared.open_pages[visitor]:
                del shared.open_pages[visitor]
