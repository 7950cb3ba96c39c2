"""A course folder, a JupyterLab that serves it, and a browser that looks at it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from looking import keep_picture
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright
from serving import Lab, serve

from autograder.authoring.release import copy_course
from autograder.course_folder.assignments import assignment_names
from autograder.delivery.lesson.site import build

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
WAIT = 30_000  # milliseconds

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Formgrader pages want MathJax from a server on the internet. Nothing here needs formulas there,
# and no test leaves this machine.
ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1[:/])")
# JupyterLab's own log: that it does not use the kernel of the browser edition, which is installed
# beside it, and that a picture in a cell is called "attachment:…" until it has found it.
OF_JUPYTERLAB = (
    "Shared module @jupyterlite/services doesn't exist",
    "Failed to load resource: net::ERR_UNKNOWN_URL_SCHEME",
)
NO_MATHJAX = """
window.MathJax = {Hub: {Config() {}, Queue() {}, Startup: {signal: {Interest() {}}}}};
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    copy_course(ROOT, tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture(scope="session")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lesson and the slides, built as if the notebooks lay beside them."""
    folder = tmp_path_factory.mktemp("bundle") / "lesson"
    build(ROOT, folder, assignment_names(ROOT))
    return folder


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
    """Return a function that opens empty pages, each with cookies of its own.

    The test fails if an error is logged on one of them.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make() -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 1000})
        contexts.append(context)
        context.set_default_timeout(WAIT)
        context.route(ELSEWHERE, _stand_in)
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
    """Return an empty page. The test fails if an error is logged on it."""
    return new_page()


@pytest.fixture
def picture(page: Page, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Keep screenshots, named after the test; the last one is taken when the test ends."""

    def take(what: str) -> None:
        keep_picture(page, f"{request.node.name}-{what}")

    yield take
    take("end")


def _stand_in(route: Route) -> None:
    if "mathjax" in route.request.url:
        route.fulfill(content_type="text/javascript", body=NO_MATHJAX)
    else:
        route.abort()
