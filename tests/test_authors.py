"""The authors' guide, walked through exactly as it is written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.new_exercise import add_exercise
from autograder.course_folder.assignments import Exercise, _read_misconceptions, load_assignment
from autograder.errors import CourseError

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "authors.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
CLONE = ("autograder", "course", "coursecheck", "course.toml", "grading_tests", "release",
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
    return folder


def run(clone: Path, commands: str) -> str:
    """Run the commands in a shell that finds the clone's own packages; returns what they print."""
    environment = os.environ | {
        "PYTHONPATH": str(clone),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=clone, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_guide_walks(clone):
    before = load_assignment(ROOT, "value")
    printed = run(clone, "\n".join(COMMANDS))
    full = sum(exercise.max_points for exercise in before.exercises.values()) + 2
    assert f"{full:g} of {full:g} points" in printed
    for mistake in ("factor_lost", "upstream_lost"):
        assert f"square.{mistake}" in printed
    release = json.loads((clone / "release" / "value" / "value.ipynb").read_text("utf-8"))
    text = "".join("".join(cell["source"]) for cell in release["cells"])
    assert "## Exercise 11 · The square" in text and "2.0 * self.data * out.grad" not in text
    quiz = json.loads((clone / "course" / "tables" / "checkpoint.json").read_text("utf-8"))
    assert quiz["exercises"]["q24"]["form"] == "one of a b c"


@pytest.mark.parametrize(
    ("name", "solution", "says"),
    [
        ("add", "### BEGIN SOLUTION\n### END SOLUTION", "already"),
        ("a-b", "### BEGIN SOLUTION\n### END SOLUTION", "cannot be a name"),
        ("cube", "def cube(self): ...", "around the answer"),
    ],
)
def test_what_makes_no_exercise_is_refused_and_nothing_is_written(name, solution, says):
    path = ROOT / "source" / "value" / "value.ipynb"
    before = path.read_bytes()
    with pytest.raises(CourseError, match=says):
        add_exercise(ROOT, "value", name, "## Exercise {number} · X", solution, 1.0)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "cell", "says"),
    [
        ("adds.py", "# %% probe: add", r"adds\.py is about .* \(add, mul\), or delete it"),
        ("mul.py", "# %% mistake: add.overwrites", r"mul\.py: add\.overwrites .* move it"),
        ("add.py", "# %% mistake: add.a", r"add\.py: mistake add\.a lacks its line `# says"),
        ("add.py", "# %% probe: add", r"add\.py: probe add lacks its line `# observe"),
        ("add.py", "# %% form: add", r"add\.py: form add lacks its line `# answer"),
    ],
    ids=["file", "cell", "words", "observed", "answer"],
)
def test_misconceptions_that_fit_no_exercise_or_lack_a_line_are_refused(tmp_path, name, cell, says):
    (tmp_path / name).write_text(f"{cell}\nx = 1\n")
    exercises = {id: Exercise(id, id, 1.0) for id in ("add", "mul")}
    with pytest.raises(CourseError, match=says):
        _read_misconceptions(sorted(tmp_path.glob("*.py")), exercises)


@pytest.mark.slow
def test_the_grader_is_packed_with_all_its_files(clone, tmp_path):
    package = clone / "autograder"
    there = {
        str(path.relative_to(clone))
        for path in package.rglob("*")
        if path.is_file() and path.parent.suffix != ".egg-info"
    }
    run(clone, f"python -m build --wheel --outdir {tmp_path} {package}")
    [wheel] = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("autograder/")}
    assert packed == there - {"autograder/pyproject.toml"}
