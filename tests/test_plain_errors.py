"""A slip of the pen is explained as that, with the student's own line, in every exercise."""

from __future__ import annotations

import ast
import linecache

import pytest
from answers import graded, mistake
from campaigns import daily

from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from course import check
from coursecheck.check import CheckFailed
from namespaces import namespace

pytestmark = pytest.mark.slow

COURSE = find_course()
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
EXERCISES = [
    pytest.param(name, exercise, id=exercise.id, marks=daily(exercise.id, 4))
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    # Of the trainings, which take seconds, one is enough.
    if not exercise.manual and not exercise.form and exercise.id not in ("four_points", "moons")
]


def first_function(solution: str) -> tuple[ast.Module, ast.FunctionDef]:
    tree = ast.parse(solution)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    function.body = function.body[1:] if ast.get_docstring(function) else function.body
    return tree, function


def beginning_with(solution: str, line: str) -> str:
    """Return the solution, its first function with one more line at the beginning."""
    tree, function = first_function(solution)
    function.body.insert(0, ast.parse(line).body[0])
    return ast.unparse(tree) + "\n"


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


@pytest.mark.parametrize("cell", ["name = input()\n{}", "{}"], ids=["cell", "function"])
def test_a_call_of_input_has_a_hint_of_its_own(result_of, cell):
    exercise = ASSIGNMENTS["value"].exercises["add"]
    result = result_of(
        "value", exercise, cell.format(beginning_with(exercise.solution, "name = input()"))
    )
    assert "`input()` waits for somebody to type" in result.message


def test_a_students_own_error_is_named(result_of):
    exercise = ASSIGNMENTS["value"].exercises["add"]
    source = "class Odd(ValueError): pass\n\n" + beginning_with(exercise.solution, "raise Odd('x')")
    result = result_of("value", exercise, source)
    assert result.message.startswith("Your code raised Odd: x, in the line `raise Odd('x')`")


STOPS = "raise StopIteration('here')"


def test_a_stopiteration_is_explained_like_any_other_error(grader):
    value = ASSIGNMENTS["value"]
    wrong = {
        name: beginning_with(value.exercises[name].solution, STOPS)
        for name in ("add", "mul", "trace")
    }
    start = f"Your code raised StopIteration: here, in the line `{STOPS}`"
    for result in graded(grader, "value", wrong, {*wrong}).values():
        assert result.message.partition(".")[0] == start


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_a_cell_that_python_cannot_read_is_called_that(result_of, name, exercise):
    source = exercise.solution.replace("def ", "def def ", 1)
    line = next(line.strip() for line in source.splitlines() if "def def" in line)
    result = result_of(name, exercise, source)
    assert result.message == (
        f"Python cannot read the cell: invalid syntax, in the line `{line}`. None of it ran."
    )


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_a_missing_return_is_called_that(result_of, name, exercise):
    tree, function = first_function(exercise.solution)
    if not isinstance(function.body[-1], ast.Return):
        pytest.skip("it returns nothing")
    function.body[-1] = ast.Pass()
    result = result_of(name, exercise, ast.unparse(tree) + "\n")
    assert "return" in result.message.splitlines()[0].lower(), result.message
    assert result.points < result.max_points


def test_a_cell_that_stops_half_way_is_explained_so(result_of):
    exercise = ASSIGNMENTS["value"].exercises["add"]
    stopped = exercise.solution.replace("Value.__add__ = add", "Value.__add__ = ad")
    result = result_of("value", exercise, stopped)
    assert result.message.startswith(
        "The cell itself stops with NameError: name 'ad' is not defined, in the line "
        "`Value.__add__ = ad`."
    )


def test_a_named_mistake_keeps_its_name_if_it_raises(result_of):
    name, value = "add.numbers_not_wrapped", ASSIGNMENTS["value"]
    result = result_of("value", value.exercises["add"], mistake(value, name))
    assert result.misconception == name


def test_a_raised_error_is_no_mistake_that_python_stops(result_of):
    exercise = ASSIGNMENTS["backward"].exercises["exp"]
    source = "def exp(self):\n    return Value(math.e) ** self\n\n\nValue.exp = exp\n"
    result = result_of("backward", exercise, source)
    assert result.misconception is None
    assert "the exponent must be an int or a float" in result.message


@pytest.mark.parametrize(
    ("line", "says"),
    [("result = 'two' + 2", "TypeError: can only concat"), (STOPS, "StopIteration: here, in the")],
)
def test_the_visible_check_explains_it_the_same(monkeypatch, line, says):
    exercise = ASSIGNMENTS["value"].exercises["trace"]
    source = beginning_with(exercise.solution, line)
    name = "<ipython-input-1>"
    # IPython keeps the cells' lines there.
    monkeypatch.setitem(linecache.cache, name, (1, None, source.splitlines(True), name))
    cell = f"exec(compile({source!r}, {name!r}, 'exec'), globals())\n"
    with pytest.raises(CheckFailed, match=f"Your code raised {says}"):
        check("trace", namespace(ASSIGNMENTS["value"], trace=cell))
