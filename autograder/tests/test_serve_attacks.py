"""Students who attack the service gain no advantage and do not disturb others."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from services import Service, Visitor, serving
from small_school import wait_for
from test_serve import (
    CLASS,
    STUDENTS,
    all_graded,
    notebooks,
    rules,
    school,
    school_made_once,
    service,
    submit,
)

from autograder.course_folder.course import Course
from autograder.service.attempts import GRADED, OVER, WAITING, Attempts, Role
from autograder.service.base_page import MOST_OPEN_PAGES
from autograder.service.grading import MUCH_SECONDS
from autograder.service.inbound import MOST_OVER
from autograder.service.serving import links

pytestmark = pytest.mark.subprocess

__all__ = ["school", "school_made_once", "service"]

NAME = "student_0"


@pytest.fixture(scope="module")
def resting(school_made_once: Path) -> Iterator[Service]:
    """Return a service that must not accept any attempt."""
    with serving(school_made_once) as running:
        yield running
        assert running.attempts() == []


def cookie_of(visitor: Visitor) -> str:
    """Return a browser's cookies: the secret of the link, and the token against other sites."""
    return "; ".join(f"{each.name}={each.value}" for each in visitor.jar)


def megabytes(service: Service) -> float:
    return service.server().memory_info().rss / 1e6


