"""Charts of the interactives, and their descriptions outside of notebooks."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import pytest
from programs import run_program

from course.drawing.network import network_drawing, network_in_words
from course.interactives.training_charts import gradient_chart, loss_chart, plane_chart


def test_charts_are_well_formed_and_have_descriptions() -> None:
    for losses in ([], [0.5], [0.0, 0.0], [1 / n for n in range(1, 5000)]):
        svg = ElementTree.fromstring(str(loss_chart(losses)))
        assert svg.get("aria-label", "").startswith("Loss by epoch")
    for sizes in ([], [0.0, 1e9, float("inf"), float("nan")]):
        ElementTree.fromstring(str(gradient_chart(sizes)))


def test_the_drawn_decision_boundary_is_where_the_predicted_class_changes() -> None:
    side = [0.0, 1.0, 2.0]
    grid = [[[x - 0.5] for x in side] for _ in side]
    chart = plane_chart((side, side), grid, [([0.0, 0.0], 0), ([2.0, 1.0], 1)])
    assert "class 0 on 33 %, class 1 on 67 %" in chart.about
    left = chart.place(0.5, 0.0)[0]
    border = next(part for part in chart.parts if "ch-ink" in part)
    assert {x for x, _ in re.findall(r"([0-9.]+),([0-9.]+)", border)} == {f"{left:.1f}"}
    three = [[[0.5, x, 1.5] for x in side] for _ in side]
    assert "class 0 on 0 %, class 1 on 33 %, class 2 on 67 %" in (
        plane_chart((side, side), three, []).about
    )


def test_a_network_drawing_shows_size_and_sign_of_weights_by_width_and_dashes() -> None:
    weights = [[[2.0, -1.0, 0.5]]]
    drawn = str(network_drawing(weights, ["a", "b"]))
    assert drawn.count("stroke-dasharray") == 1
    assert 'class="ch-0" stroke-width="6.00"' in drawn
    assert 'class="ch-1" stroke-dasharray="6 4" stroke-width="3.00"' in drawn
    assert "A network 2 to 1, 3 weights and biases. Layer 1 has the weights 2.00, -1.00." in drawn
    wide = network_in_words([[[1.0, -2.0, 0.0]] * 4])
    assert "8 weights from -2.00 to 1.00, 4 of them negative" in wide
    ElementTree.fromstring(str(network_drawing([[[float("nan"), 0.0]]])))


@pytest.mark.subprocess
def test_interactives_print_their_description_outside_a_notebook(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = (
        "from course.interactives import step_through, playground, training_panel\n"
        "class V:\n"
        "    def __init__(self, data): self.data, self.grad, self._prev = data, 0.0, ()\n"
        "playground(V, lambda a: a, a=2.0); step_through(V(3.0))\n"
        "import sys; print(*sys.modules)"
    )
    done = run_program([sys.executable, "-c", program])
    assert "a = 2.0 give a = 2.0." in done.stdout
    assert "The leaves are given: v1 = 3.0." in done.stdout
    heavy = {"autograder", "IPython", "ipywidgets", "anywidget", "matplotlib", "numpy"}
    assert not heavy & set(done.stdout.split())
