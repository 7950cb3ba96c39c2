"""Makes the README's pictures and the notebooks' covers with the project's own code.

`make pictures` runs it; the check, the feedback page and the covers are photographed in Chromium. A
cover is stored in the notebook's first cell, as PNG, since JupyterLab shows no attached SVG.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import importlib
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from autograder.authoring.release import copy_course, run_nbgrader
from autograder.commands.demo import hand_in
from autograder.course_folder.course import find_course
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.workers import OneProcess
from autograder.publishing.lesson.site import LOOK, opening
from course import check, draw_graph
from course.datasets import xor
from course.interactives import watch
from course.plots import boundaries
from namespaces import namespace

COURSE = find_course()
FOLDER = COURSE.root / "docs" / "pictures"
MISTAKES = ("add.overwrites", "pow.factor_dropped")
"""Misconceptions of the student whose feedback page is shown; the rest is right."""

READER = "A network that reads a digit, and asks each of its weights"
"""The words of the cover of `value`."""


def graph() -> str:
    """Film the formula of the course and its gradients, as SVG that moves without a script."""
    names = namespace(COURSE.assignment("backward"))
    a, b, c = (names["Value"](x, label=label) for x, label in ((2, "a"), (-3, "b"), (10, "c")))
    d = a * b
    d.label = "a*b"
    e = d + c
    e.label = "a*b + c"
    f = e**2
    f.label = "f"
    return watch(f).svg + "\n"


def covers() -> dict[str, tuple[str, str]]:
    """Return a cover for each notebook but `value`, with its results, as SVG, and its words."""
    names = namespace(COURSE.assignment("mlp"))
    made = names["Value"]

    def leaf(data: float, label: str) -> Any:
        value = made(data)
        value.label = label
        return value

    neuron = (leaf(2, "x1") * leaf(-3, "w1") + leaf(5.5, "b")).tanh()
    x = leaf(3, "x")
    asked = (x + x) * x
    for root, label in ((neuron, "out"), (asked, "z")):
        root.label = label
        root.backward()
    for node in (asked, *asked._prev, *x._prev):
        del node.grad
    random.seed(3)
    inputs, targets = xor()
    model = names["MLP"](2, [4, 1])
    stages = {}
    for stage, epochs in (("at first", 0), ("after 20 epochs", 20), ("after 200", 180)):
        optimizer = names["SGD"](model.parameters(), lr=0.5)
        names["train"](model, inputs, targets, names["mse"], optimizer, epochs)
        stages[stage] = copy.deepcopy(model)
    learnt = boundaries(stages, inputs, targets, threshold=0.5)
    return {
        "backward": (draw_graph(neuron).svg, "A neuron, and each gradient in it, by one call"),
        "checkpoint": (draw_graph(asked).svg, "Which gradients belong here?"),
        "mlp": (learnt.svg, "A network of yours learns XOR: its border at three times"),
    }


def reader(page: Page) -> bytes:
    """Film the digit reader of the lesson, as a PNG that moves once and ends as it is at rest."""
    parts = opening(COURSE)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.set_content(
        f"<style>{(LOOK / 'colours.css').read_text('utf-8')}{parts['css']}"
        ".controls, .title { display: none !important } .frame .says { font-size: 15px }</style>"
        f"{parts['html']}<script>Math.random = () => 0.3; {parts['js']}</script>"
    )
    frames: list[tuple[Image.Image, int]] = []

    def film(lasting: int, until: int, times: int = 1) -> None:
        for _ in range(times):
            page.clock.run_for(until)
            shown = page.locator(".frame").screenshot(animations="disabled")
            frames.append((Image.open(io.BytesIO(shown)).convert("RGB"), lasting))

    film(100, 100, 15)
    film(1000, 1000)
    page.locator("button", has_text="Ask each weight").dispatch_event("click")
    film(450, 0)
    film(450, 450, 2)
    last = frames[-1][0].quantize(32)
    moving = [frame.quantize(palette=last, dither=Image.Dither.NONE) for frame, _ in frames]
    with io.BytesIO() as file:
        last.save(
            file, "png", save_all=True, default_image=True, append_images=moving,
            duration=[lasting for _, lasting in frames], loop=1, optimize=True,
        )  # fmt: skip
        return file.getvalue()


def attach(name: str, picture: bytes, words: str) -> None:
    """Store a cover in the first cell of a source notebook, below its title."""
    path = COURSE.source / name / f"{name}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    cell = notebook["cells"][0]
    cell["attachments"] = {"cover.png": {"image/png": base64.b64encode(picture).decode()}}
    lines = [line for line in cell["source"] if "](attachment:cover.png)" not in line]
    if lines[1:3] == ["\n", "\n"]:
        del lines[1]
    cell["source"] = [lines[0], "\n", f"![{words}.](attachment:cover.png)\n", *lines[1:]]
    notebook["cells"][0] = dict(sorted(cell.items()))
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")


def smaller(picture: bytes) -> bytes:
    """Return a PNG with 48 colours at most."""
    with io.BytesIO() as file:
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(48).save(file, "png", optimize=True)
        return file.getvalue()


def card() -> str:
    """Return the visible check of addition for the first mistake, as HTML."""
    assignment = COURSE.assignment("value")
    mistakes = {each.id: each.source for e in assignment.exercises.values() for each in e.mistakes}
    exercise = MISTAKES[0].partition(".")[0]
    scope = namespace(assignment, **{exercise: mistakes[MISTAKES[0]]})
    checks = importlib.import_module("coursecheck.check")  # the package's `check` hides it
    shown: list[Any] = []
    with (
        mock.patch.object(checks, "_in_notebook", lambda: True),
        mock.patch.object(checks, "_cell_before", lambda: ""),
        mock.patch.object(checks, "_show", shown.append),
        contextlib.suppress(checks.CheckFailed),
    ):
        check(exercise, scope)
    return f'<div style="padding:12px;width:760px">{shown[0]._repr_html_()}</div>'


def feedback(scratch: Path) -> Path:
    """Return the feedback page of a student with the mistakes, made by the whole pipeline."""
    copy = copy_course(COURSE, scratch)
    run_nbgrader(scratch, "generate_assignment", "value", "--force")
    assignment = copy.assignment("value")
    answers = {each.id: each.solution for each in assignment.exercises.values()}
    for exercise in assignment.exercises.values():
        for mistake in exercise.mistakes:
            if mistake.id in MISTAKES:
                answers[exercise.id] = mistake.source
    hand_in(copy, assignment, {"student": answers})
    with (
        Grader(copy, copy.key) as grader,
        Classroom(copy, OneProcess(grader)) as room,
    ):
        list(room.grade([("value", "student")]))
    run_nbgrader(scratch, "generate_feedback", "value", "--force")
    return scratch / "feedback" / "student" / "value" / "value.html"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "graph.svg").write_text(graph(), "utf-8")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport={"width": 800, "height": 640})
        page.set_content(f"<body style='margin:0;font:14px system-ui'>{card()}</body>")
        page.locator("div").first.screenshot(path=FOLDER / "check.png")
        page.goto(feedback(Path(folder)).as_uri())
        page.screenshot(path=FOLDER / "feedback.png")
        page.set_viewport_size({"width": 1200, "height": 640})
        for name, (svg, words) in covers().items():
            page.set_content(f"<body style='margin:0'>{svg}</body>")
            attach(name, smaller(page.locator("svg").first.screenshot()), words)
        page.set_viewport_size({"width": 760, "height": 640})
        attach("value", reader(page), READER)
        chromium.close()
    print("\n".join(map(str, sorted(FOLDER.iterdir()))))


if __name__ == "__main__":
    main()
