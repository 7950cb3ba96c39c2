"""The formgrader shows all data of the gradebook as text, and never as HTML."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from looking import keep_picture
from playwright.sync_api import Browser, Page, expect
from schools import released, run, solutions
from serving import Lab, serve

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course

MARKUP = "<img src=x onerror=\"alert('no')\">"
ACTIVE = "<b id=active>&lt;img src=x onerror=alert(1)&gt;</b>'\";alert(2)//"
"""Ids, names of assignments and names of notebooks, which occur in URLs and scripts. Names of files
have no slash."""
ID, NAME, BOOK = (f"{kind}{ACTIVE.replace('/', '&')}" for kind in "sab")


def fill(course: Path) -> str:
    """Put markup into every column that a page prints; return the id of the submitted notebook."""
    with closing(sqlite3.connect(course / "gradebook.db")) as db:
        names = (ID, MARKUP, f"{MARKUP}2", f"{MARKUP}3", f"{MARKUP}4")
        columns = "id = ?, first_name = ?, last_name = ?, email = ?, lms_user_id = ?"
        db.execute(f"update student set {columns}", names)
        db.execute("update submitted_assignment set student_id = ?", (ID,))
        db.execute("update assignment set name = ? where name = 'value'", (NAME,))
        db.execute("update notebook set name = ? where name = 'value'", (BOOK,))
        db.execute("update comment set manual_comment = ?, auto_comment = ?", (MARKUP, MARKUP))
        db.execute("insert into student (id, first_name) values (?, ?)", (f"{ID}2", MARKUP))
        db.commit()
        [key] = db.execute("select id from submitted_notebook").fetchone()
    for folder in ("source", "release", "submitted/ada", "autograded/ada"):
        (course / folder / "value").rename(course / folder / NAME)
        (course / folder / NAME / "value.ipynb").rename(course / folder / NAME / f"{BOOK}.ipynb")
    for folder in ("submitted", "autograded"):
        (course / folder / "ada").rename(course / folder / ID)
    return str(key)


def test_markup_in_the_gradebook_is_shown_as_text_on_every_page(
    tmp_path: Path, browser: Browser
) -> None:
    course = released(tmp_path / "course")
    hand_in(Course(course), Course(course).assignment("value"), {"ada": solutions("value")})
    run(course, "autograder", "grade", "value")
    key = fill(course)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    dialogs: list[str] = []
    page.on("dialog", lambda each: (dialogs.append(each.message), each.dismiss()))
    page.on("pageerror", lambda each: dialogs.append(str(each)))
    (tmp_path / "home").mkdir()
    with serve(course, tmp_path / "home") as lab:
        page.context.request.get(lab.address("login"), max_redirects=0)
        page.goto(f"{lab.url}/formgrader/submissions/{key}/")
        page.wait_for_function("window.formgrader?.grades?.loaded && formgrader.comments?.loaded")
        page.locator(".glyphicon-eye-open").click()
        expect(page.locator("a.name-shown")).to_have_text(f"{MARKUP}2, {MARKUP}")
        assert_inactive(page, "submission")
        open_lists(lab, page)
    page.context.close()

    assert dialogs == []


def open_lists(lab: Lab, page: Page) -> None:
    """Open every list, and the messages that quote a name."""
    shown = {
        "manage_assignments": NAME,
        "gradebook": NAME,
        f"gradebook/{NAME}": BOOK,
        f"gradebook/{NAME}/{BOOK}": "Submission #1",
        "manage_students": f"{MARKUP}2, {MARKUP}",
        f"manage_students/{ID}": NAME,
        f"manage_students/{ID}/{NAME}": BOOK,
        f"manage_submissions/{NAME}": f"{MARKUP}2, {MARKUP}",
    }
    for address, text in shown.items():
        page.goto(f"{lab.url}/formgrader/{quote(address)}")
        page.wait_for_function("window.models?.loaded")
        expect(page.locator("#main-table")).to_contain_text(text)
        assert_inactive(page, address.partition("/")[0])
    # The server does not answer, and a notebook's file is missing.
    page.route("**/autograde", lambda route: route.fulfill(status=404))
    page.locator(".autograde a").first.click()
    expect(page.locator(".modal-body")).to_contain_text(ID)
    assert_inactive(page, "message")
    (lab.course / "autograded" / ID / NAME / f"{BOOK}.ipynb").unlink()
    page.goto(f"{lab.url}/formgrader/{quote(f'manage_students/{ID}/{NAME}')}")
    expect(page.locator("#main-table")).to_contain_text(f"{BOOK} (file missing)")
    assert_inactive(page, "file-missing")


def assert_inactive(page: Page, name: str) -> None:
    """Assert that the page has no element of the markup."""
    keep_picture(page, f"names-{name}")
    assert page.locator("#active, img[src=x]").count() == 0, name
