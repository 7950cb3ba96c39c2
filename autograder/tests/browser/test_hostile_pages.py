"""Outputs and texts of students run nothing, load nothing and cover nothing on the pages that show
them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attacks.pages import HONEST, OUTPUTS, WRITTEN
from looking import keep_picture
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, Route
from schools import released, run, solutions
from serving import Lab, serve

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course

DRAWING = """
from IPython.display import HTML
HTML('<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" aria-label="A graph of two"'
     '><circle cx="90" cy="90" r="60"/><circle cx="290" cy="90" r="60"/></svg>')
"""
FIGURES = {
    "matplotlib": "%matplotlib inline\nfrom matplotlib import pyplot\n_ = pyplot.plot([1, 4, 9])",
    "matplotlib-svg": """
from matplotlib_inline.backend_inline import set_matplotlib_formats
set_matplotlib_formats("svg")
_ = pyplot.plot([1, 4, 9])
""",
    "drawing": DRAWING,
    "check": 'check("add")',
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with a graded submission that contains every attack, and with its feedback
    page."""
    course = released(tmp_path_factory.mktemp("hostile") / "course")
    settings = course / "course.toml"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace('"numpy"]', '"matplotlib", "matplotlib-inline", "numpy"]'))
    path = course / "submitted" / "hostile" / "value" / "value.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(_hostile_notebook(course)))
    run(course, "autograder", "grade", "value")
    run(course, "nbgrader", "generate_feedback", "value")
    return course


def _hostile_notebook(course: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(
        filled_notebook(Course(course), "value", solutions("value"))
    )
    show = "from IPython.display import display\ndisplay({%r: %r}, raw=True)"
    sources = [show % entry for entry in (OUTPUTS | HONEST).values()]
    for source in [*sources, *FIGURES.values()]:
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": source,
                                  "outputs": [], "execution_count": None})  # fmt: skip
    for source in WRITTEN.values():
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": source})
    return notebook


