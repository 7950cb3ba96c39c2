"""The service on the web: pages for students and for instructors, and what tells how it is.

A page is plain HTML. What changes on it comes as server-sent events, each the part of the page
that is called `live` anew, so that an open page shows progress and feedback by itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from prometheus_client import generate_latest
from tornado.iostream import StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler

from ...course_folder.settings import load_settings
from ...notebook.intake import refused_id
from ...pipeline.classroom import course_directory
from .attempts import GRADED, OVER, WAITING, Attempt, Attempts, now_utc
from .feedback import lines_of, page_shown, pages
from .grading import Grading
from .inbound import Inbound
from .policy import shown_now

_log = logging.getLogger(__name__)

MAX_UPLOAD = 20_000_000
"""Bytes of a notebook that is uploaded by the page, with what the browser puts around it."""

MOST_WAITING_OF_ONE, MOST_WAITING = 3, 2000
"""Attempts in the queue, of one student and in all, beyond which the page takes no more."""

_STUCK_SECONDS = 120
"""After so long without a sign of life, the grading is not well."""

_STILL_HERE_SECONDS = 15
"""How often an open page is told that nothing has changed, so that nothing ends the connection."""

_SECRET = "link"
"""The cookie that keeps the secret part of a link."""

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
    """Whoever asks for a page."""

    name: str
    teaches: bool


class News:
    """Wakes all pages that are open when something has changed. Belongs to the event loop."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    @property
    def next(self) -> asyncio.Event:
        """Is set by the next change from now on."""
        return self._changed


class Shared:
    """What all pages use.

    Args:
        course: the course folder.
        names: the assignments that may be handed in.
        grading: the thread that grades.
    """

    def __init__(self, course: Path, names: list[str], grading: Grading) -> None:
        settings, folders = load_settings(course), course_directory(course)
        self.title, self.rules, self.names = settings.title, settings.service, names
        self.grading = grading
        self.attempts = Attempts(course)
        self.inbound = Inbound(folders.config, folders.course_id, self.attempts, self.rules)
        self._gradebook = Gradebook(folders.db_url, folders.course_id)
        self.news = News()

    def students(self) -> dict[str, str]:
        """The class: everybody's name for people, by id."""
        students = {}
        for each in self._gradebook.students:
            named = " ".join(part for part in (each.first_name, each.last_name) if part)
            students[each.id] = named or each.id
        self._gradebook.db.commit()
        return students

    def level(self, attempt: Attempt) -> str:
        """What may be shown of an attempt now."""
        db = self._gradebook
        try:
            due = db.find_assignment(attempt.assignment).duedate
            due = db.find_submission(attempt.assignment, attempt.student).duedate
        except MissingEntry:
            pass
        finally:
            db.db.commit()
        return shown_now(self.rules, due, now_utc())


class Page(RequestHandler):
    """A page that somebody may see."""

    shared: Shared

    def initialize(self, shared: Shared) -> None:
        self.shared = shared

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def visitor(self) -> Visitor | None:
        """Whoever asks, by the secret of their link."""
        found = self.shared.attempts.whose(self.get_cookie(_SECRET) or "")
        return None if found is None else Visitor(*found)

    def refuse(self) -> None:
        """Answer somebody who is nobody here."""
        self.set_status(403)
        self.show("message.html", text="Open the link that was sent to you.")

    def student(self) -> Visitor | None:
        """Whoever asks; where it is nobody, they are refused."""
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
            title=self.shared.title, root=self.settings["prefix"], form=self._form, **given
        )  # fmt: skip

    def _form(self) -> str:
        return str(self.xsrf_form_html())

    def write_error(self, status_code: int, **about: Any) -> None:
        error = about.get("exc_info", (None, None, None))[1]
        told = error.log_message if isinstance(error, HTTPError) and status_code != 500 else ""
        self.show("message.html", text=told or f"{status_code}: {self._reason}")

    async def keep_telling(self, render: Callable[[], str]) -> None:
        """Send a part of a page, and again whenever it has changed."""
        self.set_header("Content-Type", "text/event-stream")
        # A proxy in front may not hold it back.
        self.set_header("X-Accel-Buffering", "no")
        sent = None
        try:
            while True:
                # Asked for first: what changes while the part is sent is sent, too.
                changed = self.shared.news.next
                text = render()
                if text != sent:
                    self.write(f"data: {json.dumps(text)}\n\n")
                    sent = text
                else:
                    self.write(": still here\n\n")
                await self.flush()
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _STILL_HERE_SECONDS)
                await asyncio.sleep(0.1)  # Much may change at once.
        except StreamClosedError:
            return


