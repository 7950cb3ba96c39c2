"""A student's pages: login by a link, attempts, upload form, and feedback."""

from __future__ import annotations

import time
from collections import Counter

from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPFile, HTTPInputError, parse_body_arguments
from tornado.web import HTTPError, stream_request_body

from ..errors import CourseError
from ..gradebook.history import MOST_WORDS
from ..notebook.intake import refused_id
from .attempts import (
    GRADED,
    MOST_RECENT,
    RECENT_MINUTES,
    UNCOUNTED,
    WAITING,
    Attempt,
    Role,
)
from .base_page import SECRET, Page, Visitor
from .feedback import lines_of, visible_page, visible_part
from .grading import RETRY_SECONDS

MAX_UPLOAD = 20_000_000
"""Greatest size in bytes of an upload: multipart form data with a notebook."""

_MAX_READ = 10 * MAX_UPLOAD
"""Size in bytes up to which the rest of a refused upload is read: a browser shows the response only
after it has sent everything."""

WHOLE = 3
"""Number of the latest attempts that are shown with the results of their exercises, beside the one
that counts."""


class LinkPage(Page):
    """Logs the owner of a link in: asks for confirmation, then sets the cookie with the token.

    A GET changes nothing, since any web page can send a browser to somebody else's link (login
    CSRF). Only the confirmation's form, which has an XSRF token, logs in.
    """

    def get(self, token: str) -> None:
        if (owner := self._owner(token)) is None:
            return
        if (now := self.visitor()) == owner:
            self.redirect(self.settings["prefix"])
            return
        self.show(
            "entry.html", named=self.named(owner), now=now and self.named(now), secret=token,
            role=owner.role.name.lower(),
        )  # fmt: skip

    def post(self, token: str) -> None:
        if self._owner(token) is None:
            return
        is_secure = self.request.protocol == "https"
        self.set_cookie(
            SECRET, token, httponly=True, samesite="Lax", secure=is_secure, expires_days=180,
            path=self.settings["prefix"],
        )  # fmt: skip
        self.redirect(self.settings["prefix"], status=303)

    def _owner(self, token: str) -> Visitor | None:
        """Return the owner of a link; for an unknown token, call `refuse` and return None."""
        if (owner := self.shared.attempts.owner_of(token)) is None:
            self.refuse()
            return None
        return Visitor(*owner)


class StudentPage(Page):
    """Page with a student's attempts, and the form to hand in the next one."""

    def get(self) -> None:
        if (visitor := self.visitor_with(*Role)) is None:
            return
        if visitor.role is not Role.STUDENT:
            self.redirect("class" if visitor.teaches else "mark/")
            return
        self.show(
            "own.html", who=visitor.name, named=self.named(visitor), names=self.shared.names,
            live=self.part(visitor),
        )  # fmt: skip

    def part(self, visitor: Visitor) -> str:
        shared, student, attempts = self.shared, visitor.name, []
        stored = shared.attempts.of(student)
        names = {each.assignment for each in stored}
        levels = {name: shared.level(name, student) for name in names}
        marks = {
            each.id: each
            for each in shared.marked([e for e in stored if levels[e.assignment] != "nothing"])
        }
        asked = {
            number: shared.asked.of(each, levels[each.assignment]) for number, each in marks.items()
        }
        counts = dict.fromkeys((*shared.names, *names), 0)
        for number, attempt in enumerate(stored, start=1):
            counts[attempt.assignment] += 1
            level = levels[attempt.assignment]
            is_whole = number > len(stored) - WHOLE or bool(asked.get(attempt.id))
            marked = marks.get(attempt.id, attempt)
            part = visible_part(marked, level, self._wait(attempt, level), with_lines=is_whole)
            attempts.append((counts[attempt.assignment], part))
        used = Counter(each.assignment for each in stored if each.state not in UNCOUNTED)
        left = {name: max(0, shared.rules.attempts - used[name]) for name in counts}
        return self.rendered(
            "own_live.html", attempts=attempts[::-1], rules=shared.rules, left=left, asked=asked,
            named=self.named(visitor),
        )  # fmt: skip

    def _wait(self, attempt: Attempt, level: str) -> str:
        """Return a sentence on the state of a waiting attempt; "" if there is none to show.

        A graded attempt has none. While results are hidden (level "nothing"), only an attempt that
        waits for another day has one: how long grading takes depends on the hidden results.
        """
        shared = self.shared
        if attempt.state == WAITING and attempt.not_before > time.time() + RETRY_SECONDS:
            return (
                f"Waits for its turn: at most {shared.rules.attempts_a_day} attempts a day are "
                "graded."
            )
        if attempt.state != WAITING or level == "nothing":
            return ""
        if attempt.id in shared.grading.running:
            return "Is being graded …"
        if shared.grading.health.trouble:
            return "Nothing can be graded at the moment. It is kept, and graded afterwards."
        before = shared.attempts.before(attempt)
        return f"In the queue: {before} before it." if before else "Is next in the queue."


