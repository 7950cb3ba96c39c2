"""The README's commands work in a clone as they are written."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import as_in_a_container
import pytest
from programs import run_program
from schools import run, solutions
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.records import LANDLOCK
from autograder.sandbox import kinds

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

README = (COURSE.root / "README.md").read_text("utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the course with a right submission, and one with a wrong answer."""
    folder = tmp_path / "clone"
    copy_course(COURSE, folder)
    right = solutions("value")
    students = {"right": right, "wrong": {**right, "add": "pass"}}
    hand_in(Course(folder), COURSE.assignment("value"), students)
    return folder


def test_clone_is_ready_to_grade_after_the_command_that_generates_the_release(clone):
    """The clone holds the release already, and nbgrader skips existing files unless it is
    forced."""
    before = (clone / "release/value/value.ipynb").read_bytes()
    [generate] = re.findall(r"^    (nbgrader generate_assignment [^#\n]+)", README, re.MULTILINE)
    assert generate.strip() in run(clone, "autograder", "grade", "value", status=2)

    run(clone, *generate.split())

    assert (clone / "release/value/value.ipynb").read_bytes() == before
    assert "right: 40 / 40" in run(clone, "autograder", "grade", "value")


def commands() -> list[list[str]]:
    """Return the README's commands from release to export."""
    [block] = re.findall(r"then, in the clone:\n\n((?:    .*\n)+)", README)
    first, *lines = (line.partition("#")[0].split() for line in block.splitlines())
    assert first == [".", ".venv/bin/activate"]
    assert {line[1] for line in lines} >= {"grade", "generate_feedback", "report", "export"}
    return lines


@pytest.fixture
def contained(clone: Path) -> subprocess.CompletedProcess[str]:
    """Run the README's commands in the clone, with the rights that a container leaves; return how
    the grading ended."""
    if why := kinds.KINDS[LANDLOCK].why_not():
        pytest.skip(f"landlock: {why}")
    ended = {}
    for line in commands():
        more = ["--workers", "2", "--json"] if line[1] == "grade" else []
        container = [sys.executable, as_in_a_container.__file__, sys.executable, "-m"]
        ended[line[1]] = run_program([*container, *line, *more], cwd=clone)
    return ended["grade"]


def test_commands_grade_a_class_in_an_ordinary_container(clone, contained):
    """The terminal, the record and the report name the kind of sandbox."""
    results = {line["student"]: line for line in map(json.loads, contained.stdout.splitlines())}
    assert results["right"]["score"] == results["right"]["max_score"]
    assert results["right"]["score"] > results["wrong"]["score"] > 0
    assert {result["sandbox"] for result in results.values()} == {"landlock"}
    assert "runs in the sandbox of the kind landlock" in contained.stderr
    with closing(sqlite3.connect(clone / "gradebook.db")) as gradebook:
        rows = gradebook.execute("select versions from autograder_grading").fetchall()
    assert [json.loads(versions)["sandbox"] for (versions,) in rows] == ["landlock"] * 2
    assert (clone / "feedback/wrong/value/value.html").exists()
    assert len((clone / "marks.csv").read_text().splitlines()) >= 3
    report = (clone / "class_report/value/report.html").read_text()
    assert "Sandbox: landlock for 2 submissions." in " ".join(report.split())
