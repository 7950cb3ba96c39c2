"""The commands of the guide for new courses work as they are written."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from programs import run_program

from autograder.course_folder.course import Course
from autograder.judging.check_tables import build_table
from autograder.judging.course_sessions import CourseSessions, server_of
from autograder.judging.grader import Grader
from autograder.records import Cell
from coursecheck import Checks

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "new-course.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
INSTALL = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MORE = ["autograder export animals --output marks.csv"]
PROBE = "# %% example: legs\nfound = legs(['bird', 'cat', 'spider'])\n# observe: found\n"


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


def test_the_new_course_page_has_at_most_thirty_lines_of_code():
    assert sum(len(block.splitlines()) for block in [*INSTALL, *COMMANDS]) <= 30


@pytest.mark.subprocess
def test_the_commands_of_the_new_course_page_make_a_graded_course(walked):
    course, printed = walked
    seen = " ".join(printed.split())
    assert "killed 6/6 · named 6/6 · false alarms 0/0" in seen
    assert "Next: autograder new-exercise animals" in seen
    assert "animals: 2 of 2 points" in seen and "ada: 0 / 2" in seen
    page = BeautifulSoup((course / "feedback/ada/animals/animals.html").read_text(), "html.parser")
    assert "Write your answer, then run the check below it." in page.get_text()
    assert (course / "class_report/animals/report.html").is_file()
    assert "ada" in (course / "marks.csv").read_text()


@pytest.mark.subprocess
def test_the_release_folder_holds_the_notebook_and_the_table_of_its_checks(walked):
    course, _ = walked
    for name in ("words", "animals"):
        release = (course / "release" / name / f"{name}.ipynb").read_text("utf-8")
        assert "SOLUTION" not in release and "HIDDEN" not in release
        table = (course / "release" / name / "checks.json").read_text("utf-8")
        assert table == (course / "source" / name / "checks.json").read_text("utf-8")
        assert json.loads(table)["assignment"] == name


@pytest.mark.subprocess
def test_without_known_mistakes_a_failure_is_explained_by_criterion_and_example(walked):
    course, _ = walked
    wrong = Cell("def legs(animals):\n    return 4 * len(animals)\n", "legs")
    with Grader(Course(course), bytes(32)) as grader:
        [result] = grader.grade("animals", [wrong]).report.exercises
        assert (result.points, result.status) == (0, "failed")
        criterion = "Birds have two legs and spiders eight, however many there are."
        assert result.message == f"This does not hold yet: {criterion}"
        assert result.criteria == [(criterion, False)] and result.failed_example is None
        examples = course / "grading_tests" / "misconceptions" / "animals" / "legs.py"
        begun = examples.read_text()
        examples.write_text(begun + PROBE)
        [result] = grader.grade("animals", [wrong]).report.exercises
        assert result.message.startswith("Your code says `found` is 12. It should be 14.\n\n")
        assert result.message.endswith("is 12, expected 14") and result.failed_example is not None
        examples.write_text(begun)


@pytest.mark.subprocess
def test_the_check_of_an_exercise_without_public_examples_says_so(walked, tmp_path, capsys):
    course, _ = walked
    assignment = Course(course).assignment("animals")
    with server_of(Course(course)) as server:
        table = build_table(assignment, CourseSessions(assignment, server))
    (tmp_path / "animals.json").write_text(json.dumps(table))
    Checks(tmp_path)("legs", {"legs": None})
    assert "there is no public example to try" in capsys.readouterr().out


def test_a_new_course_gets_the_same_nbgrader_settings_as_this_one():
    """But for the course's name and comments in the file, the settings are the same."""

    def settings(path: Path) -> list[str]:
        lines = path.read_text("utf-8").splitlines()
        return [line for line in lines if not line.startswith(("#", '"""')) and "_id" not in line]

    template = ROOT / "autograder" / "src" / "autograder" / "authoring" / "template"
    assert settings(template / "nbgrader_config.py") == settings(ROOT / "nbgrader_config.py")
