"""A notebook in JupyterLab, with the actions of a person who works in it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html import unescape
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page, expect
from serving import Lab
from small_school import wait_for
from tested_course import COURSE

from coursecheck.cards import marked_up
from coursecheck.check import load_table

RUN_ALL = 300_000  # milliseconds
STARTED = 60_000  # milliseconds until a cell that was run shows it
SEEN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook"


class Notebook:
    """A notebook of the course folder, open in JupyterLab. Its methods take the ids of cells."""

    def __init__(self, lab: Lab, page: Page, path: str) -> None:
        self.file = lab.course / path
        self.page = page
        cells = nbformat.read(self.file, as_version=4).cells
        self._places = [cell.id for cell in cells]
        self._code = [cell.id for cell in cells if cell.cell_type == "code"]
        self._runs = 0
        page.goto(f"{lab.address(f'lab/tree/{path}')}&reset")  # no other kernel is open
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()

    def cell(self, name: str) -> Locator:
        place = self._places.index(name)
        return self.page.locator(f'{SEEN} [data-windowed-list-index="{place}"]')

    def write(self, name: str, source: str) -> None:
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)

    def write_prose(self, name: str, source: str) -> None:
        self.cell(name).locator(".jp-MarkdownOutput").dblclick()
        self.write(name, source)

    def run_all(self) -> None:
        """Choose *Run All Cells* in the menu, and wait until the last cell has run."""
        prompt = self.cell(self._code[0]).locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(2):
            self.page.get_by_role("menuitem", name="Run", exact=True).click()
            self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
            with suppress(AssertionError):
                expect(prompt).not_to_have_text(before, timeout=STARTED)
                break
            # A page that is still being set up loses the click.
        for name in (self._code[0], self._code[-1]):
            expect(self.cell(name).locator(".jp-InputPrompt")).to_have_text(
                re.compile(r"^\[\d+\]:$"), timeout=RUN_ALL
            )
        self._runs += len(self._code)
        expect(self.cell(self._code[-1]).locator(".jp-InputPrompt")).to_have_text(
            f"[{self._runs}]:"
        )

    def output(self, name: str) -> Locator:
        return self.cell(name).locator(".jp-Cell-outputArea")

    def run(self, name: str) -> Locator:
        """Run a cell, wait for its end, and return its output."""
        self._runs += 1
        cell = self.cell(name)
        if (folded := cell.locator(".jp-InputPlaceholder .jp-Placeholder-content")).count():
            folded.click()
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(2):
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            with suppress(AssertionError):
                expect(prompt).not_to_have_text(before, timeout=STARTED)
                break
            # An editor that is made again for new settings loses the key.
        expect(prompt).to_have_text(f"[{self._runs}]:", timeout=RUN_ALL)
        cell.scroll_into_view_if_needed()
        return cell.locator(".jp-Cell-outputArea")

    def save(self) -> None:
        before = self.file.stat().st_mtime_ns
        self.page.keyboard.press("Control+S")
        # The server empties the file before it writes.
        wait_for(lambda: self.file.stat().st_mtime_ns != before and _complete(self.file))

    def sources(self) -> dict[str, str]:
        """Return the sources of the code cells in the file, by id."""
        cells = nbformat.read(self.file, as_version=4).cells
        return {cell.id: cell.source for cell in cells if cell.cell_type == "code"}

    def source(self, name: str) -> str:
        source: str = nbformat.read(self.file, as_version=4).cells[self._places.index(name)].source
        return source


class Shown:
    """An interactive picture in the output of a cell."""

    def __init__(self, output: Locator) -> None:
        self.output = output
        self.panel = output.get_by_role("group").first
        self.live = self.panel.get_by_role("status")
        self._region = self.live.element_handle()

    def press(self, key: str) -> None:
        self.output.page.keyboard.press(key)

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name)

    def slider(self, name: str) -> Locator:
        return self.panel.get_by_role("slider", name=name, exact=True)

    def says(self, words: str | re.Pattern[str]) -> None:
        """Assert that the live region has this text, and is still the element that a screen reader
        watches."""
        expect(self.live).to_contain_text(words)
        assert self.live.get_attribute("aria-live") == "polite"
        assert self.live.evaluate("(now, first) => now === first", self._region)


def says(assignment: str, exercise: str, mistake: str) -> str:
    """Return the message for a mistake as plain text, as a page shows it."""
    known = load_table(COURSE.assignment(assignment).table)["exercises"][exercise]["mistakes"]
    text: str = next(entry["says"] for entry in known if entry["id"] == mistake)
    return unescape(re.sub("<[^>]*>", "", marked_up(text)))


def answer(solution: str) -> str:
    """Return the answer in an exercise's solution cell, without the delimiters around it."""
    return re.sub(r" *### \w+ SOLUTION\n?", "", solution).rstrip()


def _complete(file: Path) -> bool:
    try:
        json.loads(file.read_text("utf-8"))
    except ValueError:
        return False
    return True
