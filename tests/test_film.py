"""The film of a forward and a backward pass: what is visible when, and where it halts."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import pytest

from course.interactives.film import watch
from course.interactives.stepping import Stepper
from reference import Value

SVG = "{http://www.w3.org/2000/svg}"


def labelled(data: float, label: str) -> Value:
    value = Value(data)
    value.label = label
    return value


@pytest.fixture
def twice() -> Value:
    """Return z = (x + x) x: its root has two operands, and x is used three times."""
    x = labelled(3.0, "x")
    y = x + x
    z = y * x
    y.label, z.label = "y", "z"
    return z


def texts(svg: str) -> list[tuple[str, str]]:
    """Return each number with its opacity in a browser without motion."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [(each.get("opacity") or "1", each.text or "") for each in found]


def test_a_film_that_does_not_move_shows_its_last_step(twice):
    film = watch(twice)
    for svg in (film.svg, film.tall):
        seen = [words for opacity, words in texts(svg) if opacity == "1"]
        assert {"18.0", "12.0", "1.0"} <= set(seen) and "0.0" not in seen
    moving = re.findall(r'<circle class="fm-dot[^>]*', svg)
    assert all('opacity="0"' in dot for dot in moving)


def test_a_film_shows_both_additions_to_the_gradient_of_a_node_used_twice(twice):
    hidden = [words for opacity, words in texts(watch(twice).svg) if opacity == "0"]
    assert {"+6", "+3"} <= set(hidden)  # dz/dy = 3, twice into x, and dz/dx = 6 at once
    assert hidden.count("+6") == 2


def test_a_film_plays_once_and_stops_on_hover_and_for_reduced_motion(twice):
    svg = watch(twice).svg
    assert "infinite" not in svg and len(set(re.findall(r"animation:\S+ \S+ \S+ (\d+)", svg))) == 1
    assert "prefers-reduced-motion:reduce" in svg and ":hover *" in svg and ":focus>" in svg
    named = set(re.findall(r"animation:(fm-[\w-]+)", svg))
    assert named == set(re.findall(r"@keyframes (fm-[\w-]+)", svg))


def test_each_arrow_of_a_film_has_a_dot_for_the_forward_and_for_the_backward_pass(twice):
    svg = watch(twice).svg
    arrows = len(re.findall('class="cg-arrow', svg))
    assert svg.count("fm-dot fm-forward") == svg.count("fm-dot fm-backward") == arrows


def test_a_film_lists_the_steps_as_text_and_changes_no_gradient(twice):
    film = watch(twice)
    assert repr(film).splitlines() == [str(step) for step in Stepper(twice).steps]
    assert twice.grad == 0.0
    assert "<ol><li>The leaves are given" in film._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("seed", range(5))
def test_each_number_of_a_film_is_in_the_node_it_belongs_to(seed):
    """The order of the drawing is the order of the steps, also for shared nodes."""
    draw = random.Random(seed)
    nodes = [labelled(float(i + 1), f"leaf{i}") for i in range(3)]
    for i in range(8):
        nodes.append(draw.choice(nodes) * draw.choice(nodes) + draw.choice(nodes))
        nodes[-1].label = f"n{i}"
    stepper = Stepper(nodes[-1])
    names = [copy.label for copy in stepper.copies()]
    drawn = ElementTree.fromstring(watch(nodes[-1]).svg).iter(f"{SVG}g")
    titles = [each.findtext(f"{SVG}title") or "" for each in drawn]
    assert [title.partition(":")[0] for title in titles if ":" in title] == names


def test_a_film_of_a_large_graph_or_of_another_object_is_refused():
    long = sum((labelled(1.0, "") for _ in range(40)), Value(0.0))
    with pytest.raises(ValueError, match="more than 60"):
        watch(long)
    with pytest.raises(TypeError, match="one Value"):
        watch(3.0)
