"""A line that is fitted by hand, on the reference engine."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.course_folder.course import find_course
from course.interactives.fitting import LineFit
from course.interactives.model import YourCodeFailed
from namespaces import namespace

NAMES: Any = namespace(find_course().assignment("mlp"))
POINTS = [(1.0, 3.0), (2.0, 5.0)]


def test_the_gradients_say_which_way_to_move() -> None:
    model = LineFit(NAMES["Value"], NAMES["mse"], POINTS)
    # At w = b = 0, the loss is (3² + 5²) / 2, and its derivatives -(3·1 + 5·2) and -(3 + 5).
    assert (model.loss, model.gradients) == (17.0, {"w": -13.0, "b": -8.0})
    assert model.text() == (
        "With w = 0.0 and b = 0.0, the loss is 17.0. The gradient of w is -13.0: move w up. "
        "The gradient of b is -8.0: move b up."
    )
    model.act("w", 3.0)
    assert model.news.startswith("The loss fell. ") and "move w down" in model.news


def test_the_line_is_found_where_the_loss_is_0() -> None:
    model = LineFit(NAMES["Value"], NAMES["mse"], POINTS)
    model.act("w", 2.0)
    model.act("b", 1.0000000000000002)
    assert model.text() == "With w = 2.0 and b = 1.0, the loss is 0.0. You have found the line."
    assert model.html().count("<circle") == 2 and "your line" in model.html()


def test_an_error_of_the_student_s_loss_is_told_as_theirs() -> None:
    with pytest.raises(YourCodeFailed, match="The loss of the line raised ZeroDivisionError"):
        LineFit(NAMES["Value"], lambda answers, targets: 1 / 0, POINTS)
