"""An error in one student's files does not affect other students: each command does the rest.

Each kind of error is planted in the files of one of four students. Then each command has to process
the other three, name this student, and print no traceback.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import pytest
from campaigns import drawn
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from schools import append, release, solutions
from small_school import wait_for

from autograder.authoring.new_course import make_course
from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.lms import platforms
from autograder.nbgrader_plugins.late_policy import LatePolicy
from autograder.pipeline.classroom import Classroom, course_directory
from autograder.service.attempts import GRADED, Attempts
from autograder.service.grading import Grading

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

ONE = "mid"
OTHERS = ["ann", "ben", "zoe"]
DUE = datetime(2030, 3, 1, 12, 0)
NAME = "words"


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory) -> Path:
    """Return a course with four submissions that were imported and graded; one is late."""
    folder = make_course(tmp_path_factory.mktemp("one") / "course", "Words")
    release(folder, NAME)
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
        for number, student in enumerate([ONE, *OTHERS]):
            gradebook.add_student(student, lms_user_id=str(100 + number))
    download(folder, "")
    assert run(folder, "import", NAME, str(folder / "download")).exit_code == 0
    for student in (ONE, *OTHERS):
        when = "2030-03-02 13:00:00 UTC" if student == ONE else "2030-03-01 10:00:00 UTC"
        (folder / "submitted" / student / NAME / "timestamp.txt").write_text(when)
    assert run(folder, "grade", NAME, "--workers", "1").exit_code == 0
    return folder


@pytest.fixture
def school(graded_once, tmp_path) -> Path:
    return shutil.copytree(graded_once, tmp_path / "course", symlinks=True)


def download(course: Path, more: str) -> None:
    """Make a folder with a right notebook of each student, and another file."""
    text = filled_notebook(Course(course), NAME, solutions(NAME, Course(course)))
    for student in (ONE, *OTHERS):
        folder = course / "download" / student
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{NAME}.ipynb").write_text(text + more, "utf-8")


def run(course: Path, *line: str):
    return CliRunner().invoke(main, [*line, "--course", str(course)])


# The commands: each returns its output, and the students whom it served.


def grade(course: Path) -> tuple[str, set[str]]:
    done = run(course, "grade", NAME, "--force", "--json", "--workers", "1")
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return ended(done), {
        each["student"] for each in seen if not each["error"] and each.get("score")
    }


def regrade(course: Path) -> tuple[str, set[str]]:
    done = run(course, "regrade", NAME, "--yes", "--json", "--workers", "1")
    seen = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return ended(done), {each["student"] for each in seen if not each["left_alone"]}


def export(course: Path) -> tuple[str, set[str]]:
    done = run(course, "export", NAME)
    rows = csv.DictReader(io.StringIO(done.stdout))
    return ended(done), {row["student"] for row in rows if row["mark"]}


def report(course: Path) -> tuple[str, set[str]]:
    done = run(course, "report", NAME)
    page = (course / "class_report" / NAME / "students.csv").read_text("utf-8")
    return ended(done), {row["student"] for row in csv.DictReader(io.StringIO(page))}


def feedback(course: Path) -> tuple[str, set[str]]:
    done = run(course, "feedback", NAME)
    [path] = (course / "imported" / NAME).glob("feedback_*.zip")
    with zipfile.ZipFile(path) as archive:
        return ended(done), {name.partition("/")[0] for name in archive.namelist()}


def send(course: Path) -> tuple[str, set[str]]:
    line = ["--to", "canvas", "--url", "https://x", "--there", "1/2", "--yes", "--json"]
    done = run(course, "send", NAME, *line)
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return ended(done), {each["student"] for each in seen if each["state"] == "sent"}


def import_(course: Path) -> tuple[str, set[str]]:
    download(course, "\n")
    for student in (ONE, *OTHERS):
        shutil.rmtree(course / "submitted" / student / NAME, ignore_errors=True)
    done = run(course, "import", NAME, str(course / "download"), "--json")
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return ended(done), {each["student"] for each in seen if each["state"] == "new"}


def autograde(course: Path) -> tuple[str, set[str]]:
    """Grade as the formgrader does; nbgrader logs tracebacks of its own."""
    line = [sys.executable, "-m", "nbgrader", "autograde", NAME, "--force"]
    done = subprocess.run(line, cwd=course, capture_output=True, text=True, errors="replace")
    served = {path.parts[-3] for path in course.glob(f"autograded/*/{NAME}/{NAME}.ipynb")}
    return done.stderr, served


COMMANDS = {each.__name__.strip("_"): each for each in (
    grade, regrade, export, report, feedback, send, import_, autograde
)}  # fmt: skip


def ended(done) -> str:
    assert "Traceback" not in done.output
    assert done.exit_code in (0, 1), (done.output, done.exception)
    return done.output


# The kinds of trouble, each with the commands that have to name the student.


def a_folder_for_a_notebook(course: Path, patch: pytest.MonkeyPatch) -> None:
    path = course / "submitted" / ONE / NAME / f"{NAME}.ipynb"
    path.unlink()
    path.mkdir()


def a_file_where_a_folder_should_be_made(course: Path, patch: pytest.MonkeyPatch) -> None:
    for folder in ("autograded", "feedback"):
        shutil.rmtree(course / folder / ONE, ignore_errors=True)
        (course / folder).mkdir(exist_ok=True)
        (course / folder / ONE).write_text("")


def a_student_who_was_removed(course: Path, patch: pytest.MonkeyPatch) -> None:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.remove_student(ONE)


def a_damaged_graded_notebook(course: Path, patch: pytest.MonkeyPatch) -> None:
    path = course / "autograded" / ONE / NAME / f"{NAME}.ipynb"
    path.unlink()
    path.write_text('{"metadata": [], "cells": 7, "nbformat": 4, "nbformat_minor": 5}')


def a_name_that_is_not_in_utf_8(course: Path, patch: pytest.MonkeyPatch) -> None:
    for folder in ("submitted", "autograded", "download"):
        shutil.copytree(course / folder / ONE, course / folder / os.fsdecode(b"M\xfcller"))


def an_error_that_nobody_foresaw(course: Path, patch: pytest.MonkeyPatch) -> None:
    formatted = CourseDirectory.format_path

    def fails_at_one(self, step, student, name, escape=False):
        if student == ONE:
            raise ZeroDivisionError("a student's own words")
        return formatted(self, step, student, name, escape)

    patch.setattr(CourseDirectory, "format_path", fails_at_one)


def a_late_policy_that_fails(course: Path, patch: pytest.MonkeyPatch) -> None:
    def fails(self, student, score, late):
        raise ZeroDivisionError("a student's own words")

    patch.setattr(LatePolicy, "late_submission_penalty", fails)


def a_platform_that_fails(course: Path, patch: pytest.MonkeyPatch) -> None:
    def fails_at_one(self, mark):
        if mark.student == ONE:
            raise ZeroDivisionError("a student's own words")

    patch.setattr(FakeCanvas, "send", fails_at_one)


FAULTS = {
    a_folder_for_a_notebook: {"grade", "autograde"},
    a_file_where_a_folder_should_be_made: {"grade", "feedback", "autograde"},
    a_student_who_was_removed: {"grade", "regrade", "feedback", "import"},
    a_damaged_graded_notebook: {"feedback"},
    a_name_that_is_not_in_utf_8: {"grade"},
    an_error_that_nobody_foresaw: {"grade", "regrade", "report", "feedback", "import"},
    a_late_policy_that_fails: {"grade", "export", "send"},
    a_platform_that_fails: {"send"},
}  # fmt: skip


class FakeCanvas:
    name = "canvas here"

    def __init__(self, *_: object) -> None:
        pass

    def connect(self) -> None:
        pass

    def has(self, mark: object) -> bool:
        return False

    def why_unknown(self, user: str) -> str:
        return ""

    def send(self, mark: object) -> None:
        pass


# Of the commands that need not name the student, most wait for a campaign.
PAIRS = [
    pytest.param(plant, command, id=name, marks=drawn(name, 32, 1 if command in naming else 8))
    for plant, naming in FAULTS.items()
    for command in COMMANDS
    for name in [f"{plant.__name__}-{command}"]
]


@pytest.mark.parametrize(("plant", "command"), PAIRS)
def test_an_error_in_one_student_s_files_stops_no_command_for_other_students(
    school, monkeypatch, plant, command, caplog
):
    monkeypatch.setattr(platforms, "Canvas", FakeCanvas)
    plant(school, monkeypatch)
    seen, served = COMMANDS[command](school)

    assert {*OTHERS} <= served, seen
    assert "a student's own words" not in seen

    named = "xfcller" if plant is a_name_that_is_not_in_utf_8 else ONE
    if command in FAULTS[plant]:
        assert named in seen + caplog.text, seen


def test_a_returned_student_is_graded_again(school):
    a_student_who_was_removed(school, None)
    done = run(school, "grade", NAME, "--workers", "1")

    assert done.exit_code == 0
    assert "not in the gradebook any more" in done.output

    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        assert ONE not in {student.id for student in gradebook.students}
        gradebook.add_student(ONE)

    assert run(school, "grade", NAME, "--workers", "1").exit_code == 0
    assert ONE in export(school)[1]


def test_an_assignment_without_a_release_does_not_affect_the_others(school):
    (school / "source" / "later").mkdir()
    shutil.copy(school / f"source/{NAME}/{NAME}.ipynb", school / "source/later/later.ipynb")
    for verb in ("grade", "regrade", "export"):
        more = [] if verb == "export" else ["--workers", "1"]
        more += ["--yes"] if verb == "regrade" else ["--force"] if verb == "grade" else []
        done = run(school, verb, "later", NAME, *more)
        assert done.exit_code == 1 and "later" in done.output, done.output
        graded = ["4 graded before"] if verb == "regrade" else OTHERS
        assert all(words in done.output for words in graded), done.output
        alone = run(school, verb, "later", *more)
        assert alone.exit_code == 2
        assert "later" in alone.output


@pytest.mark.parametrize(
    ("part", "step"),
    [(Grading, "_replace_submission"), (Grading, "_publish"), (Classroom, "due")],
    ids=["storing", "showing", "asking when"],
)
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_service_grades_other_students_despite_an_error_in_one_student_s_files(
    school, monkeypatch, part, step
):
    exchange = school.parent / "exchange"
    settings = f'\nc.Exchange.root = "{exchange}"\nc.ExchangeCollect.check_owner = False\n'
    append(school / "nbgrader_config.py", settings)
    inbound = exchange / course_directory(Course(school)).course_id / "inbound"
    inbound.mkdir(parents=True)
    text = (school / "download" / ONE / f"{NAME}.ipynb").read_text("utf-8")
    for second, student in enumerate([ONE, *OTHERS]):
        when = f"2029-03-01 10:00:0{second}.000000 UTC"
        folder = inbound / f"{student}+{NAME}+{when}+abc"
        folder.mkdir()
        for file, content in (
            (f"{NAME}.ipynb", text), ("timestamp.txt", when), ("submission_secret.txt", "secret")
        ):  # fmt: skip
            (folder / file).write_text(content)
    before = getattr(part, step)

    def fails_at_one(self, *given):
        if any(ONE in (each, getattr(each, "student", None)) for each in given):
            raise ZeroDivisionError("a student's own words")
        return before(self, *given)

    monkeypatch.setattr(part, step, fails_at_one)
    with ExitStack() as stack:
        running = Grading(Course(school), [NAME], 1, lambda _: None, lambda: None)
        running.prepare(stack)
        running.start()
        try:
            wait_for(lambda: {*OTHERS} <= graded(school) or not running.is_alive())
            assert running.is_alive()
        finally:
            running.end()
            running.join(60)


def graded(course: Path) -> set[str]:
    attempts = Attempts(Course(course))
    try:
        return {attempt.student for attempt in attempts.all() if attempt.state == GRADED}
    finally:
        attempts.close()
