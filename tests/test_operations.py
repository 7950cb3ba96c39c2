"""Local derivatives of operations, from plain numbers."""

from __future__ import annotations

import math

import pytest

from course.drawing.operations import local_derivatives


@pytest.mark.parametrize(
    ("op", "operands", "result", "expected"),
    [
        ("+", [2.0, 3.0], 5.0, [1, 1]),
        ("-", [2.0, 3.0], -1.0, [1, -1]),
        ("*", [2.0, 3.0], 6.0, [3, 2]),
        ("/", [6.0, 3.0], 2.0, [1 / 3, -2 / 3]),
        ("neg", [2.0], -2.0, [-1]),
        ("-", [2.0], -2.0, [-1]),
        ("**2", [-3.0], 9.0, [-6]),
        ("**-1", [2.0], 0.5, [-0.25]),
        ("**0.5", [4.0], 2.0, [0.25]),
        ("**0", [0.0], 1.0, [0]),
        ("exp", [1.0], math.e, [math.e]),
        ("log", [2.0], math.log(2), [0.5]),
        ("tanh", [0.5], math.tanh(0.5), [1 - math.tanh(0.5) ** 2]),
        ("tanh", [1000.0], 1.0, [0]),
        ("sigmoid", [-1000.0], 0.0, [0]),
        ("ReLU", [3.0], 3.0, [1]),
        ("relu", [0.0], 0.0, [0]),
        ("relu", [-3.0], 0.0, [0]),
        ("sin", [0.0], 0.0, [1]),
    ],
)
def test_local_derivatives_are_those_of_calculus(op, operands, result, expected) -> None:
    found = local_derivatives(op, operands, result)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("op", "operands", "result"),
    [
        ("*", [2.0, 3.0], 5.0),
        ("doubled", [2.0], 4.0),
        ("**x", [2.0], 4.0),
        ("+", [1.0, 2.0, 3.0], 6.0),
        ("/", [1.0, 0.0], 0.0),
        ("log", [0.0], 0.0),
        ("exp", [1000.0], 0.0),
        ("**0.5", [-4.0], 2.0),
    ],
)
def test_an_operation_that_did_not_give_the_result_has_no_local_derivatives(
    op, operands, result
) -> None:
    assert local_derivatives(op, operands, result) == []
