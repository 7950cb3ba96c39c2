"""A notebook without grading tests runs behind the wall, and a person gives its points."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade
from nbgrader_courses import marked_cell, python_notebook
from schools import release, run

from autograder.course_folder.assignments import assignment_names, find_course
from autograder.errors import CourseError
from autograder.judging.ordinary import UNJUDGED, run_ordinary
from autograder.pipeline.classroom import Classroom

COURSE = find_course()
HIDDEN = "### BEGIN HIDDEN TESTS\nassert half(8) == 4\n### END HIDDEN TESTS"
TEST = f"assert half(4) == 2\n{HIDDEN}\n"
RIGHT = "def half(x):\n    return x / 2\n"
FORGED = """
import sys
from IPython import get_ipython
get_ipython().showtraceback = lambda *_, **__: None
sys.excepthook = lambda *_: None
def half(x):
    return type("Yes", (), {"__eq__": lambda *_: True})()
"""


def notebook(answer: str, test: str = TEST) -> nbformat.NotebookNode:
    cells = [
        marked_cell("half", answer, solution=True),
        marked_cell("test_half", test, grade=True, locked=True, points=3),
    ]
    return python_notebook(cells)


def text_of(made: nbformat.NotebookNode) -> str:
    return "\n".join(
        "".join(output.get("traceback", [])) + output.get("text", "")
        for each in made.cells
        for output in each.outputs
    )


def test_the_cells_run_in_the_sandbox():
    made = notebook(f"import os\nprint(os.path.exists({str(Path(__file__))!r}), os.listdir('.'))")
    assert run_ordinary(COURSE, made) == ["test_half"]
    assert text_of(made).startswith("False []")
    assert "NameError" in text_of(made)


def test_hidden_tests_are_not_within_reach():
    look = "import IPython\nprint(IPython.get_ipython().user_ns['In'])\n"
    made = notebook(RIGHT, f"{look}{TEST}")
    run_ordinary(COURSE, made)
    assert "assert half(4)" in text_of(made) and "half(8)" not in text_of(made)
    assert "half(8)" in made.cells[1].source


@pytest.mark.parametrize("answer", [RIGHT, FORGED, "import os\nos._exit(0)"])
def test_no_test_cell_is_believed(answer):
    made = notebook(answer)
    run_ordinary(COURSE, made)
    assert [UNJUDGED in each.metadata for each in made.cells] == [False, True]
    assert determine_grade(made.cells[1]) == (0, 3)


def test_the_same_notebook_gives_the_same_outputs():
    first, again = (notebook("import random\nprint(random.random())") for _ in range(2))
    run_ordinary(COURSE, first)
    run_ordinary(COURSE, again)
    assert text_of(first) == text_of(again) != ""


@pytest.fixture(scope="module")
def school(course, tmp_path_factory) -> Path:
    """Return a course with an ordinary assignment in it, released and autograded by nbgrader."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("ordinary") / "course")
    handed_in = {"source/half": RIGHT, "submitted/ada/half": RIGHT, "submitted/eve/half": FORGED}
    for place, answer in handed_in.items():
        path = folder / place / "half.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook(answer), path)
    (folder / "source/half/picture.txt").write_text("shown to all")
    (folder / "submitted/ada/half/own.txt").write_text("not read")
    release(folder, "half")
    (folder / "printed.txt").write_text(run(folder, "nbgrader", "autograde", "half"))
    return folder


@pytest.mark.parametrize("student", ["ada", "eve"])
def test_its_test_cells_wait_for_a_person(school, student):
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("test_half", "half", "half", student)
        assert (grade.auto_score, grade.score, grade.max_score) == (None, 0, 3)
        assert grade.needs_manual_grade
    graded = nbformat.read(school / "autograded" / student / "half/half.ipynb", as_version=4)
    assert all(UNJUDGED not in each.metadata for each in graded.cells)


def test_the_log_names_the_cells_and_the_remedy(school):
    printed = (school / "printed.txt").read_text()
    assert (
        "half/half.ipynb of ada: the test cells test_half give no points by themselves" in printed
    )
    assert "grading_tests/test_half.py" in printed and "formgrader" in printed


def test_data_files_come_from_the_source_only(school):
    names = {path.name for path in (school / "autograded/ada/half").iterdir()}
    assert names == {"half.ipynb", "picture.txt"}


def test_our_commands_refuse_an_ordinary_notebook(school):
    assert "half" not in assignment_names(school)
    with (
        Classroom(school, None) as room,
        pytest.raises(CourseError, match=r"grading_tests/test_half\.py is missing"),
    ):
        room.submissions("half")
