"""The course in a browser tab: the site serves all files itself, and the network is cut."""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browsers import ELSEWHERE
from looking import assert_accessible, keep_picture
from notebooks import RUN_ALL, Notebook, answer, says
from playwright.sync_api import Browser, Page, expect
from tested_course import COURSE

from autograder.commands.demo import filled_notebook
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_file
from autograder.publishing.browser.site import publish_browser

NAMES = ["value", "backward", "checkpoint", "mlp"]
WALKED = [NAMES[0], *(pytest.param(name, marks=pytest.mark.campaign) for name in NAMES[1:])]
START = 300_000  # milliseconds, for Python and its packages


IS_KEPT = """([path, text]) => new Promise((found) => {
  indexedDB.open("JupyterLite Storage - /").onsuccess = ({ target: { result: store } }) => {
    store.transaction("files").objectStore("files").get(path).onsuccess = (event) => {
      store.close();
      found(JSON.stringify(event.target.result ?? "").includes(text));
    };
  };
})"""
"""Return whether the browser keeps a notebook with a text in it."""


class InBrowser(Notebook):
    """A notebook of the site, open in Jupyter Notebook; `file` is the same one in a folder."""

    def __init__(self, page: Page, file: Path) -> None:
        self.file = file
        self.page = page
        cells = nbformat.read(file, as_version=4).cells
        self._places = [cell.id for cell in cells]
        self._code = [cell.id for cell in cells if cell.cell_type == "code"]
        self._runs = 0
        self.expect_idle(START)

    def expect_idle(self, milliseconds: float) -> None:
        idle = self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(idle).to_be_attached(timeout=milliseconds)

    def download(self, target: Path) -> Path:
        """Save the notebook, and download it as students do who hand it in."""
        # A message that arrives from the kernel after saving would make the notebook unsaved again.
        self.expect_idle(RUN_ALL)
        self.page.keyboard.press("Control+S")
        self.page.get_by_role("menuitem", name="File", exact=True).click()
        with self.page.expect_download() as download:
            self.page.get_by_role("menuitem", name="Download", exact=True).click()
        download.value.save_as(target)
        return target


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the self-study edition, which is the edition of a class and more."""
    folder = tmp_path_factory.mktemp("browser") / "site"
    made = publish_browser(COURSE, NAMES, folder, self_study=True)
    assert made.left_out == []
    return made.folder


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader(COURSE, bytes(range(32))) as warm:
        yield warm


class Visits:
    """Serves folders as any web server does, and opens pages of them.

    Attributes:
        missed: requests of pages, workers and kernels for missing files or other hosts.
    """

    def __init__(self, new_page: Callable[[], Page]) -> None:
        self._new_page = new_page
        self._pages: list[Page] = []
        self._servers: list[http.server.ThreadingHTTPServer] = []
        self.missed: list[str] = []

    def __call__(self, folder: Path, path: str) -> Page:
        missed = self.missed

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def send_error(self, *args: Any, **others: Any) -> None:
                missed.append(self.path)
                super().send_error(*args, **others)

        handler = functools.partial(Handler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = self._new_page()
        self._pages.append(page)
        page.context.on(
            "request",
            lambda request: (
                missed.append(request.url)
                if not request.url.startswith((address, "data:", "blob:", "attachment:"))
                else None
            ),
        )
        page.goto(address + path)
        return page

    def close(self) -> None:
        """Close the pages, some of which may still load, and then stop the server."""
        for page in self._pages:
            page.close()
        for server in self._servers:
            server.shutdown()
            server.server_close()


@pytest.fixture
def visit(new_page: Callable[[], Page]) -> Iterator[Visits]:
    """Return the visits; the test fails if a request goes to a missing file or another host."""
    visits = Visits(new_page)
    yield visits
    visits.close()
    assert visits.missed == []


def solved_site(site: Path, name: str, tmp_path: Path) -> tuple[Path, Path]:
    """Return the site with the solved notebook in the place of the released one, and that
    notebook."""
    exercises = COURSE.assignment(name).exercises
    solved = tmp_path / f"{name}.ipynb"
    answers = {each.id: answer(each.solution) for each in exercises.values() if not each.manual}
    solved.write_text(filled_notebook(COURSE, name, answers), "utf-8")
    folder = tmp_path / "site"
    shutil.copytree(site, folder, copy_function=os.link)
    given = folder / "files" / name / solved.name
    given.unlink()
    shutil.copyfile(solved, given)
    return folder, solved


@pytest.mark.parametrize("name", WALKED)
def test_a_notebook_solved_in_the_browser_edition_gets_the_same_score_as_elsewhere(
    site: Path, visit: Visits, grader: Grader, tmp_path: Path, name: str
) -> None:
    folder, solved = solved_site(site, name, tmp_path)
    page = visit(folder, "")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    keep_picture(page, "browser-edition-start")
    assert_accessible(page)
    page.locator(f'.notebooks a[href$="path={name}/{name}.ipynb"]').click()
    notebook = InBrowser(page, solved)
    notebook.run_all()
    saved = notebook.download(tmp_path / "saved.ipynb")

    cells = [cell for cell in nbformat.read(saved, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    errors = [each for cell in cells for each in cell.outputs if each.output_type == "error"]
    assert errors == []
    shown = {cell.id: str(cell.outputs) for cell in cells}
    checks = [cell.id for cell in cells if re.fullmatch(r'check\("\w+"\)\s*', cell.source)]
    manual = [each for each in COURSE.assignment(name).exercises.values() if each.manual]
    assert len(checks) == len(COURSE.assignment(name).exercises) - len(manual)
    assert [each for each in checks if "✓" not in shown[each]] == []

    _, here = grade_file(grader, saved)
    _, there = grade_file(grader, solved)
    points = [(each.id, each.points, each.status) for each in here.exercises]
    assert points == [(each.id, each.points, each.status) for each in there.exercises]
    written = {each.id for each in manual}
    assert {status for exercise, _, status in points if exercise not in written} == {"passed"}

    if name == "checkpoint":
        assert [each for each in ("q1", "q2") if "right." not in shown[f"{each}-test"]] == []
    if name == "value":
        a_mistake_is_named(notebook)
        the_lesson_opens(notebook)
        # The last cell wrote the engine, and the next notebook finds it.
        page.goto(page.url.partition("?")[0] + "?path=backward/backward.ipynb")
        following = InBrowser(page, folder / "files" / "backward" / "backward.ipynb")
        following.run("setup")
        following.run("given-engine")
        own = following.run("own-engine-line")
        expect(own).to_contain_text("runs on your own engine now: my_engine.py")


def a_mistake_is_named(notebook: InBrowser) -> None:
    exercise = COURSE.assignment("value").exercises["add"]
    mistake = next(each for each in exercise.mistakes if each.id == "add.overwrites")
    drawing = notebook.output("node-demo").locator("svg.cg:visible").first
    expect(drawing).to_be_visible()
    notebook.write("add-solution", mistake.source)
    notebook.run("add-solution")
    expect(notebook.run("add-test")).to_contain_text(says("value", "add", mistake.id))
    keep_picture(notebook.page, "browser-edition-mistake")


def the_lesson_opens(notebook: InBrowser) -> None:
    with notebook.page.expect_popup() as opened:
        notebook.cell("what-you-build").get_by_role("link", name="Why gradients").click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    keep_picture(opened.value, "browser-edition-lesson")
    opened.value.close()


def test_the_tests_of_pages_record_missing_files_and_requests_to_other_hosts(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text(
        "<!doctype html><title>page</title><link rel=icon href=data:,><script>"
        "const work = `fetch('https://elsewhere.example/').catch(() => postMessage('cut'))`;"
        "const ask = () => new Promise((done) => {"
        "  new Worker(URL.createObjectURL(new Blob([work]))).onmessage = done;"
        "}).then(() => true);</script>"
    )
    visits = Visits(browser.new_page)
    page = visits(tmp_path, "")
    page.route(ELSEWHERE, lambda route: route.abort())
    page.evaluate("fetch('gone.whl')")
    page.evaluate("ask()")
    visits.close()
    assert sorted(visits.missed) == ["/gone.whl", "https://elsewhere.example/"]


def test_the_start_page_begins_with_a_network_that_reads_a_digit(site, visit) -> None:
    page = visit(site, "index.html")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.locator(".reader ~ .says")).to_contain_text("It reads a")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, runOnly=["color-contrast"])
    keep_picture(page, "start-page-dark")


def test_on_a_phone_the_notebook_fills_the_width_of_the_screen(site, visit) -> None:
    page = visit(site, "index.html")
    page.set_viewport_size({"width": 360, "height": 740})
    page.locator(".notebooks a").first.click()
    expect(page.locator(".jp-NotebookPanel")).to_be_visible(timeout=START)
    page.wait_for_function("document.querySelector('.jp-NotebookPanel').offsetWidth > 330")
    expect(page.locator(".jp-CodeCell .cm-lineWrapping").first).to_be_attached()
    assert page.evaluate(SIZE_OF_AN_OUTPUT) == "11px"


def test_the_start_page_downloads_a_notebook_saved_in_the_browser(site, visit, tmp_path) -> None:
    page = visit(site, "index.html")
    link = page.locator(".notebooks a").first
    expect(page.get_by_role("button", name=re.compile("^Save"))).to_have_count(0)
    link.click()
    notebook = InBrowser(page, site / "files/value/value.ipynb")
    notebook.write("node-solution", "kept = 1")
    page.keyboard.press("Control+S")
    page.wait_for_function(IS_KEPT, arg=["value/value.ipynb", "kept = 1"])
    page.get_by_role("link", name="Start page").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save value.ipynb").click()
    assert_accessible(page)
    keep_picture(page, "browser-edition-kept")
    download.value.save_as(tmp_path / "value.ipynb")
    held = {cell.id: cell.source for cell in nbformat.read(tmp_path / "value.ipynb", 4).cells}
    assert held["node-solution"] == "kept = 1"


SIZE_OF_AN_OUTPUT = """() => {
  const output = document.createElement("div");
  output.className = "jp-OutputArea-output jp-RenderedText";
  output.innerHTML = "<pre>printed</pre>";
  document.querySelector(".jp-NotebookPanel").append(output);
  return getComputedStyle(output.firstChild).fontSize;
}"""


WRITE = """() => new Promise((written) => {
  indexedDB.open("JupyterLite Storage - /").onsuccess = ({ target: { result: store } }) => {
    const change = store.transaction("files", "readwrite");
    const file = { type: "file", format: "text", content: "kept = 1", last_modified: new Date() };
    const name = "my_engine.py";
    change.objectStore("files").put({ ...file, name, path: name }, name);
    change.oncomplete = () => { store.close(); written(); };
  };
})"""


RUN_CHECKS = """() => new Promise((written) => {
  indexedDB.open("JupyterLite Storage - /").onsuccess = ({ target: { result: store } }) => {
    const change = store.transaction("files", "readwrite"), files = change.objectStore("files");
    files.get("value/value.ipynb").onsuccess = ({ target: { result: file } }) => {
      const checks = file.content.cells.filter(({ metadata }) => metadata.nbgrader?.grade);
      const error = { output_type: "error", ename: "E", evalue: "", traceback: [] };
      Object.assign(checks[0], { execution_count: 1, outputs: [] });
      Object.assign(checks[1], { execution_count: 2, outputs: [error] });
      files.put(file, file.path);
    };
    change.oncomplete = () => { store.close(); written(); };
  };
})"""
"""Pass the first check of the kept notebook, and fail the second."""


def test_the_start_page_counts_the_exercises_that_pass(site, visit) -> None:
    page = visit(site, "index.html")
    start = page.url
    page.locator(".notebooks a").first.click()
    InBrowser(page, site / "files/value/value.ipynb").write("node-solution", "kept = 1")
    page.keyboard.press("Control+S")
    page.wait_for_function(IS_KEPT, arg=["value/value.ipynb", "kept = 1"])
    page.evaluate(RUN_CHECKS)
    page.goto(start)
    expect(page.get_by_label("1 of 10 exercises done")).to_have_attribute("value", "1")
    assert_accessible(page)


def test_the_start_page_downloads_files_that_student_code_wrote(site, visit, tmp_path) -> None:
    page = visit(site, "index.html")
    start = page.url
    made = page.get_by_role("heading", name="Files that your code has written")
    expect(made).to_have_count(0)
    page.locator(".notebooks a").first.click()
    InBrowser(page, site / "files/value/value.ipynb").write("node-solution", "kept = 1")
    page.keyboard.press("Control+S")
    page.wait_for_function(IS_KEPT, arg=["value/value.ipynb", "kept = 1"])
    page.evaluate(WRITE)
    page.goto(start)
    expect(made).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save my_engine.py").click()
    assert_accessible(page)
    download.value.save_as(tmp_path / "my_engine.py")
    assert (tmp_path / "my_engine.py").read_text("utf-8") == "kept = 1"


def test_extra_notebooks_are_included_if_they_run_in_a_browser(site) -> None:
    made = {path.name for path in (site / "files" / "extra").iterdir()}
    assert made == {"digits.ipynb", "gpt.ipynb"}
    page = (site / "index.html").read_text("utf-8")
    assert "path=extra/digits.ipynb" in page and "arrays" not in page
