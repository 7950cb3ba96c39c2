"""A course folder, a JupyterLab that serves it, and a browser that looks at it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from autograder.demo import copy_course

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "artefacts"
CHROMIUM = shutil.which("chromium")

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START, STOP, WAIT = 60, 20, 30  # seconds

# Formgrader pages want MathJax from a server on the internet. Nothing here needs formulas there,
# and no test leaves this machine.
ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1[:/])")
NO_MATHJAX = """
window.MathJax = {Hub: {Config() {}, Queue() {}, Startup: {signal: {Interest() {}}}}};
"""

NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab on `course`."""

    course: Path
    url: str
    token: str

    def address(self, path: str) -> str:
        return f"{self.url}/{path}?token={self.token}"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    copy_course(ROOT, tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def lab(course: Path, tmp_path: Path) -> Iterator[Lab]:
    """JupyterLab as a student or an instructor starts it, in a home of its own."""
    home = tmp_path / "home"
    settings = home / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(NO_NEWS))
    served = Lab(course, f"http://127.0.0.1:{_free_port()}", secrets.token_hex(16))
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={served.url.rpartition(':')[2]}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={course}",
        f"--IdentityProvider.token={served.token}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = tmp_path / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=course, env=_environment(home), stdout=output, stderr=output
        )
    try:
        _wait_until_it_answers(served, server, log)
        yield served
    finally:
        server.terminate()  # ends the kernels too
        try:
            server.wait(STOP)
        except subprocess.TimeoutExpired:
            server.kill()  # kernels end by themselves when their server is gone
            server.wait(STOP)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail("chromium is missing: `make browser` installs it")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page. The test fails if anything on it is logged as an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(WAIT * 1000)
    context.route(ELSEWHERE, _stand_in)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    picture(page, request, "end")
    context.close()
    assert not errors, "\n".join(errors)


def picture(page: Page, request: pytest.FixtureRequest, what: str) -> None:
    """Keep a screenshot, named after the test."""
    ARTEFACTS.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "-", f"{request.node.name}-{what}")
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def _stand_in(route: Route) -> None:
    if "mathjax" in route.request.url:
        route.fulfill(content_type="text/javascript", body=NO_MATHJAX)
    else:
        route.abort()


def _environment(home: Path) -> dict[str, str]:
    private = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    return os.environ | {name: str(home / folder) for name, folder in private.items()}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_until_it_answers(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(lab.address("api/status"), timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab does not answer:\n{log.read_text()[-3000:]}")
