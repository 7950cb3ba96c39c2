"""If course.toml says so, a notebook's own test cells give the points, as in nbgrader."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader_courses import marked_cell, python_notebook
from schools import COURSE, release, run

from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.gradebook import history as record
from autograder.judging.grader import Grader
from autograder.judging.solution_check import handed_in_beside, needs_of_answers
from autograder.notebook.restoring import blank_notebook, load_template
from autograder.pages.class_report.page import write_report
from autograder.pipeline.one_submission import grade_file, grade_restored
from autograder.records import UNJUDGED

pytestmark = pytest.mark.subprocess

SETTINGS = """
id = "plain"
title = "As nbgrader has it"

[limits]
cell_seconds = 1.5

[assignments.half]
tests = "in-notebook"
"""
TEST = """assert half(4) == 2, "half of 4 is 2"
### BEGIN HIDDEN TESTS
assert half(-86) == -43, "a hidden reproach"
### END HIDDEN TESTS
"""
PARTIAL = """score = 1.5 * (twice(2) == 4)
### BEGIN HIDDEN TESTS
score += 0.5 * (twice(-86) == -172)
### END HIDDEN TESTS
score
"""
SECRETS = ("-86", "-43", "-172", "reproach", "HIDDEN TESTS")
HALF = "def half(x):\n    return x / 2\n"
TWICE = "def twice(x):\n    return 2 * x\n"
FORGED = """
from IPython import get_ipython
get_ipython()._showtraceback = lambda *_, **__: None
def half(x):
    raise ValueError("nobody sees this")
"""
NOISY = 'import sys\ndef half(x):\n    print("hm", file=sys.stderr)\n    return x / 2\n'
FLOOD = 'def twice(x):\n    print("~" * 3_000_000)\n    return 2 * abs(x)\n'
CURIOUS = "print(In)\nimport gc\nprint([each for each in gc.get_objects() if type(each) is dict])"


def notebook(half: str = HALF, twice: str = TWICE) -> nbformat.NotebookNode:
    essay = nbformat.v4.new_markdown_cell("Because.")
    essay.metadata = marked_cell("why", "", grade=True, solution=True, points=1).metadata
    cells = [
        marked_cell("half", half, solution=True),
        marked_cell("test_half", TEST, grade=True, locked=True, points=3),
        marked_cell("twice", twice, solution=True),
        marked_cell("correct_twice", PARTIAL, grade=True, locked=True, points=2),
        essay,
    ]
    return python_notebook(cells)


def without_test() -> nbformat.NotebookNode:
    made = notebook()
    del made.cells[1]
    return made


def with_tests_twice() -> nbformat.NotebookNode:
    """Return a notebook with the test cell twice, both emptied, which changes no verdict."""
    made = notebook("def half(x):\n    return x\n")
    made.cells[1].source = "pass"
    made.cells.insert(2, nbformat.from_dict({**made.cells[1], "id": "again"}))
    return made


def curious() -> nbformat.NotebookNode:
    made = notebook()
    made.cells.append(nbformat.v4.new_code_cell(CURIOUS))
    return made


# As nbgrader gives them: an error is 0, a line on stderr too, a number at the end partial credit.
# An answer can forge the verdict: so this is the weaker kind.
CLASS = {
    "right": (notebook(), (3, 2)),
    "wrong": (notebook("def half(x):\n    return x\n"), (0, 2)),
    "almost": (notebook("def half(x):\n    return abs(x) / 2\n"), (0, 2)),
    "partial": (notebook(twice="def twice(x):\n    return 2 * abs(x)\n"), (3, 1.5)),
    "broken": (notebook(half="def half(x)\n"), (0, 2)),
    "crashing": (notebook("import os\ndef half(x):\n    os._exit(0)\n"), (0, 2)),
    "endless": (notebook("def half(x):\n    while True:\n        pass\n"), (0, 2)),
    "deleted": (without_test(), (3, 2)),
    "duplicated": (with_tests_twice(), (0, 2)),
    "noisy": (notebook(NOISY), (0, 2)),
    "flooding": (notebook(twice=FLOOD), (3, 1.5)),
    "forged": (notebook(FORGED), (3, 2)),
    "curious": (curious(), (3, 2)),
}
HANDED_IN = {name: made for name, (made, _) in CLASS.items()}
MARKS = {name: points for name, (_, points) in CLASS.items()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    """Return a course that holds such an assignment alone, released."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copyfile(COURSE.root / "nbgrader_config.py", folder / "nbgrader_config.py")
    (folder / "course.toml").write_text(SETTINGS)
    handed_in = {"source/half": notebook()}
    handed_in |= {f"submitted/{name}/half": made for name, made in HANDED_IN.items()}
    for place, made in handed_in.items():
        path = folder / place / "half.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(made, path)
    release(folder, "half")
    return folder


@pytest.fixture(scope="module")
def graded(plain) -> Path:
    run(plain, "autograder", "grade", "half", "--workers", "1")
    run(plain, "nbgrader", "generate_feedback", "half")
    return plain


