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


CORE = """
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        one = loss([model(x) for x in inputs], targets)
        {}
        optimizer.step()
        losses.append(one.data)
    return losses
"""


def test_a_slip_keeps_its_share_of_the_core_where_the_extra_part_is_open(grader):
    moves = "optimizer.zero_grad()", "one.backward()"
    right, slip = (CORE.format("\n        ".join(each)) for each in (moves, moves[::-1]))

    core, kept = (
        graded(grader, "mlp", {"train": each}, {"train"})["train"].points for each in (right, slip)
    )

    assert 0 < core < 6
    assert core / 2 - 0.25 < kept <= core / 2  # rounded down to quarters
