"""Solutions, stubs and empty answers get the right marks; test_audit.py covers mistakes and
variants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaigns import drawn
from nbgrader.utils import get_partial_grade
from schools import solutions

from autograder.authoring.in_notebook import LocalResult
from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import find_course
from autograder.judging.grader import Grader
from autograder.judging.points import blank
from autograder.pipeline.one_submission import grade_file
from autograder.records import ExerciseResult, Report

pytestmark = pytest.mark.subprocess

COURSE = find_course()
ASSIGNMENTS = {name: COURSE.assignment(name) for name in COURSE.assignment_names()}
RIGHT = {name: solutions(name) for name in ASSIGNMENTS}
AUTOMATIC = [
    (name, exercise)
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    if not exercise.manual
]
NAMES = list(ASSIGNMENTS)
SLOW = set(COURSE.settings.limits.trainings)
# The trainings of one take long, and have a turn in each campaign.
# The trainings take seconds.
TRAINED = [pytest.param(name, marks=[pytest.mark.full] if name == "mlp" else []) for name in NAMES]
SHORT = [
    pytest.param(name, marks=[pytest.mark.campaign] if name == "mlp" else []) for name in NAMES
]


@pytest.mark.parametrize(("name", "exercise"), AUTOMATIC)
def test_nbgrader_reads_full_points_from_the_notebook_s_own_tests(name, exercise):
    """A number above what the cell is worth would end the grading of the whole notebook."""
    result = blank(exercise)
    result.points = exercise.max_points
    output = {"data": {"text/plain": repr(LocalResult(result))}}
    worth = exercise.released_points

    assert get_partial_grade(output, worth) == worth == (0 if exercise.bonus else result.points)


@pytest.fixture
def graded(grader: Grader, tmp_path: Path):
    """Return a function that grades a notebook with these answers in its solution cells."""

    def grade(name: str, answers: dict[str, str]) -> Report:
        path = tmp_path / f"{name}.ipynb"
        path.write_text(filled_notebook(grader.course, name, answers), "utf-8")
        notebook, report = grade_file(grader, path, name)
        path.with_suffix(".graded").write_text(json.dumps(notebook))
        return report

    return grade


def full_marks(name: str) -> float:
    """Return the sum of all points that are not given by hand."""
    return sum(exercise.max_points for each, exercise in AUTOMATIC if each == name)


def unmanned(report: Report) -> list[ExerciseResult]:
    """Return the results of the exercises that no person marks."""
    return [result for result in report.exercises if result.status != "manual"]


@pytest.mark.parametrize("name", TRAINED)
def test_the_solution_scores_full_marks_and_written_answers_wait_for_a_person(
    graded, name, tmp_path
):
    report = graded(name, RIGHT[name])
    assert report.score == full_marks(name)
    assert {result.status for result in unmanned(report)} == {"passed"}

    waiting = {result.id for result in report.exercises if result.status == "manual"}
    exercises = ASSIGNMENTS[name].exercises.values()

    assert waiting == {exercise.id for exercise in exercises if exercise.manual}
    assert all(result.points is None for result in report.exercises if result.id in waiting)

    # No cell ends with an error: those that need a demonstration, which is not run for a grade, are
    # demonstrations, too.
    cells = json.loads((tmp_path / f"{name}.graded").read_text())["cells"]
    shown = [(cell["id"], out) for cell in cells for out in cell.get("outputs", [])]

    assert shown
    assert not [each for each, out in shown if out["output_type"] == "error"]


@pytest.mark.parametrize("name", NAMES)
def test_the_release_without_answers_gets_no_points(graded, name):
    report = graded(name, {})
    assert report.score == 0
    assert {result.status for result in unmanned(report)} == {"missing"}


@pytest.mark.parametrize(
    ("name", "exercise"),
    [pytest.param(name, each, id=each.id, marks=drawn(each.id, 32, 8)) for name, each in AUTOMATIC],
)
def test_an_empty_cell_earns_no_points(graded, name, exercise):
    """No test holds by accident: with all else right, none of the exercise passes."""
    # Other trainings, which take seconds, are not begun.
    untouched = SLOW - {exercise.id}
    answers = {each: source for each, source in RIGHT[name].items() if each not in untouched}
    report = graded(name, {**answers, exercise.id: "pass\n"})
    points = {exercise.id: exercise.max_points for exercise in report.exercises}

    assert {exercise.id for exercise in report.exercises if exercise.points == 0} == (
        {exercise.id} | untouched & points.keys()
    )
    assert report.score == full_marks(name) - sum(
        points[each] for each in {exercise.id} | untouched & points.keys()
    )


@pytest.mark.parametrize("name", SHORT)
def test_answers_that_print_or_warn_lose_no_points(graded, name):
    noise = 'import sys, warnings\nprint("hello", file=sys.stderr)\nwarnings.warn("careful")\n'
    answers = {exercise.id: noise + exercise.solution for n, exercise in AUTOMATIC if n == name}
    assert graded(name, answers).score == full_marks(name)
