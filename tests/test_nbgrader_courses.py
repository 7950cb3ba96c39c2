"""Courses in the forms in which they are found get the points that nbgrader gives them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader_courses import TEXTS, VARIANTS, make_course, read_text, variant

from autograder.course_folder.assignments import load_assignment
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content

KEY = bytes(32)
ALL = {path.stem: read_text(path) for path in sorted(TEXTS.glob("*.txt"))}
HALF = "%% solution half\nhalf = 0.5\n%% test test_half 2\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Iterator[tuple[Path, Grader]]:
    folder = make_course(tmp_path_factory.mktemp("found"), [*ALL.values()])
    with Grader(folder, KEY) as grader:
        yield folder, grader


def points_of(grader: Grader, name: str, made: nbformat.NotebookNode) -> dict[str, float | None]:
    _, report = grade_content(grader, nbformat.v4.writes(made).encode(), "a file", name)
    return {result.id: result.points for result in report.exercises}


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("name", ALL)
def test_points_are_those_that_nbgrader_gives(found, name, kind):
    folder, grader = found
    for notebook, tests in ALL[name].points.items():
        points = points_of(grader, name, variant(folder, ALL[name], notebook, kind))
        place = VARIANTS.index(kind)
        assert points == {each.removeprefix("test_"): tests[each][place] for each in tests}


@pytest.mark.parametrize("name", ALL)
def test_a_course_in_order_has_no_flaw(found, name):
    assert found[1].rehearse(name) == []


def course_of(folder: Path, text: str, settings: str = "") -> Path:
    """Make a course of one assignment, `small`."""
    (folder / "small.txt").write_text(text)
    return make_course(folder / "course", [read_text(folder / "small.txt")], settings)


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("import lost_one", "source/small needs lost_one: install it, and add it to student_code"),
        ("import numpy", "source/small needs numpy: add it to student_code.packages"),
        ("import rich", "source/small needs rich: add it to student_code.packages"),
        ("import mine", 'needs mine.py: add "mine.py" to data under [assignments.small]'),
        ("open('notes.txt')", 'needs notes.txt: add "notes.txt" to data'),
        ("open('lost.txt')", "source/small does not hold it: put it there"),
        ("assert half == 2, 'no half'", "AssertionError: no half"),
        ("import sys; print('hm', file=sys.stderr)", "writes to stderr, which earns nothing: hm"),
        ("1.5", "its last line gives 1.5 of 2 points"),
        ("3", "its last line gives more than the 2 points that it is worth"),
        ("while True: pass", "it ran out of time"),
    ],
)
def test_what_its_own_solution_does_not_pass_is_named_and_costs_nobody_a_point(
    tmp_path, test, says
):
    text = f"%% file notes.txt\n%% file mine.py\n%% notebook small\n{HALF}{test}\n"
    folder = course_of(tmp_path, text, "[limits]\ncell_seconds = 0.5")
    with Grader(folder, KEY) as grader:
        [flaw] = grader.rehearse("small")
        assert flaw.startswith("small: the test cell of half: its own solution does not pass it: ")
        assert says in flaw
        made = nbformat.read(folder / "release/small/small.ipynb", as_version=4)
        _, report = grade_content(grader, nbformat.v4.writes(made).encode(), "a file", "small")
    assert [(each.points, each.status) for each in report.exercises] == [(None, "ungraded")]
    assert report.flaws == [flaw]


def test_what_is_missing_is_found_in_the_cells_before(tmp_path):
    folder = course_of(tmp_path, f"%% notebook small\n%% code\nimport numpy as np\n{HALF}np.e\n")
    with Grader(folder, KEY) as grader:
        assert "No module named 'numpy' in the cell 1\nsource/small" in grader.rehearse("small")[0]


def test_another_language_is_refused_by_name(tmp_path):
    folder = course_of(tmp_path, f"%% kernel R ir\n%% notebook small\n{HALF}half\n")
    with pytest.raises(CourseError, match="is written in R, and only Python is graded here"):
        load_assignment(folder, "small")


def test_old_metadata_are_refused_with_the_command_that_renews_them(tmp_path):
    folder = course_of(tmp_path, f"%% notebook small\n{HALF}half\n")
    path = folder / "source/small/small.ipynb"
    path.write_text(path.read_text("utf-8").replace('"schema_version": 3', '"schema_version": 1'))
    with pytest.raises(CourseError, match=f"of version 1, .* run `nbgrader update {path}`"):
        load_assignment(folder, "small")
