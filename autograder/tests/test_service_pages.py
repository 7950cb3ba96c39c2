"""A student's pages at the service show what the course's `before_due` allows, and somebody else's
link is used only after the visitor consents.

The application runs in this process, on a table of ungraded attempts.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from schools import append
from services import START, Visitor, free_port
from small_school import wait_for
from tested_course import COURSE
from tornado.httpserver import HTTPServer

from autograder.course_folder.course import Course
from autograder.course_folder.settings import NAME as SETTINGS
from autograder.course_folder.settings import SHOWN, load_settings
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.hub import exchange
from autograder.marking.answer_pages import Marking
from autograder.pipeline.classroom import Classroom, course_directory
from autograder.records import Marks
from autograder.service import student_pages
from autograder.service.app import application
from autograder.service.attempts import (
    GRADED,
    MOST_RECENT,
    OVER,
    RECENT_MINUTES,
    WAITING,
    Attempts,
    Role,
)
from autograder.service.base_page import Page, ServiceState
from autograder.service.feedback import CountingPages, visible_page
from autograder.service.grading import LOOK_SECONDS, Grading
from autograder.service.health import Health, Metrics
from autograder.service.inbound import Inbound

pytestmark = pytest.mark.subprocess

FILES = (SETTINGS, "nbgrader_config.py", "gradebook.db")
STUDENTS = {"ada": "Ada Lovelace", "mallory": "Mallory"}


@dataclass
class Running:
    """The application, the folder of its course, and a function that reports a change."""

    url: str
    course: Path
    change: Callable[[], None]

    def token(self, name: str, role: Role = Role.STUDENT) -> str:
        with closing(Attempts(Course(self.course))) as attempts:
            return attempts.link(name, role)

    def visitor(self, name: str, role: Role = Role.STUDENT) -> Visitor:
        return Visitor(self.url, self.token(name, role))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    for name in FILES[:2]:
        (folder / name).write_text((COURSE.root / name).read_text())
    append(folder / FILES[1], f'\nc.Exchange.root = "{folder}/none"\n')
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        gradebook.add_assignment("value")
        for student, name in STUDENTS.items():
            gradebook.add_student(student, first_name=name)
    return folder


@pytest.fixture
def course(made_once, tmp_path) -> Path:
    return copied(made_once, tmp_path)


def copied(course: Path, folder: Path) -> Path:
    for each in FILES:
        (folder / each).write_bytes((course / each).read_bytes())
    return folder


@contextmanager
def running(
    course: Path,
    rules: str = "",
    being_graded: frozenset[int] = frozenset(),
    marked: tuple[str, ...] = (),
    people: tuple[str, ...] = (),
) -> Iterator[Running]:
    """Run the application with these rules, and with a thread that grades nothing.

    Args:
        marked: the assignments whose answers people mark.
        people: those who mark.
    """
    before = (course / SETTINGS).read_text()
    (course / SETTINGS).write_text(f"{before}\n[service]\n{rules}\n")
    port, up, ends = free_port(), threading.Event(), {}

    async def serve() -> None:
        grading: Any = SimpleNamespace(
            health=Health(), metrics=Metrics(), running=being_graded, outdated_marks={}
        )
        shared = ServiceState(
            Course(course), ["value"], grading, Marking(Course(course), marked, people)
        )
        server = HTTPServer(application(shared, "/"))
        server.listen(port, "127.0.0.1")
        ends.update(loop=asyncio.get_running_loop(), done=asyncio.Event(), news=shared.news)
        up.set()
        await ends["done"].wait()
        server.stop()
        await server.close_all_connections()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        up.wait()
        change = partial(ends["loop"].call_soon_threadsafe, ends["news"].wake, ["ada"])
        yield Running(f"http://127.0.0.1:{port}", course, change)
    finally:
        ends["loop"].call_soon_threadsafe(ends["done"].set)
        thread.join(30)
        (course / SETTINGS).write_text(before)


# Hidden parts of each level.

PASSED = {"status": "passed", "points": 2.0, "message": "Right."}
FAILED = {"status": "failed", "points": 0.0, "message": "`add` forgets *other*.\n\nTry 1 + 2."}
LATE = {"status": "timeout", "points": 0.0, "message": "It never ends."}
PARTIAL = {"status": "partial", "points": 1.5, "message": "Half of it."}
LESS = {"status": "partial", "points": 0.5, "message": "Another half.", "misconception": "sign"}
GONE = {"status": "crashed", "points": 0.0, "message": "It ended."}


def report(*exercises: dict[str, Any], **more: Any) -> dict[str, Any]:
    listed = [
        {"id": f"e{number}", "title": f"Exercise {number}", "max_points": 2.0, **each}
        for number, each in enumerate(exercises)
    ]
    return {"exercises": listed, "score": sum(each["points"] for each in exercises),
            "max_score": 2.0 * len(exercises), **more}  # fmt: skip


def graded(found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"state": GRADED, "report": found, "graded": 1.0, **more}


RUNNING = "is running"

# At each level, possible states of the last two attempts, whose pages must be the same.
ALIKE: dict[str, list[list[dict[str, Any]]]] = {
    "nothing": [
        [graded(report(PASSED, FAILED), counts=1), graded(report(FAILED, FAILED))],
        [graded(report(FAILED, FAILED)), graded(report(PASSED, PASSED), counts=1, seconds=99.0)],
        [graded(report(PARTIAL, GONE)), graded(report(LATE), counts=1, graded=7.0)],
        [graded({}, error="The grader failed."), graded({}, error="value.ipynb: is no notebook")],
        [graded(report(PASSED, FAILED), counts=1), {"state": WAITING}],
        [{"state": WAITING}, {"state": WAITING}],
        [graded(report(PASSED, FAILED), counts=1), {"state": WAITING, RUNNING: True}],
    ],
    "exercises": [
        [graded(report(PASSED, FAILED), counts=1), graded(report(PARTIAL, FAILED))],
        [graded(report(PASSED, LATE)), graded(report(LESS, GONE), counts=1, seconds=99.0)],
        [graded(report(PASSED, GONE)), graded(report(LESS, LATE), counts=1, graded=7.0)],
    ],
    "mistakes": [
        [graded(report(PASSED, FAILED, seed=1)), graded(report(PARTIAL, FAILED), counts=1)],
        [graded(report(PASSED, {**FAILED, "note": 1}, seed=2), seconds=5.0),
         graded(report(PARTIAL, {**FAILED, "message": "`add` forgets *other*.\n\nTry 3 + 4."}),
                counts=1, graded=9.0)],
    ],
}  # fmt: skip


def fill(course: Path, states: list[dict[str, Any]]) -> None:
    """Store the same attempts of ada with the given states, and one attempt of another student."""
    with closing(Attempts(Course(course))) as attempts:
        for number in range(4):
            student = "mallory" if number == 3 else "ada"
            attempts.add(f"key {number}", f"folder{number}", "value", student, None,
                         OVER if number == 2 else WAITING)  # fmt: skip
    with closing(sqlite3.connect(course / "attempts" / "attempts.db")) as table:
        for number, state in enumerate(states, start=1):
            found = state.get("report", {})
            stored = {**state, "points": found.get("score"), "max_points": found.get("max_score"),
                      "report": json.dumps(found)}  # fmt: skip
            stored.pop(RUNNING, None)
            for name, value in stored.items():
                table.execute(f"UPDATE attempt SET {name} = ? WHERE id = ?", (value, number))
            if state["state"] == GRADED:
                page = course / "attempts" / "pages" / f"{number}.html"
                page.write_text("the whole feedback")
        table.execute("UPDATE attempt SET arrived = id, submitted = '2026-01-02 03:04:05'")
        table.commit()


def everything(service: Running) -> dict[str, Any]:
    """Return all that ada can get from the service, without random parts."""
    ada = service.visitor("ada")
    paths = ["", *(f"feedback/{number}" for number in (1, 2, 3, 4, 9)), "class", "class/live",
             "class/history?student=ada&assignment=value", "upload", "nowhere", "health",
             "metrics"]  # fmt: skip
    found: dict[str, Any] = {path: seen(ada, path) for path in paths}
    found["live"] = ada.first_event()
    nothing = b"--x--"
    for path in ("", "upload", "upload/mallory"):
        found[f"sent to {path}"] = ada.send(nothing, "multipart/form-data; boundary=x", path)
    for number in range(MOST_RECENT + 2):
        found[f"handed in {number}"] = ada.hand_in(b'{"cells": []}' + b" " * number)
    found |= {f"{path} afterwards": seen(ada, path) for path in ("", "feedback/5", "health")}
    return {name: without_chance(str(each)) for name, each in found.items()}


def seen(visitor: Visitor, path: str) -> tuple[int, dict[str, str], str]:
    request = urllib.request.Request(f"{visitor.url}/{path}")
    try:
        answer = visitor._opener.open(request, timeout=START)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        headers = dict(answer.headers)
        body = answer.read().decode()
    for name in ("Date", "Set-Cookie", "Etag") if "_xsrf" in body else ("Date", "Set-Cookie"):
        headers.pop(name, None)
    return answer.status, headers, body


def without_chance(text: str) -> str:
    """Return a page with its token and the times that differ from run to run replaced."""
    text = re.sub(r"_xsrf=[^\"'&]*", "_xsrf", text)
    return re.sub(r"20\d\d-\d\d-\d\d[ T][\d:]{8}(?<!2026-01-02[ T]03:04:05)", "now", text)


def rendered(
    course: Path, level: str, counts: str, attempts: int, states: list[dict[str, Any]]
) -> dict[str, Any]:
    rules = f'before_due = "{level}"\ncounts = "{counts}"\nattempts = {attempts}'
    being_graded = frozenset(n for n, each in enumerate(states, start=1) if each.get(RUNNING))
    with running(course, rules, being_graded) as service:
        fill(course, states)
        found = everything(service)
        with closing(Attempts(Course(course))) as table:
            if level != "nothing":
                # The file that nbgrader's button fetches.
                found |= {
                    f"fetched {each.id}": visible_page(each, level, table.page_of(each).read_bytes)
                    for each in table.of("ada")
                    if each.state == GRADED
                }
    return found


@pytest.mark.parametrize(
    ("level", "counts", "attempts"),
    [*product(SHOWN, ["best", "last"], [30]), ("nothing", "last", 5)],
)
def test_hidden_results_change_no_byte_of_what_the_service_sends_to_a_student(
    made_once, tmp_path_factory, level, counts, attempts
):
    """Uploads included, until they are refused for their number or their pace."""
    first, *others = (
        rendered(
            copied(made_once, tmp_path_factory.mktemp("again")), level, counts, attempts, states
        )
        for states in ALIKE[level]
    )
    for other in others:
        assert other == first
    refusals = "".join(first[f"handed in {number}"] for number in range(MOST_RECENT + 2))

    assert ("attempts are used" in refusals) == (attempts == 5)
    assert (f"{MOST_RECENT} times within" in refusals) == (attempts == 30)


def test_how_many_submissions_are_taken_from_the_exchange_depends_only_on_their_times(
    course, monkeypatch
):
    monkeypatch.setattr(exchange.RetrySchedule, "is_due", lambda *_: True)
    more = f'\nc.Exchange.root = "{course}/x"\nc.ExchangeCollect.check_owner = False\n'
    append(course / FILES[1], more)
    folders = course_directory(Course(course))
    with closing(Attempts(Course(course))) as attempts:
        rules = load_settings(course).service
        inbound = Inbound(Course(course), folders.config, folders.course_id, attempts, rules)
        for second in range(MOST_RECENT + 2):
            name = f"ada+value+2030-03-01 10:00:{second:02}.000000 UTC"
            own = inbound.exchange / "inbound" / name
            own.mkdir(parents=True)
            (own / "value.ipynb").write_text("{}")
            (own / "submission_secret.txt").write_text("secret")
        looks = [len(inbound.poll()) for _ in range(MOST_RECENT + 2)]
        assert looks == [1] * MOST_RECENT + [0] * 2
        for each in attempts.all():
            attempts.set_graded(each, {}, None)
        assert not inbound.poll()
        later = time.time() + 60 * RECENT_MINUTES + 1
        monkeypatch.setattr(time, "time", lambda: later)
        assert [len(inbound.poll()) for _ in range(3)] == [1, 1, 0]


def test_folders_that_were_refused_are_read_more_and_more_seldom(course, monkeypatch):
    append(course / FILES[1], f'\nc.Exchange.root = "{course}/x"\n')
    folders, now, read = course_directory(Course(course)), [0.0], []
    monkeypatch.setattr(exchange, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Inbound, "_accept", lambda _, folder: read.append(folder.name))
    with closing(Attempts(Course(course))) as attempts:
        rules = load_settings(course).service
        inbound = Inbound(Course(course), folders.config, folders.course_id, attempts, rules)
        for number in range(20):
            (inbound.exchange / "inbound" / f"ada+value+x{number}").mkdir(parents=True)
        while now[0] < 180:
            inbound.poll()
            now[0] += LOOK_SECONDS

    assert set(Counter(read).values()) == {10}


def test_uploads_of_one_student_take_a_bounded_amount_of_disk_space(course, monkeypatch):
    monkeypatch.setattr(exchange, "MOST_BYTES", 200_000)
    monkeypatch.setattr(student_pages, "MOST_RECENT", 100)
    with running(course, "attempts = 0\nattempts_a_day = 0") as service:
        ada = service.visitor("ada")
        found = [ada.hand_in(b"{}" + b" " * (19_000 + number)) for number in range(12)]
        assert [status for status, _ in found] == [200] * 9 + [413] * 3
        assert "Clear Outputs of All Cells" in found[-1][1]
        assert "Nothing was taken" in found[-1][1]
        assert ada.hand_in(b"{}")[0] == service.visitor("mallory").hand_in(b" " * 19_000)[0] == 200
        with closing(Attempts(Course(course))) as attempts:
            assert 9 * 19_000 < attempts.size("ada") < 200_000


def test_only_pages_of_the_last_attempt_and_of_the_one_that_counts_are_kept(course):
    with running(course):
        fill(course, [graded(report(PASSED), counts=1), graded(report(FAILED))])
    with closing(Attempts(Course(course))) as attempts:
        first, second, third = attempts.of("ada")
        attempts.page_of(third).write_text("the third attempt's page")
        attempts.drop_old_pages("ada", most=30)
        kept = [attempts.page_of(each).exists() for each in (first, second, third)]
        assert kept == [True, False, True], "the one that counts, and the last"


def test_a_student_s_page_shows_the_results_that_before_due_allows(course):
    """Guard the test above: pages that show nothing about the attempts would be equal, too."""
    [first, second] = ALIKE["mistakes"][0]
    for level, says in (
        ("mistakes", ["2 of 4 points", "this one counts", "forgets", "not right yet"]),
        ("exercises", ["partly right", "not right yet"]),
        ("nothing", ["shown after the due date"]),
    ):
        with running(course, f'before_due = "{level}"') as service:
            fill(course, [first, second])
            page = service.visitor("ada").page
        for text in says:
            assert text in page, level
        assert ("this one counts" in page) == (level == "mistakes")
        assert "the last one counts" in page
        assert "handed in by Ada Lovelace (ada)" in page


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the contents of open pages, in the order in which the service renders them."""
    texts: list[str] = []
    send_updates = Page.send_updates

    def send_and_note(page: Page, visitor: Any, render: Callable[[], str]) -> Any:
        def render_and_note() -> str:
            texts.append(render())
            return texts[-1]

        return send_updates(page, visitor, render_and_note)

    monkeypatch.setattr(Page, "send_updates", send_and_note)
    return texts