class Entry(Page):
    """A link: it brings a cookie, so that its secret is in no address from then on."""

    def get(self, token: str) -> None:
        if self.shared.attempts.whose(token) is None:
            self.refuse()
            return
        is_secure = self.request.protocol == "https"
        self.set_cookie(
            _SECRET, token, httponly=True, samesite="Lax", secure=is_secure, expires_days=180,
            path=self.settings["prefix"],
        )  # fmt: skip
        self.redirect(self.settings["prefix"])


class Own(Page):
    """A student's attempts, and the form for the next."""

    def get(self) -> None:
        if (visitor := self.student()) is None:
            return
        if visitor.teaches:
            self.redirect("class")
            return
        self.show(
            "own.html", who=visitor.name, names=self.shared.names, live=self.part(visitor.name)
        )

    def part(self, student: str) -> str:
        attempts, shown = self.shared.attempts.of(student), []
        numbers: dict[str, int] = {}
        for each in attempts:
            numbers[each.assignment] = numbers.get(each.assignment, 0) + 1
            level = self.shared.level(each) if each.state == GRADED else "nothing"
            shown.append((each, numbers[each.assignment], level, lines_of(each, level)))
        left = {
            name: max(0, self.shared.rules.attempts - numbers.get(name, 0))
            for name in {*numbers, *self.shared.names}
        }
        return self.rendered("own_live.html", shown=shown[::-1], rules=self.shared.rules, left=left)


class OwnLive(Own):
    async def get(self) -> None:  # type: ignore[override]
        if (visitor := self.student()) is not None:
            await self.keep_telling(lambda: self.part(visitor.name))


class Upload(Page):
    """Takes in a notebook."""

    def post(self) -> None:
        if (visitor := self.student()) is None:
            return
        shared, student = self.shared, visitor.name
        if student not in shared.students() or refused_id(student) or "/" in student:
            raise HTTPError(403, "You are not in this course. Ask the instructor.")
        name = self.get_body_argument("assignment", "")
        files = self.request.files.get("notebook", [])
        if name not in shared.names or len(files) != 1 or not files[0]["body"]:
            raise HTTPError(400, "Choose an assignment and a notebook, and send them again.")
        waiting = shared.attempts.waiting
        if waiting(student) >= MOST_WAITING_OF_ONE or waiting() >= MOST_WAITING:
            raise HTTPError(
                429, "Too much is waiting to be graded. Nothing was taken; try again in a minute."
            )
        made = [each for each in shared.attempts.of(student, name) if each.state != OVER]
        if shared.rules.attempts and len(made) >= shared.rules.attempts:
            raise HTTPError(
                403, f"All {shared.rules.attempts} attempts are used. Nothing was taken."
            )
        shared.inbound.upload(name, student, files[0]["body"])
        shared.news.tell()
        self.redirect(self.settings["prefix"])


class Feedback(Page):
    """The page of feedback on an attempt, to its student as far as it may be shown."""

    def get(self, number: str) -> None:
        if (visitor := self.student()) is None:
            return
        attempt = self.shared.attempts.get(int(number))
        if attempt is None or not (visitor.teaches or attempt.student == visitor.name):
            raise HTTPError(404, "There is no such attempt of yours.")
        level = "mistakes" if visitor.teaches else self.shared.level(attempt)
        whole = self.shared.attempts.page_of(attempt)
        if attempt.state != GRADED or level == "nothing" or not whole.exists():
            raise HTTPError(404, "There is nothing to be shown of it yet.")
        # What students wrote and displayed is in it: it may run nothing, and send nothing.
        self.set_header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        )
        self.finish(page_shown(attempt, level, whole))