@pytest.fixture(scope="module")
def autograded(plain, graded, tmp_path_factory) -> Path:
    """Grade the same class by nbgrader's own command."""
    folder = tmp_path_factory.mktemp("nbgrader")
    kept = shutil.ignore_patterns("autograded", "feedback")
    shutil.copytree(graded, folder, dirs_exist_ok=True, ignore=kept)
    run(folder, "nbgrader", "autograde", "half", "--force")
    return folder


def marks(folder: Path) -> dict[str, tuple[float | None, float | None]]:
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            name: tuple(
                gradebook.find_grade(test, "half", "half", name).auto_score
                for test in ("test_half", "correct_twice")
            )
            for name in HANDED_IN
        }


def test_tests_in_the_notebook_give_the_points_that_nbgrader_gives(graded):
    assert marks(graded) == MARKS


def test_nbgrader_autograde_gives_the_same_marks(autograded):
    assert marks(autograded) == MARKS


@pytest.mark.parametrize("way", ["graded", "autograded"])
def test_an_essay_waits_for_a_person_s_mark(way, request):
    folder = request.getfixturevalue(way)
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("why", "half", "half", "right")
        assert grade.auto_score is None
        assert grade.needs_manual_grade


@pytest.mark.parametrize("way", ["graded", "autograded"])
def test_every_grading_is_in_the_record_of_gradings(way, request):
    folder = request.getfixturevalue(way)
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        entry = record.latest(gradebook, "half", "partial")

    assert entry.versions["tests"] == "in-notebook"
    assert [
        (verdict["id"], verdict["points"], verdict["status"]) for verdict in entry.verdicts
    ] == [
        ("half", 3, "passed"),
        ("correct_twice", 1.5, "partial"),
        ("why", None, "manual"),
    ]


@pytest.mark.parametrize(("name", "status"), [("crashing", "crashed"), ("endless", "timeout")])
def test_a_terminated_process_costs_only_the_points_of_its_cell(graded, name, status):
    made = nbformat.read(graded / f"autograded/{name}/half/half.ipynb", as_version=4)
    verdicts = made.metadata["autograder"]["report"]["exercises"]
    assert [verdict["status"] for verdict in verdicts] == [status, "passed", "manual"]


def page(folder: Path, name: str) -> str:
    return (folder / f"feedback/{name}/half/half.html").read_text("utf-8")


@pytest.mark.parametrize("name", HANDED_IN)
def test_feedback_holds_no_hidden_test(graded, name):
    shown = page(graded, name)
    assert not [secret for secret in SECRETS if secret in shown]
    assert "could forge" not in shown


def test_feedback_shows_verdict_and_points_only(graded):
    shown = page(graded, "almost")
    assert "0 of 3 points" in shown
    assert "AssertionError" not in shown
    assert "Not passed: the test stopped with an error." in shown
    assert "stopped with an error: AssertionError: half of 4 is 2." in page(graded, "wrong")
    assert "something was written to stderr, as a warning is." in page(graded, "noisy")
    assert "SyntaxError" in page(graded, "broken")
    assert "2 of 2 points" in shown
    assert "1.5 of 2 points" in page(graded, "partial")


def test_the_error_of_an_answer_is_named_and_not_what_follows_from_it(plain, tmp_path):
    made = notebook(twice="size = open('lost.txt').read()\ndef twice(x):\n    return 2 * x\n")
    nbformat.write(made, tmp_path / "half.ipynb")
    with Grader(Course(plain), bytes(32)) as grader:
        first, second, _ = grade_file(grader, tmp_path / "half.ipynb")[1].exercises

    assert first.message == ""
    assert "FileNotFoundError" in second.message
    assert "`size = open('lost.txt').read()`" in second.message
    assert "NameError" not in second.message


def test_the_formgrader_shows_the_output_of_the_hidden_part_of_a_test_cell(graded):
    made = nbformat.read(graded / "autograded/almost/half/half.ipynb", as_version=4)
    [test] = [cell for cell in made.cells if cell.metadata.get("nbgrader", {}).get("locked")][:1]
    verdict, error = test.outputs

    assert "0 of 3 points" in verdict.data["text/html"]
    assert error.ename == "AssertionError"
    assert "a hidden reproach" in error.evalue
    assert UNJUDGED not in test.metadata


def test_the_class_report_notes_that_tests_in_the_notebook_are_weaker(graded, tmp_path):
    text = write_report(Course(graded), "half", tmp_path).read_text("utf-8")
    assert f"{len(HANDED_IN)} submissions were graded by the" in text
    assert "the weaker kind of verdict" in text


