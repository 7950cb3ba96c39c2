"""The playground's pictures and texts, without a browser."""

from __future__ import annotations

import linecache
from typing import Any

import pytest
from panels import control

from autograder.course_folder.course import find_course
from course.interactives.model import YourCodeFailed
from course.interactives.playing import Playground
from namespaces import namespace

Value: Any = namespace(find_course().assignment("backward"))["Value"]


def sanity(a: Any, b: Any, c: Any) -> Any:
    return (a * b + c) ** 2


def play(**starts: float) -> Playground:
    return Playground(Value, sanity, {"a": 2.0, "b": -3.0, "c": 10.0, **starts})


def test_the_playground_compares_a_changed_result_with_the_gradient_s_prediction() -> None:
    model = play()
    assert "a: data 2.0, grad -24.0, leaf" in model.text()
    model.act("input a", 2.1000000000000005)
    assert model.numbers["a"] == 2.1
    assert str(model.shown) == "a = 2.1, b = -3.0, c = 10.0 give result = 13.69."
    assert model.news == (
        "result went from 16.0 to 13.69, by -2.31. "
        "The gradient of a had promised about -24.0 · 0.1 = -2.4."
    )
    model.act("reset", None)
    assert control(model, "input a").value == 2.0


def test_the_playground_can_hide_the_gradients() -> None:
    model = play()
    model.act("gradients", False)
    assert model.news == "The gradients are left out."
    assert "a: data 2.0, grad 0.0, leaf" in model.text()
    model.act("input b", -2.0)
    assert "promised" not in model.news
    model.act("gradients", True)
    assert "a: data 2.0, grad -24.0" in model.text()


@pytest.fixture
def bare() -> Any:
    """Return a Value without `backward`, as students have it in the first notebook."""
    return namespace(find_course().assignment("value"))["Value"]


def test_the_playground_runs_the_closures_of_a_value_without_backward(bare: Any) -> None:
    assert not hasattr(bare, "backward")
    model = Playground(bare, sanity, {"a": 2.0, "b": -3.0, "c": 10.0})
    assert "a: data 2.0, grad -24.0, leaf" in model.text()
    model.act("input a", 2.1)
    assert "The gradient of a had promised about -24.0 · 0.1 = -2.4." in model.news


def test_the_playground_draws_numbers_of_a_value_without_closures(bare: Any) -> None:
    def unfinished(a: Any) -> Any:
        out = a + 1
        out._backward = None
        return out

    model = Playground(bare, unfinished, {"a": 2.0})
    assert not control(model, "gradients").enabled
    assert "a node has no _backward yet" in control(model, "gradients").label
    model.act("input a", 6.0)
    assert "give result = 7.0." in model.text()


def test_the_playground_keeps_its_last_picture_if_the_expression_fails() -> None:
    model = Playground(Value, lambda x: x.log(), {"x": 1.0})
    with pytest.raises(YourCodeFailed, match=r"At x = -1\.0 the expression raised ValueError"):
        model.act("input x", -1.0)
    assert "x = 1.0 give result = 0.0." in model.text()
    assert control(model, "input x").value == -1.0


def test_an_error_in_student_code_is_shown_with_only_the_student_s_line() -> None:
    cell = (
        "def formula(x):\n    return x + later()\ndef later():\n    raise NotImplementedError()\n"
    )
    scope: dict[str, Any] = {}
    linecache.cache["<a cell>"] = (len(cell), None, cell.splitlines(keepends=True), "<a cell>")
    exec(compile(cell, "<a cell>", "exec"), scope)
    with pytest.raises(YourCodeFailed) as caught:
        Playground(Value, scope["formula"], {"x": 1.0})
    assert caught.value._render_traceback_() == [
        "At x = 1.0 the expression raised NotImplementedError",
        "It was in later, line 4 of its cell:",
        "    raise NotImplementedError()",
    ]


def test_default_arguments_of_the_expression_are_the_first_numbers_of_a_playground() -> None:
    model = Playground(Value, lambda a, b=4: a * b, {"a": 3})
    assert model.numbers == {"a": 3.0, "b": 4.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((sanity, sanity, {"a": 1.0}), "Value class first"),
        ((Value, 3.0, {}), "must be a function of Values"),
        ((Value, sanity, {"a": 1.0, "b": 1.0}), "missing a required argument: 'c'"),
        ((Value, sanity, {"a": 1, "b": 1, "c": 1, "d": 1}), "unexpected keyword argument 'd'"),
        ((Value, sanity, {"a": "2", "b": 1, "c": 1}), "a must start at a number, not at '2'"),
        ((Value, lambda: Value(1.0), {}), "no input to move"),
    ],
)
def test_invalid_arguments_of_a_playground_raise_a_type_error(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Playground(*arguments)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (lambda a: None, "gave None, which is not a Value"),
        (lambda a: a.data, "gave 1.0, which is not a Value"),
        (lambda a: a + missing, "raised NameError"),  # type: ignore[name-defined] # noqa: F821
    ],
)
def test_a_playground_reports_an_expression_that_fails_or_returns_no_value(
    expression: Any, message: str
) -> None:
    with pytest.raises(YourCodeFailed, match=message):
        Playground(Value, expression, {"a": 1.0})


def test_a_result_whose_repr_fails_is_reported_by_its_type() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise NotImplementedError

    with pytest.raises(YourCodeFailed, match="gave an object of type Shy, which is not a Value"):
        Playground(Value, lambda a: Shy(), {"a": 1.0})