class StudentUpdates(StudentPage):
    async def get(self) -> None:  # type: ignore[override]
        if (visitor := self.student()) is not None:
            await self.send_updates(visitor, lambda: self.part(visitor))


@stream_request_body
class UploadPage(Page):
    """Accepts an uploaded notebook; authenticates the visitor before reading the request's body."""

    _student = ""
    _body = bytearray()
    _is_too_large = False

    def prepare(self) -> None:
        self._body = bytearray()
        if self.request.method != "POST":
            raise HTTPError(405)
        if (visitor := self.student()) is None:
            return
        if self.path_args[0] != visitor.name:  # The login has changed since the form was rendered.
            raise HTTPError(
                409, f"You are {self.named(visitor)} here by now. Nothing was taken: open your "
                "attempts anew, and hand in there."
            )  # fmt: skip
        if visitor.name in self.shared.uploading:
            raise HTTPError(429, "Your last upload is still on its way. Nothing was taken.")
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        size = self.request.headers.get("Content-Length", "")
        if size.isdecimal() and MAX_UPLOAD < int(size) < _MAX_READ:
            self._is_too_large = True
            connection.set_max_body_size(_MAX_READ)
            return
        self._student = visitor.name
        self.shared.uploading.add(visitor.name)
        connection.set_max_body_size(MAX_UPLOAD)

    def data_received(self, chunk: bytes) -> None:
        if self._student:
            self._body += chunk

    def on_finish(self) -> None:
        self.shared.uploading.discard(self._student)
        self._body.clear()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.on_finish()

    def post(self, _: str) -> None:
        if self._is_too_large:
            raise HTTPError(
                413,
                f"The file has over {MAX_UPLOAD // 1_000_000} MB. Nothing was taken: clear the "
                "outputs (Edit, Clear Outputs of All Cells), save it, and hand it in again.",
            )
        shared, student = self.shared, self._student
        if student not in shared.students() or refused_id(student) or "/" in student:
            raise HTTPError(403, "You are not in this course. Ask the instructor.")
        name, content = self._form()
        if name not in shared.names or not content:
            raise HTTPError(400, "Choose an assignment and a notebook, and send them again.")
        # No response may depend on which attempts are graded already: the time of grading depends
        # on the results, which may be hidden from the student.
        if shared.inbound.has_last(name, student, content):
            self.redirect(self.settings["prefix"])
            return
        accepted = [e for e in shared.attempts.of(student, name) if e.state not in UNCOUNTED]
        if shared.rules.attempts and len(accepted) >= shared.rules.attempts:
            raise HTTPError(
                403, f"All {shared.rules.attempts} attempts are used. Nothing was taken."
            )
        if shared.attempts.recent(student) >= MOST_RECENT:
            raise HTTPError(
                429,
                f"You have handed in {MOST_RECENT} times within {RECENT_MINUTES} minutes. "
                "Nothing was taken; try again in some minutes.",
            )
        if len(content) > (most := shared.inbound.room(student)):
            raise HTTPError(
                413,
                f"The notebook has {len(content) / 1e6:.1f} MB. Beside your earlier attempts, "
                f"there is room for {most / 1e6:.1f} MB. Nothing was taken: clear the outputs "
                "(Edit, Clear Outputs of All Cells), save it, and hand it in again.",
            )
        try:
            shared.inbound.upload(name, student, content)
        except (CourseError, OSError) as error:
            # For example a full disk. The reason is for the instructor, so it is logged.
            self.log_exception(type(error), error, error.__traceback__)
            raise HTTPError(
                503, "The service cannot keep files now. Nothing was taken; tell the instructor."
            ) from error
        shared.news.wake([student])
        self.redirect(self.settings["prefix"])

    def _form(self) -> tuple[str, bytes]:
        """Return the form's assignment name and the notebook's content; "" and b"" if it is
        incomplete."""
        fields: dict[str, list[bytes]] = {}
        files: dict[str, list[HTTPFile]] = {}
        try:
            kind = self.request.headers.get("Content-Type", "")
            parse_body_arguments(kind, bytes(self._body), fields, files, self.request.headers)
            name = fields.get("assignment", [b""])[0].decode()
        except (HTTPInputError, UnicodeDecodeError):
            return "", b""
        notebooks = files.get("notebook", [])
        return (name, notebooks[0].body) if len(notebooks) == 1 else ("", b"")


