"""The pictures of training: their descriptions, and how one replaces another."""

from __future__ import annotations

import re
from html import unescape

import pytest

from course.datasets import moons, xor
from course.drawing.chart import Picture
from course.plots import TrainingView, decision_boundary, loss_curve


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


def test_a_loss_curve_s_words_name_its_ends():
    picture = loss_curve([2.0, 1.0, 0.25, 0.5])
    assert picture.summary == ("Loss over 4 epochs: from 2 to 0.5, lowest 0.25 in epoch 3.")
    assert alternative(picture) == picture.summary == repr(picture)
    assert picture.svg.startswith("<svg")


def test_several_curves_are_described_by_name():
    summary = loss_curve({"slow": [2.0, 1.0], "quick & dirty": [2.0, 0.1]}).summary
    assert "Loss of “slow” over 2 epochs: from 2 to 1" in summary
    assert "Loss of “quick & dirty” over 2 epochs: from 2 to 0.1" in summary


def test_a_loss_curve_may_count_steps_in_place_of_epochs():
    assert loss_curve([2.0, 1.0], per="step").summary == (
        "Loss over 2 steps: from 2 to 1, lowest 1 in step 2."
    )


def test_losses_may_still_be_values():
    assert "from 3 to 1" in loss_curve([Number(3.0), Number(1.0)]).summary


@pytest.mark.parametrize("losses", [[], {}, {"none": []}])
def test_empty_losses_are_refused(losses):
    with pytest.raises(ValueError, match="no loss to draw"):
        loss_curve(losses)


def test_a_boundary_counts_the_points_on_their_own_side():
    inputs, targets = xor()
    picture = decision_boundary(line, inputs, targets, threshold=0.5)
    assert "2 of 4 points lie on their own side" in picture.summary
    right = decision_boundary(lambda p: Number(abs(p[0] - p[1])), inputs, targets, threshold=0.5)
    assert "4 of 4 points" in right.summary


def test_the_map_shows_both_sides_and_the_points():
    rows = repr(decision_boundary(line, [[0.0, 0.0], [1.0, 1.0]], [-1.0, 1.0])).split("\n\n")[1]
    *lines, legend = rows.splitlines()
    assert all(row[0] in ".^" and row[-1] in "+O" for row in lines)
    assert sum(row.count("O") for row in lines) == sum(row.count("^") for row in lines) == 1
    # Up is up: the point with the larger second coordinate stands in a higher row.
    top = next(i for i, row in enumerate(lines) if "O" in row)
    assert top < next(i for i, row in enumerate(lines) if "^" in row)
    assert legend.startswith("+ the model answers above 0")


def test_a_constant_model_is_drawn_as_well():
    inputs, targets = moons(10, seed=1)
    assert "on 100 % of the plane" in decision_boundary(lambda p: 1.0, inputs, targets).summary
    assert "on 0 % of the plane" in decision_boundary(lambda p: -1.0, inputs, targets).summary


def test_points_need_two_coordinates():
    with pytest.raises(ValueError, match="two coordinates"):
        decision_boundary(line, [[1.0, 2.0, 3.0]], [1.0])


def test_a_view_outside_a_notebook_prints_its_words(capsys):
    inputs, targets = moons(10, seed=1)
    view = TrainingView(inputs, targets)
    view.show(line, [1.0, 0.5])
    view.show(line, [1.0, 0.5, 0.25])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Loss over 2 epochs") and second.startswith("Loss over 3 epochs")
    assert "Decision boundary" in second


def test_a_view_in_a_notebook_keeps_one_picture(monkeypatch):
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
def test_infinite_and_undefined_answers_are_drawn_as_well(answer):
    picture = decision_boundary(lambda p: answer if p[0] > 0 else -1.0, *xor(), threshold=0.5)
    assert "nan" not in picture.svg and "inf" not in picture.svg
    assert "nan" not in loss_curve([1.0, answer, 2.0]).svg


def test_a_straight_border_is_drawn_where_it_is():
    """The line x = 0.5 stands in the middle of a plane from -0.5 to 1.5, from bottom to top."""
    svg = decision_boundary(line, *xor(), threshold=0.0).svg
    border = re.search(r'ch-ink" stroke-linecap="round" d="([^"]*)"', svg).group(1)
    places = re.findall(r"([\d.]+),([\d.]+)", border)
    assert len({x for x, _ in places}) == 1
    ticks = {words: float(x) for x, words in re.findall(r'x="([\d.]+)"[^>]*>([-\d.]+)<', svg)}
    assert float(places[0][0]) == pytest.approx(ticks["0.5"], abs=0.1)
    assert max(float(y) for _, y in places) - min(float(y) for _, y in places) == pytest.approx(230)
