"""nbgrader's commands and this project's work together on one course and one gradebook."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from schools import append, released, run, solutions
from tested_course import COURSE

from autograder.commands.demo import filled_notebook, hand_in, hand_in_unreadable
from autograder.course_folder.course import Course
from autograder.course_folder.key import NAME as KEY
from autograder.course_folder.key import course_key
from autograder.errors import CourseError

pytestmark = pytest.mark.subprocess

VALUE = COURSE.assignment("value")
RIGHT = solutions("value")
MISTAKE = VALUE.exercises["mul"].mistakes[0]
CLASS = {
    "all_right": RIGHT,
    "not_started": {},
    "one_mistake": {**RIGHT, "mul": MISTAKE.source},
    "stopped_half_way": {name: RIGHT[name] for name in ("node", "add")},
    "leaves": {**RIGHT, "trace": "import os\nos._exit(0)\n"},
}

RECEIPTS = {"timestamp.txt": "2030-03-01 10:00:00.000000 UTC", "submission_secret.txt": "f00d" * 32}


def marks(folder: Path) -> dict[str, dict[str, float | None]]:
    """Return every student's automatic marks, by test cell."""
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                grade.cell.name: grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions("value")
        }


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a released course with a class's submissions, not graded yet."""
    folder = released(tmp_path_factory.mktemp("school"))
    hand_in(Course(folder), VALUE, CLASS)
    hand_in_unreadable(Course(folder), VALUE)
    for name, content in RECEIPTS.items():
        (folder / "submitted" / "one_mistake" / "value" / name).write_text(content)
    (folder / KEY).write_text("11" * 32 + "\n")
    return folder


@pytest.fixture(scope="module")
def by_nbgrader(school, tmp_path_factory) -> Path:
    folder = shutil.copytree(school, tmp_path_factory.mktemp("nbgrader") / "course")
    run(folder, "nbgrader", "autograde", "value")
    run(folder, "nbgrader", "generate_feedback", "value")
    return folder


@pytest.fixture(scope="module")
def by_us(school, tmp_path_factory) -> Path:
    folder = shutil.copytree(school, tmp_path_factory.mktemp("autograder") / "course")
    printed = run(folder, "autograder", "grade", "value", status=1)
    assert "cut off in the middle" in " ".join(printed.split())
    assert "the file is empty" in " ".join(printed.split())
    return folder


def test_nbgrader_autograde_and_autograder_grade_write_the_same_marks(by_nbgrader, by_us):
    assert marks(by_nbgrader) == marks(by_us)


def test_feedback_is_returned_through_the_exchange(by_nbgrader, by_us, tmp_path):
    run(by_us, "nbgrader", "generate_feedback", "value", "--student", "one_mistake")
    for folder in (by_nbgrader, by_us):
        handed_out = folder / "feedback" / "one_mistake" / "value"
        assert {name: (handed_out / name).read_text() for name in RECEIPTS} == RECEIPTS
    root = f"--Exchange.root={tmp_path}"
    run(by_us, "nbgrader", "release_feedback", "value", "--student", "one_mistake", root)
    name = notebook_hash(secret=RECEIPTS["submission_secret.txt"], notebook_id="value")
    released = tmp_path / "numbers" / "feedback" / f"{name}.html"

    assert MISTAKE.id.split(".")[0] in released.read_text()


def test_each_student_of_the_sample_class_gets_the_expected_points(by_us):
    scores = {name: sum(each.values()) for name, each in marks(by_us).items()}
    assert scores["all_right"] == 16
    assert scores["not_started"] == scores["cut_off_file"] == scores["empty_file"] == 0
    assert scores["stopped_half_way"] == 7
    assert scores["leaves"] == 11

    lost = {name for name, points in marks(by_us)["one_mistake"].items()
            if points != marks(by_us)["all_right"][name]}  # fmt: skip

    assert lost == {"test_mul"}

    with Gradebook(f"sqlite:///{by_us}/gradebook.db") as gradebook:
        submissions = gradebook.assignment_submissions("value")
        assert not any(submission.needs_manual_grade for submission in submissions)


def test_an_unreadable_file_gets_a_page_with_the_reason(by_nbgrader):
    page = (by_nbgrader / "feedback/cut_off_file/value/value.html").read_text()
    assert "cut off in the middle" in page

    page = (by_nbgrader / "feedback/empty_file/value/value.html").read_text()
    assert "the file is empty" in page
    assert str(by_nbgrader) not in page


