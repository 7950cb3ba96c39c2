"""A student and an instructor work for two days on a JupyterHub, in a browser."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hubs import Hub, serve_hub
from looking import SLOW, keep_picture, open_formgrader, press, row
from notebooks import Notebook
from playwright.sync_api import FrameLocator, Page, Response, expect
from serving import Lab
from tested_course import COURSE

from autograder.commands.demo import filled_notebook

pytestmark = pytest.mark.campaign

NAME = "checkpoint"
EXERCISES = COURSE.assignment(NAME).exercises
WRITTEN = [exercise for exercise in EXERCISES.values() if exercise.manual]
RIGHT = {
    each.id: re.sub(r" *### \w+ SOLUTION\n?", "", each.solution)
    for each in EXERCISES.values()
    if not each.manual
}
MISTAKE = EXERCISES["q1"].mistakes[0]
COMMENT = "Give an example, too."


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with serve_hub(tmp_path / "hub", ["ada", "blaise"], NAME) as running:
        yield running


def test_a_student_and_an_instructor_can_use_the_hub_for_all_steps_of_two_days(
    hub: Hub, new_page: Callable[[], Page]
) -> None:
    student, instructor = new_page(), new_page()
    hub.log_in(instructor, "instructor")
    formgrader = _open_formgrader(instructor)
    press(formgrader, row(formgrader, NAME).locator(".release a"), "Successfully released")
    keep_picture(instructor, "hub-released")
    _assert_no_script_in_an_address(hub, instructor)

    hub.log_in(student, "ada")
    _fetch_and_solve(hub, student)
    _submit(student)

    press(formgrader, row(formgrader, NAME).locator(".collect a"), "Successfully collected")
    _grade_by_machine(instructor, formgrader)
    _grade_by_hand(instructor, formgrader)
    formgrader = _open_formgrader(instructor)
    here = row(formgrader, NAME)
    press(formgrader, here.locator(".generate-feedback a"), "Successfully generated feedback")
    press(formgrader, here.locator(".release-feedback a"), "Successfully released feedback")
    mark = _exported_mark(hub)

    _read_feedback(hub, student, mark)


def _open_formgrader(page: Page) -> FrameLocator:
    if page.locator("#formgrader-iframe").count():
        page.reload()
    formgrader = open_formgrader(page)
    expect(row(formgrader, NAME)).to_have_count(1)
    return formgrader


def _fetch_and_solve(hub: Hub, page: Page) -> None:
    page.get_by_role("menuitem", name="Nbgrader").click()
    # Students have no formgrader, and nothing to make assignments with.
    expect(page.locator(".lm-Menu-item", has_text="Formgrader")).to_have_count(0)
    page.get_by_role("menuitem", name="Assignment List").click()
    page.get_by_role("button", name="Fetch", exact=True).click()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_visible(timeout=SLOW)
    keep_picture(page, "hub-fetched")

    # All answers but two are written before the notebook is opened; those two are typed.
    home = hub.folder.home("ada")
    path = home / NAME / f"{NAME}.ipynb"
    assert path.read_text("utf-8").count("YOUR CODE HERE") == 3
    answers = {name: source for name, source in RIGHT.items() if name != "q1"}
    answers |= {exercise.id: "So that $2 + 3 * 4$ needs no brackets." for exercise in WRITTEN}
    path.write_text(filled_notebook(COURSE, NAME, answers), "utf-8")
    notebook = Notebook(Lab(home, f"{hub.url}user/ada", ""), page, f"{NAME}/{NAME}.ipynb")
    notebook.run("setup")
    notebook.write("q1-solution", MISTAKE.source.strip())
    notebook.run("q1-solution")
    expect(notebook.run("q1-test")).to_contain_text("noted")
    keep_picture(page, "hub-solved")
    assert _transports() == {"ipc"}
    notebook.save()
    page.locator(".jp-ToolbarButtonComponent-label", has_text="Validate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Success", timeout=SLOW)
    keep_picture(page, "hub-validated")
    dialog.get_by_role("button", name="Ok").click()


def _assert_no_script_in_an_address(hub: Hub, page: Page) -> None:
    """Assert that no page of the formgrader runs a script from its address."""
    students = f"{hub.url}user/instructor/formgrader/manage_students/"
    assert page.request.get(students).status == 200
    for written in ("%22;alert(1);%22", "a%5c", "%3cb", "x'y"):
        assert page.request.get(students + written).status == 404, written


def _transports() -> set[str]:
    """Return the transports of the kernels of this machine's hubs."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_text().split("\0")
            if "ipykernel_launcher" in words and "/runtime/" in words[-2]:
                inside = process / "root" / words[-2].lstrip("/")
                found.add(json.loads(inside.read_text())["transport"])
    return found


