"""A student's pages at the service show what the course's `before_due` allows, and somebody else's
link is used only after the visitor consents.

The application runs in this process, on a table of ungraded attempts.
"""

from __future__ import annotations

import asyncio
import json
import re
import select
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbgrader.api import Gradebook
from schools import append
from services import Visitor, free_port
from tornado.httpserver import HTTPServer

from autograder.course_folder.assignments import find_course
from autograder.course_folder.settings import NAME as SETTINGS
from autograder.course_folder.settings import SHOWN
from autograder.delivery.service.app import application
from autograder.delivery.service.attempts import GRADED, OVER, WAITING, Attempts
from autograder.delivery.service.base_page import Shared
from autograder.delivery.service.feedback import page_shown
from autograder.delivery.service.health import Health, Metrics
from autograder.pipeline.classroom import course_directory

FILES = (SETTINGS, "nbgrader_config.py", "gradebook.db")
STUDENTS = {"ada": "Ada Lovelace", "mallory": "Mallory"}


@dataclass
class Running:
    """The application, the folder of its course, and a function that reports a change."""

    url: str
    course: Path
    change: Callable[[], None]

    def token(self, name: str, teaches: bool = False) -> str:
        with closing(Attempts(self.course)) as attempts:
            return attempts.link(name, teaches)

    def visitor(self, name: str, teaches: bool = False) -> Visitor:
        return Visitor(self.url, self.token(name, teaches))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Path:
    clone, folder = find_course(Path(__file__).parent), tmp_path_factory.mktemp("course")
    for name in FILES[:2]:
        (folder / name).write_text((clone / name).read_text())
    append(folder / FILES[1], f'\nc.Exchange.root = "{folder}/none"\n')
    with Gradebook(course_directory(folder).db_url) as gradebook:
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
def running(course: Path, rules: str = "") -> Iterator[Running]:
    """Run the application with these rules, and with a thread that grades nothing."""
    before = (course / SETTINGS).read_text()
    (course / SETTINGS).write_text(f"{before}\n[service]\n{rules}\n")
    port, up, ends = free_port(), threading.Event(), {}

    async def serve() -> None:
        grading: Any = SimpleNamespace(
            health=Health(), metrics=Metrics(), running=frozenset(), given_before={}
        )
        shared = Shared(course, ["value"], grading)
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
        assert up.wait(30)
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


# At each level, possible states of the last two attempts, whose pages must be the same.
ALIKE: dict[str, list[list[dict[str, Any]]]] = {
    "nothing": [
        [graded(report(PASSED, FAILED), counts=1), graded(report(FAILED, FAILED))],
        [graded(report(FAILED, FAILED)), graded(report(PASSED, PASSED), counts=1, seconds=99.0)],
        [graded(report(PARTIAL, GONE)), graded(report(LATE), counts=1, graded=7.0)],
        [graded({}, error="The grader failed."), graded({}, error="value.ipynb: is no notebook")],
        [graded(report(PASSED, FAILED), counts=1), {"state": WAITING}],
        [{"state": WAITING}, {"state": WAITING}],
    ],
    "exercises": [
        [graded(report(PASSED, FAILED), counts=1), graded(report(PARTIAL, FAILED))],
        [graded(report(PASSED, LATE)), graded(report(LESS, GONE), counts=1, seconds=99.0)],
        [graded(report(PASSED, GONE)), graded(report(LESS, LATE), counts=1, graded=7.0)],
    ],
    "mistakes": [
        [graded(report(PASSED, FAILED, seed=1)), graded(report(PARTIAL, FAILED), counts=1)],
        [graded(report(PASSED, {**FAILED, "inferred": 1}, seed=2), seconds=5.0),
         graded(report(PARTIAL, {**FAILED, "message": "`add` forgets *other*.\n\nTry 3 + 4."}),
                counts=1, graded=9.0)],
    ],
}  # fmt: skip


