"""A course of one's own: the guide's page, walked through, and invalid courses."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from programs import run_program

from autograder.authoring.new_course import add_assignment, make_course
from autograder.authoring.new_exercise import add_exercise
from autograder.authoring.release import copy_course, write
from autograder.course_folder.assignments import find_course, load_assignment
from autograder.errors import CourseError
from autograder.judging.check_tables import build_table
from autograder.judging.grader import Grader
from autograder.judging.models import Models, server_of
from autograder.model import Cell
from autograder.pipeline.one_submission import grade_file
from coursecheck import Checks

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "new-course.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
INSTALL = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MORE = ["autograder export animals --output marks.csv"]
PROBE = "# %% probe: legs\nfound = legs(['bird', 'cat', 'spider'])\n# observe: found\n"


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> tuple[Path, str]:
    """Return the course that the page makes, and the output of its commands."""
    folder = tmp_path_factory.mktemp("day")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    }
    line = ["bash", "-euo", "pipefail", "-c", "\n".join([*COMMANDS, *MORE])]
    done = run_program(line, cwd=folder, env=environment)
    return folder / "zoo", done.stdout + done.stderr


def test_the_page_has_thirty_lines_of_code_at_most():
    assert sum(len(block.splitlines()) for block in [*INSTALL, *COMMANDS]) <= 30


@pytest.mark.slow
def test_the_page_walks(walked):
    course, printed = walked
    seen = " ".join(printed.split())
    assert "killed 6/6 · named 6/6 · false alarms 0/0" in seen
    assert "Next: autograder new-exercise animals" in seen
    assert "animals: 2 of 2 points" in seen and "ada: 0 / 2" in seen
    page = BeautifulSoup((course / "feedback/ada/animals/animals.html").read_text(), "html.parser")
    assert "Write your answer, then run the check below it." in page.get_text()
    assert (course / "class_report/animals/report.html").is_file()
    assert "ada" in (course / "marks.csv").read_text()


@pytest.mark.slow
def test_the_students_files_lie_together(walked):
    course, _ = walked
    for name in ("words", "animals"):
        release = (course / "release" / name / f"{name}.ipynb").read_text("utf-8")
        assert "SOLUTION" not in release and "HIDDEN" not in release
        table = (course / "release" / name / "checks.json").read_text("utf-8")
        assert table == (course / "source" / name / "checks.json").read_text("utf-8")
        assert json.loads(table)["assignment"] == name


@pytest.mark.slow
def test_without_misconceptions_a_failure_is_explained_by_promise_and_example(walked):
    course, _ = walked
    wrong = Cell("def legs(animals):\n    return 4 * len(animals)\n", "legs")
    with Grader(course, bytes(32)) as grader:
        [result] = grader.grade("animals", [wrong]).report.exercises
        assert (result.points, result.status) == (0, "failed")
        promise = "Birds have two legs and spiders eight, however many there are."
        assert result.message == f"This does not hold yet: {promise}"
        assert result.promises == [(promise, False)] and result.example is None
        probes = course / "grading_tests" / "misconceptions" / "animals" / "legs.py"
        begun = probes.read_text()
        probes.write_text(begun + PROBE)
        [result] = grader.grade("animals", [wrong]).report.exercises
        assert result.message.startswith(f"This does not hold yet: {promise}\n\n")
        assert result.message.endswith("is 12, expected 14") and result.example is not None
        probes.write_text(begun)


@pytest.mark.slow
def test_a_check_without_a_public_example_is_reported(walked, tmp_path, capsys):
    course, _ = walked
    assignment = load_assignment(course, "animals")
    with server_of(course) as server:
        table = build_table(assignment, Models(assignment, server))
    (tmp_path / "animals.json").write_text(json.dumps(table))
    Checks(tmp_path)("legs", {"legs": None})
    assert "there is no public example to try" in capsys.readouterr().out


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(CourseError, match="is not empty, and nothing was changed in it"):
        make_course(tmp_path, "Zoo")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_new_course_is_graded_as_this_one():
    """But for the course's name and comments in the file, the settings are the same."""

    def settings(path: Path) -> list[str]:
        lines = path.read_text("utf-8").splitlines()
        return [line for line in lines if not line.startswith(("#", '"""')) and "_id" not in line]

    template = ROOT / "autograder" / "authoring" / "template"
    assert settings(template / "nbgrader_config.py") == settings(ROOT / "nbgrader_config.py")


def test_an_assignment_can_be_added_to_any_course(tmp_path):
    copy_course(find_course(ROOT), tmp_path)
    notebook, tests = add_assignment(tmp_path, "extras")
    solution = "### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION"
    add_exercise(tmp_path, "extras", "answer", "## Exercise {number} · All", solution, 1.0)
    cells = nbformat.read(notebook, as_version=4).cells
    assert [cell.id for cell in cells[-3:]] == ["answer-intro", "answer-solution", "answer-test"]
    assert cells[1].source == "from course import check" and "Exercise 1 ·" in cells[2].source
    compile(tests.read_text("utf-8"), tests, "exec")
    text = "### BEGIN SOLUTION\nBoth, since each has a reason.\n### END SOLUTION"
    add_exercise(tmp_path, "extras", "why", "## Exercise {number} · Why", text, 2.5, manual=True)
    assert "Both" not in write(tmp_path, "release", "extras").read_text("utf-8")
    exercise = load_assignment(tmp_path, "extras").exercises["why"]
    assert (exercise.manual, exercise.max_points) == (True, 2.5)
    assert not [*tmp_path.rglob("why.py")]
    with pytest.raises(CourseError, match="is there already: choose another name"):
        add_assignment(tmp_path, "extras")
    with pytest.raises(CourseError, match="cannot be a name"):
        add_assignment(tmp_path, "more extras")


def test_grading_before_the_release_is_refused_with_the_remedy(tmp_path):
    course = make_course(tmp_path / "zoo", "Zoo")
    solution = "def third():\n    ### BEGIN SOLUTION\n    return 3\n    ### END SOLUTION\n"
    add_exercise(course, "words", "third", "## Exercise {number} · Third", solution, 1.0)
    add_assignment(course, "orders")
    add_exercise(course, "orders", "one", "## Exercise {number} · One", solution, 1.0)
    with Grader(course, b"k" * 32) as grader:
        for name, remedy in [("words", "generate_assignment words"), ("orders", "release orders")]:
            with pytest.raises(CourseError, match=remedy):
                grade_file(grader, course / f"source/{name}/{name}.ipynb")
