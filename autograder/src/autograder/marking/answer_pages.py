"""The marking pages: a list of exercises, and one page for each answer.

They are plain forms. A mark is stored only if nobody has changed the exercise since the page was
loaded; else both marks are shown, and nothing is stored. `autograder mark` and `autograder serve`
serve the same pages, each with a guard of its own, which says who marks.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import secrets
import time
from collections.abc import Collection, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup
from nbgrader.api import Grade, MissingEntry
from tornado.escape import to_unicode
from tornado.web import Application, HTTPError, RequestHandler

from ..course_folder.course import Course
from ..course_folder.rubrics import Rubric, items_points
from ..errors import CourseError
from ..gradebook import by_hand, history
from ..pages.markdown import markdown_html
from ..pages.templates import templates
from .answers import Answer, Answers
from .differences import difference

_OPEN_SECONDS = 600
"""Seconds for which nobody else gets an answer as the next one after somebody opened it."""

_COMMENTS = 9
"""Number of comments used before that a page offers: one for each digit."""

_PRINTED = 20_000
"""Greatest number of characters that a code cell's outputs have on the page."""

_COOKIE = "marking"
_FILES = ("mark.css", "mark.js")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Marking:
    """What the pages share.

    Args:
        course: the course.
        names: the assignments and parts whose answers may be marked.
        people: those who mark; if they are several, another one than who marked an answer looks at
            it again.

    Attributes:
        opened: by grade: which browser has its answer open, and since when.
    """

    def __init__(self, course: Course, names: Iterable[str], people: Collection[str] = ()) -> None:
        self._course, self._names, self._people = course, names, people
        self.opened: dict[str, tuple[str, float]] = {}

    @cached_property
    def classes(self) -> dict[str, Answers]:
        """The answers of the class by assignment or part."""
        return {name: Answers(self._course, name) for name in self._names}

    def may_look_again(self, who: str, marked_by: str) -> bool:
        """Return whether a person may look again at what somebody marked: another one does, if
        there is another one."""
        return who != marked_by or not {*self._people} - {who}

    def minutes_open(self, answer: Answer, browser: str) -> int:
        """Return for how many more minutes another browser has an answer for itself; 0 if none
        has."""
        other, since = self.opened.get(answer.row, (browser, 0.0))
        seconds = _OPEN_SECONDS - (time.monotonic() - since)
        return math.ceil(max(seconds, 0) / 60) if other != browser else 0

    def left(self, answers: Iterable[Answer], who: str) -> list[Answer]:
        """Return the answers that a person has to mark, first those at which students asked for
        another look."""
        found = [
            each
            for each in answers
            if each.waits or (each.is_asked and self.may_look_again(who, each.marked_by))
        ]
        return sorted(found, key=lambda each: not each.is_asked)

    def next(
        self, answers: Iterable[Answer], who: str, browser: str, over: bool = False
    ) -> Answer | None:
        """Return the next of an exercise's answers for a person; None if there is none.

        Args:
            over: whether to take over one that another browser has open, too.
        """
        for answer in self.left(answers, who):
            if over or not self.minutes_open(answer, browser):
                self.opened[answer.row] = (browser, time.monotonic())
                return answer
        return None


class MarkingPage(RequestHandler):
    """Base of the pages. A guard, a mixin, lets people in and sets the attributes.

    Attributes:
        marking: what the pages share.
        root: the beginning of the pages' paths, with `/` at the end.
        who: the person who marks, for the record.
        browser: whose open answers no other browser gets as the next ones.
    """

    marking: Marking
    root: str
    who: str
    browser: str

    def show_page(self, template: str, **values: Any) -> None:
        page = _pages().get_template(template)
        xsrf = Markup(self.xsrf_form_html())
        self.finish(page.render(root=self.root, version=_version(), xsrf=xsrf, **values))

    def lead_to(self, name: str, exercise: str, answer: Answer | None) -> None:
        """Redirect to an answer; without one, to the list of exercises."""
        self.redirect(self.path(name, exercise, answer.row) if answer else self.root, status=303)

    def path(self, name: str, exercise: str, row: str = "") -> str:
        """Return the path of an exercise's next answer, or of one answer."""
        return f"{self.root}{quote(name, safe='')}/{exercise}" + (row and f"/{row}")

    def answers_in(self, name: str, exercise: str) -> Answers:
        """Return the class's answers in an assignment; raise 404 if it has no such exercise."""
        answers = self.marking.classes.get(name)
        if answers is None or exercise not in answers.all_exercises:
            raise HTTPError(404)
        return answers