def _submit(page: Page) -> None:
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Assignment List").click()
    page.get_by_role("button", name="Submit", exact=True).click()
    fetch = page.get_by_role("button", name="Fetch Feedback", exact=True)
    expect(fetch).to_be_visible(timeout=SLOW)
    keep_picture(page, "hub-submitted")


def _grade_by_machine(page: Page, formgrader: FrameLocator) -> None:
    row(formgrader, NAME).locator(".num-submissions a").click()
    press(formgrader, row(formgrader, "ada").locator(".autograde a"), "Successfully autograded")
    expect(row(formgrader, "ada").locator(".status")).to_contain_text("needs manual grading")
    keep_picture(page, "hub-autograded")


def _grade_by_hand(page: Page, formgrader: FrameLocator) -> None:
    formgrader.get_by_role("link", name="Manual Grading").click()
    formgrader.get_by_role("link", name=NAME).click()
    formgrader.get_by_role("link", name=NAME).last.click()
    formgrader.get_by_role("link", name="Submission #1").click()
    expect(formgrader.locator(f"#{WRITTEN[0].id}-comment")).to_be_visible(timeout=SLOW)
    # Text that is typed before the form has fetched its marks and comments is not saved.
    submission = page.frame(url=re.compile("/formgrader/submissions/"))
    assert submission is not None
    submission.wait_for_function("window.formgrader?.grades?.loaded && formgrader.comments?.loaded")
    for exercise in WRITTEN:
        field = formgrader.locator(f"input.score#{exercise.id}")
        field.fill(f"{exercise.max_points:g}")
        with page.expect_response(lambda response: _saved(response, "grade")):
            field.press("Tab")
    first = WRITTEN[0]
    expect(formgrader.get_by_text("For marking").first).to_be_visible()
    comment = formgrader.locator(f"#{first.id}-comment")
    comment.fill(COMMENT)
    with page.expect_response(lambda response: _saved(response, "comment")):
        comment.press("Tab")
    comment.scroll_into_view_if_needed()
    keep_picture(page, "hub-graded-by-hand")


def _saved(response: Response, what: str) -> bool:
    return f"/api/{what}/" in response.url and response.request.method == "PUT" and response.ok


def _exported_mark(hub: Hub) -> str:
    command = [sys.executable, "-m", "autograder", "export", NAME]
    done = subprocess.run(command, cwd=hub.folder.course.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [row] = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["student"] == "ada"]
    lost = EXERCISES["q1"].max_points
    full = sum(exercise.max_points for exercise in EXERCISES.values())
    assert float(row["mark"]) == full - lost
    return f"{float(row['mark']):g} of {full:g} points"


def _read_feedback(hub: Hub, page: Page, mark: str) -> None:
    page.get_by_role("button", name="Fetch Feedback", exact=True).click()
    home = hub.folder.home("ada")
    link = page.get_by_text("(view feedback)")
    expect(link).to_be_visible(timeout=SLOW)
    link.click()
    expect(page.locator(".jp-DirListing-item", has_text=f"{NAME}.html")).to_be_visible()
    keep_picture(page, "hub-feedback-fetched")
    [file] = home.glob(f"{NAME}/feedback/*/{NAME}.html")
    page.goto(file.as_uri())
    expect(page.locator(".total")).to_contain_text(mark)
    expect(page.locator(".summary tr", has_text="Which letter?")).to_contain_text("not right")
    expect(page.locator(".comment")).to_contain_text(COMMENT)
    assert not list((hub.folder.home("blaise")).glob("**/*.html"))
    keep_picture(page, "hub-feedback")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "too wide for a phone"
    keep_picture(page, "hub-feedback-phone")
