"""True marks: every mistake costs its own exercise and is named, every right solution passes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from autograder.assignments import Mistake, find_course, load_assignment, percent_cells
from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.report import Report
from autograder.submissions import grade_file

VALUE = load_assignment(find_course(), "value")
RIGHT = {exercise.id: exercise.solution for exercise in VALUE.exercises.values()}
MISTAKES = [
    mistake
    for exercise in VALUE.exercises.values()
    for mistake in exercise.mistakes
    if not mistake.endless
]
ENDLESS = [m for exercise in VALUE.exercises.values() for m in exercise.mistakes if m.endless]
VARIANTS = sorted((Path(__file__).parent / "variants" / "value").glob("*.py"))


@pytest.fixture
def graded(grader: Grader, tmp_path: Path):
    """Grades a notebook with these answers in its solution cells."""

    def grade(answers: dict[str, str]) -> Report:
        path = tmp_path / "value.ipynb"
        path.write_text(filled_notebook(grader.course, "value", answers), "utf-8")
        return grade_file(grader, path, "value")[1]

    return grade


def statuses(report: Report) -> dict[str, str]:
    return {result.id: result.status for result in report.exercises}


def test_the_solution_scores_full_marks(graded):
    report = graded(RIGHT)
    assert report.score == report.max_score == 40
    assert set(statuses(report).values()) == {"passed"}


def test_the_stub_scores_nothing(graded):
    report = graded({})
    assert report.score == 0
    assert set(statuses(report).values()) == {"missing"}


@pytest.mark.parametrize("exercise", list(RIGHT))
def test_an_empty_cell_earns_nothing(graded, exercise):
    """Nothing holds by accident: with all else right, no test of the exercise passes."""
    report = graded({**RIGHT, exercise: "pass\n"})
    [result] = [result for result in report.exercises if result.id == exercise]
    assert result.points == 0
    assert report.score == report.max_score - result.max_points


def assert_named(report: Report, mistake: Mistake) -> None:
    exercise = mistake.id.partition(".")[0]
    wrong = {result.id: result for result in report.exercises if result.status != "passed"}
    assert list(wrong) == [exercise], {k: (r.status, r.message) for k, r in wrong.items()}
    assert wrong[exercise].misconception == mistake.id
    assert wrong[exercise].message.startswith(mistake.says)
    assert wrong[exercise].points < wrong[exercise].max_points


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.id)
def test_a_mistake_costs_its_own_exercise_and_is_named(graded, mistake):
    exercise = mistake.id.partition(".")[0]
    assert_named(graded({**RIGHT, exercise: mistake.source}), mistake)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ENDLESS, ids=lambda mistake: mistake.id)
def test_a_mistake_that_never_ends_is_named_too(graded, mistake):
    exercise = mistake.id.partition(".")[0]
    assert_named(graded({**RIGHT, exercise: mistake.source}), mistake)


PAIRS = list(itertools.combinations(VALUE.exercises.values(), 2))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "+".join(each.id for each in pair))
def test_two_mistakes_are_told_apart(graded, pair):
    """One mistake each in two exercises: both are named, nothing else is lost."""
    first, second = (exercise.mistakes[0] for exercise in pair)
    report = graded({**RIGHT, pair[0].id: first.source, pair[1].id: second.source})
    wrong = {result.id: result.misconception for result in report.exercises if result.points
             != result.max_points}  # fmt: skip
    assert wrong == {pair[0].id: first.id, pair[1].id: second.id}


@pytest.mark.parametrize("path", VARIANTS, ids=lambda path: path.stem)
def test_right_solutions_pass_however_they_are_written(graded, path):
    cells = {name or kind: source for kind, name, _, source in percent_cells(path)}
    report = graded({**RIGHT, **cells})
    assert {r.id: r.message for r in report.exercises if r.status != "passed"} == {}
    assert report.score == report.max_score


def test_printing_and_warning_cost_nothing(graded):
    noise = 'import sys, warnings\nprint("hello", file=sys.stderr)\nwarnings.warn("careful")\n'
    assert graded({name: noise + source for name, source in RIGHT.items()}).score == 40


def test_the_same_submission_gets_the_same_report(graded):
    answers = {**RIGHT, "mul": VALUE.exercises["mul"].mistakes[0].source}
    assert graded(answers).as_json() == graded(answers).as_json()


def test_another_key_draws_other_numbers_and_gives_the_same_verdicts(graded, grader, course):
    answers = {**RIGHT, "pow": VALUE.exercises["pow"].mistakes[0].source}
    first = graded(answers)
    path = course / "other_key.ipynb"
    path.write_text(filled_notebook(course, "value", answers), "utf-8")
    with Grader(course, b"another key, just as long as it must be") as other:
        second = grade_file(other, path, "value")[1]
    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]
