"""Pictures fit a phone, and drawings of graphs answer."""

from __future__ import annotations

from typing import Any

import pytest
from looking import assert_accessible
from playwright.sync_api import Page, expect

from course import draw_graph
from course.interactives import watch
from course.plots import boundaries, draw_pictures, secants, valley
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
def test_a_graph_leads_from_top_to_bottom_on_a_phone_and_fits_its_width(
    page: Page, draw: Any
) -> None:
    open_at(page, draw(chain()))
    drawing = page.locator("svg:visible")
    expect(drawing).to_have_count(1)
    box = drawing.bounding_box()
    assert box is not None and box["width"] <= WIDTH < box["height"]
    page.set_viewport_size({"width": 1280, "height": 740})
    box = drawing.bounding_box()
    assert box is not None and box["width"] > box["height"]


def test_a_chosen_value_lights_its_paths_and_writes_out_their_products(page: Page) -> None:
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    z = x * y
    w = z + x
    z.label, w.label = "z", "w"
    w.backward()
    open_at(page, draw_graph(w))
    page.locator('[data-node="0"]:visible').click()
    line, moved = page.locator(".cg-below p").all()
    expect(line).to_have_text("From x to w, 2 paths: 3 × 1 + 1 = 4, and the gradient says 4.")
    expect(page.locator(".cg-tall .cg-lit .cg-arrow")).to_have_count(5)
    handle = page.get_by_label("Nudge x")
    for _ in range(10):
        handle.press("ArrowRight")
    expect(moved).to_have_text("x moves by 0.01, w by 0.04: 0.04 / 0.01 = 4")
    expect(page.locator('[data-node="3"]:visible .cg-now')).to_have_text("8.04")
    page.locator('[data-node="0"]:visible').click()
    expect(page.locator(".cg-lit")).to_have_count(0)
    expect(page.locator('[data-node="3"]:visible .cg-now')).to_have_text("8.0")


def test_a_value_can_be_chosen_by_keyboard_and_the_drawing_is_accessible(page: Page) -> None:
    a = Value(1.5, label="a")
    root = a * a * a * a
    root.label = "root"
    open_at(page, draw_graph(root), 1280)
    page.keyboard.press("Tab")
    expect(page.locator('[data-node="0"]:visible')).to_be_focused()
    page.keyboard.press("Enter")
    line = page.locator(".cg-below p").first
    expect(line).to_contain_text("4 paths: 1.5 × 1.5 × 1.5 + ")
    expect(line).to_contain_text("= 13.5, and the gradient is 0 so far.")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(line).to_contain_text("one path: 1.5 × 1.5 = 2.25")
    assert_accessible(page, ".cg-frame")
    page.keyboard.press("Escape")
    expect(line).to_contain_text("Choose a value")


def test_of_many_paths_the_first_are_written_out_and_the_others_counted(page: Page) -> None:
    node = Value(1.0, label="a")
    for _ in range(6):
        node = node + node
    node.label = "end"
    open_at(page, draw_graph(node), 1280)
    page.locator('[data-node="0"]:visible').click()
    expect(page.locator(".cg-below p").first).to_contain_text(" + 60 more = 64")


def test_a_wrong_gradient_is_contradicted(page: Page) -> None:
    x = Value(3.0, label="x")
    y = x * x
    y.label, y.grad, x.grad = "y", 1.0, 3.0
    open_at(page, draw_graph(y))
    page.locator('[data-node="0"]:visible').click()
    expect(page.locator(".cg-below p").first).to_have_text(
        "From x to y, 2 paths: 3 + 3 = 6, but the gradient says 3."
    )


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


def test_small_pictures_are_of_one_size_in_every_row(page: Page) -> None:
    pictures = [[0.5] * 64] * 4
    open_at(page, draw_pictures(pictures, "abcd", slopes=pictures))
    boxes = [box for each in page.locator("svg").all() if (box := each.bounding_box())]
    assert len({round(box["width"]) for box in boxes}) == 1 < len({box["y"] for box in boxes})
