"""The lesson and the slides, opened from a folder in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from conftest import ROOT

pytestmark = pytest.mark.browser

PAGES = sorted(path.stem for path in (ROOT / "course" / "lesson").glob("*.md"))
DECKS = sorted(path.stem for path in (ROOT / "course" / "slides").glob("*.md"))
PHONE = {"width": 360, "height": 740}
PROJECTOR = {"width": 1280, "height": 720}
TOO_WIDE = "all => all.filter(it => it.scrollWidth > it.clientWidth + 1).length"


@pytest.fixture(scope="module")
def folder(lesson: Path) -> Path:
    return lesson


@pytest.fixture
def opened(page: Page, folder: Path) -> Iterator[Callable[[str], Page]]:
    """Opens a page of the folder. The test fails if anything outside the folder is asked for."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def go(name: str) -> Page:
        page.goto((folder / name).as_uri())
        return page

    yield go
    strays = [url for url in asked if not url.startswith(folder.as_uri())]
    assert asked and not strays


def assert_accessible(page: Page, *rules: str) -> None:
    """No violation of these rules of axe-core; without names, of any, best practices included."""
    # Without "preload": it would fetch style sheets, which a page from a folder may not.
    options: dict[str, object] = {"preload": False}
    if rules:
        options["runOnly"] = rules
    results = Axe().run(page, options=options)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_in_light_and_dark_and_fits_a_phone(opened, page, name) -> None:
    opened(f"{name}.html")
    expect(page.locator("h1")).to_be_visible()
    page.locator("main details").evaluate_all("all => all.forEach(it => it.open = true)")
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, "color-contrast")
    page.set_viewport_size(PHONE)
    assert_accessible(page, "scrollable-region-focusable", "target-size")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(".formula").evaluate_all(TOO_WIDE) == 0


def test_reading_from_page_to_page_by_keyboard(opened, page, folder) -> None:
    opened("index.html")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    visited = ["index"]
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith((f"{visited[-1]}.html", "#text")))
        visited.append(Path(page.url).stem)
        expect(page.locator("nav [aria-current=page]")).to_have_attribute(
            "href", f"{visited[-1]}.html"
        )
    assert sorted(visited) == PAGES


def test_printed_page_shows_the_answers(opened, page) -> None:
    opened("01-why-gradients.html")
    answer = page.locator(".answer p").first
    expect(answer).to_be_hidden()
    page.emulate_media(media="print")
    expect(answer).to_be_visible()
    expect(page.locator("nav")).to_be_hidden()


def shown(page: Page) -> Locator:
    return page.locator(".slide:visible")


@pytest.mark.parametrize("name", DECKS)
def test_slides_move_by_keyboard(opened, page, name, picture) -> None:
    opened(f"slides/{name}.html")
    last = str(page.locator(".slide").count())
    expect(shown(page)).to_have_id("1")
    for key, number in (
        ("ArrowRight", "2"), ("ArrowDown", "3"), ("PageDown", "4"), (" ", "5"),
        ("ArrowLeft", "4"), ("ArrowUp", "3"), ("PageUp", "2"),
        ("End", last), ("ArrowRight", last), ("Home", "1"), ("ArrowLeft", "1"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(shown(page)).to_have_id(number)
        expect(shown(page)).to_be_focused()
        assert page.url.endswith(f"#{number}")
    page.keyboard.press("End")
    page.reload()
    expect(shown(page)).to_have_id(last)


def test_overview_and_notes(opened, page, picture) -> None:
    deck = DECKS[0]
    opened(f"slides/{deck}.html")
    count = page.locator(".slide").count()
    page.keyboard.press("n")
    expect(page.locator(".notes").first).to_be_visible()
    expect(page.get_by_role("button", name="Notes")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    expect(page.locator(".notes").first).to_be_hidden()

    page.keyboard.press("o")
    expect(shown(page)).to_have_count(count)
    assert_accessible(page)
    picture("overview")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(shown(page)).to_have_id("2")
    page.get_by_role("button", name="Overview").click()
    page.locator(".slide").nth(4).click()
    expect(shown(page)).to_have_id("5")
    page.get_by_role("button", name="Back").click()
    expect(shown(page)).to_have_id("4")


@pytest.mark.parametrize("name", DECKS)
def test_slides_are_accessible_in_light_and_dark(opened, page, name) -> None:
    opened(f"slides/{name}.html")
    assert_accessible(page)
    # All of them at once, one below the other.
    page.locator("body").evaluate("it => it.classList.remove('shown')")
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, "color-contrast")


@pytest.mark.parametrize("name", DECKS)
def test_every_slide_fits_the_projector(opened, page, name) -> None:
    page.set_viewport_size(PROJECTOR)
    opened(f"slides/{name}.html")
    for number in range(1, page.locator(".slide").count() + 1):
        expect(shown(page)).to_have_id(str(number))
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= PROJECTOR["height"], f"slide {number} is {height} pixels high"
        assert shown(page).locator("pre, .wide, .formula").evaluate_all(TOO_WIDE) == 0
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("name", DECKS)
def test_slides_print_one_to_a_sheet(opened, page, name) -> None:
    opened(f"slides/{name}.html")
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert len(sheets) == page.locator(".slide").count()


def test_slides_can_be_read_without_scripts(browser, folder) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "slides" / f"{DECKS[0]}.html").as_uri())
    expect(shown(page)).to_have_count(page.locator(".slide").count())
    expect(page.locator(".notes").first).to_be_visible()
    expect(page.locator("nav button").first).to_be_hidden()
    context.close()
