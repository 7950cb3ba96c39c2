"""Starts and stops a JupyterHub for the course, with its proxy."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from looking import SLOW
from playwright.sync_api import Page
from services import wait_until_it_answers
from tested_course import COURSE

from autograder.hub.folders import HubFolder

STOP = 30  # seconds


@dataclass(frozen=True)
class Hub:
    """A running hub."""

    folder: HubFolder
    url: str

    def log_in(self, page: Page, name: str) -> None:
        """Log in as a user does, and wait for JupyterLab."""
        page.goto(self.url)
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(self.folder.users()[name])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("menuitem", name="Nbgrader").wait_for(timeout=SLOW)


@contextmanager
def serve_hub(
    root: Path, students: list[str], assignment: str, config: Path | None = None
) -> Iterator[Hub]:
    """Start the hub as `make hub` does, on free ports, and with the given configuration, if any."""
    port = _four_free_ports()
    command = [*(sys.executable, "-m", "autograder", "hub", "--folder", str(root))]
    command += ["--port", str(port), "--assignment", assignment, "--course", str(COURSE)]
    for name in students:
        command += ["--student", name]
    if config is not None:
        command += ["--config", str(config)]
    root.mkdir(parents=True)
    log = root / "log"
    with log.open("w") as output:
        hub = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_until_it_answers(f"{url}hub/health", hub, log)
        yield Hub(HubFolder(root.resolve()), url)
    finally:
        hub.terminate()  # it ends the proxy and all users' servers
        try:
            hub.wait(STOP)
        except subprocess.TimeoutExpired:
            os.killpg(hub.pid, signal.SIGKILL)
            hub.wait()


def _four_free_ports() -> int:
    """Return the first of four free ports in a row."""
    while True:
        with ExitStack() as taken:
            first = taken.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                for more in (1, 2, 3):
                    taken.enter_context(socket.socket()).bind(("127.0.0.1", port + more))
            except (OSError, OverflowError):
                continue
            return port
