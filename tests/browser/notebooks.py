"""A notebook in JupyterLab, as somebody who reads and types works with it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page, expect
from serving import Lab


class Notebook:
    """A notebook of the course folder, open in JupyterLab; cells go by their ids."""

    def __init__(self, lab: Lab, page: Page, path: str) -> None:
        self.file = lab.course / path
        self.page = page
        self._places = [cell.id for cell in nbformat.read(self.file, as_version=4).cells]
        self._runs = 0
        page.goto(lab.address(f"lab/tree/{path}"))
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()

    def cell(self, name: str) -> Locator:
        place = self._places.index(name)
        return self.page.locator(f'.jp-Notebook [data-windowed-list-index="{place}"]')

    def write(self, name: str, source: str) -> None:
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)

    def run(self, name: str) -> Locator:
        """Run a cell, wait until it is done, and return its output."""
        self._runs += 1
        cell = self.cell(name)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(cell.locator(".jp-InputPrompt")).to_have_text(f"[{self._runs}]:")
        cell.scroll_into_view_if_needed()
        return cell.locator(".jp-Cell-outputArea")

    def save(self) -> None:
        before = self.file.stat().st_mtime_ns
        self.page.keyboard.press("Control+S")
        # The server empties the file before it writes.
        _wait_until(lambda: self.file.stat().st_mtime_ns != before and _complete(self.file))

    def source(self, name: str) -> str:
        source: str = nbformat.read(self.file, as_version=4).cells[self._places.index(name)].source
        return source


def _complete(file: Path) -> bool:
    try:
        json.loads(file.read_text("utf-8"))
    except ValueError:
        return False
    return True


def _wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