def test_a_change_that_is_hidden_sends_no_update_to_an_open_page(course, contents):
    with running(course, 'before_due = "nothing"') as service:
        fill(course, [graded(report(PASSED)), {"state": WAITING}])
        ada = service.visitor("ada")
        updates = ada.events()
        next(updates)
        with closing(sqlite3.connect(course / "attempts" / "attempts.db")) as table:
            table.execute("UPDATE attempt SET state = ?, counts = 1 WHERE id = 2", [GRADED])
            table.commit()
        service.change()
        wait_for(lambda: len(contents) == 2)
        ada.hand_in(b"{}")

        # The next update is that of the further attempt.
        assert "attempt 3" in next(updates)
        updates.close()


def test_an_open_page_raises_no_error_when_the_service_ends(course, caplog):
    with running(course) as service:
        stream = service.visitor("ada").events()
        next(stream)
    assert [*stream] == []
    assert "Cannot send error response" not in caplog.text


# The visitor.


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("has_session", [False, True])
def test_a_link_of_another_person_is_used_only_after_consent(course, role, has_session):
    with running(course) as service:
        ada = service.visitor("ada") if has_session else Visitor(service.url)
        token = service.token("mallory", role)
        # As another site does it, or a picture in a page, a frame, a redirection.
        for site in ("cross-site", "same-site", "same-origin", "none", ""):
            headers = {"Sec-Fetch-Site": site} if site else {}
            for method in ("GET", "HEAD", "POST"):
                request = urllib.request.Request(
                    f"{service.url}/link/{token}", headers=headers, method=method
                )
                status, page = ada._ask(request)
                assert (status == 200 and "Go on as Mallory" in page) == (method == "GET")
                assert status in (200, 403, 405)
                status, own = ada.get("")
                assert status == (200 if has_session else 403)
                assert ("Hand in as Ada Lovelace (ada)" in own) == has_session
        asked = ada.get(f"link/{token}")[1]
        assert ("You are here as <b>Ada Lovelace (ada)</b>" in asked) == has_session
        assert ("who teaches and sees the class" in asked) == (role is Role.INSTRUCTOR)
        assert ("who marks answers" in asked) == (role is Role.GRADER)
        # A visitor who consents is asked once.
        _, page = ada.enter(token)
        assert ("Hand in as Mallory" in page) == (role is Role.STUDENT)
        assert "Go on as" not in ada.get(f"link/{token}")[1]


