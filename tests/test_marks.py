"""True marks, whatever state the answers are in. Mistakes and variants: test_audit.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignments import assignment_names, find_course, load_assignment, percent_cells
from autograder.channels import LocalChannel
from autograder.demo import filled_notebook
from autograder.engines import Engine
from autograder.grading import Grader
from autograder.networks import borders
from autograder.report import ExerciseResult, Report
from autograder.submissions import grade_file
from course.datasets import xor

COURSE = find_course()
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
RIGHT = {
    name: {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    for name, assignment in ASSIGNMENTS.items()
}
AUTOMATIC = [
    (name, exercise)
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    if not exercise.manual
]
NAMES = list(ASSIGNMENTS)


@pytest.fixture
def graded(grader: Grader, tmp_path: Path):
    """Grades a notebook with these answers in its solution cells."""

    def grade(name: str, answers: dict[str, str]) -> Report:
        path = tmp_path / f"{name}.ipynb"
        path.write_text(filled_notebook(grader.course, name, answers), "utf-8")
        return grade_file(grader, path, name)[1]

    return grade


def full_marks(name: str) -> float:
    """All the points that are not given by hand."""
    return sum(exercise.max_points for each, exercise in AUTOMATIC if each == name)


def unmanned(report: Report) -> list[ExerciseResult]:
    """The results that no person has a hand in."""
    return [result for result in report.exercises if result.status != "manual"]


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_scores_full_marks(graded, name):
    report = graded(name, RIGHT[name])
    assert report.score == full_marks(name)
    assert {result.status for result in unmanned(report)} == {"passed"}


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_scores_nothing(graded, name):
    report = graded(name, {})
    assert report.score == 0
    assert {result.status for result in unmanned(report)} == {"missing"}


@pytest.mark.parametrize("name", NAMES)
def test_written_answers_wait_for_a_person(graded, name):
    report = graded(name, RIGHT[name])
    waiting = {result.id for result in report.exercises if result.status == "manual"}
    exercises = ASSIGNMENTS[name].exercises.values()
    assert waiting == {exercise.id for exercise in exercises if exercise.manual}
    assert all(result.points is None for result in report.exercises if result.id in waiting)


@pytest.mark.parametrize(
    ("name", "exercise"), AUTOMATIC, ids=lambda each: getattr(each, "id", each)
)
def test_an_empty_cell_earns_nothing(graded, name, exercise):
    """Nothing holds by accident: with all else right, no test of the exercise passes."""
    report = graded(name, {**RIGHT[name], exercise.id: "pass\n"})
    [result] = [result for result in report.exercises if result.id == exercise.id]
    assert result.points == 0
    assert report.score == full_marks(name) - result.max_points


@pytest.mark.parametrize("name", NAMES)
def test_printing_and_warning_cost_nothing(graded, name):
    noise = 'import sys, warnings\nprint("hello", file=sys.stderr)\nwarnings.warn("careful")\n'
    answers = {exercise.id: noise + exercise.solution for n, exercise in AUTOMATIC if n == name}
    assert graded(name, answers).score == full_marks(name)


def one_mistake(name: str) -> dict[str, str]:
    """All answers right but one."""
    exercise = next(e for n, e in AUTOMATIC if n == name and len(e.mistakes) > 1)
    return {**RIGHT[name], exercise.id: exercise.mistakes[1].source}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_submission_gets_the_same_report(graded, name):
    assert graded(name, one_mistake(name)).as_json() == graded(name, one_mistake(name)).as_json()


@pytest.mark.parametrize("name", NAMES)
def test_another_key_draws_other_numbers_and_gives_the_same_verdicts(graded, course, name):
    answers = one_mistake(name)
    first = graded(name, answers)
    path = course / "other_key.ipynb"
    path.write_text(filled_notebook(course, name, answers), "utf-8")
    with Grader(course, b"another key, just as long as it must be") as other:
        second = grade_file(other, path, name)[1]
    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]


def test_every_seed_draws_another_border_though_answers_are_rounded():
    variant = percent_cells(COURSE / "tests" / "variants" / "mlp" / "rounded_answers.py")
    names = ASSIGNMENTS["mlp"].namespace(**{id: source for _, id, _, source in variant})
    student = Engine(LocalChannel(names))
    networks = [student.train_xor(*xor(), seed) for seed in range(10)]
    assert len({tuple(borders(student, network, *xor())) for network in networks}) == 10
