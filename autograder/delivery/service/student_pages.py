"""The pages of a student: their attempts, the form for the next, and the feedback on each."""

from __future__ import annotations

import time

from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPFile, HTTPInputError, parse_body_arguments
from tornado.web import HTTPError, stream_request_body

from ...errors import CourseError
from ...notebook.intake import refused_id
from .attempts import GRADED, OVER, WAITING, Attempt
from .base_page import SECRET, Page, Visitor
from .feedback import page_shown, shown
from .grading import AGAIN_SECONDS

MAX_UPLOAD = 20_000_000
"""Greatest size in bytes of an uploaded notebook, with the browser's form around it."""

MOST_WAITING_OF_ONE, MOST_WAITING = 3, 2000
"""Greatest numbers of attempts in the queue, of one student and in all; then uploads are
refused."""

WHOLE = 3
"""Number of the last attempts that are shown with all their exercises."""


class Entry(Page):
    """Asks the visitor of a link whether they are its owner, and sets the link's cookie then.

    Any page on the web can lead a browser to any link. So only a form with a token changes the
    visitor. From then on the secret is in no address.
    """

    def get(self, token: str) -> None:
        if (owner := self._owner(token)) is None:
            return
        if (now := self.visitor()) == owner:
            self.redirect(self.settings["prefix"])
            return
        self.show(
            "entry.html", named=self.named(owner), now=now and self.named(now), secret=token,
            teaches=owner.teaches,
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
        """Return the owner of a link; if there is none, answer the request with a refusal."""
        if (found := self.shared.attempts.whose(token)) is None:
            self.refuse()
            return None
        return Visitor(*found)


class Own(Page):
    """Page with a student's attempts, and the form for the next."""

    def get(self) -> None:
        if (visitor := self.student()) is None:
            return
        if visitor.teaches:
            self.redirect("class")
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
        made = dict.fromkeys((*shared.names, *names), 0)
        for number, each in enumerate(stored, start=1):
            made[each.assignment] += 1
            level, is_late = levels[each.assignment], number > len(stored) - WHOLE
            visible_part = shown(each, level, self._wait(each, level), with_lines=is_late)
            attempts.append((made[each.assignment], visible_part))
        left = {name: max(0, shared.rules.attempts - number) for name, number in made.items()}
        return self.rendered(
            "own_live.html", attempts=attempts[::-1], rules=shared.rules, left=left,
            named=self.named(visitor),
        )  # fmt: skip

    def _wait(self, attempt: Attempt, level: str) -> str:
        """Return the state of an attempt that is not graded yet, in words.

        The time that grading takes depends on the results. So while these are hidden, the progress
        is hidden, too.
        """
        shared = self.shared
        if attempt.state == WAITING and attempt.not_before > time.time() + AGAIN_SECONDS:
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


class OwnLive(Own):
    async def get(self) -> None:  # type: ignore[override]
        if (visitor := self.student()) is not None:
            await self.send_updates(visitor, lambda: self.part(visitor))


@stream_request_body
class Upload(Page):
    """Accepts a notebook. The visitor is known before the first byte of it is read."""

    _student = ""
    _body = bytearray()

    def prepare(self) -> None:
        self._body = bytearray()
        if self.request.method != "POST":
            raise HTTPError(405)
        if (visitor := self.student()) is None:
            return
        if self.path_args[0] != visitor.name:
            raise HTTPError(
                409, f"You are {self.named(visitor)} here by now. Nothing was taken: open your "
                "attempts anew, and hand in there."
            )  # fmt: skip
        if visitor.name in self.shared.uploading:
            raise HTTPError(429, "Your last upload is still on its way. Nothing was taken.")
        self._student = visitor.name
        self.shared.uploading.add(visitor.name)
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
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
        shared, student = self.shared, self._student
        if student not in shared.students() or refused_id(student) or "/" in student:
            raise HTTPError(403, "You are not in this course. Ask the instructor.")
        name, content = self._form()
        if name not in shared.names or not content:
            raise HTTPError(400, "Choose an assignment and a notebook, and send them again.")
        # Checked first, so that the answer does not depend on the queue.
        if shared.inbound.has_last(name, student, content):
            self.redirect(self.settings["prefix"])
            return
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
        try:
            shared.inbound.upload(name, student, content)
        except (CourseError, OSError) as error:
            # A full disk, above all: the reason is for the log, and for the instructor.
            self.log_exception(type(error), error, error.__traceback__)
            raise HTTPError(
                503, "The service cannot keep files now. Nothing was taken; tell the instructor."
            ) from error
        shared.news.wake([student])
        self.redirect(self.settings["prefix"])

    def _form(self) -> tuple[str, bytes]:
        """Return the assignment and the notebook of a form; both empty if they are missing."""
        fields: dict[str, list[bytes]] = {}
        files: dict[str, list[HTTPFile]] = {}
        try:
            kind = self.request.headers.get("Content-Type", "")
            parse_body_arguments(kind, bytes(self._body), fields, files, self.request.headers)
            name = fields.get("assignment", [b""])[0].decode()
        except (HTTPInputError, UnicodeDecodeError):
            return "", b""
        sent = files.get("notebook", [])
        return (name, sent[0].body) if len(sent) == 1 else ("", b"")


class Feedback(Page):
    """Page with the feedback on an attempt, as far as its student may see it."""

    def get(self, number: str) -> None:
        if (visitor := self.student()) is None:
            return
        shared = self.shared
        attempt = shared.attempts.get(int(number))
        if attempt is None or not (visitor.teaches or attempt.student == visitor.name):
            raise HTTPError(404, "There is no such attempt of yours.")
        level = "mistakes" if visitor.teaches else shared.level(attempt.assignment, attempt.student)
        whole = shared.attempts.page_of(attempt)
        if attempt.state != GRADED or level == "nothing" or not whole.exists():
            raise HTTPError(404, "There is nothing to be shown of it yet.")
        # It holds students' text and outputs, so it may run and send nothing.
        self.set_header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        )
        self.finish(page_shown(attempt, level, whole))
