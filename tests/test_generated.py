"""Generated files in the clone are current, and the notebooks keep their conventions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from zlib import crc32

import nbformat
import pytest
from campaigns import size
from schools import release

from autograder.authoring.release import build, copy_course
from autograder.course_folder.course import Course, find_course
from autograder.course_folder.dependencies import needs
from autograder.judging.check_tables import digest_of_table, is_current, made_from, table_text
from autograder.judging.course_sessions import CourseSessions

COURSE = find_course()
NAMES = COURSE.assignment_names()


def cells(kind: str, name: str, course: Course = COURSE):
    return nbformat.read(course.root / kind / name / f"{name}.ipynb", as_version=4).cells


def marks(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def without_outputs(cell) -> dict:
    return {key: cell[key] for key in ("id", "cell_type", "source", "metadata")}


@pytest.mark.full
@pytest.mark.subprocess
def test_each_release_is_what_the_source_gives(tmp_path):
    copy_course(COURSE, tmp_path)
    release(tmp_path, *NAMES)
    for name in NAMES:
        fresh, committed = cells("release", name, Course(tmp_path)), cells("release", name)
        assert [*map(without_outputs, fresh)] == [*map(without_outputs, committed)]


@pytest.mark.parametrize("name", NAMES)
def test_each_solution_notebook_is_what_the_source_gives(name):
    """The committed solutions hold the source's cells; outputs are there and none is an error.

    A campaign compares the outputs."""
    solved, source = cells("solutions", name), cells("source", name)
    assert [(c.id, c.source) for c in solved] == [(c.id, c.source) for c in source]
    outputs = [output for cell in solved for output in cell.get("outputs", [])]
    assert outputs and not any(output.output_type == "error" for output in outputs)


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_outputs_in_solution_notebooks_are_those_of_a_new_run(name):
    assert build(COURSE, "solutions", name).cells == cells("solutions", name)


@pytest.mark.full
@pytest.mark.sized
@pytest.mark.parametrize("name", NAMES)
def test_each_check_table_is_what_the_source_gives(server, name):
    """A digest finds a table that is older than the misconceptions; one exercise in four is played
    again, and in a campaign all are."""
    assignment = COURSE.assignment(name)
    table = json.loads(assignment.table.read_text("utf-8"))
    some = {
        key: exercise
        for key, exercise in assignment.exercises.items()
        if crc32(key.encode()) % size(4, 1) == 0
    }
    few = replace(assignment, exercises=some)
    played = {key: table["exercises"][key] for key in some if not some[key].manual}
    for key, built_on in needs(some.values()).items():
        played[key] = {k: v for k, v in played[key].items() if k != "needs" or built_on}
        played[key] |= {"needs": built_on} if built_on else {}
    expected = {**table, "made_from": made_from(few), "exercises": played}
    expected["digest"] = digest_of_table(expected)
    assert is_current(assignment, table)
    assert table_text(few, CourseSessions(assignment, server)) == (
        json.dumps(expected, indent=1, ensure_ascii=False) + "\n"
    )


@pytest.mark.parametrize("name", NAMES)
def test_cells_of_the_source_have_unique_ids_and_no_outputs(name):
    source = cells("source", name)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in source)
    assert len({cell.id for cell in source}) == len(source)
    graded = [marks(cell)["grade_id"] for cell in source if marks(cell)]
    assert len(set(graded)) == len(graded)


@pytest.mark.parametrize("name", NAMES)
def test_release_holds_no_solution_and_no_hidden_test(name):
    text = (COURSE.release / name / f"{name}.ipynb").read_text("utf-8")
    for word in ("BEGIN SOLUTION", "HIDDEN TESTS", "run_hidden_tests", "autograder"):
        assert word not in text
    for exercise in COURSE.assignment(name).exercises.values():
        region = re.search(
            r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", exercise.solution, re.DOTALL
        )
        assert region is not None
        assert region.group(1).strip() not in exercise.stub


@pytest.mark.parametrize("name", NAMES)
def test_each_stub_has_a_docstring_and_each_heading_a_difficulty(name):
    release = cells("release", name)
    for exercise in COURSE.assignment(name).exercises.values():
        if exercise.manual:
            assert exercise.stub.strip() == "YOUR ANSWER HERE"
            continue
        assert "YOUR CODE HERE" in exercise.stub
        assert (f"Set {exercise.id} to" if exercise.form else '"""') in exercise.stub
    prose = "\n".join(cell.source for cell in release if cell.cell_type == "markdown")
    count = len(COURSE.assignment(name).exercises)
    assert (
        len(re.findall(r"Difficulty \d of 5 · about \d+ minutes? · \d+ (?:bonus )?points?", prose))
        == count
    )
    assert prose.count("<details>") >= count