class Class(Page):
    """The queue and the class, for instructors."""

    def get(self) -> None:
        if self.instructor() is not None:
            self.show("class.html", live=self.part())

    def part(self) -> str:
        attempts = self.shared.attempts.all()
        table: dict[tuple[str, str], list[Attempt]] = {}
        for each in attempts:
            table.setdefault((each.assignment, each.student), []).append(each)
        grading = self.shared.grading
        return self.rendered(
            "class_live.html",
            waiting=[each for each in attempts if each.state == WAITING],
            table=sorted(table.items()),
            students=self.shared.students(),
            trouble=grading.health.trouble,
            now=time.time(),
        )


class ClassLive(Class):
    async def get(self) -> None:  # type: ignore[override]
        if self.instructor() is not None:
            await self.keep_telling(self.part)


class History(Page):
    """All attempts of one student at one assignment, for instructors."""

    def get(self) -> None:
        if self.instructor() is None:
            return
        student, name = self.get_argument("student"), self.get_argument("assignment")
        attempts = self.shared.attempts.of(student, name)
        if not attempts:
            raise HTTPError(404, "There is no such attempt.")
        shown = [(each, lines_of(each, "mistakes")) for each in attempts]
        named = self.shared.students().get(student, student)
        self.show("history.html", shown=shown, student=student, named=named, assignment=name)


class HealthPage(Page):
    """How the service is, for machines."""

    def get(self) -> None:
        health, attempts = self.shared.grading.health, self.shared.attempts
        is_well = not health.trouble and time.time() - health.looked < _STUCK_SECONDS
        if not is_well:
            self.set_status(503)
        self.finish(
            {
                "well": is_well,
                "waiting": attempts.waiting(),
                "oldest_wait_seconds": round(attempts.oldest_wait(), 1),
            }
        )


class MetricsPage(Page):
    def get(self) -> None:
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(generate_latest(self.shared.grading.metrics.registry))


class File(Page):
    """One of the two files that the pages load."""

    def get(self, name: str) -> None:
        content = (Path(__file__).parent / name).read_bytes()
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Etag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.finish(content)


def application(shared: Shared, prefix: str, guard: type | None = None) -> Application:
    """The web application.

    Args:
        prefix: what all its addresses begin with, `/` at both ends.
        guard: a class that finds out who asks, in the place of a link; `hub.py` has one.
    """

    def guarded(page: type[Page]) -> type:
        return page if guard is None else type(page.__name__, (guard, page), {})

    given = {"shared": shared}
    routes: list[Any] = [
        ("", guarded(Own), given),
        ("live", guarded(OwnLive), given),
        ("upload", guarded(Upload), given),
        (r"feedback/(\d{1,12})", guarded(Feedback), given),
        ("class", guarded(Class), given),
        ("class/live", guarded(ClassLive), given),
        ("class/history", guarded(History), given),
        ("health", HealthPage, given),
        ("metrics", MetricsPage, given),
        (r"(live\.js|style\.css)", File, given),
    ]
    if guard is None:
        # A secret comes in once, and as a cookie from then on.
        routes.append((r"link/([\w-]{20,100})", Entry, given))
    return Application(
        [(prefix + route[0], *route[1:]) for route in routes],
        prefix=prefix,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Lax", "path": prefix},
        log_function=_log_request,
    )


def _log_request(handler: RequestHandler) -> None:
    """Log what went wrong, without the address: that of a link is a secret."""
    if handler.get_status() >= 500:
        _log.error("%s: %d", type(handler).__name__, handler.get_status())
