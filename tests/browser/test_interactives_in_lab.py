"""The interactives work in JupyterLab by mouse and by keyboard, and describe themselves to screen
readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from looking import assert_accessible
from nbformat.v4 import new_code_cell, new_notebook
from notebooks import Notebook, Shown
from playwright.sync_api import Page, expect
from serving import Lab, serve

from autograder.authoring.release import copy_course
from autograder.course_folder.course import Course

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
NETWORK = f"""
import sys
sys.path.append({str(TESTS)!r})
from networks import classes
MLP, mse, SGD = classes(Value)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start one server for all of them: each test has a notebook of its own."""
    folder = tmp_path_factory.mktemp("lab")
    copy_course(Course(ROOT), folder / "course")
    with serve(folder / "course", folder / "home") as running:
        yield running


@pytest.fixture
def notebook(lab: Lab, page: Page, request: pytest.FixtureRequest) -> Notebook:
    """Return the demonstrations of the course's own notebook, on its solutions, in a small
    notebook."""
    backward = Course(lab.course).assignment("backward")
    solutions = [each.solution for each in backward.exercises.values() if not each.manual]
    release = nbformat.read(lab.course / "release/backward/backward.ipynb", as_version=4).cells
    given = {cell.id: cell.source for cell in release}
    neuron = next(source for source in given.values() if "def make_neuron" in source)
    cells = {
        "engine": "\n".join([*backward.setup.values(), *solutions, neuron, NETWORK]),
        "stepper": given["stepper"],
        "playground": given["playground"],
        "xor": "from course.interactives import training_panel\ntraining_panel(MLP, SGD, mse)",
        "digit": "from course.interactives.digit_reader import draw_digit\n"
        "draw_digit(lambda picture: [5.0 * (k == 7) * max(picture) for k in range(10)])",
        "typed": "from course.interactives import predict\npredict('x-plus-x')",
        "chosen": "predict('batches')",
        "words": "from course.interactives.word_writer import write_words\n"
        "following = lambda at: [[99.0 * (k == (n + 1) % 4) for k in range(4)] for n in at]\n"
        "write_words(following, '.abc')",
        "other": "print('the kernel answers')",
    }
    made = new_notebook(
        cells=[new_code_cell(source, id=name) for name, source in cells.items()],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    name = f"{request.node.name}.ipynb"
    nbformat.write(made, lab.course / name)
    opened = Notebook(lab, page, name)
    opened.run("engine")
    return opened


def test_the_stepper_works_by_mouse(notebook: Notebook, picture: Callable[[str], None]) -> None:
    shown = Shown(notebook.run("stepper"))
    shown.says("Step 1 of 12, forward. The leaves are given")
    expect(shown.button("Back")).to_have_attribute("aria-disabled", "true")
    drawing = shown.output.get_by_role("group", name=re.compile("graph of o: 10 values"))
    expect(drawing).to_contain_text("n data ? grad 0.0".replace(" ", ""))
    picture("start")
    for _ in range(7):
        shown.button("Next").click()
    shown.says("Step 8 of 12, backward. o passes its gradient, 1.0, on")
    expect(shown.output.get_by_role("cell", name="n.grad goes from 0.0 to 0.5")).to_be_visible()
    expect(drawing.locator(".cg-mark")).to_have_count(1)
    expect(drawing).to_contain_text("! backward")
    marked, page = drawing.locator(".cg-mark").bounding_box(), shown.output.bounding_box()
    assert marked and page and marked["x"] + marked["width"] <= page["x"] + page["width"]
    picture("tanh")
    shown.button("Last").click()
    shown.says("Step 12 of 12, backward.")
    shown.button("Back").click()
    shown.says("Step 11 of 12")
    shown.output.get_by_text("All steps in words").click()
    expect(shown.output.get_by_role("listitem")).to_have_count(12)


def test_a_value_of_a_drawing_is_chosen_by_keyboard(notebook: Notebook) -> None:
    shown = Shown(notebook.run("stepper"))
    shown.button("Last").click()
    shown.says("Step 12 of 12, backward.")
    node = shown.output.locator("[data-node]:visible").first
    node.focus()
    shown.press("ArrowRight")
    shown.press("Enter")
    line = shown.output.locator(".cg-below p").first
    expect(line).to_contain_text("From w1 to o, one path: 2 × 1 × 1 × 0.5 = 1, and the gradient")
    expect(shown.output.locator("[data-node]:visible").nth(1)).to_be_focused()
    shown.button("Back").click()
    shown.says("Step 11 of 12")
    expect(line).to_contain_text(
        "From w1 to o, one path: 2 × 1 × 1 × 0.5 = 1, and the gradient is 0"
    )


def test_the_stepper_works_by_keyboard(notebook: Notebook) -> None:
    shown = Shown(notebook.run("stepper"))
    shown.says("Step 1 of 12")
    shown.button("First").focus()
    shown.press("Tab")
    shown.press("Tab")
    expect(shown.button("Next")).to_be_focused()
    shown.press("Enter")
    shown.says("Step 2 of 12")
    shown.press("Space")
    shown.says("Step 3 of 12")
    expect(shown.button("Next")).to_be_focused()
    shown.press("Tab")
    shown.press("Tab")
    expect(shown.slider("Step")).to_be_focused()
    for key, place in (("ArrowRight", 4), ("ArrowUp", 5), ("ArrowDown", 4), ("End", 12)):
        shown.press(key)
        shown.says(f"Step {place} of 12")
    expect(shown.slider("Step")).to_be_focused()
    expect(shown.slider("Step")).to_have_value("12")
    shown.press("Tab")
    expect(shown.slider("x1")).to_be_focused()
    shown.press("ArrowUp")
    shown.says("x1 is 2.1. Step 12 of 12, backward.")
    expect(shown.output.page.locator(".jp-Cell")).to_have_count(9)


def test_a_prediction_is_typed_or_chosen(
    notebook: Notebook, picture: Callable[[str], None]
) -> None:
    typed = Shown(notebook.run("typed"))
    field = typed.output.get_by_role("textbox", name="With y = x + x")
    field.fill("1")
    typed.press("Enter")
    typed.says("You said 1; it is 2. x feeds the + twice")
    chosen = Shown(notebook.run("chosen"))
    chosen.button("10").click()
    chosen.says("You said 10; it is 1. Batches of 1")
    assert_accessible(chosen.output.page, ".autograd-panel")
    picture("predicted")


def test_the_playground_works_by_mouse(notebook: Notebook, picture: Callable[[str], None]) -> None:
    shown = Shown(notebook.run("playground"))
    drawing = shown.output.get_by_role("group", name=re.compile("graph of o"))
    expect(drawing).to_contain_text("grad-1.5")
    box = shown.slider("b").bounding_box()
    assert box is not None
    shown.output.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    shown.says("The gradient of b had promised about 0.5")
    expect(shown.output).to_contain_text("give o = 1.0.")
    picture("saturated")
    shown.panel.get_by_label("Gradients").uncheck()
    shown.says("The gradients are left out.")
    expect(drawing).not_to_contain_text("grad1.0")
    shown.button("Back to the start").click()
    shown.says("o went from 1.0 to 0.7071")
    expect(shown.slider("b")).to_have_value(re.compile(r"^6\.88"))


def test_an_interactive_s_output_does_not_scroll(notebook: Notebook) -> None:
    panel = Shown(notebook.run("playground")).panel
    expect(panel.get_by_role("slider").first).to_be_visible()
    boxes = panel.locator("xpath=ancestor::*[contains(@class, 'jp-OutputArea-output')]")
    heights = boxes.evaluate_all("all => all.map(it => [it.scrollHeight, it.clientHeight])")
    assert heights and [pair for pair in heights if pair[0] > pair[1]] == []


def test_the_playground_works_by_keyboard(notebook: Notebook) -> None:
    shown = Shown(notebook.run("playground"))
    shown.slider("x1").focus()
    shown.press("Tab")
    expect(shown.slider("x2")).to_be_focused()
    shown.press("ArrowUp")
    shown.says("The gradient of x2 had promised about 0.5 · 0.1 = 0.05.")
    expect(shown.slider("x2")).to_have_attribute("aria-valuetext", "0.1")
    for _ in range(4):
        shown.press("Tab")
    expect(shown.panel.get_by_label("Gradients")).to_be_focused()
    shown.press("Space")
    shown.says("The gradients are left out.")
    shown.press("Tab")
    shown.press("Enter")
    expect(shown.output).to_contain_text("x2 = 0.0, w1 = -3.0")


def test_the_training_panel_works_by_mouse_and_leaves_the_kernel_free(
    notebook: Notebook, picture: Callable[[str], None]
) -> None:
    shown = Shown(notebook.run("xor"))
    shown.says(re.compile("A new network. xor: hidden layers 4, .* It has not been trained yet"))
    shown.button("Step").click()
    shown.says("Epoch 1, loss")
    rate = shown.panel.get_by_label("Learning rate")
    rate.select_option("0.01")  # slow enough to be running still
    shown.button("Run").click()
    expect(shown.button("Pause")).to_be_visible()
    expect(notebook.run("other")).to_contain_text("the kernel answers")
    expect(shown.button("Pause")).to_be_visible()
    picture("running")
    shown.button("Pause").click()
    rate.select_option("0.3")
    shown.says("The learning rate is 0.3 from now on.")
    shown.button("Run").click()
    shown.says(re.compile(r"Stopped\. Epoch \d+, loss 0\.00\d+, 4 of 4 right\."))
    expect(shown.output.get_by_role("img", name="A network 2 to 4 to 1")).to_be_visible()
    expect(shown.output.get_by_role("img", name="Gradients by layer")).to_be_visible()
    expect(shown.output.get_by_role("row", name="(0, 1) class 1 score 0.9")).to_contain_text(
        "right"
    )
    picture("learnt")
    shown.button("Reset").click()
    shown.says("It has not been trained yet")


def test_the_training_panel_works_by_keyboard(
    notebook: Notebook, picture: Callable[[str], None]
) -> None:
    shown = Shown(notebook.run("xor"))
    shown.button("Step").focus()
    shown.press("Enter")
    shown.says("Epoch 1, loss")
    shown.press("Tab")
    shown.press("Space")
    shown.says("Training.")
    shown.press("Enter")
    shown.says("Paused. Epoch")
    expect(shown.button("Run")).to_be_focused()
    for _ in ("Reset", "Settings", "Data"):
        shown.press("Tab")
    expect(shown.panel.get_by_label("Data")).to_be_focused()
    for name in ("four points", "moons", "circle", "spiral", "three clouds"):
        shown.press("ArrowDown")
        shown.says(f"A new network. {name}:")
    shown.press("Home")
    shown.press("Tab")
    shown.press("Home")
    shown.says("A new network. xor: no hidden layer")
    shown.panel.get_by_label("Learning rate").focus()
    shown.press("ArrowDown")
    shown.says("The learning rate is 1 from now on.")
    shown.slider("Seed").focus()
    shown.press("ArrowRight")
    shown.says("seed 2")
    picture("perceptron")


def test_a_word_that_is_begun_is_finished(notebook: Notebook) -> None:
    shown = Shown(notebook.run("words"))
    shown.panel.get_by_label("Beginning").click()
    shown.press("a")
    shown.says("After a, most likely comes b at 100%")
    shown.button("Finish the word").click()
    shown.says("It writes abc.")
    assert_accessible(notebook.page, ".autograd-panel")


def test_a_digit_can_be_drawn_by_mouse_and_by_keyboard(
    notebook: Notebook, page: Page, picture: Callable[[str], None]
) -> None:
    shown = Shown(notebook.run("digit"))
    shown.says("The drawing area is empty.")
    pad = shown.panel.get_by_role("application")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 50, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 40, steps=5)
    page.mouse.move(box["x"] + 90, box["y"] + 170, steps=5)
    page.mouse.up()
    shown.says("It reads a 7, at 94%.")
    expect(shown.output.get_by_text("What the network sees").last).to_be_visible()
    picture("read")
    shown.button("Clear").click()
    shown.says("The drawing area is empty.")
    pad.focus()
    for key in ("Space", "ArrowDown", "ArrowDown", "ArrowRight"):
        shown.press(key)
    shown.says("The drawing area is empty.")
    shown.press("Space")
    shown.says("It reads a 7, at 94%.")
    assert_accessible(page, ".autograd-panel")


def test_an_exported_page_shows_the_last_picture_of_an_interactive(
    notebook: Notebook, page: Page, tmp_path: Path, picture: Callable[[str], None]
) -> None:
    from nbconvert import HTMLExporter

    shown = Shown(notebook.run("stepper"))
    shown.button("Next").click()
    shown.says("Step 2 of 12")
    notebook.save()
    html, _ = HTMLExporter(template_name="basic").from_filename(str(notebook.file))
    plain = tmp_path / "plain.html"
    plain.write_text(f'<!doctype html><meta charset="utf-8"><title>plain</title>{html}')
    page.goto(plain.as_uri())
    expect(page.get_by_role("group", name=re.compile("graph of o"))).to_be_visible()
    expect(page.get_by_text("Step 2 of 12, forward.")).to_be_visible()
    expect(page.get_by_text("The controls appear where a notebook is running")).to_be_visible()
