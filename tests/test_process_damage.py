"""A cell that changes functions which other exercises call costs these exercises no points."""

from __future__ import annotations

import pytest
from answers import report_on_right_but, wrong
from attacks.damage import DAMAGE

pytestmark = pytest.mark.subprocess


@pytest.mark.parametrize("kind", ["math", "random", "alarm", "ast transformer"])
def test_damage_to_shared_functions_costs_other_exercises_no_points(grader, kind):
    solution = grader.course.assignment("backward").exercises["relu"].solution

    report = report_on_right_but(grader, "backward", {"relu": f"{solution}\n\n{DAMAGE[kind]}\n"})

    assert [name for name in wrong(report) if name != "relu"] == []
