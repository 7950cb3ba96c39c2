"""Takes screenshots, checks pages with axe-core, and uses the formgrader as a person does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FrameLocator, Locator, Page, expect

ARTEFACTS = Path("artefacts").resolve()
SLOW = 300_000  # milliseconds, for a button that runs a command


def keep_picture(page: Page, name: str) -> None:
    """Save a screenshot in `artefacts`."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def assert_accessible(page: Page, context: Any = None, **options: Any) -> None:
    """Assert that a page, or the part of it in `context`, violates no rule of axe-core."""
    # Without "preload": it would fetch style sheets, which a page from a folder may not.
    results = Axe().run(page, context=context, options={"preload": False, **options})
    assert results.violations_count == 0, results.generate_report()


def open_formgrader(page: Page) -> FrameLocator:
    """Open the formgrader from JupyterLab's menu."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader").click()
    return page.frame_locator("#formgrader-iframe iframe")


def row(formgrader: FrameLocator, name: str) -> Locator:
    """Return the row of an assignment or a student in the formgrader."""
    return formgrader.locator("#main-table tr", has_text=name)


def press(formgrader: FrameLocator, button: Locator, says: str) -> None:
    """Press a button that runs a command, and wait for the message that the command has ended."""
    button.click()
    modal = formgrader.locator(".modal.in")
    expect(modal).to_contain_text(says, timeout=SLOW)
    modal.get_by_role("button", name="OK").click()
    expect(formgrader.locator(".modal, .modal-backdrop")).to_have_count(0)
