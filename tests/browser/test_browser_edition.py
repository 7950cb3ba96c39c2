"""The course in a browser tab, on a site that serves everything by itself, with the network cut."""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from notebooks import Notebook, answer, says
from playwright.sync_api import Page, expect

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import load_assignment
from autograder.delivery.browser.site import publish_browser
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_file
from conftest import ARTEFACTS, ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAMES = ["value", "backward", "checkpoint", "mlp"]
START = 120_000  # milliseconds, for Python and its packages


class InBrowser(Notebook):
    """A notebook of the site, open in JupyterLite; `file` is the same one in a folder."""

    def __init__(self, page: Page, file: Path) -> None:
        self.file = file
        self.page = page
        cells = nbformat.read(file, as_version=4).cells
        self._places = [cell.id for cell in cells]
        self._code = [cell.id for cell in cells if cell.cell_type == "code"]
        self._runs = 0
        expect(page.get_by_text("Python (Pyodide) | Idle")).to_be_visible(timeout=START)

    def download(self, target: Path) -> Path:
        """Save, and download the file as students do who hand it in."""
        self.page.keyboard.press("Control+S")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)
        self.page.get_by_role("menuitem", name="File", exact=True).click()
        with self.page.expect_download() as download:
            self.page.get_by_role("menuitem", name="Download", exact=True).click()
        download.value.save_as(target)
        return target


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = publish_browser(ROOT, NAMES, tmp_path_factory.mktemp("browser") / "site")
    assert made.left_out == []
    return made.folder


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader(ROOT, bytes(range(32))) as warm:
        yield warm


@pytest.fixture
def visit(new_page: Callable[[], Page]) -> Iterator[Callable[[Path, str], Page]]:
    """Serves a folder as any web server does and opens a page of it.

    The test fails if anything asks for something that is not there, or is elsewhere.
    """
    servers: list[http.server.ThreadingHTTPServer] = []
    missed: list[str] = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    def open_page(folder: Path, path: str) -> Page:
        handler = functools.partial(Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = new_page()
        page.context.on(
            "request",
            lambda request: (
                missed.append(request.url)
                if not request.url.startswith((address, "data:", "blob:"))
                else None
            ),
        )
        page.goto(address + path)
        return page

    yield open_page
    for server in servers:
        server.shutdown()
        server.server_close()
    assert missed == []


@pytest.mark.parametrize("name", NAMES)
def test_a_solved_notebook_runs_and_scores_as_from_any_jupyter(
    site: Path, visit: Callable[[Path, str], Page], grader: Grader, tmp_path: Path, name: str
) -> None:
    exercises = load_assignment(ROOT, name).exercises
    solved = tmp_path / f"{name}.ipynb"
    answers = {each.id: answer(each.solution) for each in exercises.values() if not each.manual}
    solved.write_text(filled_notebook(ROOT, name, answers), "utf-8")
    folder = tmp_path / "site"
    shutil.copytree(site, folder, copy_function=os.link)
    given = folder / "files" / name / solved.name
    given.unlink()
    shutil.copyfile(solved, given)

    page = visit(folder, f"lab/index.html?path={name}/{name}.ipynb")
    notebook = InBrowser(page, solved)
    notebook.run_all()
    saved = notebook.download(tmp_path / "saved.ipynb")

    cells = [cell for cell in nbformat.read(saved, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    errors = [each for cell in cells for each in cell.outputs if each.output_type == "error"]
    assert errors == []
    shown = {cell.id: str(cell.outputs) for cell in cells}
    checks = [cell.id for cell in cells if re.fullmatch(r'check\("\w+"\)\s*', cell.source)]
    assert len(checks) == len(answers)
    assert [each for each in checks if "✓" not in shown[each]] == []

    _, here = grade_file(grader, saved)
    _, there = grade_file(grader, solved)
    points = [(each.id, each.points, each.status) for each in here.exercises]
    assert points == [(each.id, each.points, each.status) for each in there.exercises]
    assert {status for _, _, status in points} <= {"passed", "manual"}

    if name == "value":  # Its last cell wrote the engine, and the next notebook finds it.
        page.goto(page.url.partition("?")[0] + "?path=backward/backward.ipynb")
        following = InBrowser(page, folder / "files" / "backward" / "backward.ipynb")
        following.run("setup")
        following.run("given-engine")
        own = following.run("own-engine-line")
        expect(own).to_contain_text("runs on your own engine now: my_engine.py")


def test_from_the_start_page_to_a_check_a_graph_and_the_lesson(
    site: Path, visit: Callable[[Path, str], Page]
) -> None:
    page = visit(site, "")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    take(page, "start")
    assert_accessible(page)
    page.get_by_role("link", name="Building the computational graph").click()
    notebook = InBrowser(page, site / "files" / "value" / "value.ipynb")
    exercises = load_assignment(ROOT, "value").exercises
    notebook.run("setup")
    for name in ("node", "add"):
        notebook.write(f"{name}-solution", answer(exercises[name].solution))
        notebook.run(f"{name}-solution")
        expect(notebook.run(f"{name}-test")).to_contain_text("✓")
    mistake = next(each for each in exercises["add"].mistakes if each.id == "add.overwrites")
    notebook.write("add-solution", mistake.source)
    notebook.run("add-solution")
    expect(notebook.run("add-test")).to_contain_text(says("value", "add", mistake.id))
    drawing = notebook.run("node-demo").locator('svg[role="img"]').first
    expect(drawing).to_be_visible()
    take(page, "graph")
    notebook.cell("what-you-build").get_by_role("link", name="Why gradients").click()
    expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_be_visible()
    take(page, "lesson")


def take(page: Page, what: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"browser-edition-{what}.png")


def assert_accessible(page: Page) -> None:
    results = Axe().run(page, options={"preload": False})
    assert results.violations_count == 0, results.generate_report()