def raw(service: Service, head: str, body: bytes = b"", seconds: float = 20) -> bytes:
    """Return the first bytes of the answer to a request that no browser would send."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
        with suppress(OSError):
            connection.sendall(body)
        with suppress(OSError):
            return connection.recv(300)
    return b""


@pytest.mark.parametrize(
    "asked",
    ["POST /upload/ada", "GET /upload/ada", "OPTIONS /upload/ada", "POST /health", "GET /x"],
)
def test_a_stranger_s_upload_is_refused_before_it_is_read(resting, asked):
    """Any upload without a link is refused, also if there are many."""
    before = megabytes(resting)
    head = f"{asked} HTTP/1.1\nHost: x\nContent-Length: 19000000\nContent-Type: x\n"
    with ThreadPoolExecutor(20) as pool:
        answers = [*pool.map(lambda _: raw(resting, head, bytes(19_000_000)), range(20))]

    assert all(answer == b"" or answer[9:12] in (b"400", b"403", b"405") for answer in answers)
    assert megabytes(resting) < before + 100


def test_one_student_s_uploads_do_not_fill_the_memory(service, school):
    ada, before = service.visitor(NAME), megabytes(service)
    form = re.search(r'action="/(upload[^"]*)"', ada.page)
    assert form is not None
    head = (
        f"POST /{form[1]} HTTP/1.1\nHost: x\nContent-Length: 19000000\nCookie: {cookie_of(ada)}\n"
        "Content-Type: multipart/form-data; boundary=x\n"
    )
    with ExitStack() as stack:
        # Each stops a byte before the end.
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", service.port), timeout=20)
            stack.enter_context(connection)
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
            with suppress(OSError):
                connection.sendall(bytes(18_999_999))
        assert megabytes(service) < before + 100
        # Meanwhile the others hand in, and ada's page is updated.
        assert service.visitor("student_1").hand_in(notebooks(school)["right"])[0] == 200
        with suppress(OSError, http.client.HTTPException):
            assert ada.hand_in(b"{}")[0] == 429
    wait_for(lambda: ada.hand_in(notebooks(school)["right"])[0] == 200)


@pytest.mark.parametrize(
    "body",
    [
        b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nvalue\r\n" * 5000 + b"--x--",
        b'--x\r\nContent-Disposition: form-data; name="notebook"; filename="a"\r\n\r\nA\r\n' * 2
        + b'--x\r\nContent-Disposition: form-data; name="assignment"\r\n\r\nvalue\r\n--x--',
        b'--x\r\nContent-Disposition: form-data; name="assignment"\r\n\r\n\xff\xfe\r\n--x--',
        b"--x\r\n\r\n\r\n--x--", b"--x--", b"\x00" * 1000, b"{}",
    ],
    ids=["many parts", "two notebooks", "no text", "no names", "nothing", "zeros", "json"],
)  # fmt: skip
def test_an_invalid_form_is_refused(resting, body):
    ada = resting.visitor(NAME)
    assert ada.send(body, "multipart/form-data; boundary=x")[0] == 400
    assert ada.get("")[0] == 200


@pytest.mark.full
def test_a_student_cannot_use_links_cookies_and_pages_of_others(service, school):
    ada, ben = service.visitor(NAME), service.visitor("student_1")
    teacher = service.visitor("teacher", Role.INSTRUCTOR)
    ada.hand_in(notebooks(school)["wrong"])
    wait_for(lambda: all_graded(service, 1))
    assert ada.get("feedback/1")[0] == teacher.get("feedback/1")[0] == 200
    assert "sandbox" in ada.headers("feedback/1")["Content-Security-Policy"]
    assert "script-src 'self'" in ada.headers("")["Content-Security-Policy"]
    history = "class/history?student=student_0&assignment=value"
    stranger = Visitor(service.url)
    for path in ("", "live", "feedback/1", "class", "class/live", "link/" + "x" * 43):
        assert stranger.get(path)[0] == 403, path
    for path in ("class", "class/live", history):
        assert ada.get(path)[0] == 404, path
    # A number in another form is the same page or none, and never another student's.
    for path in ("feedback/1", "feedback/01", "feedback/1/", "feedback/%31", "feedback/-1",
                 "feedback/1%00", "feedback/../feedback/1", "feedback/99999999999999999999",
                 history, "attempts/attempts.db",
                 "static/../attempts/attempts.db", "link/../attempts/pages/1.html",
                 "..%2f..%2f.autograder_key", "style.css/../../page.py"):  # fmt: skip
        assert ben.get(path)[0] in (400, 403, 404), path
    # Half of a secret, another's with one letter changed, and SQL are no links.
    token = next(link for who, _, link in links(Course(school), service.url, []) if who == NAME)
    secret = token.rpartition("/")[2]
    for wrong in (secret[:-1], secret[:-1] + ("A" if secret[-1] != "A" else "B"), secret.lower(),
                  "' OR 1=1 --", "%", secret + "x"):  # fmt: skip
        head = f"GET / HTTP/1.1\nHost: x\nCookie: link={wrong}\n"
        assert b" 403 " in raw(service, head), wrong
    assert "value, attempt" not in ben.first_event()


def test_another_website_cannot_hand_in_for_its_visitors(resting):
    """A token of one's own does not fit another's cookie, and a cookie alone is not enough."""
    ada, ben = resting.visitor(NAME), resting.visitor("student_1")
    body = b'--x\r\nContent-Disposition: form-data; name="assignment"\r\n\r\nvalue\r\n--x--'
    kind = "multipart/form-data; boundary=x"
    assert ada.send(body, kind, path="upload")[0] == 403
    theirs = re.search(r'action="/(upload[^"]*)"', ben.page)
    assert theirs is not None
    assert ada.send(body, kind, path=theirs[1])[0] == 403
    assert ada.get(theirs[1])[0] == 405, "nothing is handed in by an address alone"
    for each in ada.jar:
        assert each.has_nonstandard_attr("HttpOnly")
        assert each.get_nonstandard_attr("SameSite", "").lower() == "lax"


def test_links_are_random_and_become_invalid_when_renewed(service, school):
    ada, teacher = service.visitor(NAME), service.visitor("teacher", Role.INSTRUCTOR)
    stream, seen = ada.events(), []
    assert "Nothing was handed in" in next(stream)
    before, _, after = (
        {who: link for who, _, link in links(Course(school), service.url, renewed)}
        for renewed in ([], [NAME, "teacher"], [])
    )
    assert len({*before.values()}) == STUDENTS
    assert all(len(link.rpartition("/")[2]) >= 43 for link in before.values())
    assert {who for who in CLASS if before[who] != after[who]} == {NAME}
    assert ada.get("")[0] == 403
    assert teacher.get("class")[0] == 403
    assert ada.send(b"--x--", "multipart/form-data; boundary=x")[0] == 403
    # An open page gets no more updates: its stream ends.
    threading.Thread(target=lambda: seen.append([*stream]), daemon=True).start()
    submit(school, NAME, notebooks(school)["wrong"])
    wait_for(lambda: seen, 40)
    assert seen == [[]]


@pytest.mark.full
def test_attempts_by_page_and_exchange_at_once_stay_within_the_limit(school):
    rules(school, "attempts = 4\nattempts_a_day = 0")
    empty = notebooks(school)["empty"]
    with serving(school) as service:
        people = [service.visitor(NAME) for _ in range(6)]

        def one(number: int) -> None:
            with suppress(OSError, http.client.HTTPException):
                people[number].hand_in(empty + b" " * (number + 1))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
        for number, thread in enumerate(threads):
            thread.start()
            submit(school, NAME, empty + b"\n" * (number + 1), number)
        for thread in threads:
            thread.join()
        wait_for(lambda: not [*_waiting(service)] and len(service.attempts()) >= 6)
        states = [each.state for each in service.attempts()]
        assert states.count(GRADED) == 4
        assert set(states) == {GRADED, OVER}


def _waiting(service: Service) -> list[str]:
    return [each.state for each in service.attempts() if each.state not in (GRADED, OVER)]


SLEEPS = "import time\ntime.sleep(1000)"


@pytest.mark.full
def test_slow_submissions_never_occupy_all_workers(service, school):
    """Start two workers, and two students whose notebooks sleep until their time is up, as they did
    before on this day."""
    made = notebooks(school)
    for number in (1, 2):
        submit(school, f"student_{number}", made["empty"], number)
    wait_for(lambda: all_graded(service, 2))
    with sqlite3.connect(school / "attempts" / "attempts.db", timeout=60) as attempts:
        attempts.execute("UPDATE attempt SET seconds = ?", [MUCH_SECONDS])
    notebook = json.loads(made["right"])
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": SLEEPS, "outputs": [],
                           "execution_count": None}]  # fmt: skip
    for number in (1, 2):
        submit(school, f"student_{number}", json.dumps(notebook).encode(), 10 + number)
    wait_for(lambda: len(service.attempts()) == 4)

    submit(school, NAME, made["right"])
    wait_for(lambda: is_graded(service, NAME))

    sleepers = [each.state for each in service.attempts() if each.student != NAME][2:]
    assert sleepers == [WAITING, WAITING]


def is_graded(service: Service, student: str) -> bool:
    attempts = service.attempts()
    return any(each.student == student and each.state == GRADED for each in attempts)


def test_a_flood_in_the_exchange_fills_no_disk_and_delays_no_other_student(school):
    rules(school, "attempts = 1")
    inbound = school.parent / "exchange/numbers/inbound"
    empty = notebooks(school)["empty"]
    for number in range(60):
        submit(school, NAME, empty + b"\n" * number, number)
    # Further submissions are invalid and huge, so that reading all of each would take long.
    for number in range(200):
        folder = inbound / f"student_1+value+2024-03-01 10:00:00.000000 UTC+x{number}"
        folder.mkdir()
        with (folder / "value.ipynb").open("wb") as file:
            file.truncate(40_000_000)
        (folder / "submission_secret.txt").symlink_to("/dev/zero")
    with serving(school) as service:
        submit(school, "student_2", notebooks(school)["right"])
        wait_for(lambda: is_graded(service, "student_2"))
        wait_for(lambda: len(service.attempts()) >= 2 + MOST_OVER)
        found = service.attempts()
        assert len(found) == 2 + MOST_OVER
        assert all(each.student in (NAME, "student_2") for each in found)
        assert len([*school.glob("attempts/files/*")]) == len(found)


def test_one_person_can_keep_only_a_limited_number_of_pages_open(service):
    ada = service.visitor(NAME)
    streams = [ada.events() for _ in range(MOST_OPEN_PAGES)]
    for each in streams:
        next(each)
    assert ada.get("live")[0] == 429
    assert "Nothing was handed in" in service.visitor("student_1").first_event()
    for each in streams:
        each.close()
    # The service notices the closed connection when it next writes.
    service.visitor(NAME).hand_in(b"{}")
    wait_for(lambda: ada.page and _answers(ada))


def _answers(visitor: Visitor) -> bool:
    with suppress(OSError):
        return bool(visitor.first_event())
    return False


def test_an_upload_that_cannot_be_stored_is_reported_and_is_no_attempt(service, school):
    """The folder of the attempts' files stands for a full disk."""
    ada = service.visitor(NAME)
    files = school / "attempts" / "files"
    files.rmdir()
    files.write_text("in the way")
    status, page = ada.hand_in(b"{}")
    assert status == 503
    assert "Nothing was taken" in page
    assert str(school) not in page
    files.unlink()
    files.mkdir()
    assert ada.hand_in(notebooks(school)["right"])[0] == 200
    wait_for(lambda: all_graded(service, 1))


