"""The pictures in the notebooks: their descriptions, and how one replaces another."""

from __future__ import annotations

import math
import re
from html import unescape
from types import SimpleNamespace

import pytest

from course.datasets import moons, xor
from course.drawing.chart import Picture
from course.plots import (
    TrainingView,
    boundaries,
    curves,
    decision_boundary,
    draw_network,
    loss_curve,
    secants,
    valley,
)


class Number:
    """The answer of a student's model: an object with the number in `data`."""

    def __init__(self, data: float) -> None:
        self.data = data


def line(point):
    """Return a number above 0 to the right of the line x = 0.5."""
    return point[0] - 0.5


def alternative(picture: Picture) -> str:
    html = picture._repr_mimebundle_()["text/html"]
    return unescape(re.search(r'<svg [^>]*aria-label="([^"]*)"', html).group(1))


def test_a_loss_curve_is_described_by_its_first_and_last_loss():
    picture = loss_curve([2.0, 1.0, 0.25, 0.5])
    assert picture.summary == ("Loss over 4 epochs: from 2 to 0.5, lowest 0.25 in epoch 3.")
    assert alternative(picture) == picture.summary == repr(picture)
    assert picture.svg.startswith("<svg")


def test_several_curves_are_described_by_name():
    summary = loss_curve({"slow": [2.0, 1.0], "quick & dirty": [2.0, 0.1]}).summary
    assert "Loss of “slow” over 2 epochs: from 2 to 1" in summary
    assert "Loss of “quick & dirty” over 2 epochs: from 2 to 0.1" in summary


def test_a_loss_curve_can_count_steps_in_place_of_epochs():
    assert loss_curve([2.0, 1.0], per="step").summary == (
        "Loss over 2 steps: from 2 to 1, lowest 1 in step 2."
    )


def test_a_loss_curve_accepts_losses_that_are_values():
    assert "from 3 to 1" in loss_curve([Number(3.0), Number(1.0)]).summary


@pytest.mark.parametrize("losses", [[], {}, {"none": []}])
def test_empty_losses_are_refused(losses):
    with pytest.raises(ValueError, match="no loss to draw"):
        loss_curve(losses)


def test_a_decision_boundary_counts_the_points_on_the_right_side():
    inputs, targets = xor()
    picture = decision_boundary(line, inputs, targets, threshold=0.5)
    assert "2 of 4 points lie on their own side" in picture.summary
    right = decision_boundary(lambda p: Number(abs(p[0] - p[1])), inputs, targets, threshold=0.5)
    assert "4 of 4 points" in right.summary


def test_a_decision_boundary_printed_as_text_shows_both_sides_and_the_points():
    rows = repr(decision_boundary(line, [[0.0, 0.0], [1.0, 1.0]], [-1.0, 1.0])).split("\n\n")[1]
    *lines, legend = rows.splitlines()
    assert all(row[0] in ".^" and row[-1] in "+O" for row in lines)
    assert sum(row.count("O") for row in lines) == sum(row.count("^") for row in lines) == 1
    # Up is up: the point with the larger second coordinate stands in a higher row.
    top = next(i for i, row in enumerate(lines) if "O" in row)
    assert top < next(i for i, row in enumerate(lines) if "^" in row)
    assert legend.startswith("+ the model answers above 0")


def test_a_constant_model_is_described_as_one_class_on_the_whole_plane():
    inputs, targets = moons(10, seed=1)
    assert "on 100 % of the plane" in decision_boundary(lambda p: 1.0, inputs, targets).summary
    assert "on 0 % of the plane" in decision_boundary(lambda p: -1.0, inputs, targets).summary


def test_a_decision_boundary_refuses_points_without_two_coordinates():
    with pytest.raises(ValueError, match="two coordinates"):
        decision_boundary(line, [[1.0, 2.0, 3.0]], [1.0])


def test_a_training_view_outside_a_notebook_prints_its_description(capsys):
    inputs, targets = moons(10, seed=1)
    view = TrainingView(inputs, targets)
    view.show(line, [1.0, 0.5])
    view.show(line, [1.0, 0.5, 0.25])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Loss over 2 epochs") and second.startswith("Loss over 3 epochs")
    assert "Decision boundary" in second


