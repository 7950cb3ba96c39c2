"""Each release notebook works in JupyterLab: with right answers, with mistakes, and with its
interactives."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from looking import assert_accessible
from notebooks import Notebook, Shown, answer, says
from playwright.sync_api import Page, expect
from serving import Lab, serve
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.course_folder.assignments import Exercise

# Parts that only JupyterLab can change: its own frame, editors, prompts and tool bars.
JUPYTERLABS_OWN = [
    ".jp-InputArea-editor", ".jp-InputPrompt", ".jp-OutputPrompt", ".jp-Toolbar", ".jp-Collapser",
    ".jp-cell-menu", ".jp-CellHeader",
]  # fmt: skip

MISTAKES = {
    "backward": ["tanh.slope_from_input", "check_gradients.fixed_tolerance"],
    "checkpoint": ["q18.late_binding", "q19.pre_order"],
    "mlp": ["layer.one_neuron_repeated", "train.erased"],
    "value": ["mul.own_data", "reverse.rsub_order"],
}

OTHERS = [pytest.param(name, marks=pytest.mark.campaign) for name in ("backward", "mlp", "value")]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, lesson: Path) -> Iterator[Lab]:
    """Start one JupyterLab for all tests here, on the notebooks with the lesson beside them."""
    folder = tmp_path_factory.mktemp("notebooks")
    copy_course(COURSE, folder / "course")
    shutil.copytree(lesson, folder / "course" / "release" / "lesson", dirs_exist_ok=True)
    with serve(folder / "course", folder / "home") as lab:
        yield lab


@pytest.mark.parametrize("name", ["checkpoint", *OTHERS])
def test_each_notebook_can_be_worked_through_in_jupyterlab(
    running: Lab, page: Page, name: str, picture: Callable[[str], None]
) -> None:
    exercises = COURSE.assignment(name).exercises
    notebook = Notebook(running, page, f"release/{name}/{name}.ipynb")
    assert_course_accessible(page)
    for exercise in exercises.values():
        if exercise.manual:
            notebook.write_prose(f"{cell_of(exercise)}-answer", "Because **of** this.")
        else:
            notebook.write(solution_cell(name, exercise), answer(exercise.solution))
    notebook.run_all()
    for exercise in exercises.values():
        if not exercise.manual:
            check = notebook.output(f"{cell_of(exercise)}-test")
            expect(check).to_contain_text(f"{sign(exercise)} {exercise.title.replace('`', '')}")
    graphs_are_visible(notebook)
    picture("filled")
    assert_course_accessible(page)

    for mistake in MISTAKES[name]:
        exercise = exercises[mistake.partition(".")[0]]
        wrong = next(known.source for known in exercise.mistakes if known.id == mistake)
        for source, words in (
            (wrong, says(name, exercise.id, mistake)),
            (answer(exercise.solution), sign(exercise)),
        ):
            notebook.write(solution_cell(name, exercise), source)
            notebook.run(solution_cell(name, exercise))
            check = notebook.run(f"{cell_of(exercise)}-test")
            expect(check).to_contain_text(words)
        expect(check).not_to_contain_text("Traceback")
    if name in PLAYED:
        PLAYED[name](notebook)


def sign(exercise: Exercise) -> str:
    """Return the sign of a check that finds nothing wrong: a question's answer is only noted."""
    return "✎" if exercise.form else "✓"


def cell_of(exercise: Exercise) -> str:
    """Return the beginning of the ids of an exercise's cells."""
    return exercise.id.replace("_", "-")


def solution_cell(name: str, exercise: Exercise) -> str:
    return f"{cell_of(exercise)}-{'answer' if name == 'checkpoint' else 'solution'}"


def graphs_are_visible(notebook: Notebook) -> None:
    drawn = [name for name, source in notebook.sources().items() if "draw_graph(" in source]
    assert drawn
    for name in drawn:
        drawing = notebook.output(name).locator("svg.cg:visible").first
        drawing.scroll_into_view_if_needed()
        expect(drawing).to_be_visible()
        expect(drawing).to_have_accessible_name(re.compile(r"graph of .*: \d+ values?"))


def play_value(notebook: Notebook) -> None:
    shown = Shown(notebook.output("neuron-playground"))
    shown.slider("w1").focus()
    shown.press("ArrowUp")
    shown.says("n went from 0.8814 to 1.081, by 0.2.")
    expect(shown.slider("w1")).to_have_attribute("aria-valuetext", "-2.9")
    shown.button("Back to the start").click()
    expect(shown.slider("w1")).to_have_attribute("aria-valuetext", "-3")


def play_backward(notebook: Notebook) -> None:
    shown = Shown(notebook.output("stepper-loss"))
    shown.says("Step 1 of")
    shown.button("Last").click()
    shown.says(re.compile(r"Step (\d+) of \1, backward\."))
    shown.slider("Step").focus()
    shown.press("Home")
    shown.says("Step 1 of")
    shown = Shown(notebook.output("playground-loss"))
    box = shown.slider("b").bounding_box()
    assert box is not None
    shown.slider("b").scroll_into_view_if_needed()
    shown.slider("b").focus()
    shown.press("ArrowRight")
    shown.says("The gradient of b had promised about -")


def play_mlp(notebook: Notebook) -> None:
    shown = Shown(notebook.output("loop-playground"))
    shown.slider("w").focus()
    shown.press("ArrowUp")
    shown.says("loss went from 17.0 to")
    shown = Shown(notebook.output("xor-trainer"))
    shown.says("A new network. xor: hidden layers 4")
    shown.button("Step").click()
    shown.says("Epoch 1, loss")
    shown.press("Tab")
    shown.press("Enter")
    shown.says(re.compile(r"Stopped\. Epoch \d+, loss 0\.00\d+, 4 of 4 right\."))


PLAYED = {"value": play_value, "backward": play_backward, "mlp": play_mlp}


def assert_course_accessible(page: Page) -> None:
    """Assert that the course's parts violate no rule of axe-core, best practices included."""
    context = {"include": [[".jp-Notebook"]], "exclude": [[own] for own in JUPYTERLABS_OWN]}
    # JupyterLab's list of cells has children that its role does not allow.
    rules = {"aria-required-children": {"enabled": False}}
    assert_accessible(page, context, rules=rules)


def test_links_in_a_notebook_open_the_lesson_and_another_notebook_in_jupyterlab(
    running: Lab, page: Page, picture: Callable[[str], None]
) -> None:
    notebook = Notebook(running, page, "release/checkpoint/checkpoint.ipynb")
    notebook.cell("how-to-work").get_by_role("link", name="Gradients add up").click()
    lesson = page.frame_locator("iframe")
    expect(lesson.get_by_role("heading", name="Gradients add up", level=1)).to_be_visible()
    picture("lesson")
    page.get_by_role("tab", name="checkpoint.ipynb").click()
    question = notebook.cell("q5-question")
    question.locator("summary").click()
    question.get_by_role("link", name="The order matters").click()
    expect(page.get_by_role("tab", name="value.ipynb")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="The order matters")).to_be_visible()
