"""Fixtures for tests in a browser: a JupyterLab on a course folder, empty pages, and
screenshots."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from looking import keep_picture
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from serving import Lab, serve
from tested_course import COURSE

from autograder.authoring.release import copy_course

CHROMIUM = shutil.which("chromium")
WAIT = 120_000  # milliseconds

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# No test leaves this machine.
ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1[:/])")
# JupyterLab's own log: that it does not use the kernel of the browser edition, which is installed
# beside it, and that a picture in a cell is called "attachment:…" until it has found it.
OF_JUPYTERLAB = (
    "Shared module @jupyterlite/services doesn't exist",
    "Failed to load resource: net::ERR_UNKNOWN_URL_SCHEME",
    # Its viewer runs no script of a page until somebody presses *Trust HTML*.
    "the 'allow-scripts' permission is not set",
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    copy_course(COURSE, tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def lab(course: Path, tmp_path: Path) -> Iterator[Lab]:
    with serve(course, tmp_path / "home") as running:
        yield running


# Not for the whole session: Playwright keeps an event loop running, which other tests need.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail("chromium is missing: `make for-tests` installs it")
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[[], Page]]:
    """Return a function that opens an empty page with cookies of its own.

    The test fails if a page logs an error.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make() -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 1000})
        contexts.append(context)
        context.set_default_timeout(WAIT)
        context.route(ELSEWHERE, lambda route: route.abort())
        page = context.new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    ours = [error for error in errors if not any(each in error for each in OF_JUPYTERLAB)]
    assert not ours, "\n".join(ours)


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    """Return an empty page. The test fails if the page logs an error."""
    return new_page()


@pytest.fixture
def picture(page: Page, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Return a function that takes a screenshot, named after the test; one more is taken when the
    test ends."""

    def take(what: str) -> None:
        keep_picture(page, f"{request.node.name}-{what}")

    yield take
    take("end")
