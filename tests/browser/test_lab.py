"""A student works in JupyterLab: writes, checks, draws, saves, and gets the marks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from notebooks import Notebook, answer, says
from playwright.sync_api import Page, expect
from serving import Lab

from autograder.course_folder.course import Course, find_course
from coursecheck.check import load_table


@pytest.fixture
def notebook(lab: Lab, page: Page) -> Notebook:
    return Notebook(lab, page, "release/value/value.ipynb")


@pytest.fixture
def solution(course: Path) -> Callable[[str], str]:
    """Return a function for right answers in solution cells, by exercise."""
    exercises = Course(course).assignment("value").exercises
    return lambda exercise: answer(exercises[exercise].solution)


def test_a_student_corrects_a_mistake_that_a_check_named_and_saves(
    notebook: Notebook, solution: Callable[[str], str], picture: Callable[[str], None]
) -> None:
    notebook.run("setup")
    notebook.write("node-solution", solution("node"))
    notebook.run("node-solution")
    expect(notebook.run("node-test")).to_contain_text("✓ A number that remembers")
    notebook.run("node-demo")
    picture("node")

    notebook.write("add-solution", solution("add").replace("+=", "="))
    notebook.run("add-solution")
    failed = notebook.run("add-test")
    expect(failed).to_contain_text(says("value", "add", "add.overwrites"))
    expect(failed).not_to_contain_text(re.compile("Traceback|Cell In|CheckFailed|`"))
    picture("mistake")

    notebook.write("add-solution", solution("add"))
    notebook.run("add-solution")
    expect(notebook.run("add-test")).to_contain_text("✓ Addition")
    picture("mended")

    drawing = notebook.run("add-x-plus-x").locator("svg.cg:visible")
    expect(drawing).to_be_visible()
    expect(drawing).to_have_accessible_name(re.compile("graph of y: 2 values, 1 operation"))
    picture("drawing")

    hint = notebook.cell("add-hints").locator("details", has_text="The idea").first
    expect(hint.get_by_text("A sketch")).to_be_hidden()
    hint.locator("> summary").click()
    expect(hint.get_by_text("A sketch")).to_be_visible()
    picture("hint")

    notebook.save()
    assert notebook.source("node-solution") == solution("node")
    assert notebook.source("add-solution") == solution("add")
    graded = {exercise["id"]: exercise for exercise in _grade(notebook.file)["exercises"]}
    for name in ("node", "add"):
        done = graded.pop(name)
        assert (done["status"], done["points"]) == ("passed", done["max_points"])
    assert {exercise["status"] for exercise in graded.values()} == {"missing"}


def test_the_validate_button_lists_unfinished_exercises(
    notebook: Notebook, solution: Callable[[str], str], picture: Callable[[str], None]
) -> None:
    notebook.write("node-solution", solution("node"))
    notebook.page.get_by_text("Validate", exact=True).click()
    dialog = notebook.page.get_by_role("dialog")
    expect(dialog).to_contain_text("failed")
    picture("dialog")
    for exercise in load_table(find_course().assignment("value").table)["exercises"].keys() - {
        "node"
    }:
        expect(dialog).to_contain_text(f'check("{exercise}")')
    expect(dialog).not_to_contain_text('check("node")')
    expect(dialog).not_to_contain_text("JSON")


def test_the_validate_button_ends_endless_loops_while_the_server_still_answers(
    lab: Lab,
    notebook: Notebook,
    solution: Callable[[str], str],
    picture: Callable[[str], None],
) -> None:
    """Name the cell in a sentence, and answer other requests meanwhile."""
    notebook.write("node-solution", solution("node"))
    notebook.write("add-solution", "while True:\n    pass")
    notebook.page.get_by_text("Validate", exact=True).click()
    dialog = notebook.page.get_by_role("dialog").filter(has_text="did not come to an end")
    answers = 0
    while not dialog.is_visible() and answers < 600:
        assert notebook.page.request.get(lab.address("api/contents")).ok
        answers += 1
        notebook.page.wait_for_timeout(500)
    assert answers > 3
    expect(dialog).to_contain_text("while True", timeout=300_000)
    expect(dialog).to_contain_text("Look for a loop that never ends")
    expect(dialog).to_contain_text('check("add")')
    expect(dialog).not_to_contain_text('check("node")')
    picture("dialog")


def _grade(notebook: Path) -> dict[str, list[dict[str, object]]]:
    command = [sys.executable, "-m", "autograder", "check", str(notebook), "--json"]
    course = notebook.parents[2]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    report: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return report
