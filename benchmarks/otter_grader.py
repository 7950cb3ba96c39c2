"""Lets otter-grader grade notebooks with the same hidden tests, for `grading.py class --otter`.

otter-grader comes from the package index by name, into an environment of its own. It grades with
its own `grade_submission`, which needs no container, one notebook after another in one process that
has everything imported; it starts a kernel for each. Each exercise is one of its tests, which runs
the hidden tests on the student's names, as the hidden test cells do in stock nbgrader's kernel, and
passes where the exercise has full points. Nothing is confined.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

VERSION = "7.0.0"
NEEDS = [f"otter-grader[grading]=={VERSION}", "pytest>=9,<10", "anywidget", "matplotlib"]
TEST = '''"""An exercise's hidden tests, for otter-grader."""

from otter.test_files import test_case

OK_FORMAT = False
name = "{exercise}"
points = {points}


@test_case(hidden=True)
def full_points(env):
    from autograder.authoring.in_notebook import run_hidden_tests

    found = run_hidden_tests("{exercise}", env).result
    assert found.points == found.max_points
'''


def fetch(folder: Path) -> Path:
    """Make an environment that has otter-grader; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *pip, *NEEDS], check=True)
    return python


def write_tests(course: Path, name: str) -> None:
    """Write into a course's folder what otter-grader grades an assignment with."""
    from autograder.course_folder.assignments import load_assignment

    with zipfile.ZipFile(course / "autograder.zip", "w") as archive:
        archive.writestr("otter_config.json", "{}")
        for each in load_assignment(course, name).exercises.values():
            if not each.manual:
                text = TEST.format(exercise=each.id, points=each.max_points)
                archive.writestr(f"tests/{each.id}.py", text)


def grade(course: Path, python: Path, name: str, limit: float) -> tuple[float, int]:
    """Have otter-grader grade what was submitted; the seconds, and the exercises with full points.

    Args:
        course: the course's folder, with its tests written.
        python: the interpreter that has otter-grader.
        name: the assignment.
        limit: seconds that it may take, since it has no limit of its own here.

    Raises:
        subprocess.SubprocessError: it failed, or took longer.
    """
    import autograder

    answer = course / "otter.json"
    subprocess.run(
        [python, __file__, str(answer), name],
        cwd=course,
        env={**os.environ, "PYTHONPATH": str(Path(autograder.__file__).parents[1])},
        check=True,
        capture_output=True,
        timeout=limit,
    )
    seconds, full = json.loads(answer.read_text())
    return seconds, full


def grade_here(answer: Path, name: str) -> None:
    """In otter-grader's environment: grade, and write down the seconds and the full points."""
    from otter.api import grade_submission

    started, full = time.perf_counter(), 0
    for path in sorted(Path().glob(f"submitted/*/{name}/{name}.ipynb")):
        graded = grade_submission(str(path), "autograder.zip", quiet=True)
        full += sum(each.passed_all for each in graded.results.values())
    answer.write_text(json.dumps([time.perf_counter() - started, full]))


if __name__ == "__main__":
    grade_here(Path(sys.argv[1]), sys.argv[2])
