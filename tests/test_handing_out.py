"""Solutions, check tables and extra notebooks are handed out only as the source gives them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from schools import append, run
from tested_course import COURSE

from autograder.authoring.release import copy_course

pytestmark = pytest.mark.subprocess


def edit(path: Path, change: Callable[[NotebookNode], object]) -> None:
    made = nbformat.read(path, as_version=4)
    change(made)
    nbformat.write(made, path)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Return a copy of this course with its solutions and its package's notebooks and tables."""
    copy_course(COURSE, tmp_path / "course")
    for name in ("solutions", "course"):
        shutil.copytree(COURSE.root / name, tmp_path / "course" / name)
    return tmp_path / "course"


@pytest.mark.parametrize("change", [
    lambda made: made.cells[3].update(source="edited"),
    lambda made: [cell.update(execution_count=None, outputs=[])
                  for cell in made.cells if cell.cell_type == "code"],
    lambda made: made.cells.pop(),
])  # fmt: skip
def test_solution_pages_come_from_the_solutions_of_the_source(whole, change):
    edit(whole / "solutions/checkpoint/checkpoint.ipynb", change)
    said = run(whole, "autograder", "publish", "--solutions", "checkpoint", status=2)
    assert "`autograder release --solutions checkpoint`" in " ".join(said.split())
    assert not (whole / "artefacts").exists()


def spoil(table: Path) -> None:
    made = json.loads(table.read_text("utf-8"))
    made["exercises"]["q1"]["form"] = "a number"
    table.write_text(json.dumps(made), "utf-8")


@pytest.mark.parametrize(("file", "change", "remedy"), [
    ("course/tables/checkpoint.json", spoil, "`autograder tables checkpoint`"),
    ("course/tables/checkpoint.json", lambda path: path.unlink(), "`autograder tables checkpoint`"),
    ("grading_tests/misconceptions/checkpoint/q1.py",
     lambda path: append(path, '\n# %% mistake: q1.new\n# says: New.\nq1 = "d"\n'),
     "`autograder tables checkpoint`"),
    ("course/extra/arrays.ipynb", lambda path: edit(path, lambda made: made.cells[-1].update(
        nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text="1")]))),
     "clear all outputs"),
])  # fmt: skip
def test_publishing_refuses_stale_check_tables_and_extra_notebooks_with_outputs(
    whole, file, change, remedy
):
    change(whole / file)
    said = run(whole, "autograder", "publish", status=2)
    assert Path(file).stem.replace("q1", "checkpoint") in said and remedy in " ".join(said.split())
    assert not [*(whole / "artefacts").rglob("*.ipynb")]


def test_make_lab_writes_only_into_its_own_copy_of_the_notebooks():
    """The server cannot be started here: the recipe is read."""
    done = subprocess.run(
        ["make", "-n", "--old-file=install", "--old-file=system", "lab"],
        cwd=COURSE.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    copied, served = [line for line in done.stdout.replace("\\\n", " ").splitlines()
                      if "autograder lab" in line or "jupyter lab" in line]  # fmt: skip
    assert copied.split()[-2:] == [".venv/bin/autograder", "lab"]
    assert served.startswith("cd artefacts/lab && ")
    ignored = (COURSE.root / ".gitignore").read_text("utf-8").splitlines()
    assert "/artefacts/" in ignored and not any(line.startswith("/release") for line in ignored)
    # The address that JupyterLab opens is a notebook of the copy.
    [opened] = re.findall(r"default_url=/lab/tree/(\S+)", served)
    assert (COURSE.release / opened).is_file()
