"""On a phone, pictures show their result at first, and the rest can be scrolled into view."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from course import draw_graph
from course.interactives import watch
from course.plots import boundaries, secants, valley
from reference import Value

WIDTH = 302  # pixels, of an output in the browser edition on a screen of 360


def chain() -> Value:
    value = Value(2.0, label="start")
    for _ in range(4):
        value = value * 3.0
    value.backward()
    return value


def open_at(page: Page, picture: Any, width: int = WIDTH) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    html = picture._repr_mimebundle_()["text/html"]
    page.set_content(f"<!doctype html><body style='margin:0'>{html}")


@pytest.mark.parametrize("draw", [draw_graph, watch])
def test_a_graph_wider_than_the_phone_shows_its_result_first_and_scrolls_to_its_leaves(
    page: Page, draw: Any
) -> None:
    open_at(page, draw(chain()))
    cards = page.locator("svg .cg-card")
    around = [cards.nth(i).bounding_box() for i in range(cards.count())]
    drawing = page.locator("svg").bounding_box()
    assert drawing is not None and drawing["width"] > WIDTH
    assert max(box["x"] + box["width"] for box in around if box) <= WIDTH
    page.locator("div[tabindex]").evaluate("box => box.scrollBy(-5000, 0)")
    scrolled = page.locator("svg").bounding_box()
    assert scrolled is not None and scrolled["x"] >= 0


@pytest.mark.parametrize("name", ["secants", "valley"])
def test_a_chart_and_its_legend_fit_the_width_of_a_phone(page: Page, name: str) -> None:
    pictures = {
        "secants": lambda: secants(lambda x: x**3, 2.0, 0.5),
        "valley": lambda: valley(
            lambda x, y: x * x + 20 * y * y,
            {f"descent number {i}": [(i, 1.0), (0.0, 0.0)] for i in (1, 2, 3)},
            (-4.0, 4.0),
            (-1.5, 1.5),
        ),
    }
    open_at(page, pictures[name]())
    for words in page.locator("svg text").all():
        box = words.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= WIDTH
    expect(
        page.locator("svg text", has_text="number 3" if name == "valley" else "tangent")
    ).to_be_visible()


@pytest.mark.parametrize(("width", "rows"), [(WIDTH, 3), (900, 1)])
def test_pictures_side_by_side_stand_below_one_another_on_a_phone(
    page: Page, width: int, rows: int
) -> None:
    inputs, targets = [[0.0, 0.0], [1.0, 1.0]], [0.0, 1.0]
    models = {name: lambda x: x[0] - 0.5 for name in ("first", "second", "third")}
    open_at(page, boundaries(models, inputs, targets), width)
    around = [box for each in page.locator("svg").all() if (box := each.bounding_box())]
    assert max(box["x"] + box["width"] for box in around) <= width
    assert len({round(box["y"]) for box in around}) == rows
