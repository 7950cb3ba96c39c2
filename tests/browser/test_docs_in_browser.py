"""The site of docs/, opened from a folder in a real browser, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from looking import assert_accessible
from playwright.sync_api import Page, expect

# The theme's two sidebars have no names.
RULES = {"landmark-unique": {"enabled": False}}


def test_pages_of_the_docs_send_no_request_to_another_host_and_fit_a_phone(
    docs_site: Path, page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 360, "height": 740})
    pages = sorted(docs_site.glob("*.html"))
    assert len(pages) > 10
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path.name
    assert not [url for url in asked if not url.startswith(docs_site.as_uri())]


@pytest.mark.parametrize(
    "name",
    [
        "settings",
        *(pytest.param(name, marks=pytest.mark.campaign) for name in ("index", "students")),
    ],
)
def test_pages_of_the_docs_are_accessible_in_light_and_dark(
    docs_site: Path, page: Page, name: str
) -> None:
    page.goto((docs_site / f"{name}.html").as_uri())
    for scheme, options in (
        ("light", {"rules": RULES}),
        ("dark", {"runOnly": ["color-contrast"]}),
    ):
        page.emulate_media(color_scheme=scheme)
        assert_accessible(page, **options)


def test_search_finds_the_page_with_the_words(docs_site: Path, page: Page) -> None:
    page.goto((docs_site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill("gradebook disk full")
    page.keyboard.press("Enter")
    expect(page.locator("#search-results").get_by_role("link").first).to_have_text(
        "Troubleshooting"
    )
