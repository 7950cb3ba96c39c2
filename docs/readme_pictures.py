"""Makes the README's pictures from the real thing: a graph, a check and a feedback page.

`make pictures` runs it; the check and the page are photographed in Chromium.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from playwright.sync_api import sync_playwright

from autograder.authoring.release import copy_course, run_nbgrader
from autograder.commands.demo import hand_in
from autograder.course_folder.assignments import find_course, load_assignment
from autograder.course_folder.key import course_key
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.workers import OneProcess
from course import check
from course.interactives import watch
from namespaces import namespace

COURSE = find_course()
FOLDER = COURSE / "docs" / "pictures"
MISTAKES = ("add.overwrites", "pow.factor_dropped")
"""Whose feedback page is shown: somebody with these misconceptions, and the rest right."""


def graph() -> str:
    """Film the formula of the course and its gradients, as SVG that moves without a script."""
    names = namespace(load_assignment(COURSE, "backward"))
    a, b, c = (names["Value"](x, label=label) for x, label in ((2, "a"), (-3, "b"), (10, "c")))
    d = a * b
    d.label = "a*b"
    e = d + c
    e.label = "a*b + c"
    f = e**2
    f.label = "f"
    return watch(f, renderer="built-in").svg + "\n"


def card() -> str:
    """What the visible check of addition shows for the first mistake, as HTML."""
    assignment = load_assignment(COURSE, "value")
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
    """The feedback page of a student with the mistakes, made by the whole pipeline."""
    copy_course(COURSE, scratch)
    run_nbgrader(scratch, "generate_assignment", "value", "--force")
    assignment = load_assignment(scratch, "value")
    answers = {each.id: each.solution for each in assignment.exercises.values()}
    for exercise in assignment.exercises.values():
        for mistake in exercise.mistakes:
            if mistake.id in MISTAKES:
                answers[exercise.id] = mistake.source
    hand_in(scratch, assignment, {"student": answers})
    with (
        Grader(scratch, course_key(scratch)) as grader,
        Classroom(scratch, OneProcess(grader)) as room,
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
        chromium.close()
    print("\n".join(map(str, sorted(FOLDER.iterdir()))))


if __name__ == "__main__":
    main()
