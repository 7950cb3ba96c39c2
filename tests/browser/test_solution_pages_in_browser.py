"""Solution pages are accessible in light, in dark and in print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from looking import assert_accessible
from playwright.sync_api import Page, expect
from tested_course import COURSE

from autograder.pages.solutions.page import write_solution_pages


@pytest.mark.parametrize(
    "look",
    ["light", *(pytest.param(look, marks=pytest.mark.campaign) for look in ("dark", "print"))],
)
def test_a_solution_page_is_accessible_on_screen_and_in_print(
    page: Page, tmp_path: Path, look: str, picture: Callable[[str], None]
) -> None:
    [file] = write_solution_pages(COURSE, ["checkpoint"], tmp_path)
    if look == "print":
        page.emulate_media(media="print")
    else:
        page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    page.goto(file.as_uri())
    reasons = page.locator("details", has_text="What often goes wrong").first
    reasons.scroll_into_view_if_needed()
    expect(reasons.get_by_role("listitem").first).to_be_visible()
    picture("reasons")
    assert_accessible(page)
