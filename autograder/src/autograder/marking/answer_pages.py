"""The marking pages: a list of exercises, and one page for each answer.

They are plain forms. A mark is stored only if nobody has changed the exercise since the page was
loaded; else both marks are shown, and nothing is stored.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import time
from pathlib import Path
from typing import Any

from markupsafe import Markup
from nbgrader.api import Grade, MissingEntry
from tornado.escape import to_unicode
from tornado.web import Application, HTTPError, RequestHandler

from ..gradebook import by_hand, history
from ..pages.markdown import markdown_html
from ..pages.templates import templates
from .answers import Answer, Answers

_OPEN_SECONDS = 600
"""Seconds for which nobody else gets an answer as the next one after somebody opened it."""

_COMMENTS = 9
"""Number of comments used before that a page offers: one for each digit."""

_PRINTED = 20_000
"""Greatest number of characters that a code cell's outputs have on the page."""

_COOKIE = "marking"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Marking:
    """What the pages share.

    Args:
        answers: the answers to mark.
        who: the person who marks, for the record.

    Attributes:
        token: the secret in the address of the first page.
        opened: by grade: which browser has its answer open, and since when.
    """

    def __init__(self, answers: Answers, who: str) -> None:
        self.answers, self.who = answers, who
        self.token = secrets.token_urlsafe(24)
        self.opened: dict[str, tuple[str, float]] = {}

    def next(self, exercise: str, browser: str) -> Answer | None:
        """Return the next answer that waits and that no other browser has open; None if none
        does."""
        for answer in self.answers.of(exercise):
            other, since = self.opened.get(answer.row, (browser, 0.0))
            is_taken = other != browser and time.monotonic() - since < _OPEN_SECONDS
            if answer.waits and not is_taken:
                self.opened[answer.row] = (browser, time.monotonic())
                return answer
        return None


class Page(RequestHandler):
    """Base of the pages: lets in the browser that opened the address with the token."""

    marking: Marking

    def initialize(self, marking: Marking) -> None:
        self.marking = marking

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        # Another site whose name leads to this machine has its own name here.
        host, token = self.request.host_name, self.get_query_argument("token", "")
        if host not in ("127.0.0.1", "localhost"):
            raise HTTPError(403)
        if hmac.compare_digest(token.encode(), self.marking.token.encode()):
            self.set_signed_cookie(
                _COOKIE, secrets.token_urlsafe(12), httponly=True, samesite="Lax"
            )
            self.redirect("/")
        elif self.get_signed_cookie(_COOKIE) is None:
            raise HTTPError(403)

    @property
    def browser(self) -> str:
        return str(to_unicode(self.get_signed_cookie(_COOKIE)))

    def show(self, template: str, **values: Any) -> None:
        page = templates(__package__).get_template(template)
        answers = self.marking.answers
        self.finish(page.render(name=answers.name, xsrf=Markup(self.xsrf_form_html()), **values))

    def exercise_answers(self, exercise: str) -> list[Answer]:
        if exercise not in self.marking.answers.exercises:
            raise HTTPError(404)
        return self.marking.answers.of(exercise)

    def write_error(self, status_code: int, **_: Any) -> None:
        words = {403: "Open the address that the command printed.", 404: "There is no such answer."}
        self.finish(words.get(status_code, f"{status_code}: {self._reason}"))


class Exercises(Page):
    """Lists the exercises that a person marks."""

    def get(self) -> None:
        answers = self.marking.answers
        rows = [
            (exercise, found, sum(each.waits for each in found))
            for exercise in answers.exercises.values()
            for found in [answers.of(exercise.id)]
        ]
        self.show("exercises.html", rows=rows)


class Next(Page):
    """Leads to the next answer that waits."""

    def get(self, exercise: str) -> None:
        self.exercise_answers(exercise)
        answer = self.marking.next(exercise, self.browser)
        self.redirect(f"/{exercise}/{answer.row}" if answer else "/")


