"""Points: at most half without what an exercise is about, and what slips keep."""

from __future__ import annotations

import pytest
from answers import graded, mistake


@pytest.mark.parametrize("first", ["", "import sys\n\nsys.setrecursionlimit(10**7)\n\n\n"])
def test_a_recursive_backward_pass_gets_half_of_the_points_of_deep(grader, first):
    answer = first + mistake(grader.course.assignment("backward"), "deep.recursive")

    result = graded(grader, "backward", {"deep": answer}, {"deep"})["deep"]

    [missing] = result.essential
    assert missing.startswith("No function calls itself for every level")
    assert (result.points, result.max_points) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("assignment", "slip", "points"),
    [
        ("backward", "topological_order.append_in_the_loop", 4.5),
        ("backward", "dot_source.not_filled_in", 2.0),
        ("checkpoint", "q18.last_pair_left_out", 2.25),
        ("mlp", "neuron.bias_after_the_bend", 3.75),
        ("mlp", "neuron.one_weight_too_many", 3.75),
        ("mlp", "mse.root", 1.5),
    ],
)
def test_a_slip_costs_a_quarter_to_a_half(grader, assignment, slip, points):
    exercise = slip.partition(".")[0]
    answer = mistake(grader.course.assignment(assignment), slip)

    result = graded(grader, assignment, {exercise: answer}, {exercise})[exercise]

    assert (result.misconception, result.points) == (slip, points)
