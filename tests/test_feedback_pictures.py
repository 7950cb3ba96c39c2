"""Feedback pages show this course's formulas, and the graph of what went wrong."""

from __future__ import annotations

import re
from pathlib import Path
from zlib import crc32

import pytest
from bs4 import BeautifulSoup
from campaigns import size
from schools import grade, released, run, solutions
from tested_course import COURSE

from autograder.commands.demo import hand_in
from autograder.course_folder.assignments import Assignment
from autograder.course_folder.course import Course
from autograder.judging.course_sessions import CourseSessions
from autograder.judging.hidden_tests import Suite
from coursecheck.check import first_wrong, load_table
from coursecheck.messages import FailedExample, Row

pytestmark = pytest.mark.subprocess

VALUE = COURSE.assignment("value")
RIGHT = solutions("value")
MISTAKE = next(m for m in VALUE.exercises["mul"].mistakes if m.id == "mul.own_data")


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a graded class, with feedback made by nbgrader's own command."""
    folder = released(tmp_path_factory.mktemp("school"))
    answers = {"all_right": RIGHT, "one_mistake": {**RIGHT, "mul": MISTAKE.source}}
    hand_in(Course(folder), VALUE, answers)
    grade(folder)
    run(folder, "nbgrader", "generate_feedback", "value")
    return folder


def page_of(school: Path, student: str) -> BeautifulSoup:
    path = school / "feedback" / student / "value" / "value.html"
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_formulas_on_a_feedback_page_are_mathml(school):
    page = page_of(school, "all_right")
    assert len(page.find_all("math")) > 20

    for each in page.find_all(["code", "pre"]):
        each.decompose()

    assert not re.search(r"\$[^$\n]+\$|\\frac", page.find(id="notebook").get_text())


def test_a_feedback_page_shows_the_example_s_graph_with_its_wrong_nodes_marked(school):
    page = page_of(school, "one_mistake")
    drawn = page.select("#notebook .verdict img")

    assert len(drawn) == 1
    assert "marked: your grad:" in drawn[0]["alt"]
    assert "Computational graph of z" in drawn[0]["alt"]
    assert not page_of(school, "all_right").select(".verdict img")


@pytest.fixture
def drawn(server):
    """Draw an example of an exercise of an assignment."""
    helpers: dict = {}
    played: dict = {}

    def draw(exercise: str, example: FailedExample, assignment: Assignment = VALUE) -> str:
        if not helpers:
            with Suite(assignment.tests) as suite:
                helpers.update(suite.helpers)
        models = played.setdefault(assignment.name, CourseSessions(assignment, server))
        return models.drawn(exercise, example, helpers)

    return draw


def test_a_graph_is_drawn_only_if_it_shows_the_mistake(drawn):
    example = VALUE.exercises["mul"].examples[0]
    names = example["observe"]

    assert names == ["z.data", "x.grad", "y.grad"]

    wrong = [Row("z.data", -6.0, -6.0), Row("x.grad", 7.25, -15.0), Row("y.grad", 10.0, 10.0)]
    svg = drawn("mul", FailedExample(example["code"], wrong))

    assert svg.count("! your grad: 7.25") == 1
    assert "-15.0" in svg

    missing = FailedExample(
        "x, y = Value(2.0), Value(3.0)\nz = x * y\n", [Row("y in z._prev", False, True)]
    )

    assert "! your _prev lacks y" in drawn("mul", missing)

    lone = FailedExample("x = Value(2.0)\n", [Row("x.data", 3.0, 2.0)])
    assert drawn("mul", lone) == ""

    text = FailedExample("x = Value(2.0) * Value(3.0)\nt = repr(x)\n", [Row("t", "?", "Value")])
    assert drawn("mul", text) == ""

    error = {"error": "TypeError", "message": "no"}
    fails = FailedExample(example["code"], [Row(name, error, 1.0) for name in names])

    assert drawn("mul", fails) == ""


@pytest.mark.full
@pytest.mark.sized
@pytest.mark.parametrize("name", COURSE.assignment_names())
def test_each_drawing_of_a_known_mistake_has_a_marked_node(drawn, name):
    """One mistake in six is drawn by day."""
    assignment = COURSE.assignment(name)
    table, every = load_table(assignment.table)["exercises"], size(6, 1)
    drawings = [
        drawn(exercise, first_wrong(entry, mistake["results"]), assignment)
        for exercise, entry in table.items()
        for mistake in entry.get("mistakes", ())
        if crc32(mistake["id"].encode()) % every == 0
    ]
    marked = [svg for svg in drawings if svg]

    assert all("! your" in svg and svg.endswith("</svg>") for svg in marked)
    assert len(marked) >= {"value": 60, "backward": 40}.get(name, 4) // (2 * every)
