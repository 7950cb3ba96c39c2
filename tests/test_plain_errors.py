"""Common Python mistakes are explained as such, with the student's own line, in every exercise."""

from __future__ import annotations

import ast
import linecache

import pytest
from answers import graded
from campaigns import drawn
from slips import beginning_with, first_function
from tested_course import COURSE

from course import check
from coursecheck.check import CheckFailed
from namespaces import namespace

pytestmark = pytest.mark.subprocess

ASSIGNMENTS = {name: COURSE.assignment(name) for name in COURSE.assignment_names()}
EXERCISES = [
    pytest.param(name, exercise, id=exercise.id, marks=drawn(exercise.id, 16, 4))
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    # Of the trainings, which take seconds, one is enough.
    if not exercise.manual and not exercise.form and exercise.id not in ("four_points", "moons")
]


@pytest.fixture
def result_of(grader):
    """Return a function for the result on a notebook with another cell in this exercise."""

    def result(name, exercise, source):
        return graded(grader, name, {exercise.id: source}, {exercise.id})[exercise.id]

    return result


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
@pytest.mark.parametrize(
    ("kind", "line"),
    [("NameError", "result = undefined_name"), ("TypeError", "result = 'two' + 2")],
)
def test_an_error_is_explained_with_its_own_line(result_of, name, exercise, kind, line):
    result = result_of(name, exercise, beginning_with(exercise.solution, line))
    assert result.misconception is None
    assert result.message.startswith(f"Your code raised {kind}: ")
    assert f"in the line `{line}`" in result.message


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_a_cell_with_a_syntax_error_is_explained_as_one(result_of, name, exercise):
    source = exercise.solution.replace("def ", "def def ", 1)
    line = next(line.strip() for line in source.splitlines() if "def def" in line)
    result = result_of(name, exercise, source)
    assert result.message == (
        f"Python cannot read the cell: invalid syntax, in the line `{line}`. None of it ran."
    )


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_a_missing_return_is_explained_as_one(result_of, name, exercise):
    tree, function = first_function(exercise.solution)
    if not isinstance(function.body[-1], ast.Return):
        pytest.skip("it returns nothing")
    function.body[-1] = ast.Pass()
    result = result_of(name, exercise, ast.unparse(tree) + "\n")
    assert "return" in result.message.splitlines()[0].lower(), result.message
    assert result.points < result.max_points


def test_an_error_from_a_raise_statement_is_not_named_as_a_mistake(result_of):
    exercise = ASSIGNMENTS["backward"].exercises["exp"]
    source = "def exp(self):\n    return Value(math.e) ** self\n\n\nValue.exp = exp\n"
    result = result_of("backward", exercise, source)
    assert result.misconception is None
    assert "the exponent must be an int or a float" in result.message


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("result = 'two' + 2", "TypeError: can only concat"),
        ("raise StopIteration('here')", "StopIteration: here, in the"),
    ],
)
def test_the_visible_check_explains_an_error_like_the_grader(monkeypatch, line, says):
    exercise = ASSIGNMENTS["value"].exercises["trace"]
    source = beginning_with(exercise.solution, line)
    name = "<ipython-input-1>"
    # IPython keeps the cells' lines there.
    monkeypatch.setitem(linecache.cache, name, (1, None, source.splitlines(True), name))
    cell = f"exec(compile({source!r}, {name!r}, 'exec'), globals())\n"
    with pytest.raises(CheckFailed, match=f"Your code raised {says}"):
        check("trace", namespace(ASSIGNMENTS["value"], trace=cell))