def test_a_page_opened_as_another_user_cannot_hand_in(course):
    with running(course) as service:
        ada = service.visitor("ada")
        before = ada.page
        ada.enter(service.token("mallory"))
        ada.page = before
        status, says = ada.hand_in(b"{}")
        assert status == 409
        assert "You are Mallory (mallory) here by now" in says
        assert ada.send(b"--x--", "multipart/form-data; boundary=x", "upload")[0] == 403
        with closing(Attempts(Course(course))) as attempts:
            assert attempts.all() == []
        ada.page = ada.get("")[1]
        status, says = ada.hand_in(b"{}")
        assert status == 200
        assert "handed in by Mallory" in says
        with closing(Attempts(Course(course))) as attempts:
            assert [each.student for each in attempts.all()] == ["mallory"]


# Marks in the gradebook.


def give(course: Path, points: float | None, comment: str = "", extra: float | None = None) -> None:
    """Store a mark and a comment as the formgrader does."""
    with Gradebook(course_directory(Course(course)).db_url) as gradebook:
        grade = gradebook.find_grade("why", "value", "value", "ada")
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = points is None
        gradebook.find_comment("why", "value", "value", "ada").manual_comment = comment
        gradebook.db.commit()


def graded_with_a_free_text(course: Path, level: str = "mistakes") -> None:
    """Grade an attempt of ada's with an exercise of 2 points, and a free text of 4."""
    right = {**PASSED, "misconception": None}
    found = report({**right, "id": "add"}, {**right, "id": "why", "max_points": 4.0})
    found["exercises"][1] |= {"points": None, "status": "manual", "title": "Why"}
    found |= {"score": 2.0, "max_score": 6.0}
    marks = {"schema_version": 3, "grade": True, "solution": False, "locked": False, "task": False}
    test = marks | {"grade_id": "test_add", "points": 2, "cell_type": "code"}
    why = marks | {"grade_id": "why", "points": 4, "solution": True, "cell_type": "markdown"}
    cells = [
        nbformat.v4.new_code_cell("", metadata={"nbgrader": test}),
        nbformat.v4.new_markdown_cell("Because.", metadata={"nbgrader": why}),
    ]
    about = {"autograder": {"report": found}}
    path = course / "autograded/ada/value/value.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=about), path)
    with Gradebook(course_directory(Course(course)).db_url) as gradebook:
        gradebook.add_notebook("value", "value")
        gradebook.add_grade_cell("test_add", "value", "value", max_score=2, cell_type="code")
        gradebook.add_grade_cell("why", "value", "value", max_score=4, cell_type="markdown")
        gradebook.add_solution_cell("why", "value", "value")
        record(
            gradebook,
            [SubmissionMarks("value", "ada", Marks({"test_add": 2.0, "why": None}, {}), None)],
        )
    fill(course, [graded(found, counts=1, shown=level)])