def test_a_training_view_in_a_notebook_updates_one_picture(monkeypatch):
    shown = []

    class Handle:
        def update(self, picture):
            shown.append(("updated", picture))

    def display(picture, display_id):
        shown.append(("shown", picture))
        return Handle()

    monkeypatch.setattr("IPython.get_ipython", lambda: object())
    monkeypatch.setattr("IPython.display.display", display)
    view = TrainingView()
    pictures = [view.show(line, [1.0] * count) for count in (1, 2, 3)]
    assert shown == list(zip(["shown", "updated", "updated"], pictures, strict=True))


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -float("inf")])
def test_a_decision_boundary_is_drawn_even_if_outputs_are_infinite_or_undefined(answer):
    picture = decision_boundary(lambda p: answer if p[0] > 0 else -1.0, *xor(), threshold=0.5)
    assert "nan" not in picture.svg and "inf" not in picture.svg
    assert "nan" not in loss_curve([1.0, answer, 2.0]).svg


def test_a_straight_decision_boundary_is_drawn_at_its_position():
    """The line x = 0.5 stands in the middle of a plane from -0.5 to 1.5, from bottom to top."""
    svg = decision_boundary(line, *xor(), threshold=0.0).svg
    border = re.search(r'ch-ink" stroke-linecap="round" d="([^"]*)"', svg).group(1)
    places = re.findall(r"([\d.]+),([\d.]+)", border)
    assert len({x for x, _ in places}) == 1
    ticks = {words: float(x) for x, words in re.findall(r'x="([\d.]+)"[^>]*>([-\d.]+)<', svg)}
    assert float(places[0][0]) == pytest.approx(ticks["0.5"], abs=0.1)
    assert max(float(y) for _, y in places) - min(float(y) for _, y in places) == pytest.approx(230)


def network(*sizes: int) -> SimpleNamespace:
    """Return a network with weights of 1 and -2 in turn."""

    def neuron(inputs: int) -> SimpleNamespace:
        weights = [SimpleNamespace(data=(1.0, -2.0)[i % 2]) for i in range(inputs)]
        return SimpleNamespace(w=weights, b=SimpleNamespace(data=0.25))

    layers = [
        SimpleNamespace(neurons=[neuron(sizes[i]) for _ in range(sizes[i + 1])])
        for i in range(len(sizes) - 1)
    ]
    return SimpleNamespace(layers=layers)


def test_curves_are_described_with_their_slopes() -> None:
    picture = curves({"tanh": math.tanh}, tangents=[0.0, 2.0])
    assert "the slope of tanh is 1 at 0, 0.0707 at 2" in picture.summary
    assert picture.svg.count("<polyline") == 3 and picture.svg.count("slope") >= 2


def test_a_central_difference_is_closer_to_the_tangent() -> None:
    seen = secants(lambda x: x**3, 2.0, 0.5).summary
    assert "one-sided 15.250, central 12.250, tangent 12.000" in seen


def test_a_network_is_drawn_with_a_line_for_each_weight() -> None:
    picture = draw_network(network(3, 4, 4, 1))
    assert "A network 3 to 4 to 4 to 1, 41 weights and biases." in picture.summary
    lines = re.findall(r'<path class="ch-(\d)"[^>]*>', picture.svg)
    assert len(lines) == 32 and picture.svg.count('class="ch-node"') == 12
    # Sign is shown by dashes as well, size by thickness.
    dashed = re.findall(r'ch-1" stroke-dasharray="6 4" stroke-width="([\d.]+)"', picture.svg)
    assert len(dashed) == lines.count("1") and set(dashed) == {"6.00"}
    with pytest.raises(TypeError, match="a network with `layers`"):
        draw_network(lambda point: 0.0)


def test_a_valley_is_described_by_the_end_of_each_path() -> None:
    picture = valley(
        lambda x, y: x * x + y * y,
        {"short": [(2.0, 0.0), (1.0, 0.0)], "long": [(2.0, 0.0), (0.5, 0.0), (0.0, 0.0)]},
        across=(-1.0, 3.0),
        up=(-1.0, 1.0),
    )
    assert "short ends after 1 steps at a height of 1" in picture.summary
    assert "long ends after 2 steps at a height of 0" in picture.summary
    assert picture.svg.count('class="ch-height"') == 6


def test_several_decision_boundaries_are_drawn_side_by_side() -> None:
    inputs, targets = moons(10, seed=1)
    picture = boundaries({"left": lambda p: p[0], "up": lambda p: p[1]}, inputs, targets)
    assert (
        picture.summary.startswith("left: Decision boundary") and "up: Decision" in picture.summary
    )
    assert picture.svg.count("<g transform") == 2


@pytest.mark.parametrize("picture", [curves({"exp": math.exp}), draw_network(network(2, 1))])
def test_each_plot_has_its_summary_as_description(picture: Picture) -> None:
    html = picture._repr_mimebundle_()["text/html"]
    assert f'aria-label="{picture.summary}"' in html
    assert repr(picture) == picture.summary
