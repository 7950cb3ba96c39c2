"""Common Python mistakes are explained as such, with the student's own line."""

from __future__ import annotations

import pytest
from answers import graded, mistake
from slips import beginning_with

pytestmark = pytest.mark.subprocess


@pytest.fixture
def result_of(grader):
    """Return a function for the result on a notebook that is right but for one answer."""

    def result(answer):
        [result] = graded(grader, "value", answer, {*answer}).values()
        return result

    return result


@pytest.mark.parametrize("cell", ["name = input()\n{}", "{}"], ids=["cell", "function"])
def test_a_call_of_input_has_a_hint_of_its_own(result_of, assignment, cell):
    add = beginning_with(assignment.exercises["add"].solution, "name = input()")

    result = result_of({"add": cell.format(add)})

    assert "`input()` waits for somebody to type" in result.message


def test_a_students_own_error_is_named(result_of, assignment):
    add = beginning_with(assignment.exercises["add"].solution, "raise Odd('x')")

    result = result_of({"add": "class Odd(ValueError): pass\n\n" + add})

    assert result.message.startswith("Your code raised Odd: x, in the line `raise Odd('x')`")


STOPS = "raise StopIteration('here')"


def test_a_stopiteration_is_explained_like_any_other_error(grader, assignment):
    wrong = {
        name: beginning_with(assignment.exercises[name].solution, STOPS)
        for name in ("add", "mul", "trace")
    }
    start = f"Your code raised StopIteration: here, in the line `{STOPS}`"
    for result in graded(grader, "value", wrong, {*wrong}).values():
        assert result.message.partition(".")[0] == start


def test_a_cell_that_raises_before_its_end_is_explained_with_error_and_line(result_of, assignment):
    add = assignment.exercises["add"].solution

    result = result_of({"add": add.replace("Value.__add__ = add", "Value.__add__ = ad")})

    assert result.message.startswith(
        "The cell itself stops with NameError: name 'ad' is not defined, in the line "
        "`Value.__add__ = ad`."
    )


def test_a_named_mistake_keeps_its_name_if_it_raises(result_of, assignment):
    name = "add.numbers_not_wrapped"

    result = result_of({"add": mistake(assignment, name)})

    assert result.misconception == name