@pytest.mark.full
def test_grading_a_class_says_once_that_tests_in_the_notebook_are_weaker(plain, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(plain, folder)
    said = run(folder, "autograder", "grade", "half", "--workers", "1", "--force")
    said = " ".join(said.split())

    assert said.count("the weaker kind") == 1
    assert "right: 5 / 6" in said


def test_check_reports_in_a_field_that_tests_run_in_the_notebook(plain):
    path = str(plain / "submitted/partial/half/half.ipynb")
    seen = json.loads(run(plain, "autograder", "check", path, "--json"))
    assert (seen["tests"], seen["score"]) == ("in-notebook", 4.5)


def test_without_the_setting_for_tests_in_notebooks_no_hidden_tests_are_expected(plain, tmp_path):
    """Grade the same assignment without the line in course.toml."""
    shutil.copytree(plain / "source", tmp_path / "source")
    (tmp_path / "course.toml").write_text('id = "plain"\ntitle = "plain"\n')

    assert Course(tmp_path).assignment_names() == []
    assert Course(plain).assignment_names() == ["half"]
    assert Course(plain).names_with_hidden_tests() == []


def changed(plain: Path, folder: Path, **sources: str) -> Path:
    """Return a copy of the course whose source notebook has other cells."""
    for name in ("source", "release", "course.toml"):
        kind = shutil.copytree if (plain / name).is_dir() else shutil.copyfile
        kind(plain / name, folder / name)
    made = notebook()
    for cell in made.cells:
        name = cell.metadata["nbgrader"]["grade_id"]
        cell.source = sources.get(name, cell.source)
    nbformat.write(made, folder / "source/half/half.ipynb")
    return folder


def test_hidden_tests_beside_own_test_cells_are_refused(plain, tmp_path):
    folder = changed(plain, tmp_path)
    (folder / "grading_tests").mkdir()
    (folder / "grading_tests/test_half.py").write_text("")
    with pytest.raises(CourseError, match=r"test_half\.py is there as well"):
        Course(folder).assignment("half")


def test_cells_that_nbgrader_fills_in_are_refused(plain, tmp_path):
    folder = changed(plain, tmp_path, test_half="### AUTOTEST half(4)")
    with Grader(Course(folder), bytes(32)) as grader, pytest.raises(CourseError, match="AUTOTEST"):
        grade_file(grader, plain / "submitted/right/half/half.ipynb")


def test_a_test_cell_s_numpy_number_is_read_as_points(plain, tmp_path):
    test = "import numpy; numpy.float64(1.5 + 0.5 * (twice(-2) == -4))"
    folder = changed(plain, tmp_path, correct_twice=test)
    settings = folder / "course.toml"
    settings.write_text(settings.read_text() + '\n[student_code]\npackages = ["numpy"]\n')
    with Grader(Course(folder), bytes(32)) as grader:
        _, report = grade_file(grader, plain / "submitted/partial/half/half.ipynb")

    assert report.exercises[1].points == 1.5


def test_a_file_in_which_nothing_can_be_graded_earns_no_points(plain, tmp_path):
    course = Course(changed(plain, tmp_path, test_half="True"))
    restored = blank_notebook(load_template(course, "half"), "This is a PDF.")
    with Grader(course, bytes(32)) as grader:
        report = grade_restored(grader, restored, "half")
    assert [each.points for each in report.exercises] == [0, 0, 0]


@pytest.mark.parametrize("result", ["7", "float('nan')", "type('', (), {'__repr__': str})()"])
def test_a_test_cell_s_result_that_is_no_number_does_not_stop_grading(plain, tmp_path, result):
    folder = changed(plain, tmp_path, correct_twice=result)
    with Grader(Course(folder), bytes(32)) as grader:
        _, report = grade_file(grader, plain / "submitted/right/half/half.ipynb")
    assert report.exercises[1].points in (None, 2)


@pytest.mark.parametrize(
    ("message", "needs"),
    [
        ("Not passed: the test stopped with an error: ModuleNotFoundError: No module named 'numpy'",
         "numpy"),
        ("The cell itself stops with ModuleNotFoundError: No module named 'numpy.x', in the line "
         "`import numpy.x`. What comes after", "numpy"),
        ("ImportError: `Import pandas` failed. Use pip to install it.", "pandas"),
        ("ImportError: pandas is required for plotting", "pandas"),
        ("The cell itself stops with AttributeError: The '.style' accessor requires jinja2, in the "
         "line `table.style`. What comes after", "Jinja2"),
        ("ImportError: Using a URI string requires 'sqlalchemy' version '2'", "SQLAlchemy"),
        ("ValueError: Mime type rendering requires nbformat>=4.2.0 but it is not installed",
         "nbformat"),
        ("NotImplementedError: Pandas installation is required if none is provided", "pandas"),
        ("TypeError: half requires x", ""),
        ("ModuleNotFoundError: No module named 'lost_one'", ""),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'lost.txt'", ""),
    ],
)  # fmt: skip
def test_what_answers_lack_although_it_is_installed_is_named(plain, message, needs):
    found = needs_of_answers(Course(plain).assignment("half"), [message, "Right.", message])
    sentence = f"an answer needs {needs}: add it to student_code.packages in course.toml"

    assert found == [sentence] * bool(needs)


def test_files_beside_a_notebook_that_its_answers_lack_are_named(tmp_path):
    for name in ("half.ipynb", "helper.py", "rows.csv", "notes.txt"):
        (tmp_path / name).touch()
    messages = [
        "The cell itself stops with ModuleNotFoundError: No module named 'helper', in the line `",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/rows.csv'",
    ]

    assert handed_in_beside(tmp_path, messages) == ["helper.py", "rows.csv"]