class Exercises(MarkingPage):
    """Lists the exercises for which people give points, or at which they look again, those that
    students asked about first: how many answers wait, and who marked how many."""

    def get(self) -> None:
        rows = []
        for name, answers in self.marking.classes.items():
            asks = answers.asks()
            for exercise in answers.all_exercises.values():
                adds = answers.adds(exercise.id)
                if not (adds or exercise.id in answers.exercises or exercise.id in asks):
                    continue
                found = answers.of(exercise.id)
                again = [each.marked_by for each in found if each.is_asked]
                left = self.marking.left(found, self.who)
                minutes = [self.marking.minutes_open(each, self.browser) for each in left]
                rows.append({
                    "name": name,
                    "exercise": exercise,
                    "path": self.path(name, exercise.id),
                    "adds": adds,
                    "most": answers.most(exercise.id),
                    "waiting": sum(each.waits for each in found),
                    "answers": len(found),
                    "asked": len(again),
                    "for_you": sum(self.marking.may_look_again(self.who, who) for who in again),
                    "free": minutes.count(0),
                    "minutes": [*filter(None, minutes)],
                    "graders": answers.graders(exercise.id),
                })  # fmt: skip
        rows.sort(key=lambda row: not row["asked"])
        names = dict.fromkeys(row["name"] for row in rows)
        self.show_page("exercises.html", names=[*names], rows=rows)


class Next(MarkingPage):
    """Leads to the next answer that waits, to one that another browser has open, or to the first
    one of all."""

    def get(self, name: str, exercise: str) -> None:
        answers = self.answers_in(name, exercise)
        if self.get_query_argument("all", ""):
            answer = next(iter(answers.of(exercise)), None)
        else:
            over = bool(self.get_query_argument("over", ""))
            answer = self.marking.next(answers.of(exercise), self.who, self.browser, over)
        self.lead_to(name, exercise, answer)


