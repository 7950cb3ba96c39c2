"""True marks for answers in any state. Mistakes and variants: test_audit.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answers import report_on
from campaigns import daily
from nbgrader.utils import get_partial_grade
from schools import solutions

from autograder.authoring.in_notebook import LocalResult
from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import (
    assignment_names,
    find_course,
    load_assignment,
)
from autograder.course_folder.misconceptions import percent_cells
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import _importable, _read_helpers
from autograder.judging.points import blank
from autograder.model import ExerciseResult, Report
from autograder.pipeline.one_submission import grade_file
from autograder.wall.proxies import Student
from autograder.wall.targets import LocalTarget
from course.datasets import xor
from namespaces import namespace

pytestmark = pytest.mark.slow

COURSE = find_course()
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
RIGHT = {name: solutions(name) for name in ASSIGNMENTS}
AUTOMATIC = [
    (name, exercise)
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    if not exercise.manual
]
NAMES = list(ASSIGNMENTS)
SLOW = set(load_settings(COURSE).limits.trainings)
# The trainings of one take long, and have a turn in each campaign.
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


@pytest.mark.parametrize("name", NAMES)
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
    assert shown and not [each for each, out in shown if out["output_type"] == "error"]


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_scores_nothing(graded, name):
    report = graded(name, {})
    assert report.score == 0
    assert {result.status for result in unmanned(report)} == {"missing"}


@pytest.mark.parametrize(
    ("name", "exercise"),
    [pytest.param(name, each, id=each.id, marks=daily(each.id, 8)) for name, each in AUTOMATIC],
)
def test_an_empty_cell_earns_no_points(graded, name, exercise):
    """No test holds by accident: with all else right, none of the exercise passes."""
    # Other trainings, which take seconds, are not begun.
    untouched = SLOW - {exercise.id}
    answers = {each: source for each, source in RIGHT[name].items() if each not in untouched}
    report = graded(name, {**answers, exercise.id: "pass\n"})
    points = {each.id: each.max_points for each in report.exercises}
    assert {each.id for each in report.exercises if each.points == 0} == (
        {exercise.id} | untouched & points.keys()
    )
    assert report.score == full_marks(name) - sum(
        points[each] for each in {exercise.id} | untouched & points.keys()
    )


@pytest.mark.parametrize("name", SHORT)
def test_printing_and_warning_cost_no_points(graded, name):
    noise = 'import sys, warnings\nprint("hello", file=sys.stderr)\nwarnings.warn("careful")\n'
    answers = {exercise.id: noise + exercise.solution for n, exercise in AUTOMATIC if n == name}
    assert graded(name, answers).score == full_marks(name)


def one_mistake(name: str) -> dict[str, str]:
    """Return all answers right but one."""
    exercise = next(e for n, e in AUTOMATIC if n == name and len(e.mistakes) > 1)
    return {**RIGHT[name], exercise.id: exercise.mistakes[1].source}


def test_another_attempt_gets_other_numbers_and_the_same_verdicts(graded):
    """A comment in an answer changes the numbers, so those of an earlier attempt are useless."""
    answers = one_mistake("value")
    first = graded("value", answers)
    second = graded("value", {name: f"{source}# again\n" for name, source in answers.items()})
    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]


def test_outputs_and_metadata_do_not_change_the_numbers(graded, grader, tmp_path):
    """Parts that are not run have no influence."""
    first = graded("value", RIGHT["value"])
    path = tmp_path / "value.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["metadata"]["mine"] = 1
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = 7, []
    path.write_text(json.dumps(notebook), "utf-8")
    assert grade_file(grader, path, "value")[1].seed == first.seed


def test_another_key_draws_other_numbers_and_gives_the_same_verdicts(graded, course):
    """`test_audit` compares the verdicts on more mistakes."""
    answers = one_mistake("value")
    first = graded("value", answers)
    with Grader(course, b"another key, just as long as it must be") as other:
        second = report_on(other, "value", answers)
    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]


def test_every_seed_draws_another_border_though_answers_are_rounded():
    variant = percent_cells(COURSE / "tests" / "variants" / "mlp" / "rounded_answers.py")
    names = namespace(ASSIGNMENTS["mlp"], **{each.name: each.source for each in variant})
    with _importable(COURSE / "grading_tests"):
        from networks import borders

        student = Student(LocalTarget(names), _read_helpers(COURSE / "grading_tests" / "inside"))
        networks = [student.train_xor(*xor(), seed) for seed in range(10)]
        found = {tuple(borders(network, *xor())) for network in networks}
    assert len(found) == 10
