"""Two graders mark on the service in two browsers, and a student asks for another look."""

from __future__ import annotations

from collections.abc import Callable

from looking import assert_accessible, keep_picture
from playwright.sync_api import Page, expect
from test_marking_pages import TEXTS, attempt, made_once, page_of, service, stored
from test_service_pages import Running

from autograder.service.attempts import Role

__all__ = ["made_once", "service"]


def enter(page: Page, service: Running, name: str, role: Role) -> Page:
    page.goto(f"{service.url}/link/{service.token(name, role)}")
    page.get_by_role("button").click()
    return page


def press_enter(page: Page) -> None:
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_two_graders_mark_different_answers_and_one_looks_again(
    service: Running, new_page: Callable[[], Page]
) -> None:
    tess, ulla = (enter(new_page(), service, name, Role.GRADER) for name in ("tess", "ulla"))
    seen = {}
    for page in (tess, ulla):
        page.get_by_role("link").first.click()
        seen[page] = page.locator(".answer").inner_text()
        page.wait_for_load_state()
        page.keyboard.press("f")
    assert seen[tess] != seen[ulla]
    for page in (tess, ulla):
        press_enter(page)
    expect(ulla.get_by_role("cell", name="none")).to_be_visible()
    assert {(each.who, each.points) for each in stored(service)} == {("tess", 3), ("ulla", 3)}

    first, second = (tess, ulla) if seen[tess] == TEXTS["ada"] else (ulla, tess)
    first.goto(f"{service.url}/{page_of(service, 'ada')}")
    first.keyboard.press("n")
    press_enter(first)
    attempt(service, "ada")
    ada = enter(new_page(), service, "ada", Role.STUDENT)
    assert_accessible(ada)
    ada.get_by_role("link", name="Ask for another look").click()
    assert_accessible(ada)
    keep_picture(ada, "ask")
    ada.get_by_role("textbox").fill("Every pass is named.")
    ada.get_by_role("button").click()
    expect(ada.get_by_text("Every pass is named.")).to_be_visible()

    second.reload()
    assert_accessible(second)
    second.get_by_role("link").first.click()
    expect(second.get_by_text("Every pass is named.")).to_be_visible()
    assert_accessible(second)
    keep_picture(second, "another-look")
    second.get_by_label("Reply to the student").press_sequentially("fn cps: it is.")
    second.keyboard.press("Control+Enter")
    expect(second.get_by_role("table")).to_be_visible()
    ada.reload()
    expect(ada.get_by_text("fn cps: it is.")).to_be_visible()
    assert_accessible(ada)