class OneAnswer(MarkingPage):
    """Shows an answer, and stores its points and comment."""

    def get(self, name: str, exercise: str, row: str) -> None:
        self._find(name, exercise, row)
        self._show()

    def post(self, name: str, exercise: str, row: str) -> None:
        self._find(name, exercise, row)
        answer = self._answer
        reply = self.get_body_argument("reply", "").strip() if answer.is_asked else ""
        try:
            typed = self._typed()
            seen = json.loads(self.get_body_argument("seen"))
            if answer.is_asked and not 0 < len(reply) <= history.MOST_WORDS:
                raise ValueError(f"Reply to the student, in 1 to {history.MOST_WORDS} characters.")
        except ValueError as error:
            self._show(problem=str(error))
            return
        if not self._is_read:
            now = self._snapshot(answer)
            if now["manual_score"] is None and typed["manual_score"] == now["auto_score"]:
                del typed["manual_score"]  # the points of the tests stand
        alike = [answer, *(self._alike() if self.get_body_argument("alike", "") else ())]
        for each in alike:
            shown = seen if each is answer else self._snapshot(each)
            try:
                stored, now = by_hand.store(
                    self._class.gradebook.engine, Grade, each.row, shown, typed, self.who,
                    reply if each is answer else "", each.text,
                )  # fmt: skip
            except MissingEntry as error:
                raise HTTPError(404) from error
            if not stored and each is answer:
                self.set_status(409)
                self._show(typed=typed, other=now)
                return
        self.marking.opened.pop(row, None)
        # Who waits next is known from the same reading: its page reads the gradebook again.
        marked = {each.row for each in alike}
        others = [each for each in self._answers if each.row not in marked]
        self.lead_to(name, exercise, self.marking.next(others, self.who, self.browser))

    def _alike(self) -> list[Answer]:
        """Return the other answers that may be marked like this one: those that wait and have the
        same words or, if tests alone mark the exercise, those that behave alike."""
        if not (self._is_read or self._adds):
            return self._class.that_behave_as(self._answer, self._exercise.id)
        words = self._answer.same
        return [
            each
            for each in self._answers
            if each.waits and each != self._answer and each.same == words
        ]

    def _typed(self) -> by_hand.Snapshot:
        """Return what the form holds. Raises `ValueError` for invalid points or rubrics."""
        if self._fault:
            raise ValueError(self._fault)
        chosen = self.get_body_arguments("item")
        items = {item.id: item.points for item in self._rubric if item.id in chosen}
        from_items = items_points(self._rubric, items, self._most)
        comment = self.get_body_argument("comment", "").strip()
        typed: by_hand.Snapshot = {"manual_comment": comment or None}
        if self._adds:
            typed["manual_score"] = self._number("points", self._exercise.max_points)
            points = self._number("extra", self._most, from_items)
            typed["extra_credit"] = points
        else:
            points = self._number("points", self._most, from_items if items else math.nan)
            typed["manual_score"] = points
        if self._rubric:
            typed |= {"items": items, "adjust": round(points - from_items, 6)}
        return typed

    def _number(self, name: str, most: float, if_empty: float = math.nan) -> float:
        """Return the points in a field. Raises `ValueError` unless they are from 0 to `most`."""
        text = self.get_body_argument(name, "").strip().replace(",", ".")
        try:
            points = float(text or if_empty)
        except ValueError:
            points = math.nan
        if not 0 <= points <= most:
            raise ValueError(f"The points are a number from 0 to {most:g}.")
        return points

    def _snapshot(self, answer: Answer) -> by_hand.Snapshot:
        with self._class.gradebook.engine.connect() as db:
            return by_hand.take_snapshots(db, answer.submitted)[answer.row]

    def _find(self, name: str, exercise: str, row: str) -> None:
        """Set the attributes for an answer; raise 404 if the exercise has none with this row."""
        self._class = self.answers_in(name, exercise)
        self._exercise = self._class.all_exercises[exercise]
        self._is_read = exercise in self._class.exercises
        self._adds, self._most = self._class.adds(exercise), self._class.most(exercise)
        self._answers = self._class.of(exercise)
        found = [each for each in self._answers if each.row == row]
        if not found:
            raise HTTPError(404)
        [self._answer] = found
        self._rubric: Rubric = ()
        self._fault = ""
        try:
            self._rubric = self._class.rubrics().get(exercise, ())
        except CourseError as error:  # The file was changed while the pages are served.
            self._fault = str(error)

    def _show(
        self,
        problem: str = "",
        typed: by_hand.Snapshot | None = None,
        other: by_hand.Snapshot | None = None,
    ) -> None:
        about, answers, answer = self._exercise, self._answers, self._answer
        name, exercise = self._class.name, about.id
        place = answers.index(answer)
        with self._class.gradebook.engine.connect() as db:
            given = history.markings(db, self._class.recorded_name, exercise=exercise)
            verdicts = {} if self._is_read else history.last_verdicts(db, name, answer.student)
            texts = history.texts(db, self._class.recorded_name, answer.student, exercise)
        snapshot = other or self._snapshot(answer)
        if problem:  # What was typed stays, as text.
            columns = {
                "points": "manual_score",
                "extra": "extra_credit",
                "comment": "manual_comment",
            }
            typed = {column: self.get_body_argument(name, "") for name, column in columns.items()}
            typed = {**snapshot, **typed, "items": self.get_body_arguments("item")}
        used = dict.fromkeys(each.comment for each in reversed(given) if each.comment)
        lines = [each for each in given if each.student == answer.student]
        changed = Markup("")
        read = [each.answer for each in lines if each.answer][-1:]
        if read and read[0] != snapshot["answer"] and read[0] in texts:
            changed = difference(texts[read[0]], answer.text[: history.MOST_TEXT])
        guide = markdown_html(about.marking_guide, {}, {}) if about.marking_guide else ""
        question, solution = self._class.question(exercise), self._class.solution(exercise)
        self.show_page(
            "answer.html",
            name=name,
            next=self.path(name, exercise),
            exercise=about,
            question=Markup("").join(map(_shown, question)),
            answer=Markup("").join(map(_shown, answer.cells)),
            place=place + 1,
            number=len(answers),
            waiting=sum(each.waits for each in answers),
            before=self.path(name, exercise, answers[place - 1].row) if place else "",
            alike=len(self._alike()),
            is_read=self._is_read,
            adds=self._adds,
            most=self._most,
            guide=Markup(guide),
            solution=Markup("").join(map(_shown, solution)),
            rubric=self._rubric,
            snapshot=snapshot,
            typed=typed or snapshot,
            seen=json.dumps(snapshot),
            conflict=other is not None,
            problem=problem or self._fault,
            asks=answer.asks,
            is_asked=answer.is_asked,
            verdict=verdicts.get(exercise),
            reply=self.get_body_argument("reply", ""),
            used=list(used)[:_COMMENTS],
            lines=lines,
            changed=changed,
        )


