"""Generated files in the clone are current, and the notebooks keep their conventions."""

from __future__ import annotations

import re

import nbformat
import pytest

from autograder.authoring.release import made
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.judging.check_tables import table_text
from autograder.judging.models import Models

pytestmark = pytest.mark.slow

COURSE = find_course()
NAMES = assignment_names(COURSE)


def cells(kind: str, name: str):
    return nbformat.read(COURSE / kind / name / f"{name}.ipynb", as_version=4).cells


def marks(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def without_outputs(cell) -> dict:
    return {key: cell[key] for key in ("id", "cell_type", "source", "metadata")}


@pytest.mark.parametrize("name", NAMES)
def test_release_is_current(name):
    fresh = made(COURSE, "release", name)
    assert list(map(without_outputs, fresh.cells)) == list(
        map(without_outputs, cells("release", name))
    )


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_current(name):
    """The committed solutions hold the source's cells; outputs are there and none is an error."""
    solved, source = cells("solutions", name), cells("source", name)
    assert [(c.id, c.source) for c in solved] == [(c.id, c.source) for c in source]
    outputs = [output for cell in solved for output in cell.get("outputs", [])]
    assert outputs and not any(output.output_type == "error" for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_current(server, name):
    assignment = load_assignment(COURSE, name)
    assert assignment.table.read_text("utf-8") == table_text(assignment, Models(assignment, server))


@pytest.mark.parametrize("name", NAMES)
def test_source_has_no_outputs_and_unique_ids(name):
    source = cells("source", name)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in source)
    assert len({cell.id for cell in source}) == len(source)
    graded = [marks(cell)["grade_id"] for cell in source if marks(cell)]
    assert len(set(graded)) == len(graded)


@pytest.mark.parametrize("name", NAMES)
def test_release_holds_no_solution_and_no_hidden_test(name):
    text = (COURSE / "release" / name / f"{name}.ipynb").read_text("utf-8")
    for word in ("BEGIN SOLUTION", "HIDDEN TESTS", "run_hidden_tests", "autograder"):
        assert word not in text
    for exercise in load_assignment(COURSE, name).exercises.values():
        region = re.search(
            r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", exercise.solution, re.DOTALL
        )
        assert region is not None
        assert region.group(1).strip() not in exercise.stub


@pytest.mark.parametrize("name", NAMES)
def test_stubs_keep_docstring_and_exercises_say_how_hard_they_are(name):
    release = cells("release", name)
    for exercise in load_assignment(COURSE, name).exercises.values():
        if exercise.manual:
            assert exercise.stub.strip() == "YOUR ANSWER HERE"
            continue
        assert "YOUR CODE HERE" in exercise.stub
        assert (f"Set {exercise.id} to" if exercise.form else '"""') in exercise.stub
    prose = "\n".join(cell.source for cell in release if cell.cell_type == "markdown")
    count = len(load_assignment(COURSE, name).exercises)
    assert (
        len(re.findall(r"Difficulty \d of 5 · about \d+ minutes? · \d+ (?:bonus )?points?", prose))
        == count
    )
    assert prose.count("<details>") >= count
