"""The commands of the authors' guide work exactly as they are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from canaries import paths
from programs import run_program

from autograder.course_folder.course import Course

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "authors.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
CLONE = ("autograder", "course", "course.toml", "grading_tests", "release",
         "solutions", "source", "nbgrader_config.py", "pyproject.toml", "README.md")  # fmt: skip


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    for name in CLONE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        else:
            shutil.copy(ROOT / name, folder / name)
    for path in folder.glob("grading_tests/misconceptions/*/*.py"):
        path.write_text(with_one_mistake(path.read_text("utf-8")), "utf-8")
    return folder


def with_one_mistake(cells: str) -> str:
    """Return an exercise's cells but for its other wrong answers: each table plays them all."""
    parts = re.split(r"(?m)^(?=# %% )", cells)
    wrong = [
        each for each in parts if each.startswith(("# %% mistake:", "# %% edge:", "# %% cheat:"))
    ]
    [*first] = [each for each in wrong if each.startswith("# %% mistake:")][:1]
    return "".join(each for each in parts if each not in wrong or each in first)


def run(clone: Path, commands: str) -> str:
    """Run the commands in a shell that finds the clone's own packages; returns what they print."""
    environment = os.environ | {
        "PYTHONPATH": paths(clone),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    line = ["bash", "-euo", "pipefail", "-c", commands]
    return run_program(line, timeout=1200, cwd=clone, env=environment).stdout


@pytest.mark.full
@pytest.mark.subprocess
def test_the_commands_of_the_authors_guide_add_an_exercise_a_mistake_and_a_question(clone):
    before = Course(ROOT).assignment("value")
    printed = run(clone, "\n".join(COMMANDS))
    full = sum(exercise.max_points for exercise in before.exercises.values()) + 2
    assert f"{full:g} of {full:g} points" in printed
    for mistake in ("square.factor_lost", "mul.divides"):
        assert f"message, {mistake.partition('.')[0]}: {mistake}: " in printed
    release = json.loads((clone / "release" / "value" / "value.ipynb").read_text("utf-8"))
    text = "".join("".join(cell["source"]) for cell in release["cells"])
    assert "## Exercise 11 · The square" in text and "2.0 * self.data * out.grad" not in text
    quiz = json.loads((clone / "course" / "tables" / "checkpoint.json").read_text("utf-8"))
    assert quiz["exercises"]["q24"]["form"] == "one of a b c"