@pytest.fixture
def quiet_page(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """Return a page, and a list of all events on it that must not happen."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(300_000)
    happened: list[str] = []

    def elsewhere(route: Route) -> None:
        address = route.request.url
        if address.startswith(("http://127.0.0.1", "file:", "data:", "blob:")):
            route.continue_()
            return
        if "attacker" in address:
            happened.append(f"a request to {address}")
        route.abort()

    context.route("**/*", elsewhere)
    page = context.new_page()

    def dialog(each: Any) -> None:
        happened.append(f"a dialog: {each.message}")
        each.dismiss()

    page.on("dialog", dialog)
    page.on("framenavigated", lambda frame: happened.append(f"moved to {frame.url[:80]}"))
    yield page, happened
    context.close()


def test_the_feedback_page_of_a_hostile_notebook_runs_nothing_and_sends_no_request(
    graded, quiet_page, picture_of
) -> None:
    page, happened = quiet_page
    page.goto((graded / "feedback/hostile/value/value.html").as_uri())
    _act_as_a_reader(page)
    picture_of(page, "feedback")
    _assert_harmless(page, happened)
    _assert_shown(page)

    assert page.locator("script").count() == 0
    assert page.locator(".output_latex math mfrac").count() == 1


def test_the_formgrader_page_of_a_hostile_notebook_runs_nothing_of_it(
    graded, tmp_path, quiet_page, picture_of
) -> None:
    page, happened = quiet_page
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as gradebook:
        [submission] = gradebook.notebook_submissions("value", "value")
        cells = [grade.cell.name for grade in submission.grades]
        key = submission.id
    with serve(graded, tmp_path / "home") as lab:
        _open(lab, page, key)
        _act_as_a_reader(page)
        picture_of(page, "formgrader")
        _assert_harmless(page, happened, moves=2)
        _assert_shown(page)
        assert page.locator(".output_latex math mfrac").count() == 1
        sources = page.locator("script[src]").evaluate_all("all => all.map(s => s.src)")
        assert all(source.startswith(lab.url) for source in sources)
        assert sources
        fields = page.locator("input.score")
        assert [field.get_attribute("id") for field in fields.all()] == cells
        for field in fields.all():
            field.scroll_into_view_if_needed()
            assert field.evaluate(ON_TOP), "something covers a field for points"


ON_TOP = """field => {
    const box = field.getBoundingClientRect();
    return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === field;
}"""


def _open(lab: Lab, page: Page, key: str) -> None:
    page.goto(lab.address(f"formgrader/submissions/{key}/"))
    page.locator("input.score").first.wait_for()
    page.wait_for_url("**?index=0")  # nbgrader's script replaces the address of the page by this.


def _act_as_a_reader(page: Page) -> None:
    """Click all of the student's controls, and scroll to every part of the page."""
    for link in page.get_by_text("click", exact=True).all():
        link.dispatch_event("click")
    page.evaluate("""async () => {
        for (let y = 0; y < document.body.scrollHeight; y += 800) {
            window.scrollTo(0, y);
            await new Promise(done => requestAnimationFrame(done));
        }
    }""")
    page.wait_for_load_state("load")


def _assert_harmless(page: Page, happened: list[str], moves: int = 1) -> None:
    here = f"moved to {page.url[:80]}".partition("?")[0]
    assert [each.partition("?")[0] for each in happened] == [here] * moves
    assert page.locator("#notebook").first.is_visible()
    assert (
        page.locator("#notebook iframe, #notebook form, #notebook base, #notebook object").count()
        == 0
    )
    assert page.evaluate(UNWANTED_ATTRIBUTES) == []
    for cover in page.get_by_text("COVER").all():
        box, frame = cover.bounding_box(), cover.evaluate(FRAME)
        assert box is None or frame["bottom"] - frame["top"] <= 1000
        assert cover.evaluate("e => getComputedStyle(e).position") == "static"
        assert cover.evaluate(IN_ITS_PLACE), cover.evaluate("e => e.outerHTML.slice(0, 200)")


UNWANTED_ATTRIBUTES = """() => [...document.querySelectorAll('#notebook *')].flatMap(
    element => [...element.attributes].filter(
        a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)
    ).map(a => element.outerHTML.slice(0, 100)))"""
FRAME = """element => {
    const frame = element.closest('[style*=contain], .frame') || element;
    const box = frame.getBoundingClientRect();
    return {top: box.top, bottom: box.bottom};
}"""


IN_ITS_PLACE = """element => {
    if (element.closest('[style*=contain], .frame, pre, textarea')) return true;
    const top = element.getBoundingClientRect().top;
    for (let each = element; each && each.id !== 'notebook'; each = each.parentElement) {
        const before = each.previousElementSibling;
        if (before && before.getBoundingClientRect().bottom > top + 1) return false;
    }
    return true;
}"""


def _assert_shown(page: Page) -> None:
    """Assert that the harmless figures, drawings, tables and cards are visible."""
    pictures = page.locator(".output_png img, .output_svg img, .output_html img[alt*='graph']")
    sizes = pictures.evaluate_all("all => all.map(img => [img.naturalWidth, img.width])")
    # Hostile drawings are left empty, with the size of no picture at all: 300.
    assert len([1 for natural, shown in sizes if natural > 305 and shown > 300]) == 3, sizes
    assert page.locator("td", has_text="0.2517").count() == 1
    green = page.get_by_text("green text", exact=True)
    assert green.evaluate("e => getComputedStyle(e).color") == "rgb(26, 127, 75)"
    assert page.locator("strong", has_text="bold").count() == 1


@pytest.fixture
def picture_of() -> Callable[[Page, str], None]:
    """Take a picture of the surroundings of a graph's drawing, near the page's end."""

    def take(page: Page, name: str) -> None:
        page.locator("img[alt*='graph']").last.scroll_into_view_if_needed()
        keep_picture(page, f"hostile-{name}")

    return take
