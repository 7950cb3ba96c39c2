"""The class report: right numbers, students' texts made safe, copies found and only these."""

from __future__ import annotations

import csv
import itertools
import re
import statistics
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook
from schools import COURSE, grade, release, released, solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import load_assignment
from autograder.course_folder.misconceptions import percent_cells
from autograder.errors import CourseError
from autograder.pages.class_report.analysis import correlation
from autograder.pages.class_report.page import write_report
from autograder.pages.class_report.similarity import ALIKE, similar_pairs
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.slow

VALUE = load_assignment(COURSE, "value")
RIGHT = solutions("value")
STUBS = {exercise.id: exercise.stub for exercise in VALUE.exercises.values()}
MISTAKE = VALUE.exercises["mul"].mistakes[0]
HOSTILE = "<script>alert(1)</script>&=cmd|' /C calc'!A0"
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
        (path / "value.ipynb").write_text(filled_notebook(folder, "value", answers), "utf-8")
        (path / "timestamp.txt").write_text(f"{DUE + timedelta(hours=hour - 2.5)} UTC\n")
    for attempt in ("2030-02-27 10:00:00 UTC", "2030-02-28 10:00:00 UTC"):
        (exchange / "autograd" / "inbound" / f"ben+value+{attempt}+secret").mkdir(parents=True)
    grade(folder)
    return folder


@pytest.fixture(scope="module")
def page(school) -> Path:
    return write_report(school, "value", school / "class_report")


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8", newline="")))


def test_marks_are_those_of_the_gradebook(school, page):
    rows = {row["student"]: row for row in table(page.with_name("students.csv"))}
    folders = course_directory(school)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        for submission in gradebook.assignment_submissions("value"):
            assert float(rows.pop(submission.student.id)["score"]) == submission.score
    assert not rows


def test_item_analysis(page):
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
def test_correlation(pairs, expected):
    assert correlation(pairs) == pytest.approx(expected)


def test_misconceptions_are_counted(page):
    [first, *_] = table(page.with_name("misconceptions.csv"))
    assert (first["misconception"], first["students"]) == (MISTAKE.id, "2")
    assert first["what the tutor says"] == MISTAKE.says


def test_times_and_attempts(page):
    rows = {row["student"]: row for row in table(page.with_name("students.csv"))}
    assert rows["ben"]["attempts"] == "2" and rows["ada"]["attempts"] == ""
    assert rows["ada"]["submitted (UTC)"] == "2030-03-01 09:30:00"
    [late] = [row for row in rows.values() if float(row["hours late"])]
    assert float(late["hours late"]) == 0.5 and "script" in late["student"]


def test_the_page_is_self_contained_and_runs_no_script(page):
    text = page.read_text("utf-8")
    soup = BeautifulSoup(text, "html.parser")
    assert not soup.find_all(["script", "link", "iframe", "img", "object"])
    assert HOSTILE.replace("/", "∕") in soup.get_text()
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert len(soup.find_all("svg", attrs={"role": "img", "aria-label": True})) == 4
    ids = [each["id"] for each in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert soup.html["lang"] == "en" and "prefers-color-scheme: dark" in text


def test_the_page_is_the_same_each_time(school, page, tmp_path):
    again = write_report(school, "value", tmp_path)
    assert again.read_text("utf-8") == page.read_text("utf-8")


def test_names_can_be_hidden(school, tmp_path):
    page = write_report(school, "value", tmp_path, hide_names=True)
    seen = [row["student"] for row in table(page.with_name("students.csv"))]
    assert len(set(seen)) == 4 and set(seen) < {f"student {i}" for i in range(1, 6)}
    for path in page.parent.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"\b(ada|ben|cy|nobody)\b|alert|2030-0[23]-\d\d \d\d:\d\d:", text), (
            path
        )
        assert "09:30" not in text


def test_an_ungraded_assignment_is_reported(course):
    release(course, "value")
    with pytest.raises(CourseError, match="nothing of value is graded yet"):
        write_report(course, "value", course / "class_report")


def variants() -> dict[str, dict[str, str]]:
    """Return the right answers of the value assignment that were written independently."""
    found = {}
    for path in sorted((COURSE / "tests" / "variants" / "value").glob("*.py")):
        cells = {cell.name: cell.source for cell in percent_cells(path)}
        found[path.stem] = cells
    return found


def renamed(cells: dict[str, str]) -> dict[str, str]:
    """Return a copy that a student disguised: other names, other spacing, comments added."""
    names = {"other": "b", "out": "result", "self": "a", "node": "n", "nodes": "seen"}
    return {
        exercise: "# my own work\n"
        + re.sub(r"\b(" + "|".join(names) + r")\b", lambda found: names[found[0]], source)
        .replace(" = ", "  =  ")
        for exercise, source in cells.items()
    }  # fmt: skip


def test_a_disguised_copy_is_found_and_independent_answers_are_not():
    answers = variants()
    assert len(answers) >= 12
    assert similar_pairs(answers, STUBS, alike=0.65) == []
    [pair] = similar_pairs({**answers, "copied": renamed(answers["lambdas"])}, STUBS)
    assert {pair.first, pair.second} == {"copied", "lambdas"}
    assert pair.similarity > 0.95 > ALIKE


def test_released_and_common_lines_do_not_count_as_similar():
    everybody = {f"student {i}": RIGHT for i in range(20)}
    assert similar_pairs(everybody, STUBS) == []
    assert similar_pairs({"ada": STUBS, "ben": STUBS}, STUBS) == []
    assert similar_pairs({"ada": {"add": "x = (\n" * 999}, "ben": {"add": "\x00'"}}, STUBS) == []


def test_all_copies_in_a_small_group_are_found():
    answers = variants()
    few = {f"friend {i}": renamed(answers["slots"]) for i in range(2)}
    found = similar_pairs({**answers, **few}, STUBS)
    expected = set(itertools.combinations(sorted([*few, "slots"]), 2))
    assert {tuple(sorted((pair.first, pair.second))) for pair in found} == expected
