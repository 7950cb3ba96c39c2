"""No command executes an answer in its own process, neither a student's nor the course's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest
from other_courses import copy_other
from programs import run_program

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

INTRUDER = """
from pathlib import Path as _Path
try:
    _Path({trace!r}).write_text("here")
except OSError:
    pass
else:
    for _path in _Path(".").rglob("*.*"):
        _path.write_text("")
"""
"""Code that leaves a trace if it runs outside of a sandbox, and damages the files beside it."""


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with data files, whose solution, mistakes and submissions all contain this
    code."""
    course = copy_other("tables", tmp_path_factory.mktemp("spoiled") / "tables")
    intruder = INTRUDER.format(trace=str(course / "trace"))
    path = course / "source/tables/tables.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader") or {}
        if cell.cell_type == "code" and marks.get("solution"):
            cell.source = f"### BEGIN SOLUTION\n{intruder}### END SOLUTION\n{cell.source}"
    nbformat.write(notebook, path)
    for file in (course / "grading_tests/misconceptions/tables").glob("*.py"):
        text = file.read_text("utf-8")
        file.write_text(text.replace("\nimport pandas", f"\n{intruder}\nimport pandas"), "utf-8")
    command(course, "nbgrader", "generate_assignment", "tables", "--force")
    assignment = Course(course).assignment("tables")
    exercises = assignment.exercises.values()
    answers = {each.id: each.solution for each in exercises}
    wrong = {**answers, **{each.id: each.mistakes[0].source for each in exercises}}
    wrong = {name: f"{intruder}\n{source}" for name, source in wrong.items()}
    hand_in(Course(course), assignment, {"ada": answers, "bob": wrong})
    return course


def command(course: Path, *line: str) -> str:
    """Return the output of a command, whatever its status."""
    done = run_program([sys.executable, "-m", *line], status=None, cwd=course)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def files(course: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (course / "source").rglob("*.*")}


@pytest.mark.parametrize(
    "line",
    [
        "autograder tables",
        "autograder check --json source/tables/tables.ipynb",
        "autograder check --json submitted/bob/tables/tables.ipynb",
        "autograder grade tables",
        "nbgrader autograde tables --force",
        "autograder report tables",
        "autograder audit tables --case cheapest.dearest",
        "autograder release tables",
        "autograder regrade tables --yes",
    ],
)
def test_no_command_executes_an_answer_in_the_command_s_own_process(spoiled, line):
    before = files(spoiled)
    printed = command(spoiled, *line.split())
    assert not (spoiled / "trace").exists()
    after = files(spoiled)
    assert {path for path in before if after.get(path) != before[path]} <= {
        path for path in before if path.endswith("checks.json")
    }
    if "bob" in line:
        assert json.loads(printed)["score"] < json.loads(printed)["max_score"]