def test_a_mark_a_comment_and_a_withdrawn_mark_are_on_the_pages_at_the_next_load(course):
    with running(course) as service:
        graded_with_a_free_text(course)
        ada, teacher = service.visitor("ada"), service.visitor("teacher", Role.INSTRUCTOR)
        paths = ("class", "class/history?student=ada&assignment=value")
        (course / "attempts/pages/1.html").write_text("the whole feedback")

        def shows(points: str, *words: str) -> None:
            whole = ada.get("feedback/1")[1]
            for page in (ada.get("")[1], ada.first_event(), *(teacher.get(p)[1] for p in paths)):
                assert f"{points} of 6" in page
            assert f"{points} of 6 points" in whole
            assert [word for word in words if word not in whole] == []

        shows("2", "waits for a person")
        give(course, 3, "Nearly *there*.")
        shows("5", "3 of 4 *", "<em>there</em>")
        give(course, 3, "Nearly *there*.", extra=1)
        shows("6", "4 of 4 *")
        give(course, 1, "Read it again.")
        shows("3", "1 of 4 *", "Read it again.")
        give(course, None)
        shows("2", "waits for a person")
        assert "Read it again." not in ada.get("feedback/1")[1]


@pytest.mark.parametrize("level", ["exercises", "nothing"])
def test_marks_by_hand_show_no_more_before_the_due_date_than_before_due_allows(course, level):
    pages = []
    for points, comment in ((None, ""), (1, "Read it again."), (2, "Nearly there.")):
        with running(course, f'before_due = "{level}"') as service:
            if not pages:
                graded_with_a_free_text(course, level)
            give(course, points, comment)
            pages.append(everything(service))
            with closing(sqlite3.connect(course / "attempts" / "attempts.db")) as table:
                table.execute("DELETE FROM attempt WHERE id > 4")
                table.execute("UPDATE sqlite_sequence SET seq = 4")
                table.commit()
    assert pages[1] == pages[2]
    assert (pages[0] == pages[1]) == (level == "nothing")
    for text in ("Read it again", "Nearly there", " of 4"):
        assert text not in str(pages)


def test_the_page_in_the_exchange_is_made_again_if_marks_have_changed(course, monkeypatch):
    graded_with_a_free_text(course)
    fetched = []
    monkeypatch.setattr(
        "autograder.service.grading.release",
        lambda attempt, page, files, exchange: fetched.append(page.decode()),
    )
    woken: list[str] = []
    grading = Grading(Course(course), ["value"], 1, woken.extend, lambda: None)
    folders = course_directory(Course(course))
    with Classroom(Course(course), None) as room, closing(Attempts(Course(course))) as attempts:
        grading._classroom, grading.attempts = room, attempts
        grading._counting_pages = CountingPages(Course(course), folders)
        grading._inbound = SimpleNamespace(exchange=course)
        for points, comment in ((3, "Nearly there."), (1, "Read it again."), (None, "")):
            give(course, points, comment)
            grading._refresh_pages()
            grading._refresh_pages()
            assert comment in fetched[-1]

    assert len(fetched) == 3
    assert woken == ["ada"] * 3
