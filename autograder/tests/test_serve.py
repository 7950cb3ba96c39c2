"""The service grades submissions on arrival, loses none, and shows students only their own."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import psutil
import pytest
from campaigns import size
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from schools import append, released, scores, solutions
from services import START, Service, Visitor, serving
from small_school import wait_for

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.pipeline.classroom import course_directory
from autograder.service.attempts import GRADED, OVER, REFUSED, WAITING, Role
from autograder.service.base_page import SECRET
from autograder.service.changes import Changes
from autograder.service.grading import Grading

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

STUDENTS = size(8, 50)
CLASS = [f"student_{n}" for n in range(STUDENTS)]
AGAIN = 1.0
"""Seconds after which a browser asks again if there was no answer, as the page's stream sets it."""


@pytest.fixture(scope="module")
def school_made_once(tmp_path_factory) -> Path:
    folder = released(tmp_path_factory.mktemp("serve") / "course")
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        for student in CLASS:
            gradebook.add_student(student, first_name="Eve", last_name=student)
    shared = folder.parent / "exchange" / "numbers"
    for name in ("inbound", "outbound", "feedback"):
        (shared / name).mkdir(parents=True)
    root = f'\nc.Exchange.root = "{folder.parent}/exchange"\n'
    append(folder / "nbgrader_config.py", f"{root}c.ExchangeCollect.check_owner = False\n")
    return folder


@pytest.fixture
def school(school_made_once, tmp_path) -> Path:
    shutil.copytree(school_made_once.parent, tmp_path / "place")
    config = tmp_path / "place" / "course" / "nbgrader_config.py"
    text = config.read_text().replace(str(school_made_once.parent), str(tmp_path / "place"))
    config.write_text(text)
    return tmp_path / "place" / "course"


@pytest.fixture
def service(school) -> Iterator[Service]:
    with serving(school) as running:
        yield running


def rules(school: Path, text: str) -> None:
    append(school / "course.toml", f"\n[service]\n{text}\n")


def notebooks(school: Path) -> dict[str, bytes]:
    """Return a right one, and one with a mistake that has a name."""
    right = solutions("value")
    wrong = {**right, "mul": Course(school).assignment("value").exercises["mul"].mistakes[0].source}
    return {
        "right": filled_notebook(Course(school), "value", right).encode(),
        "wrong": filled_notebook(Course(school), "value", wrong).encode(),
        "empty": filled_notebook(Course(school), "value", {}).encode(),
    }


def named(school: Path) -> str:
    """Return the beginning of the tutor's message on the mistake, up to a character that a page
    escapes."""
    says = Course(school).assignment("value").exercises["mul"].mistakes[0].says
    return re.split(r"[`*'\n]", says)[0]


def submit(school: Path, student: str, notebook: bytes, second: int = 0, whole: bool = True) -> str:
    """Write the files of nbgrader's button into the exchange; return the secret."""
    when = f"2024-03-01 10:00:{second:02}.000000 UTC"
    folder = school.parent / "exchange/numbers/inbound" / f"{student}+value+{when}+abc{second}"
    folder.mkdir()
    (folder / "value.ipynb").write_bytes(notebook)
    (folder / "timestamp.txt").write_text(when)
    secret = f"secret of {student} {second}"
    if whole:
        (folder / "submission_secret.txt").write_text(secret)
    return secret


def feedback_in_exchange(school: Path, secret: str) -> Path:
    name = notebook_hash(secret=secret, notebook_id="value")
    return school.parent / "exchange" / "numbers" / "feedback" / f"{name}.html"


