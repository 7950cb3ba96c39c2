"""The service grades on arrival, loses nothing, and shows each student their own."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from campaigns import size
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from schools import append, released, scores, solutions
from services import Service, Visitor, serving
from small_school import wait_for

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import load_assignment
from autograder.delivery.service.attempts import GRADED, OVER, WAITING
from autograder.delivery.service.changes import Changes
from autograder.delivery.service.grading import Grading
from autograder.gradebook import history
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.slow

STUDENTS = size(8, 50)
CLASS = [f"student_{n}" for n in range(STUDENTS)]
APART = 60 / 50
"""Seconds of the class's minute for each of its students: fifty hand in within one."""
SECONDS = 10.0
"""Seconds that each student of a class may wait, from handing in until the page shows the verdict,
while a service runs."""
AGAIN = 1.0
"""Seconds after which a browser asks again if there was no answer, as the page's stream sets it."""


@pytest.fixture(scope="module")
def school_made_once(tmp_path_factory) -> Path:
    folder = released(tmp_path_factory.mktemp("serve") / "course")
    with Gradebook(course_directory(folder).db_url) as gradebook:
        for student in CLASS:
            gradebook.add_student(student, first_name="Eve", last_name=student)
    shared = folder.parent / "exchange" / "autograd"
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
    wrong = {**right, "mul": load_assignment(school, "value").exercises["mul"].mistakes[0].source}
    return {
        "right": filled_notebook(school, "value", right).encode(),
        "wrong": filled_notebook(school, "value", wrong).encode(),
        "empty": filled_notebook(school, "value", {}).encode(),
    }


def named(school: Path) -> str:
    """Return the beginning of the tutor's message on the mistake, up to a character that a page
    escapes."""
    says = load_assignment(school, "value").exercises["mul"].mistakes[0].says
    return re.split(r"[`*'\n]", says)[0]


def submit(school: Path, student: str, notebook: bytes, second: int = 0, whole: bool = True) -> str:
    """Write the files of nbgrader's button into the exchange; return the secret."""
    when = f"2024-03-01 10:00:{second:02}.000000 UTC"
    folder = school.parent / "exchange/autograd/inbound" / f"{student}+value+{when}+abc{second}"
    folder.mkdir()
    (folder / "value.ipynb").write_bytes(notebook)
    (folder / "timestamp.txt").write_text(when)
    secret = f"secret of {student} {second}"
    if whole:
        (folder / "submission_secret.txt").write_text(secret)
    return secret


def feedback_in_exchange(school: Path, secret: str) -> Path:
    name = notebook_hash(secret=secret, notebook_id="value")
    return school.parent / "exchange" / "autograd" / "feedback" / f"{name}.html"


