"""The class report has the right numbers, sanitizes students' texts, and finds copies."""

from __future__ import annotations

import csv
import re
import statistics
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook
from schools import COURSE, grade, release, released, solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.pages.class_report.analysis import correlation
from autograder.pages.class_report.page import write_report
from autograder.pages.class_report.similarity import equal_texts, similar_pairs
from autograder.pipeline.classroom import course_directory

VALUE = COURSE.assignment("value")
RIGHT = solutions("value")
STUBS = {exercise.id: exercise.stub for exercise in VALUE.exercises.values()}
MISTAKE = VALUE.exercises["mul"].mistakes[0]
HOSTILE = "&lt;script&gt;alert(1)&=cmd|' /C calc'!A0"
ANSWERS = {
    "ada": RIGHT,
    "ben": {**RIGHT, "mul": MISTAKE.source},
    "cy": {"node": RIGHT["node"], "add": RIGHT["add"], "mul": MISTAKE.source},
    HOSTILE: {"node": RIGHT["node"], "add": f'print("""{HOSTILE}""")\n' + RIGHT["add"]},
}
DUE = datetime(2030, 3, 1, 12, 0)


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a graded class of four, with one who submitted nothing and one who was late."""
    folder = released(tmp_path_factory.mktemp("school"))
    exchange = folder / "exchange"
    (folder / "nbgrader_config.py").open("a").write(f"\nc.Exchange.root = {str(exchange)!r}\n")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("value", duedate=DUE)
        gradebook.add_student("nobody")
    for hour, (student, answers) in enumerate(ANSWERS.items()):
        # A name with a slash cannot be a folder's.
        path = folder / "submitted" / student.replace("/", "∕") / "value"
        path.mkdir(parents=True)
        (path / "value.ipynb").write_text(
            filled_notebook(Course(folder), "value", answers), "utf-8"
        )
        (path / "timestamp.txt").write_text(f"{DUE + timedelta(hours=hour - 2.5)} UTC\n")
    for attempt in ("2030-02-27 10:00:00 UTC", "2030-02-28 10:00:00 UTC"):
        (exchange / "numbers" / "inbound" / f"ben+value+{attempt}+secret").mkdir(parents=True)
    grade(folder)
    return folder


@pytest.fixture(scope="module")
def page(school) -> Path:
    return write_report(Course(school), "value", school / "class_report")


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8", newline="")))


def test_the_class_report_shows_the_marks_of_the_gradebook(school, page):
    rows = {row["student"]: row for row in table(page.with_name("students.csv"))}
    folders = course_directory(Course(school))
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        for submission in gradebook.assignment_submissions("value"):
            assert float(rows.pop(submission.student.id)["score"]) == submission.score

    assert not rows


def test_item_analysis_agrees_with_the_statistics_module(page):
    """Compare the page with the same numbers computed the long way from the students' table."""
    students = table(page.with_name("students.csv"))
    for item in table(page.with_name("exercises.csv")):
        points = [float(row[item["exercise"]]) for row in students]
        rest = [float(row["score"]) - own for row, own in zip(students, points, strict=True)]
        assert float(item["mean share"]) == pytest.approx(
            statistics.mean(points) / float(item["max points"]), rel=1e-9
        )
        if len(set(points)) == 1:
            assert item["item-rest correlation"] == ""
        else:
            seen = float(item["item-rest correlation"])
            assert seen == pytest.approx(statistics.correlation(points, rest), rel=1e-9)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 0), (1, 1), (2, 2)], 1.0),
        ([(0, 2), (1, 1), (2, 0)], -1.0),
        ([(1, 0), (1, 1), (1, 2)], None),
        ([(0, 0), (1, 1)], None),
    ],
)
def test_a_correlation_needs_three_pairs_that_vary(pairs, expected):
    assert correlation(pairs) == pytest.approx(expected)


def test_the_class_report_counts_misconceptions(page):
    [first, *_] = table(page.with_name("misconceptions.csv"))
    assert (first["misconception"], first["students"]) == (MISTAKE.id, "2")
    assert first["what the tutor says"] == MISTAKE.says
    assert float(first["keeps"]) == MISTAKE.keeps


def test_the_class_report_shows_times_of_submission_and_numbers_of_attempts(page):
    rows = {row["student"]: row for row in table(page.with_name("students.csv"))}
    assert rows["ben"]["attempts"] == "2"
    assert rows["ada"]["attempts"] == ""
    assert rows["ada"]["submitted (UTC)"] == "2030-03-01 09:30:00"

    [late] = [row for row in rows.values() if float(row["hours late"])]
    assert float(late["hours late"]) == 0.5
    assert "script" in late["student"]


def test_the_class_report_is_self_contained_and_runs_no_script(page):
    text = page.read_text("utf-8")
    soup = BeautifulSoup(text, "html.parser")

    assert not soup.find_all(["script", "link", "iframe", "img", "object"])
    assert HOSTILE.replace("/", "∕") in soup.get_text()
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert len(soup.find_all("svg", attrs={"role": "img", "aria-label": True})) == 4

    ids = [each["id"] for each in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert soup.html["lang"] == "en"
    assert "prefers-color-scheme: dark" in text


def test_the_class_report_is_the_same_each_time(school, page, tmp_path):
    again = write_report(Course(school), "value", tmp_path)
    assert again.read_text("utf-8") == page.read_text("utf-8")


def test_the_class_report_can_hide_names(school, tmp_path):
    page = write_report(Course(school), "value", tmp_path, hide_names=True)
    seen = [row["student"] for row in table(page.with_name("students.csv"))]

    assert len(set(seen)) == 4
    assert set(seen) < {f"student {i}" for i in range(1, 6)}

    for path in page.parent.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"\b(ada|ben|cy|nobody)\b|alert|2030-0[23]-\d\d \d\d:\d\d:", text), (
            path
        )
        assert "09:30" not in text


@pytest.mark.subprocess
def test_an_ungraded_assignment_is_reported(course):
    release(course, "value")
    with pytest.raises(CourseError, match="nothing of value is graded yet"):
        write_report(Course(course), "value", course / "class_report")


def test_lines_of_the_release_and_common_lines_do_not_count_as_similar():
    everybody = {f"student {i}": RIGHT for i in range(20)}
    assert similar_pairs(everybody, STUBS) == []
    assert similar_pairs({"ada": STUBS, "ben": STUBS}, STUBS) == []
    assert similar_pairs({"ada": {"add": "x = (\n" * 999}, "ben": {"add": "\x00'"}}, STUBS) == []


def test_equal_free_texts_are_found_and_short_or_released_ones_are_not():
    stub = "In two sentences.\n\nYOUR ANSWER HERE"
    own = "One pass back gives the gradients of all inputs; forward needs one pass for each."
    same = "  " + own.upper().replace(";", ",").replace("; ", ",\n")
    texts = {
        "ada": {"q22": own, "q23": stub, "q24": "Yes, it does."},
        "ben": {"q22": same, "q23": stub, "q24": "Yes, it does."},
        "cy": {"q22": own + " And more.", "q23": own, "q24": ""},
        "dee": {"q22": f"{stub}\n{own}", "q23": f"{own}\n"},
    }
    pairs = equal_texts(texts, dict.fromkeys(("q22", "q23", "q24"), stub))

    assert [(pair.first, pair.second, pair.what) for pair in pairs] == [
        ("ada", "ben", "q22"), ("ada", "dee", "q22"), ("ben", "dee", "q22"), ("cy", "dee", "q23"),
    ]  # fmt: skip
    assert {pair.similarity for pair in pairs} == {1.0}
    assert min(pair.size for pair in pairs) > 40