def test_nbgrader_export_holds_the_marks(by_us):
    run(by_us, "nbgrader", "export", "--to", "marks.csv")
    rows = {row["student_id"]: row for row in csv.DictReader((by_us / "marks.csv").open())}
    assert float(rows["all_right"]["score"]) == 16
    assert float(rows["not_started"]["score"]) == 0


def test_an_unreadable_file_is_reported_by_each_grading(by_us):
    for _ in range(2):
        printed = run(by_us, "autograder", "grade", "value", "--student", "empty_file", status=1)
        assert "empty_file: " in printed
        assert "the file is empty" in printed


def test_only_what_can_be_graded_replaces_marks_and_a_lower_mark_is_reported(by_us):
    path = by_us / "submitted/all_right/value/value.ipynb"
    right, grade = path.read_bytes(), ("autograder", "grade", "value", "--student", "all_right")
    for content, status, says in (
        (b"%PDF-1.7", 1, "this is a PDF"),
        (b"%PDF-1.7", 1, "The marks of what was handed in before stay."),
        ((by_us / "release/value/value.ipynb").read_bytes(), 0, "0 / 16 (was 16)"),
        (right, 0, "16 / 16"),
    ):
        path.write_bytes(content)
        assert says in " ".join(run(by_us, *grade, status=status).split())


def test_check_prints_the_report_as_json(school):
    path = school / "submitted" / "one_mistake" / "value" / "value.ipynb"
    report = json.loads(run(school, "autograder", "check", str(path), "--json"))

    assert report["assignment"] == "value"
    assert report["max_score"] == 16

    [wrong] = [each for each in report["exercises"] if each["status"] != "passed"]
    assert (wrong["id"], wrong["misconception"]) == ("mul", MISTAKE.id)
    assert list(wrong) == [
        "id", "title", "points", "max_points", "status", "message", "misconception",
        "extra", "bonus", "note", "essential", "keeps", "reason", "needs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["grade", "valeu"], 2, "there is no assignment 'valeu'"),
        (["grade", "value", "--student", "nobody"], 2, "nothing was submitted from nobody"),
        (["check", "no_such_file.ipynb"], 1, "no_such_file.ipynb: cannot be read"),
        (["grade", "value", "--course", "/"], 2, "/ is not in a course folder"),
    ],
)
def test_a_wrong_argument_is_reported_without_a_traceback(school, arguments, status, says):
    printed = " ".join(run(school, "autograder", *arguments, status=status).split())
    assert says in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("command", ["export", "report"])
def test_unwritable_output_path_is_reported(by_us, command):
    place = f"nbgrader_config.py/{command}"
    more = ["--partial"] if command == "export" else []
    printed = run(by_us, "autograder", command, "value", "--output", place, *more, status=2)

    assert f"{place}: cannot be read or written (Not a directory)." in printed
    assert "Traceback" not in printed


def test_a_key_file_without_a_key_is_refused(tmp_path):
    for content in ("", "not hex\n", "1122\n"):
        (tmp_path / KEY).write_text(content)
        with pytest.raises(CourseError, match="holds no key"):
            course_key(tmp_path)


def test_an_invalid_configuration_is_reported(school, tmp_path):
    course = shutil.copytree(school, tmp_path / "course")
    append(course / "nbgrader_config.py", "c.LatePolicy.tokens = = 2\n")
    printed = run(course, "autograder", "grade", "value", status=2)

    assert "nbgrader_config.py: cannot be run (SyntaxError" in printed
    assert "Traceback" not in printed


def test_an_unusable_gradebook_is_reported(by_us, tmp_path):
    course = shutil.copytree(by_us, tmp_path / "course")
    (course / "gradebook.db").write_text("This is no database. " * 50)
    for command in ("grade", "export"):
        printed = run(course, "autograder", command, "value", status=2)
        assert "the gradebook cannot be used" in printed
        assert "file is not a database" in printed


@pytest.mark.full
@pytest.mark.parametrize(
    ("answers", "says"), [(RIGHT, "passes all the tests"), ({}, "VALIDATION FAILED ON 4 CELL(S)")]
)
def test_nbgrader_validate_counts_the_failed_cells(school, tmp_path, answers, says):
    path = shutil.copytree(school / "release/value", tmp_path / "value") / "value.ipynb"
    path.write_text(filled_notebook(Course(school), "value", answers), "utf-8")
    assert says in " ".join(run(school, "nbgrader", "validate", str(path)).split())