class AskPage(Page):
    """Page on which a student asks for another look at an exercise."""

    def get(self, number: str, exercise: str) -> None:
        if (attempt := self._attempt(number, exercise)) is None:
            return
        [line] = [each for each in lines_of(attempt, "mistakes") if each["id"] == exercise]
        self.show(
            "ask.html", attempt=attempt.id, line=line, most=MOST_WORDS, asks=self.shared.asked.most
        )

    def post(self, number: str, exercise: str) -> None:
        if (attempt := self._attempt(number, exercise)) is None:
            return
        words = self.get_body_argument("words", "").strip().replace("\r\n", "\n")
        if not 0 < len(words) <= MOST_WORDS:
            raise HTTPError(
                400,
                f"Write 1 to {MOST_WORDS} characters. Nothing was sent; go back, and try again.",
            )
        self.shared.asked.ask(attempt, exercise, words)
        self.shared.news.wake([attempt.student])
        self.redirect(self.settings["prefix"], status=303)

    def _attempt(self, number: str, exercise: str) -> Attempt | None:
        """Return an attempt of the visitor's own, about which the visitor may ask; raise 404 for
        any other."""
        if (visitor := self.visitor_with(Role.STUDENT)) is None:
            return None
        shared, attempt = self.shared, self.shared.attempts.get(int(number))
        if attempt is not None and attempt.student == visitor.name:
            level = shared.level(attempt.assignment, attempt.student)
            if level == "mistakes":
                [attempt] = shared.marked([attempt])
            asking = shared.asked.of(attempt, level).get(exercise)
            if asking is not None and asking.may_ask:
                return attempt
        raise HTTPError(404, "You cannot ask for another look at this now.")


class FeedbackPage(Page):
    """Page with the visible part of an attempt's feedback; instructors see all feedback."""

    def get(self, number: str) -> None:
        if (visitor := self.student()) is None:
            return
        shared = self.shared
        attempt = shared.attempts.get(int(number))
        if attempt is None or not (visitor.teaches or attempt.student == visitor.name):
            raise HTTPError(404, "There is no such attempt of yours.")
        level = "mistakes" if visitor.teaches else shared.level(attempt.assignment, attempt.student)
        full_page = shared.attempts.page_of(attempt)
        if attempt.state != GRADED or level == "nothing" or not full_page.exists():
            raise HTTPError(404, "There is nothing to be shown of it yet, or no longer.")
        [attempt] = shared.marked([attempt])
        # The page holds students' text and outputs: the directive `sandbox` forbids all scripts.
        self.set_header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        )
        page = visible_page(attempt, level, lambda: shared.counting_pages.now(attempt, full_page))
        self.finish(page)