def _shown(cell: dict[str, Any]) -> Markup:
    """Return a cell as HTML: text as it is set, code with what it printed."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return Markup(markdown_html(source, {}, cell.get("attachments", {})))
    printed = "".join(
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.get("outputs", [])
    )
    return Markup("<pre>{}</pre><pre>{}</pre>").format(source, printed[:_PRINTED])


@cache
def _pages() -> Environment:
    return templates(__package__)


@cache
def _version() -> str:
    """Return a digest of the files that the pages load: another version has another address."""
    content = b"".join((Path(__file__).parent / name).read_bytes() for name in _FILES)
    return hashlib.sha256(content).hexdigest()[:16]


class MarkingFile(MarkingPage):
    """Serves the style sheet and the script, which browsers keep."""

    def get(self, name: str) -> None:
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Cache-Control", "private, max-age=31536000, immutable")
        self.finish((Path(__file__).parent / name).read_bytes())


PAGES: tuple[tuple[str, type[MarkingPage]], ...] = (
    ("", Exercises),
    ("(" + "|".join(map(re.escape, _FILES)) + ")", MarkingFile),
    (r"([^/]+)/([\w.-]+)", Next),
    (r"([^/]+)/([\w.-]+)/([\w-]+)", OneAnswer),
)
"""The pages, each with its path below the root as a regular expression."""


class TokenGuard(MarkingPage):
    """Lets in the browser that opened the address with the token, on this machine."""

    def initialize(self, marking: Marking, token: str, who: str) -> None:
        self.marking, self._token, self.who, self.root = marking, token, who, "/"

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        # Another site whose name leads to this machine has its own name here.
        host, token = self.request.host_name, self.get_query_argument("token", "")
        if host not in ("127.0.0.1", "localhost"):
            raise HTTPError(403)
        if hmac.compare_digest(token.encode(), self._token.encode()):
            self.set_signed_cookie(
                _COOKIE, secrets.token_urlsafe(12), httponly=True, samesite="Lax"
            )
            self.redirect("/")
        elif self.get_signed_cookie(_COOKIE) is None:
            raise HTTPError(403)
        self.browser = str(to_unicode(self.get_signed_cookie(_COOKIE)))

    def write_error(self, status_code: int, **_: Any) -> None:
        words = {403: "Open the address that the command printed.", 404: "There is no such answer."}
        self.finish(words.get(status_code, f"{status_code}: {self._reason}"))


def application(marking: Marking, token: str, who: str) -> Application:
    """Return the web application of `autograder mark`.

    Args:
        token: the secret in the address of the first page.
        who: the person who marks, for the record.
    """
    arguments = {"marking": marking, "token": token, "who": who}
    return Application(
        [(f"/{path}", type("Page", (TokenGuard, page), {}), arguments) for path, page in PAGES],
        cookie_secret=secrets.token_hex(32),
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Lax"},
        log_function=lambda _: None,
    )