def fill(course: Path, states: list[dict[str, Any]]) -> None:
    """Add the attempts of ada, always the same but for their states, and one of another student."""
    with closing(Attempts(course)) as attempts:
        for number in range(4):
            student = "mallory" if number == 3 else "ada"
            attempts.add(f"key {number}", f"folder{number}", "value", student, None,
                         OVER if number == 2 else WAITING)  # fmt: skip
    with closing(sqlite3.connect(course / "attempts" / "attempts.db")) as table:
        for number, state in enumerate(states, start=1):
            found = state.get("report", {})
            stored = {**state, "points": found.get("score"), "max_points": found.get("max_score"),
                      "report": json.dumps(found)}  # fmt: skip
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
             "class/history?student=ada&assignment=value", "upload", "nowhere"]  # fmt: skip
    found: dict[str, Any] = {path: seen(ada, path) for path in paths}
    found["live"] = ada.first_event()
    nothing = b"--x--"
    for path in ("", "upload", "upload/mallory"):
        found[f"sent to {path}"] = ada.send(nothing, "multipart/form-data; boundary=x", path)
    found["handed in"] = ada.hand_in(b"{}")
    return {name: without_chance(str(each)) for name, each in found.items()}


def seen(visitor: Visitor, path: str) -> tuple[int, dict[str, str], str]:
    request = urllib.request.Request(f"{visitor.url}/{path}")
    try:
        answer = visitor._opener.open(request, timeout=30)
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


def rendered(course: Path, level: str, counts: str, states: list[dict[str, Any]]) -> dict[str, Any]:
    with running(course, f'before_due = "{level}"\ncounts = "{counts}"') as service:
        fill(course, states)
        found = everything(service)
        with closing(Attempts(course)) as attempts:
            if level != "nothing":
                # The file that nbgrader's button fetches.
                found |= {
                    f"fetched {each.id}": page_shown(each, level, attempts.page_of(each))
                    for each in attempts.of("ada")
                    if each.state == GRADED
                }
    return found


@pytest.mark.parametrize("counts", ["best", "last"])
@pytest.mark.parametrize("level", SHOWN)
def test_hidden_results_change_no_byte_of_a_student_s_pages(
    made_once, tmp_path_factory, level, counts
):
    first, *others = (
        rendered(copied(made_once, tmp_path_factory.mktemp("again")), level, counts, states)
        for states in ALIKE[level]
    )
    for other in others:
        assert other == first


def test_the_visible_results_of_a_level_are_on_the_page(course):
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
        assert "the last one counts" in page and "handed in by Ada Lovelace (ada)" in page


def test_an_open_page_gets_no_update_for_a_hidden_change(course):
    with running(course, 'before_due = "nothing"') as service:
        fill(course, [graded(report(PASSED)), {"state": WAITING}])
        ada = service.visitor("ada")
        with ada._opener.open(f"{service.url}/live", timeout=30) as stream:
            while not stream.readline().startswith(b"data: "):
                pass
            stream.readline()
            with closing(sqlite3.connect(course / "attempts" / "attempts.db")) as table:
                table.execute("UPDATE attempt SET state = ?, counts = 1 WHERE id = 2", [GRADED])
                table.commit()
            for _ in range(5):
                service.change()
                time.sleep(0.15)
            waiting, _, _ = select.select([stream.fileno()], [], [], 0)
            assert not waiting
            # A further attempt is shown at once.
            ada.hand_in(b"{}")
            assert stream.readline().startswith(b"data: ")


# The visitor.


@pytest.mark.parametrize("teaches", [False, True])
@pytest.mark.parametrize("has_session", [False, True])
def test_another_s_link_is_used_only_after_consent(course, teaches, has_session):
    with running(course) as service:
        ada = service.visitor("ada") if has_session else Visitor(service.url)
        token = service.token("mallory", teaches)
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
        assert ("who teaches and sees the class" in asked) == teaches
        # A visitor who consents is asked once.
        _, page = ada.enter(token)
        assert ("Hand in as Mallory" in page) != teaches
        assert "Go on as" not in ada.get(f"link/{token}")[1]


def test_a_page_opened_as_another_user_cannot_hand_in(course):
    with running(course) as service:
        ada = service.visitor("ada")
        before = ada.page
        ada.enter(service.token("mallory"))
        ada.page = before
        status, says = ada.hand_in(b"{}")
        assert status == 409 and "You are Mallory (mallory) here by now" in says
        assert ada.send(b"--x--", "multipart/form-data; boundary=x", "upload")[0] == 403
        with closing(Attempts(course)) as attempts:
            assert attempts.all() == []
        ada.page = ada.get("")[1]
        status, says = ada.hand_in(b"{}")
        assert status == 200 and "handed in by Mallory" in says
        with closing(Attempts(course)) as attempts:
            assert [each.student for each in attempts.all()] == ["mallory"]
