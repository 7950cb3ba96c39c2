"""The pictures of ideas: their descriptions agree with their drawings."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import pytest

from course.datasets import moons
from course.drawing.chart import Picture
from course.figures import boundaries, curves, draw_network, secants, valley


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


def test_a_valley_s_words_name_the_end_of_each_path() -> None:
    picture = valley(
        lambda x, y: x * x + y * y,
        {"short": [(2.0, 0.0), (1.0, 0.0)], "long": [(2.0, 0.0), (0.5, 0.0), (0.0, 0.0)]},
        across=(-1.0, 3.0),
        up=(-1.0, 1.0),
    )
    assert "short ends after 1 steps at a height of 1" in picture.summary
    assert "long ends after 2 steps at a height of 0" in picture.summary
    assert picture.svg.count('class="ch-height"') == 6


def test_boundaries_stand_side_by_side() -> None:
    inputs, targets = moons(10, seed=1)
    picture = boundaries({"left": lambda p: p[0], "up": lambda p: p[1]}, inputs, targets)
    assert (
        picture.summary.startswith("left: Decision boundary") and "up: Decision" in picture.summary
    )
    assert picture.svg.count("<g transform") == 2


@pytest.mark.parametrize("picture", [curves({"exp": math.exp}), draw_network(network(2, 1))])
def test_each_picture_carries_its_words(picture: Picture) -> None:
    html = picture._repr_mimebundle_()["text/html"]
    assert f'aria-label="{picture.summary}"' in html
    assert repr(picture) == picture.summary
