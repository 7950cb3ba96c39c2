"""People mark written answers by keyboard, one question for all students."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import assert_accessible, keep_picture
from playwright.sync_api import Page, expect
from schools import grade, released, solutions
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.marking.answer_pages import Marking, application
from autograder.marking.answers import Answers

NAME, TOKEN = "checkpoint", "a-secret"
WRITTEN = {
    "ada": "Backward needs **one** pass.",
    "ben": "Forward is faster. <script>document.title = 'run'</script>",
    "cleo": "backward needs  **one** pass.",
    "dan": "I do not know, but $x^2$.",
}


RUBRIC = """
[[memory]]
id = "reason"
points = 2
what = "A reason."
else = "Why?"

[[memory]]
id = "example"
points = 1
what = "An `example`."
else = "Give an example."
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course with four written answers, graded; two are the same but for a capital."""
    folder = tmp_path_factory.mktemp("course")
    released(folder, NAME)
    made = Course(folder)
    answers = {name: {**solutions(NAME), "memory": text} for name, text in WRITTEN.items()}
    hand_in(made, made.assignment(NAME), answers)
    grade(folder, NAME)
    return made


@pytest.fixture(scope="module")
def course(graded: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(shutil.copytree(graded.root, tmp_path_factory.mktemp("copy") / "course"))


@pytest.fixture
def with_rubric(graded: Course, tmp_path: Path) -> Iterator[Server]:
    """Run the pages of a course with a rubric, in which nothing is marked yet."""
    course = Course(shutil.copytree(graded.root, tmp_path / "course"))
    course.rubrics_of(NAME).parent.mkdir()
    course.rubrics_of(NAME).write_text(RUBRIC)
    running = Server(course)
    yield running
    running.close()


class Server:
    """The marking pages on a port of this machine, in a thread."""

    def __init__(self, course: Course) -> None:
        self.marking = Marking(course, [NAME])
        self.answers = self.marking.classes[NAME]
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(30)

    async def _run(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        sockets = bind_sockets(0, "127.0.0.1")
        self.address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        HTTPServer(application(self.marking, TOKEN, "tess")).add_sockets(sockets)
        self._started.set()
        await self._ended.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()


@pytest.fixture
def server(course: Course) -> Iterator[Server]:
    running = Server(course)
    yield running
    running.close()


def open_pages(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/?token={TOKEN}")


def marks(course: Course) -> dict[str, tuple[float | None, str | None]]:
    """Return the last points and comment of each student in the record."""
    answers = Answers(course, NAME)
    with answers.gradebook.engine.connect() as db:
        lines = history.markings(db, NAME)
    answers.gradebook.close()
    return {line.student: (line.points, line.comment) for line in lines if line.who == "tess"}


def test_a_class_is_marked_by_keyboard(course: Course, server: Server, page: Page) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    open_pages(page, server)
    page.get_by_role("link").first.click()
    order = [each.student for each in server.answers.of("memory")]
    assert order != sorted(order), "the order is that of the names"
    seen = []
    while page.get_by_text("to be marked").count() and page.locator(".answer").count():
        text = page.locator(".answer").inner_text()
        seen.append(text)
        assert not any(name in page.content() for name in WRITTEN), "the page names a student"
        if "one" in text:
            expect(page.get_by_text("1 more with the same words")).to_be_visible()
            page.keyboard.press("f")
        else:
            page.keyboard.press("n")
            page.keyboard.press("c")
            page.keyboard.type("See the lesson.")
            page.keyboard.press("Escape")
        assert_accessible(page)
        keep_picture(page, f"mark-{len(seen)}")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    most = server.answers.exercises["memory"].max_points
    assert len(seen) == 3
    assert marks(course) == {
        "ada": (most, None), "cleo": (most, None),
        "ben": (0.0, "See the lesson."), "dan": (0.0, "See the lesson."),
    }  # fmt: skip
    assert page.title() == f"Marking {NAME}"
    expect(page.get_by_role("cell", name="none")).to_be_visible()
    assert all(url.startswith(server.address) or url.startswith("data:") for url in loaded)


def keep(page: Page, points: str) -> None:
    page.get_by_label("Points").fill(points)
    before = page.locator("main").element_handle()
    page.get_by_role("button", name="Keep").click()
    page.wait_for_function("main => !main.isConnected", arg=before)


def test_a_mark_that_somebody_changed_meanwhile_is_shown_and_kept(
    course: Course, server: Server, page: Page
) -> None:
    open_pages(page, server)
    [answer, *_] = server.answers.of("memory")
    address = f"{server.address}/{NAME}/memory/{answer.row}"
    late = page.context.new_page()  # it logs the refusal, which `page` must not
    late.goto(address)
    page.goto(address)
    keep(page, "0.5")
    keep(late, "0.25")
    expect(late.get_by_role("alert")).to_contain_text("0.5 points")
    assert marks(course)[answer.student][0] == 0.5
    keep(late, "0.25")
    assert marks(course)[answer.student][0] == 0.25


def test_nobody_marks_without_the_address_that_the_command_prints(
    server: Server, page: Page
) -> None:
    [answer, *_] = server.answers.of("memory")
    for path in ("/", f"/{NAME}/memory", f"/{NAME}/memory/{answer.row}", "/?token=wrong"):
        reply = page.request.get(f"{server.address}{path}")
        assert reply.status == 403, path
    reply = page.request.post(f"{server.address}/{NAME}/memory/{answer.row}", form={"points": "1"})
    assert reply.status == 403
    port = server.address.rpartition(":")[2]
    headers = {"Host": f"elsewhere.example:{port}"}
    path = f"{server.address}/?token={TOKEN}"
    assert page.request.get(path, headers=headers).status == 403
    # A form of another site comes with the cookie, and without the page's token.
    open_pages(page, server)
    form = {"points": "1", "seen": "{}"}
    reply = page.request.post(f"{server.address}/{NAME}/memory/{answer.row}", form=form)
    assert reply.status == 403


def test_answers_are_marked_by_the_items_of_a_rubric(with_rubric: Server, page: Page) -> None:
    open_pages(page, with_rubric)
    page.get_by_role("link").first.click()
    points, reason = page.get_by_label("Points"), page.get_by_label("A reason.")
    keys = {"one": ["f"], "faster": ["1", "1", "2", "c"], "know": ["1", "a", "."]}
    while page.locator(".answer").count():
        text = page.locator(".answer").inner_text()
        [word] = [word for word in keys if word in text]
        for key in keys[word]:
            page.keyboard.press(key)
        if word == "one":
            expect(points).to_have_value("3")
            page.keyboard.press("n")
            expect(points).to_have_value("0")
            page.keyboard.press("f")
        elif word == "faster":
            expect(points).to_have_value("1")
            page.keyboard.type("1 pass?")
            page.keyboard.press("Escape")
        else:
            expect(reason).to_be_checked()
            page.keyboard.type("5")
            expect(page.locator("output")).to_have_text("−1.5 beside the items")
            page.keyboard.press("Escape")
        assert_accessible(page)
        keep_picture(page, f"mark-items-{word}")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    answers = with_rubric.answers
    with answers.gradebook.engine.connect() as db:
        lines = {line.student: line for line in history.markings(db, NAME)}
    given = {name: (line.points, line.items, line.adjust) for name, line in lines.items()}
    full = (3.0, {"reason": 2.0, "example": 1.0}, 0.0)
    assert given == {
        "ada": full, "cleo": full, "ben": (1.0, {"example": 1.0}, 0.0),
        "dan": (0.5, {"reason": 2.0}, -1.5),
    }  # fmt: skip
    assert lines["ben"].comment == "1 pass?"
    [dan] = [answer for answer in answers.of("memory") if answer.student == "dan"]
    page.goto(f"{with_rubric.address}/{NAME}/memory/{dan.row}")
    expect(page.get_by_text("0.5 points (reason, −1.5)")).to_be_visible()
    expect(reason).to_be_checked()
    page.keyboard.press("2")
    expect(points).to_have_value("3")


def test_a_page_in_place_of_another_has_its_own_address_and_comes_back(
    with_rubric: Server, page: Page
) -> None:
    open_pages(page, with_rubric)
    page.get_by_role("link").first.click()
    first, answer = page.url, page.locator(".answer")
    text = answer.inner_text()
    page.evaluate("window.isTheSame = true")
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # too soon: it is sent once
    page.wait_for_url(lambda url: url != first)
    assert page.evaluate("window.isTheSame"), "a page was loaded"
    second, now = page.url, answer.inner_text()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.reload()
    assert (page.url, answer.inner_text()) == (second, now)
    page.go_back()
    page.wait_for_function("!window.isTheSame")
    expect(answer).to_have_text(text)
    assert page.url == first
    expect(page.get_by_text("Marked before")).to_be_visible()


def test_points_outside_of_the_exercise_s_are_refused(server: Server, page: Page) -> None:
    open_pages(page, server)
    [answer, *_] = server.answers.of("memory")
    page.goto(f"{server.address}/{NAME}/memory/{answer.row}")
    for typed in ("99", "-1", "many", "nan"):
        keep(page, typed)
        expect(page.get_by_role("alert")).to_contain_text("a number from 0 to")