class OneAnswer(Page):
    """Shows an answer, and stores its points and comment."""

    def get(self, exercise: str, row: str) -> None:
        self._show(exercise, row)

    def post(self, exercise: str, row: str) -> None:
        answers, answer = self._found(exercise, row)
        try:
            typed = self._typed(self.marking.answers.exercises[exercise].max_points)
            seen = json.loads(self.get_body_argument("seen"))
        except ValueError as error:
            self._show(exercise, row, problem=str(error))
            return
        alike = [answer]
        if self.get_body_argument("alike", ""):
            alike += [each for each in answers if each.waits and each.same == answer.same]
        for each in dict.fromkeys(alike):
            shown = seen if each is answer else self._snapshot(each)
            try:
                stored, now = by_hand.store(
                    self.marking.answers.gradebook.engine, Grade, each.row, shown, typed,
                    self.marking.who,
                )  # fmt: skip
            except MissingEntry as error:
                raise HTTPError(404) from error
            if not stored and each is answer:
                self.set_status(409)
                self._show(exercise, row, typed=typed, other=now)
                return
        self.redirect(f"/{exercise}")

    def _typed(self, most: float) -> by_hand.Snapshot:
        """Return the points and the comment in the form. Raises `ValueError` for invalid points."""
        text = self.get_body_argument("points").strip().replace(",", ".")
        try:
            points = float(text)
        except ValueError:
            points = math.nan
        if not 0 <= points <= most:
            raise ValueError(f"The points are a number from 0 to {most:g}.")
        comment = self.get_body_argument("comment", "").strip()
        return {"manual_score": points, "manual_comment": comment or None}

    def _snapshot(self, answer: Answer) -> by_hand.Snapshot:
        with self.marking.answers.gradebook.engine.connect() as db:
            return by_hand.take_snapshots(db, answer.submitted)[answer.row]

    def _found(self, exercise: str, row: str) -> tuple[list[Answer], Answer]:
        answers = self.exercise_answers(exercise)
        for answer in answers:
            if answer.row == row:
                return answers, answer
        raise HTTPError(404)

    def _show(
        self,
        exercise: str,
        row: str,
        problem: str = "",
        typed: by_hand.Snapshot | None = None,
        other: by_hand.Snapshot | None = None,
    ) -> None:
        answers, answer = self._found(exercise, row)
        place = answers.index(answer)
        about = self.marking.answers.exercises[exercise]
        with self.marking.answers.gradebook.engine.connect() as db:
            given = history.markings(db, self.marking.answers.name)
        snapshot = other or self._snapshot(answer)
        used = dict.fromkeys(
            each.comment for each in reversed(given) if each.exercise == exercise and each.comment
        )
        guide = markdown_html(about.marking_guide, {}, {}) if about.marking_guide else ""
        self.show(
            "answer.html",
            exercise=about,
            answer=Markup("").join(map(_shown, answer.cells)),
            place=place + 1,
            number=len(answers),
            waiting=sum(each.waits for each in answers),
            before=answers[place - 1].row if place else "",
            alike=sum(
                each.waits and each.same == answer.same and each != answer for each in answers
            ),
            guide=Markup(guide),
            snapshot=snapshot,
            typed=typed or snapshot,
            seen=json.dumps(snapshot),
            conflict=other is not None,
            problem=problem,
            used=list(used)[:_COMMENTS],
            lines=[
                each
                for each in given
                if (each.student, each.exercise) == (answer.student, exercise)
            ],
        )


def _shown(cell: dict[str, Any]) -> Markup:
    """Return a cell of a student as HTML: text as it is set, code with what it printed."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return Markup(markdown_html(source, {}, cell.get("attachments", {})))
    printed = "".join(
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.get("outputs", [])
    )
    return Markup("<pre>{}</pre><pre>{}</pre>").format(source, printed[:_PRINTED])


class StaticFile(Page):
    """Serves the style sheet and the script."""

    def get(self, name: str) -> None:
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.finish((Path(__file__).parent / name).read_bytes())


def application(marking: Marking) -> Application:
    """Return the web application."""
    arguments = {"marking": marking}
    return Application(
        [
            ("/", Exercises, arguments),
            (r"/(mark\.css|mark\.js)", StaticFile, arguments),
            (r"/([\w.-]+)", Next, arguments),
            (r"/([\w.-]+)/([\w-]+)", OneAnswer, arguments),
        ],
        cookie_secret=secrets.token_hex(32),
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Lax"},
        log_function=lambda _: None,
    )
