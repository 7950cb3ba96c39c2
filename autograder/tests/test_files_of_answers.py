"""Answers can use files in the sandbox, and a solution that the sandbox refuses is reported."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.records import Cell

pytestmark = pytest.mark.subprocess

KEY = bytes(range(32))

EXERCISES = {
    "cheap": """
import sqlite3

def cheap(most):
    with sqlite3.connect("shop.db") as shop:
        rows = shop.execute("select name from goods where price <= ? order by name", (most,))
        return [name for name, in rows]
""",
    "sold": """
def sold(name, count):
    with sqlite3.connect("sales.db") as sales:
        sales.execute("create table if not exists sales (name text, count integer)")
        sales.execute("insert into sales values (?, ?)", (name, count))
        return sales.execute("select sum(count) from sales where name = ?", (name,)).fetchone()[0]
""",
    "note": """
def note(line):
    with open("notes.txt", "a") as file:
        file.write(line + "\\n")
    with open("notes.txt") as file:
        return len(file.readlines())
""",
    "listen": """
import socket

def listen():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1] > 0
""",
}
TESTS = '''
"""Hidden tests of exercises on files."""

from autograder.testing import exercise


@exercise("cheap")
def test_cheap(student, rng):
    """Goods up to the price are found, in order."""
    assert student.cheap(rng.uniform(2.0, 2.9)) == ["salt", "tea"]


@exercise("sold")
def test_sold(student, rng):
    """What was sold before counts as well."""
    first, second = rng.sample(range(1, 50), 2)
    assert student.sold("tea", first) == first
    assert student.sold("tea", second) == first + second


@exercise("note")
def test_note(student):
    """A note is added to those before."""
    assert [student.note("one"), student.note("two")] == [1, 2]


@exercise("listen")
def test_listen(student):
    """The port is a number above 0."""
    assert student.listen()
'''


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with a database file as data."""
    course = tmp_path_factory.mktemp("shop")
    for kind in ("source", "release"):
        folder = course / kind / "shop"
        folder.mkdir(parents=True)
        cells = []
        for name, solution in EXERCISES.items():
            text = solution if kind == "source" else "# YOUR CODE HERE\nraise NotImplementedError()"
            cells += [cell(name, text, solution=True), cell(f"test_{name}", "", grade=True)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "shop.ipynb")
    with sqlite3.connect(course / "source/shop/shop.db") as database:
        database.execute("create table goods (name text, price real)")
        rows = [("tea", 2.0), ("salt", 1.0), ("coffee", 3.0)]
        database.executemany("insert into goods values (?, ?)", rows)
    database.close()
    (course / "grading_tests").mkdir()
    (course / "grading_tests/test_shop.py").write_text(TESTS)
    (course / "course.toml").write_text(
        'id = "shop"\ntitle = "Shop"\n[assignments.shop]\ndata = ["shop.db"]\n'
    )
    return course


def cell(name: str, text: str, *, solution: bool = False, grade: bool = False):
    made = nbformat.v4.new_code_cell(text)
    marks = {"grade_id": name, "solution": solution, "grade": grade, "locked": grade}
    made.metadata.nbgrader = {**marks, "schema_version": 3, "task": False, "points": 2 * grade}
    return made


@pytest.fixture(scope="module")
def grader(shop: Path) -> Iterator[Grader]:
    with Grader(Course(shop), KEY) as warm:
        yield warm


@pytest.mark.parametrize("answer", ["right", "wrong"])
def test_a_solution_that_the_sandbox_refuses_leaves_its_exercise_ungraded(grader, answer):
    answers = EXERCISES if answer == "right" else {**EXERCISES, "listen": "listen = None\n"}
    report = grader.grade("shop", [Cell(text, name) for name, text in answers.items()]).report
    assert {each.id: each.points for each in report.exercises} == {
        "cheap": 2.0, "sold": 2.0, "note": 2.0, "listen": None
    }  # fmt: skip
    [defect] = report.defects
    assert "test_listen" in defect
    assert "assert student.listen()" in defect
    assert "PermissionError" in defect
    assert "socket" in defect


def test_the_solution_check_reports_the_refusal_before_any_submission(grader, shop):
    [defect] = grader.check_solution("shop")
    assert defect.startswith("shop: the hidden test test_listen: the reference solution does")
    assert "PermissionError" in defect
    assert not (shop / ".autograder_checked").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("import pandas", "source/shop needs pandas: "),
        ('def note(line): open("lost.txt")', "source/shop does not hold it: put it there"),
    ],
)
def test_a_package_or_file_that_the_solution_does_not_find_is_reported(shop, tmp_path, line, says):
    course = shutil.copytree(shop, tmp_path / "course")
    path = course / "source/shop/shop.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells[4].source = line
    nbformat.write(source, path)
    with Grader(Course(course), KEY) as grader:
        defects = [defect for defect in grader.check_solution("shop") if "test_note" in defect]
        report = grader.grade("shop", [Cell("note = None\n", "note")]).report
    assert len(defects) == 1
    assert says in defects[0]
    assert "lacks something" in defects[0]
    assert says in "".join(report.defects)


def test_files_of_the_course_stay_unchanged(grader, shop):
    before = (shop / "source/shop/shop.db").read_bytes()
    spoil = 'open("shop.db", "r+b").truncate(0)\n'
    answers = {**EXERCISES, "note": spoil, "cheap": EXERCISES["cheap"] + "cheap = None\n"}
    grader.grade("shop", [Cell(text, name) for name, text in answers.items()])
    assert (shop / "source/shop/shop.db").read_bytes() == before
    assert sorted(path.name for path in (shop / "source/shop").iterdir()) == [
        "shop.db", "shop.ipynb"
    ]  # fmt: skip