def recorded(school: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(school / "gradebook.db") as gradebook:
        return gradebook.execute("SELECT student, submission FROM autograder_grading").fetchall()


def all_graded(service: Service, number: int) -> bool:
    found = service.attempts()
    return len(found) == number and all(each.state == GRADED for each in found)


def test_feedback_is_returned_through_nbgrader_and_on_the_student_s_page(service, school):
    made = notebooks(school)
    submit(school, "student_1", made["empty"], whole=False)  # It is still being written.
    secret = submit(school, "student_0", made["wrong"])
    fetched = feedback_in_exchange(school, secret)
    wait_for(fetched.exists)
    wait_for(lambda: all_graded(service, 1))
    mistake = named(school)
    assert mistake in fetched.read_text()
    student = service.visitor("student_0")
    assert mistake in student.page
    assert "value, attempt 1" in student.page
    assert student.hand_in(made["right"])[0] == 200
    assert student.hand_in(made["right"])[0] == 200, "who presses twice has made one attempt"
    wait_for(lambda: all_graded(service, 2))
    assert "attempt 2" in student.first_event()
    # The last counts, for nbgrader and all that uses its gradebook.
    first, second = service.attempts()
    assert (first.counts, second.counts) == (False, True)
    assert second.points == second.max_points
    assert scores(school)["student_0"] == second.points
    assert (school / "submitted/student_0/value/value.ipynb").read_bytes() == made["right"]
    # Other numbers were drawn for another file.
    assert first.report["seed"] != second.report["seed"]
    teacher = service.visitor("teacher", Role.INSTRUCTOR)
    assert "Eve student_0" in teacher.page
    _, history = teacher.get("class/history?student=student_0&assignment=value")
    assert "Attempt 1" in history
    assert "Attempt 2" in history
    assert mistake in history
    assert not feedback_in_exchange(school, "secret of student_1 0").exists()


def test_a_mark_by_hand_is_on_the_page_at_the_next_load_and_in_the_exchange(service, school):
    secret = submit(school, "student_0", notebooks(school)["right"])
    wait_for(lambda: all_graded(service, 1))
    fetched, student = feedback_in_exchange(school, secret), service.visitor("student_0")
    for points, comment in ((1.0, "Nearly there."), (None, "Well done.")):
        with Gradebook(course_directory(Course(school)).db_url) as gradebook:
            gradebook.find_grade("test_mul", "value", "value", "student_0").manual_score = points
            note = gradebook.find_comment("mul", "value", "value", "student_0")
            note.manual_comment = comment
            gradebook.db.commit()
        whole = student.get("feedback/1")[1]
        assert comment in whole
        assert ("1 of 4 *" in whole) == (points == 1.0)
        assert f"{scores(school)['student_0']:g} of 16 points" in student.get("")[1]
        wait_for(lambda comment=comment: comment in fetched.read_text())


@pytest.mark.sized
def test_a_kill_while_all_students_hand_in_loses_no_attempt(service, school):
    """Half of the class hand in at once and half after the kill, by the exchange and by the page,
    all with their page open."""
    kinds = [*notebooks(school).values()]
    own = [kinds[n % 3] + b"\n" * n for n in range(STUDENTS)]
    killed = threading.Event()
    people = [Person(service, n, content, killed) for n, content in enumerate(own)]
    teacher = ClassPage(service)
    for each in (*people, teacher):
        each.start()
    wait_for(lambda: sum(each.state == GRADED for each in service.attempts()) > STUDENTS // 4)
    service.kill()
    killed.set()
    service.start()
    wait_for(lambda: not any(each.is_alive() for each in people))
    attempts = service.attempts()
    assert {each.student for each in attempts} == {*CLASS}
    assert len(attempts) == STUDENTS
    # One line of the record each, and the marks are those of each one's own file.
    lines = recorded(school)
    assert len(lines) == len(set(lines)) == STUDENTS
    found = scores(school)
    for each in attempts:
        number = CLASS.index(each.student)
        path = school / "submitted" / each.student / "value" / "value.ipynb"
        assert path.read_bytes() == own[number]
        assert each.counts
        assert found[each.student] == each.points
        assert (each.points == each.max_points) == (number % 3 == 0)
    # The queue was shown, and was empty in the end.
    wait_for(lambda: teacher.queue[-1] == (0, 0))
    assert any(running or waiting for running, waiting in teacher.queue)


class Person(threading.Thread):
    """A student who hands in once, and looks at the page until it shows the verdict. Those in the
    second half of the class wait for the event `killed`."""

    def __init__(
        self, service: Service, number: int, notebook: bytes, killed: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self._visitor = service.visitor(CLASS[number])
        self._service, self._number, self._notebook = service, number, notebook
        self._killed = killed

    def run(self) -> None:
        if self._number >= STUDENTS // 2:
            self._killed.wait()
        if self._number % 2 == 0:
            submit(self._service.course, CLASS[self._number], self._notebook)
        else:
            again(lambda: self._hand_in())
        again(self._read_until_graded)

    def _hand_in(self) -> None:
        assert self._visitor.hand_in(self._notebook)[0] == 200

    def _read_until_graded(self) -> None:
        for part in self._visitor.events():
            if "points</b>" in part:
                return
        raise OSError("the connection ended")


class ClassPage(threading.Thread):
    """The instructor, who has the class's page open.

    Attributes:
        queue: how many were being graded and how many waited, in each update of the page.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(daemon=True)
        self._visitor = service.visitor("teacher", Role.INSTRUCTOR)
        self.queue: list[tuple[int, int]] = []

    def run(self) -> None:
        while True:
            again(self._read)

    def _read(self) -> None:
        for part in self._visitor.events("class/live"):
            running, waiting = re.findall(r"(\d+) being graded, (\d+) waiting", part)[0]
            self.queue.append((int(running), int(waiting)))


def again(action: Callable[[], None]) -> None:
    """Repeat an action until there is an answer, as a browser does."""
    while True:
        try:
            return action()
        except (OSError, http.client.HTTPException):
            time.sleep(AGAIN)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_restarted_service_completes_what_a_kill_interrupted(school, monkeypatch):
    """A new service does the steps after the one at which the last service was killed."""
    made = notebooks(school)
    for step, name in enumerate(("_replace_submission", "_publish"), 1):
        submit(school, f"student_{step}", made["wrong"] + b"\n" * step)
        with monkeypatch.context() as patch:
            before = getattr(Grading, name)

            def killed(self: object, *given: object, before: object = before) -> None:
                before(self, *given)  # type: ignore[operator]
                raise KeyboardInterrupt

            patch.setattr(Grading, name, killed)
            run_until_killed(school)
    with serving(school) as service:
        wait_for(lambda: all_graded(service, 2))

    assert len(set(recorded(school))) == 2
    assert len([*school.glob("attempts/files/*")]) == 2


def run_until_killed(school: Path) -> None:
    with ExitStack() as stack:
        running = Grading(Course(school), ["value"], 1, lambda _: None, lambda: None)
        running.prepare(stack)
        running.start()
        running.join(START)
        assert not running.is_alive()


def test_invalid_uploads_are_refused(service, school):
    ada = service.visitor("student_0")
    assert ada.hand_in(b"{}", xsrf=False)[0] == 403
    assert ada.hand_in(b"{}", assignment="../../x")[0] == 400
    assert ada.hand_in(b"")[0] == 400
    assert service.visitor("nobody").hand_in(b"{}")[0] == 403
    status, page = ada.hand_in(b"x" * 21_000_000)
    assert status == 413
    assert "Clear Outputs" in page
    assert service.attempts() == []


def test_a_file_that_holds_nothing_to_grade_neither_counts_nor_uses_up_an_attempt(school):
    rules(school, "attempts = 2")
    made = notebooks(school)
    with serving(school) as service:
        ada = service.visitor("student_0")
        ada.hand_in(made["right"])
        wait_for(lambda: all_graded(service, 1))
        full = scores(school)
        ada.hand_in(b"%PDF-1.7", name='../../etc/x";.ipynb')
        secret = submit(school, "student_0", b"<html>Log in")
        wait_for(feedback_in_exchange(school, secret).exists)
        right, *refused = service.attempts()
        assert [each.state for each in refused] == [REFUSED] * 2
        assert right.counts
        assert scores(school) == full
        own, fetched = ada.get("")[1], feedback_in_exchange(school, secret).read_text()
        assert "Attempts left: value 1" in own
        assert str(school) not in own
        for page in (own, fetched):
            assert "this is a web page" in page
            assert "The notebook itself has to be handed in." in page


def test_folders_with_invalid_names_in_the_exchange_do_not_stop_the_service(school, tmp_path):
    """Students may give folders any names and owners, and links any targets."""
    inbound = school.parent / "exchange/numbers/inbound"
    made, time_given = notebooks(school)["right"], "2024-03-01 10:00:00.000000 UTC"
    real = inbound / submit_name("student_1", time_given)
    for name in (
        b"+value+" + time_given.encode(), b"student_2+value+\xff+x", b"student_2", b".x+value+y",
        b"student_2+..+" + time_given.encode(), b"*+value+" + time_given.encode(),
    ):  # fmt: skip
        os.mkdir(os.fsencode(inbound) + b"/" + name)
        for file in ("value.ipynb", "submission_secret.txt"):
            Path(os.fsdecode(os.fsencode(inbound) + b"/" + name), file).write_bytes(made)
    submit(school, "student_1", made)
    (inbound / "student_2+value+2024-03-02 10:00:00 UTC+l").symlink_to(real)
    append(school / "nbgrader_config.py", "\nc.ExchangeCollect.check_owner = True\n")
    with serving(school) as service:
        ada = service.visitor("student_0")
        assert ada.hand_in(made)[0] == 200
        wait_for(lambda: any(each.state == GRADED for each in service.attempts()))
        assert {each.student for each in service.attempts()} == {"student_0"}
        log = (school / "serve.log").read_text()

    assert "student_1's own" in log
    assert "does not bear a student's name" in log
    assert os.listdir(school / "submitted") == ["student_0"]


def submit_name(student: str, time_given: str) -> str:
    return f"{student}+value+{time_given}+abc0"


def test_attempts_beyond_the_total_limit_are_not_graded_and_beyond_the_daily_limit_wait(school):
    rules(school, "attempts = 3\nattempts_a_day = 2")
    made = notebooks(school)
    for second in range(5):
        submit(school, "student_0", made["empty"] + b"\n" * second, second)
    with serving(school) as service:
        wait_for(lambda: sum(each.state == GRADED for each in service.attempts()) == 2)
        wait_for(lambda: len(service.attempts()) == 5)
        states = [each.state for each in service.attempts()]
        assert states == [GRADED, GRADED, WAITING, OVER, OVER]
        assert service.attempts()[2].not_before > time.time()
        ada = service.visitor("student_0")
        assert "All 3 attempts are used" in ada.hand_in(made["right"])[1]
        assert "Not graded" in ada.page
        assert "at most 2 attempts a day" in ada.page
        assert service.stop() == 0


@pytest.mark.parametrize("level", ["exercises", "nothing"])
def test_before_the_due_date_students_see_only_what_before_due_allows(school, level):
    rules(school, f'before_due = "{level}"')
    made = notebooks(school)
    with Gradebook(course_directory(Course(school)).db_url) as gradebook:
        gradebook.update_or_create_assignment("value", duedate=datetime(2099, 1, 1))
    message = named(school)
    with serving(school) as service:
        secret = submit(school, "student_0", made["wrong"])
        wait_for(lambda: all_graded(service, 1) and service.attempts()[0].shown == level)
        ada = service.visitor("student_0")
        page = ada.get("feedback/1")[1] if level == "exercises" else ada.page
        fetched = feedback_in_exchange(school, secret)
        assert fetched.exists() == (level == "exercises")
        for seen in (ada.page, page, fetched.read_text() if fetched.exists() else ""):
            assert message not in seen
            assert "points</b>" not in seen
        assert ("partly right" in page) == (level == "exercises")
        teacher = service.visitor("teacher", Role.INSTRUCTOR)
        assert message in teacher.get("class/history?student=student_0&assignment=value")[1]
        with Gradebook(course_directory(Course(school)).db_url) as gradebook:
            gradebook.update_or_create_assignment("value", duedate=datetime(2020, 1, 1))
        wait_for(lambda: service.attempts()[0].shown == "mistakes")
        assert message in feedback_in_exchange(school, secret).read_text()
        assert message in service.visitor("student_0").page


def test_a_worse_attempt_changes_no_mark_if_the_best_counts(school):
    rules(school, 'counts = "best"')
    made = notebooks(school)
    with serving(school) as service:
        for second, kind in enumerate(("wrong", "right", "empty")):
            submit(school, "student_0", made[kind], second)
            wait_for(lambda number=second + 1: all_graded(service, number))
        assert [each.counts for each in service.attempts()] == [False, True, False]
        best = service.attempts()[1].points

    assert scores(school) == {"student_0": best}
    assert (school / "submitted/student_0/value/value.ipynb").read_bytes() == made["right"]
    assert len(recorded(school)) == 2


def test_a_submission_that_the_service_replaces_is_kept_as_a_copy(school):
    folder = school / "submitted" / "student_0" / "value"
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_text("what was there")
    with serving(school) as service:
        submit(school, "student_0", notebooks(school)["right"])
        wait_for(lambda: all_graded(service, 1))
    [aside] = school.glob("attempts/replaced/*/value.ipynb")

    assert aside.read_text() == "what was there"


def test_health_and_metrics_report_numbers_and_no_names(service, school):
    submit(school, "student_0", notebooks(school)["right"])
    wait_for(lambda: all_graded(service, 1))
    # How long others take, and how many wait, is for instructors and their monitoring.
    stranger, ada = Visitor(service.url), service.visitor("student_0")
    for each in (stranger, ada):
        status, health = each.get("health")
        assert status == 200
        assert json.loads(health) == {"well": True}
    assert stranger.get("metrics")[0] == 403
    assert ada.get("metrics")[0] == 404
    machine = Visitor(service.url)
    [secret] = [each.value for each in service.visitor("t", True).jar if each.name == SECRET]
    machine._opener.addheaders = [("Authorization", f"Bearer {secret}")]
    status, health = machine.get("health")
    assert status == 200
    assert json.loads(health)["well"] is True
    assert json.loads(health)["waiting"] == 0
    # It is counted once its feedback is in the exchange, too.
    wait_for(lambda: "autograder_attempts_graded_total 1.0" in machine.get("metrics")[1])
    status, metrics = machine.get("metrics")
    assert status == 200
    assert "autograder_attempt_seconds_count 1.0" in metrics
    assert "student_0" not in health + metrics


def test_later_attempts_are_graded_by_changed_tests_and_old_marks_are_reported(service, school):
    """The service restarts by itself, and no attempt is lost; a broken course grades nothing."""
    made = notebooks(school)
    submit(school, "student_0", made["right"])
    wait_for(lambda: all_graded(service, 1))
    tests = school / "grading_tests" / "test_value.py"
    text = tests.read_text()
    settings = school / "course.toml"
    rules_before = settings.read_text()
    settings.write_text(rules_before + "\n[service]\nattempts = 'many'\n")
    machine = Visitor(service.url)
    wait_for(lambda: machine.get("health")[0] == 503)
    submit(school, "student_1", made["right"])
    wait_for(lambda: len(service.attempts()) == 2)
    ada = service.visitor("student_1")
    assert "Nothing can be graded at the moment" in ada.page
    # Mended, and with a test that no answer passes.
    settings.write_text(rules_before)
    tests.write_text(text + "\n\n@exercise('add')\ndef test_never():\n    assert False\n")
    wait_for(lambda: _is_answered(machine) and all_graded(service, 2))
    assert service.process.poll() is None
    first, second = service.attempts()
    assert first.points == first.max_points
    assert second.points < second.max_points
    with Gradebook(course_directory(Course(school)).db_url) as gradebook:
        old, new = (history.latest(gradebook, "value", f"student_{n}") for n in range(2))
    assert old.versions["assignment"] != new.versions["assignment"]
    teacher = service.visitor("teacher", Role.INSTRUCTOR)
    wait_for(lambda: "1 marks were given before" in teacher.get("class")[1])
    assert "autograder regrade value" in teacher.get("class")[1]


SQUATTER = """
import os, select, socket, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
tries = 0
while not select.select([sys.stdin], [], [], 0.001)[0]:
    for place in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                own.bind((place, int(sys.argv[1])))
                own.listen()
            except OSError:
                tries += 1
            else:
                sys.exit(f"{place} was free after {tries} tries")
print(tries)
"""


def test_the_service_s_port_is_never_free_while_its_process_is_replaced(service, school):
    """The process that serves ends after a change, and is killed; then the next cannot start. Who
    hands in meanwhile gets an answer."""
    ada, made = service.visitor("student_0"), notebooks(school)["empty"]
    settings, log = school / "course.toml", school / "serve.log"
    valid = settings.read_text()

    def change(server: psutil.Process) -> None:
        append(school / "grading_tests" / "test_value.py", "\n")
        wait_for(lambda: service.server() != server, START)

    def crash(server: psutil.Process) -> None:
        settings.write_text(valid + "\n[service]\nattempts = 'many'\n")
        server.kill()
        # Said after the crash, and once more after the start that failed.
        wait_for(lambda: log.read_text().count("The service starts again in") == 2, START)
        settings.write_text(valid)

    squatter = subprocess.Popen(
        [sys.executable, "-I", "-c", SQUATTER, str(service.port)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        for number, end in enumerate((change, crash)):
            server = service.server()
            end(server)
            assert ada.hand_in(made + b"\n" * number)[0] == 200
            assert service.server() != server
        tries, error = squatter.communicate("the end", timeout=START)
        assert int(tries) > 100
        assert not error
    finally:
        squatter.kill()
    wait_for(lambda: all_graded(service, 2))

    assert service.stop() == 0


def _is_answered(visitor: Visitor) -> bool:
    try:
        return visitor.get("health")[0] == 200
    except OSError:
        return False


def test_the_service_uses_a_changed_course_once_its_files_stop_changing(school):
    changes, tests = Changes(Course(school), ["value"]), school / "grading_tests" / "test_value.py"
    before = tests.read_text()
    assert changes.poll() is False
    assert changes.is_as_before("value")
    tests.write_text(before + "\n# half")
    # A grading that ran meanwhile is not stored.
    assert not changes.is_as_before("value")
    assert changes.poll() is None
    tests.write_text(before + "\n# whole")
    assert changes.poll() is None
    assert changes.poll() is True
    tests.write_text(before)
    assert changes.poll() is False
    assert changes.is_as_before("value")