@pytest.mark.full
def test_names_and_texts_that_students_choose_are_text_on_every_page(service, school):
    evil = json.loads(notebooks(school)["right"])
    evil["cells"].append({"cell_type": "<img src=x onerror=alert(1)>"})
    ada = service.visitor(NAME)
    ada.hand_in(json.dumps(evil).encode(), name="<script>alert(1)</script>.ipynb")
    wait_for(lambda: all_graded(service, 1))
    teacher = service.visitor("teacher", Role.INSTRUCTOR)
    pages = [service.visitor(NAME).page, teacher.get("class")[1], ada.get("feedback/1")[1],
             teacher.get("class/history?student=student_0&assignment=value")[1],
             teacher.get("class/history?student=<script>x&assignment=value")[1]]  # fmt: skip
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<script>x" not in page


def test_only_the_service_can_read_the_links(service, school):
    assert (school / "attempts").stat().st_mode & 0o077 == 0
    for path in (school / "attempts").rglob("*"):
        if path.name.startswith("attempts.db"):
            assert path.stat().st_mode & 0o077 == 0, path
    assert not [*Path(os.devnull).parent.glob("attempts*")]
    log = (school / "serve.log").read_text()
    attempts = Attempts(Course(school))
    assert attempts.link(NAME) not in log
    attempts.close()
