"""Students get feedback in seconds: by nbgrader's buttons on a hub, and on the service's page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hubs import Hub, serve_hub
from looking import SLOW, keep_picture
from playwright.sync_api import Page, expect
from small_school import wait_for
from tested_course import COURSE

from autograder.commands.demo import filled_notebook

NAME = "value"
EXERCISES = COURSE.assignment(NAME).exercises
RIGHT = {each.id: each.solution for each in EXERCISES.values() if not each.manual}
MISTAKE = EXERCISES["mul"].mistakes[0]
NAMED = re.split(r"[`*'\n]", MISTAKE.says)[0]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with serve_hub(tmp_path / "hub", ["ada", "blaise"], NAME) as running:
        yield running


def test_a_student_resubmits_and_sees_new_feedback(hub: Hub, new_page: Callable[[], Page]) -> None:
    student, results, instructor = new_page(), new_page(), new_page()
    released = hub.folder.exchange / "numbers" / "outbound" / NAME
    released.mkdir()
    release = hub.folder.course.release / NAME / f"{NAME}.ipynb"
    (released / f"{NAME}.ipynb").write_bytes(release.read_bytes())
    hub.log_in(student, "ada")
    student.get_by_role("menuitem", name="Nbgrader").click()
    student.get_by_role("menuitem", name="Assignment List").click()
    student.get_by_role("button", name="Fetch", exact=True).click()
    submit = student.get_by_role("button", name="Submit", exact=True)
    expect(submit).to_be_visible(timeout=SLOW)
    notebook = hub.folder.home("ada") / NAME / f"{NAME}.ipynb"

    # A page that the student leaves open; the hub authenticates its visitor.
    _log_in(hub, results, "ada")
    expect(results.get_by_text("Nothing was handed in yet.")).to_be_visible()

    answers = {**RIGHT, "mul": MISTAKE.source}
    notebook.write_text(filled_notebook(COURSE, NAME, answers), "utf-8")
    _submit(student, results, 1)
    expect(results.get_by_text(NAMED)).to_be_visible()
    expect(results.get_by_text("Next:")).to_be_visible()
    results.set_viewport_size({"width": 360, "height": 740})
    assert results.evaluate("document.documentElement.scrollWidth") <= 360
    keep_picture(results, "service-mistake")
    _fetch(student, hub, NAMED, 1)

    notebook.write_text(filled_notebook(COURSE, NAME, RIGHT), "utf-8")
    _submit(student, results, 2)
    best = results.locator("section", has_text="attempt 2")
    most = sum(each.max_points for each in EXERCISES.values())
    expect(best).to_contain_text(f"{most:g} of {most:g} points")
    expect(best).to_contain_text("this one counts")
    _fetch(student, hub, "Everything is right", 2)

    _log_in(hub, instructor, "instructor")
    instructor.get_by_role("link", name="ada").click()
    expect(instructor.locator("h2")).to_have_count(2)
    expect(instructor.get_by_text(NAMED)).to_be_visible()
    expect(instructor.locator("h2").last).to_contain_text(f"{most:g} of {most:g} points")
    keep_picture(instructor, "service-history")
    instructor.goto(f"{hub.url}services/grading/class")
    instructor.get_by_role("link", name="Mark answers").click()
    expect(instructor.get_by_text("No exercise is marked by a person.")).to_be_visible()


def _log_in(hub: Hub, page: Page, name: str) -> None:
    page.goto(f"{hub.url}services/grading/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(hub.folder.users()[name])
    page.get_by_role("button", name="Sign in").click()


def _submit(student: Page, results: Page, number: int) -> None:
    """Press nbgrader's button, and wait until the other page has the verdict by itself."""
    student.get_by_role("button", name="Submit", exact=True).click()
    section = results.locator("section", has_text=f"attempt {number}")
    expect(section).to_be_visible(timeout=SLOW)
    expect(section.locator("table")).to_be_visible(timeout=SLOW)


def _fetch(student: Page, hub: Hub, text: str, number: int) -> None:
    """Press nbgrader's button, and read the fetched page."""
    fetch = student.get_by_role("button", name="Fetch Feedback", exact=True).first
    expect(fetch).to_be_visible(timeout=SLOW)
    fetch.click()
    feedback = hub.folder.home("ada") / NAME / "feedback"
    wait_for(lambda: len([*feedback.glob(f"*/{NAME}.html")]) >= number)
    assert text in max(feedback.glob(f"*/{NAME}.html")).read_text("utf-8")
