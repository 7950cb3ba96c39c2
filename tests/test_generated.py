"""Generated files in the clone are current, and the notebooks keep their conventions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import nbformat
import pytest
from campaigns import size
from schools import release

from autograder.authoring.release import copy_course, made
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.judging.check_tables import made_from, table_text
from autograder.judging.models import Models

pytestmark = pytest.mark.slow

COURSE = find_course()
NAMES = assignment_names(COURSE)


def cells(kind: str, name: str, course: Path = COURSE):
    return nbformat.read(course / kind / name / f"{name}.ipynb", as_version=4).cells


def marks(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def without_outputs(cell) -> dict:
    return {key: cell[key] for key in ("id", "cell_type", "source", "metadata")}


def test_releases_are_current(tmp_path):
    copy_course(COURSE, tmp_path)
    release(tmp_path, *NAMES)
    for name in NAMES:
        fresh, committed = cells("release", name, tmp_path), cells("release", name)
        assert [*map(without_outputs, fresh)] == [*map(without_outputs, committed)]


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_current(name):
    """The committed solutions hold the source's cells; outputs are there and none is an error.

    A campaign compares the outputs."""
    solved, source = cells("solutions", name), cells("source", name)
    assert [(c.id, c.source) for c in solved] == [(c.id, c.source) for c in source]
    outputs = [output for cell in solved for output in cell.get("outputs", [])]
    assert outputs and not any(output.output_type == "error" for output in outputs)


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_outputs_of_solutions_are_current(name):
    assert made(COURSE, "solutions", name).cells == cells("solutions", name)


@pytest.mark.sized
@pytest.mark.parametrize("name", NAMES)
def test_tables_are_current(server, name):
    """A digest finds a table that is older than the misconceptions; one exercise in four is played
    again, and in a campaign all are."""
    assignment = load_assignment(COURSE, name)
    table = json.loads(assignment.table.read_text("utf-8"))
    assert table["made_from"] == made_from(assignment)
    some = {
        key: exercise
        for key, exercise in assignment.exercises.items()
        if crc32(key.encode()) % size(4, 1) == 0
    }
    few = replace(assignment, exercises=some)
    played = {key: table["exercises"][key] for key in some if not some[key].manual}
    expected = {**table, "made_from": made_from(few), "exercises": played}
    assert table_text(few, Models(assignment, server)) == (
        json.dumps(expected, indent=1, ensure_ascii=False) + "\n"
    )


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
