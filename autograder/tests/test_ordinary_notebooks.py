"""A notebook without grading tests runs in the sandbox, and a person gives its points."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade
from nbgrader_courses import marked_cell, python_notebook
from schools import COURSE, release, run

from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.judging.ordinary import UNJUDGED, run_ordinary
from autograder.pipeline.classroom import Classroom

pytestmark = pytest.mark.subprocess

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
        for cell in made.cells
        for output in cell.outputs
    )


def test_cells_of_an_ordinary_notebook_run_in_the_sandbox():
    made = notebook(f"import os\nprint(os.path.exists({str(Path(__file__))!r}), os.listdir('.'))")
    assert run_ordinary(COURSE, made) == ["test_half"]
    assert text_of(made).startswith("False []")
    assert "NameError" in text_of(made)


def test_student_code_cannot_read_hidden_tests():
    look = "import IPython\nprint(IPython.get_ipython().user_ns['In'])\n"
    made = notebook(RIGHT, f"{look}{TEST}")
    run_ordinary(COURSE, made)

    assert "assert half(4)" in text_of(made)
    assert "half(8)" not in text_of(made)
    assert "half(8)" in made.cells[1].source


@pytest.mark.parametrize("answer", [RIGHT, FORGED, "import os\nos._exit(0)"])
def test_a_test_cell_of_an_ordinary_notebook_gives_no_points_whatever_its_outcome(answer):
    made = notebook(answer)
    run_ordinary(COURSE, made)
    assert [UNJUDGED in cell.metadata for cell in made.cells] == [False, True]
    assert determine_grade(made.cells[1]) == (0, 3)


def test_random_numbers_in_an_ordinary_notebook_are_the_same_in_each_run():
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
def test_test_cells_of_an_ordinary_notebook_wait_for_a_person(school, student):
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("test_half", "half", "half", student)
        assert (grade.auto_score, grade.score, grade.max_score) == (None, 0, 3)
        assert grade.needs_manual_grade
    graded = nbformat.read(school / "autograded" / student / "half/half.ipynb", as_version=4)

    assert all(UNJUDGED not in cell.metadata for cell in graded.cells)


def test_the_log_names_test_cells_that_give_no_points_and_says_what_to_do(school):
    printed = (school / "printed.txt").read_text()
    assert (
        "half/half.ipynb of ada: the test cells test_half give no points by themselves" in printed
    )
    assert "grading_tests/test_half.py" in printed
    assert "formgrader" in printed


def test_data_files_come_from_the_source_and_not_from_the_submission(school):
    names = {path.name for path in (school / "autograded/ada/half").iterdir()}
    assert names == {"half.ipynb", "picture.txt"}


def test_autograder_commands_refuse_an_ordinary_notebook(school):
    assert "half" not in Course(school).assignment_names()
    with (
        Classroom(Course(school), None) as room,
        pytest.raises(CourseError, match=r"grading_tests/test_half\.py is missing"),
    ):
        room.submissions("half")