def recorded(school: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(school / "gradebook.db") as gradebook:
        return gradebook.execute("SELECT student, submission FROM autograder_grading").fetchall()


def all_graded(service: Service, number: int) -> bool:
    found = service.attempts()
    return len(found) == number and all(each.state == GRADED for each in found)


def test_feedback_is_there_by_nbgrader_and_on_the_page(service, school):
    made = notebooks(school)
    submit(school, "student_1", made["empty"], whole=False)  # It is still being written.
    secret = submit(school, "student_0", made["wrong"])
    fetched = feedback_in_exchange(school, secret)
    wait_for(fetched.exists)
    wait_for(lambda: all_graded(service, 1))
    mistake = named(school)
    assert mistake in fetched.read_text()
    student = service.visitor("student_0")
    assert mistake in student.page and "value, attempt 1" in student.page
    assert student.hand_in(made["right"])[0] == 200
    assert student.hand_in(made["right"])[0] == 200, "who presses twice has made one attempt"
    wait_for(lambda: all_graded(service, 2))
    assert "attempt 2" in student.first_event()
    # The last counts, for nbgrader and all that uses its gradebook.
    first, second = service.attempts()
    assert (first.counts, second.counts) == (False, True) and second.points == second.max_points
    assert scores(school)["student_0"] == second.points
    assert (school / "submitted/student_0/value/value.ipynb").read_bytes() == made["right"]
    # Other numbers were drawn for another file.
    assert first.report["seed"] != second.report["seed"]
    teacher = service.visitor("teacher", teaches=True)
    assert "Eve student_0" in teacher.page
    _, history = teacher.get("class/history?student=student_0&assignment=value")
    assert "Attempt 1" in history and "Attempt 2" in history and mistake in history
    assert not feedback_in_exchange(school, "secret of student_1 0").exists()


@pytest.mark.alone
@pytest.mark.sized
def test_a_class_hands_in_within_a_minute_and_a_kill_loses_no_attempt(service, school):
    """Hand in at random moments, half by the exchange and half by the page, all with their page
    open."""
    kinds = [*notebooks(school).values()]
    own = [kinds[n % 3] + b"\n" * n for n in range(STUDENTS)]
    people = [Person(service, n, content) for n, content in enumerate(own)]
    teacher = ClassPage(service)
    for each in (*people, teacher):
        each.start()
    wait_for(lambda: sum(each.state == GRADED for each in service.attempts()) > STUDENTS // 4)
    service.kill()
    down = time.monotonic()
    done_before = sum(each.state == GRADED for each in service.attempts())
    assert done_before < STUDENTS, "the kill came too late to tell anything"
    service.start()
    up = time.monotonic()
    for each in people:
        each.join(120)
    assert all(each.until for each in people), "somebody's page shows nothing"
    attempts = service.attempts()
    assert {each.student for each in attempts} == {*CLASS} and len(attempts) == STUDENTS
    # One line of the record each, and the marks are those of each one's own file.
    lines = recorded(school)
    assert len(lines) == len(set(lines)) == STUDENTS
    found = scores(school)
    for each in attempts:
        number = CLASS.index(each.student)
        path = school / "submitted" / each.student / "value" / "value.ipynb"
        assert path.read_bytes() == own[number] and each.counts
        assert found[each.student] == each.points
        assert (each.points == each.max_points) == (number % 3 == 0)
    # The queue was shown, and was empty in the end.
    wait_for(lambda: teacher.queue[-1] == (0, 0))
    assert any(running or waiting for running, waiting in teacher.queue)
    waits = sorted(each.until - each.since for each in people)
    print(f"waited: median {waits[len(waits) // 2]:.1f} s, longest {waits[-1]:.1f} s, "
          f"of which the service was down for up to {up - down:.1f} s")  # fmt: skip
    for each in people:
        was_down = max(0.0, min(each.until, up) - max(each.since, down))
        assert each.until - each.since - was_down < SECONDS


class Person(threading.Thread):
    """A student who hands in once, at a random moment, and looks at the page until the verdict.

    Attributes:
        since: when it was handed in, by the monotonic clock.
        until: when the page showed the verdict.
    """

    def __init__(self, service: Service, number: int, notebook: bytes) -> None:
        super().__init__(daemon=True)
        self._visitor = service.visitor(CLASS[number])
        self._service, self._number, self._notebook = service, number, notebook
        self._when = Random(number).uniform(0, APART * STUDENTS)
        self.since = self.until = 0.0

    def run(self) -> None:
        time.sleep(self._when)
        self.since = time.monotonic()
        if self._number % 2 == 0:
            submit(self._service.course, CLASS[self._number], self._notebook)
        else:
            again(lambda: self._hand_in())
        again(self._read_until_graded)
        self.until = time.monotonic()

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
        self._visitor = service.visitor("teacher", teaches=True)
        self.queue: list[tuple[int, int]] = []

    def run(self) -> None:
        while True:
            again(self._read)

    def _read(self) -> None:
        for part in self._visitor.events("class/live"):
            running, waiting = re.findall(r"(\d+) being graded, (\d+) waiting", part)[0]
            self.queue.append((int(running), int(waiting)))


def again(action: Callable[[], None]) -> None:
    """Repeat an action, as a browser does without an answer."""
    while True:
        try:
            return action()
        except (OSError, http.client.HTTPException):
            time.sleep(AGAIN)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_kill_after_each_step_is_mended(school, monkeypatch):
    """A new service does the steps after the one at which the last service was killed."""
    made = notebooks(school)
    for step, name in enumerate(("_put_in_place", "_show"), 1):
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
        running = Grading(school, ["value"], 1, lambda _: None, lambda: None)
        running.prepare(stack)
        running.start()
        running.join(60)
        assert not running.is_alive()


def test_invalid_uploads_are_refused(service, school):
    ada = service.visitor("student_0")
    assert ada.hand_in(b"{}", xsrf=False)[0] == 403
    assert ada.hand_in(b"{}", assignment="../../x")[0] == 400
    assert ada.hand_in(b"")[0] == 400
    assert service.visitor("nobody").hand_in(b"{}")[0] == 403
    try:
        status = ada.hand_in(b"x" * 21_000_000)[0]
    except OSError:  # The connection is closed while it is sent.
        status = 400
    assert status in (400, 413) and service.attempts() == []
    name = '../../etc/x";.ipynb'
    assert ada.hand_in(b"{", name=name)[0] == 200
    wait_for(lambda: all_graded(service, 1))
    [attempt] = service.attempts()
    assert attempt.error and "value.ipynb" in attempt.error and attempt.points == 0
    assert str(school) not in service.visitor("student_0").page


def test_folders_in_the_exchange_without_an_owner_stop_nothing(school, tmp_path):
    """Students may give folders any names and owners, and links any targets."""
    inbound = school.parent / "exchange/autograd/inbound"
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
    assert "student_1's own" in log and "does not bear a student's name" in log
    assert os.listdir(school / "submitted") == ["student_0"]


def submit_name(student: str, time_given: str) -> str:
    return f"{student}+value+{time_given}+abc0"


def test_attempts_are_limited_in_all_and_put_off_by_the_day(school):
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
        assert "Not graded" in ada.page and "at most 2 attempts a day" in ada.page
        assert service.stop() == 0


@pytest.mark.parametrize("level", ["exercises", "nothing"])
def test_before_the_due_date_no_more_is_shown_than_the_rules_say(school, level):
    rules(school, f'before_due = "{level}"')
    made = notebooks(school)
    with Gradebook(course_directory(school).db_url) as gradebook:
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
            assert message not in seen and "points</b>" not in seen
        assert ("partly right" in page) == (level == "exercises")
        teacher = service.visitor("teacher", teaches=True)
        assert message in teacher.get("class/history?student=student_0&assignment=value")[1]
        with Gradebook(course_directory(school).db_url) as gradebook:
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


def test_submissions_from_before_the_service_are_backed_up(school):
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
    machine = Visitor(service.url)
    status, health = machine.get("health")
    assert status == 200 and json.loads(health)["well"] is True
    # It is counted once its feedback is in the exchange, too.
    wait_for(lambda: "autograder_attempts_graded_total 1.0" in machine.get("metrics")[1])
    status, metrics = machine.get("metrics")
    assert status == 200
    assert re.search(r'autograder_attempt_seconds_bucket\{le="10.0"\} 1.0', metrics)
    assert "student_0" not in health + metrics


def test_changed_tests_grade_later_attempts_and_old_marks_are_reported(service, school):
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
    assert first.points == first.max_points and second.points < second.max_points
    with Gradebook(course_directory(school).db_url) as gradebook:
        old, new = (history.latest(gradebook, "value", f"student_{n}") for n in range(2))
    assert old.versions["assignment"] != new.versions["assignment"]
    teacher = service.visitor("teacher", teaches=True)
    wait_for(lambda: "1 marks were given before" in teacher.get("class")[1])
    assert "autograder regrade value" in teacher.get("class")[1]


def _is_answered(visitor: Visitor) -> bool:
    try:
        return visitor.get("health")[0] == 200
    except OSError:
        return False


def test_a_change_counts_once_files_stop_changing(school):
    changes, tests = Changes(school, ["value"]), school / "grading_tests" / "test_value.py"
    before = tests.read_text()
    assert changes.look() is False and changes.is_as_before("value")
    tests.write_text(before + "\n# half")
    # A grading that ran meanwhile is not stored.
    assert not changes.is_as_before("value")
    assert changes.look() is None
    tests.write_text(before + "\n# whole")
    assert changes.look() is None and changes.look() is True
    tests.write_text(before)
    assert changes.look() is False and changes.is_as_before("value")
