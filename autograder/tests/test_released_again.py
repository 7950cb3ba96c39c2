"""After a released assignment was edited, marks stay; the former release stays until the new one is
complete."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader_courses import TEXTS, graded_class, read_text
from schools import run

pytestmark = pytest.mark.subprocess

TEXT = read_text(TEXTS / "loops.txt")
MARKS = {"schema_version": 3, "locked": False, "task": False}
SOLUTION = "def twice(n):\n    ### BEGIN SOLUTION\n    return 2 * n\n    ### END SOLUTION"


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    return graded_class(tmp_path_factory.mktemp("again"), TEXT, {"ada": "solution"}, "ada")


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def edit(course: Path, gone: tuple[str, ...], more: tuple[NotebookNode, ...] = ()) -> None:
    path = course / "source/loops/loops.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells = [
        cell
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in gone
    ] + [*more]
    nbformat.write(source, path)


def cell(text: str, **marks: object) -> NotebookNode:
    made = nbformat.v4.new_code_cell(text, metadata={"nbgrader": {**MARKS, **marks}})
    del made["id"]  # The notebook is of format 4.2.
    return made


def marks(course: Path) -> dict[str, tuple[float | None, float | None, bool]]:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        [notebook] = gradebook.find_submission("loops", "ada").notebooks
        comments = {comment.name: comment.manual_comment for comment in notebook.comments}
        assert comments["why"] == "Well said."
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for grade in notebook.grades
        }


def released(course: Path) -> str:
    return (course / "release/loops/loops.ipynb").read_text()


def generate(course: Path, status: int = 0) -> str:
    return run(course, "nbgrader", "generate_assignment", "loops", "--force", status=status)


def test_exercises_can_be_added_and_removed_after_students_have_submitted(course):
    before = marks(course)
    twice = cell(SOLUTION, grade_id="twice", grade=False, solution=True)
    test = cell("assert twice(4) == 8", grade_id="twice_1", grade=True, solution=False, points=2)
    test.metadata.nbgrader.locked = True
    edit(course, ("fizz", "fizz_1"), (twice, test))
    generate(course)

    assert "def twice" in released(course)
    assert "def fizz" not in released(course)

    kept = {name: each for name, each in before.items() if name != "fizz_1"}
    assert marks(course) == {**kept, "twice_1": (None, None, True)}

    run(course, "autograder", "regrade", "loops", "--yes", "--workers", "1")
    assert marks(course) == {**kept, "twice_1": (0, None, False)}


def test_an_exercise_with_points_by_hand_cannot_be_removed(course):
    before = released(course), marks(course)
    edit(course, ("why", "fizz", "fizz_1"))
    error = generate(course, status=1)

    assert "why is not in the source any more, and a person gave points for it to ada" in error
    assert "The former release is there as it was." in error
    assert (released(course), marks(course)) == before


def test_a_source_that_cannot_be_released_leaves_the_former_release(course):
    before = released(course), marks(course)
    edit(course, (), (cell("", grade_id="why", grade=False, solution=True),))
    assert "The former release is there as it was." in generate(course, status=1)
    assert (released(course), marks(course)) == before
