"""The lesson and the slides are built without a network; their links, numbers and headings are
right."""

from __future__ import annotations

import copy
import itertools
import json
import re
import shutil
import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder.course_folder.course import Course, find_course
from autograder.errors import LessonError
from autograder.publishing.lesson.code_blocks import Session
from autograder.publishing.lesson.rendering import set_text
from autograder.publishing.lesson.site import build
from reference import Value, numerical_derivative

COURSE = find_course(Path(__file__).parent)
SOURCES = sorted((COURSE.root / "course").glob("lesson/*.md")) + sorted(
    (COURSE.root / "course").glob("slides/*.md")
)


def page_of(source: Path) -> str:
    return source.stem if source.parent.name == "lesson" else f"slides/{source.stem}"


ASSIGNMENTS = COURSE.assignment_names()
NAMES = [page_of(source) for source in SOURCES]


class Site(dict[str, BeautifulSoup]):
    """The built pages, parsed, by names such as "index" and "slides/1-graph"."""

    folder: Path

    def words(self, name: str) -> str:
        """Return the text of a page, with white space made even."""
        return " ".join(self[name].get_text(" ").split())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("bundle") / "lesson"
    shutil.copytree(COURSE.release, folder.parent, dirs_exist_ok=True)
    shutil.copytree(COURSE.root / "course" / "extra", folder.parent / "extra", dirs_exist_ok=True)

    def no_network(*_: object) -> None:
        raise AssertionError("the build wanted the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", no_network)
        patch.setattr(socket, "getaddrinfo", no_network)
        pages = build(COURSE, folder, ASSIGNMENTS)
    built = Site()
    built.folder = folder
    for page in pages:
        name = page.relative_to(folder).with_suffix("")
        built[str(name)] = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    yield built


def test_each_text_of_the_lesson_becomes_a_page_and_the_first_is_the_index(site: Site) -> None:
    assert sorted(site) == sorted(NAMES)
    assert next(iter(site)) == "index"


def test_every_link_of_the_lesson_leads_to_a_page_or_heading_that_exists(site: Site) -> None:
    links = [(name, a["href"]) for name, page in site.items() for a in page.select("a[href]")]
    assert len(links) > 200
    for name, href in links:
        address = urlsplit(href)
        if address.scheme.startswith("http"):
            assert name in ("index", "13-reading"), f"{name} links to {href}"
            continue
        assert not address.scheme and not address.netloc, f"{name} links to {href}"
        here = (site.folder / name).parent
        target = (here / address.path).resolve() if address.path else site.folder / f"{name}.html"
        assert target.is_file(), f"{name} links to {href}"
        if address.fragment and target.suffix == ".html":
            there = site[str(target.relative_to(site.folder).with_suffix(""))]
            assert there.find(id=unquote(address.fragment)), f"{name} links to {href}"


def test_pages_of_the_lesson_load_only_their_own_files(site: Site) -> None:
    for name, page in site.items():
        loaded = [tag[key] for key in ("src", "data", "poster") for tag in page.select(f"[{key}]")]
        loaded += [tag["href"] for tag in page.select("link[href], use[href], image[href]")]
        for address in loaded:
            if not address.startswith(("#", "data:")):  # a part of the same file
                assert ((site.folder / name).parent / address).is_file(), f"{name}: {address}"
        own = [tag.get_text() for tag in page.select("head style, body > script")]
        assert "color-scheme" in own[0]
        for look in own:
            assert not re.search(r"https?:|@import|url\(|fetch\(|import ", look)
        assert not page.select("link:not([href='data:,']), script[src]")


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_every_formula_of_the_lesson_becomes_mathml(site: Site, source: Path) -> None:
    name = page_of(source)
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", source.read_text("utf-8"), flags=re.S | re.M)
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", prose)
    main = copy.copy(site[name].find("main"))
    assert len(main.select("math")) == len(formulas)
    for formula in main.select("math"):
        assert formula.get_text(strip=True)
        assert "\\" not in formula.get_text(), f"{name}: {formula.get_text()}"
        assert not formula.select("merror")
        rest = formula.parent.next_sibling
        assert not (isinstance(rest, str) and re.match("[.,;:)]", rest)), "a mark alone on a line"
    for code in main.select("pre, code"):
        code.decompose()
    assert "$" not in main.get_text() and "{=" not in main.get_text()


def test_every_box_in_a_lesson_text_has_its_end_mark(site: Site) -> None:
    assert [name for name in site if ":::" in site.words(name)] == []
    takeaways = [box for page in site.values() for box in page.select(".takeaways")]
    assert len(takeaways) > 8
    assert [box for box in takeaways if box.h2.get_text() != "In short" or len(box("h2")) > 1] == []


def test_every_picture_of_the_lesson_has_a_description(site: Site) -> None:
    pictures = [(name, svg) for name, page in site.items() for svg in page.select("svg")]
    assert len(pictures) > 20
    for name, svg in pictures:
        assert svg.get("role") == "img", name
        assert len(str(svg.get("aria-label", ""))) > 15, name
    for page in site.values():
        assert not page.select("img")
        for figure in page.select("figure.drawing"):
            in_words = figure.select_one("details pre")
            assert in_words is not None
            for label in figure.select('svg .cg-label[text-anchor="start"]'):
                assert label.get_text().strip("! ") in in_words.get_text()


def test_headings_of_the_lesson_are_nested_and_ids_are_unique(site: Site) -> None:
    for name, page in site.items():
        levels = [int(tag.name[1]) for tag in page.select("h1, h2, h3, h4, h5, h6")]
        assert levels[0] == 1 and levels.count(1) == 1, name
        for before, after in itertools.pairwise(levels):
            assert after <= before + 1, name
        ids = [tag["id"] for tag in page.select("[id]")]
        assert len(ids) == len(set(ids)), name


def test_every_slide_has_a_heading_and_its_number(site: Site) -> None:
    for name, deck in site.items():
        slides = deck.select("section.slide")
        assert bool(slides) == name.startswith("slides/")
        for number, slide in enumerate(slides, 1):
            assert slide["id"] == str(number)
            assert len(slide.select("h1, h2")) == 1, f"{name}, slide {number}"


def gradients(f, *numbers: float) -> list[float]:
    leaves = [Value(number) for number in numbers]
    f(*leaves).backward()
    return [leaf.grad for leaf in leaves]


def taxi(w, b):
    return (w * 3.0 + b - 13.0) ** 2


SANITY = gradients(lambda a, b, c: (a * b + c) ** 2, 2, -3, 10)
TRACE = gradients(lambda x, y: x * y + x, 2, 3)
NEURON = gradients(
    lambda *v: (v[0] * v[2] + v[1] * v[3] + v[4]).tanh(), 2, 0, -3, 1, 6.8813735870195432
)

# A page, a number there, and the same computed by the reference engine.
QUOTED = [
    ("index", "df/da = -24.0 df/db = 16.0 df/dc = 8.0", SANITY, [-24, 16, 8]),
    ("slides/2-backward", "-24.0 16.0 8.0", SANITY, [-24, 16, 8]),
    ("01-why-gradients", "the loss falls by about 36", gradients(taxi, 2, 1), [-36, -12]),
    ("03-chain-rule", "-36 for", gradients(taxi, 2, 1), [-36, -12]),
    ("04-backward", "z has run w 1 z 1 x 4 y 2", TRACE, [4, 2]),
    ("slides/2-backward", "z has run: z 1.0 x 4.0 y 2.0", TRACE, [4, 2]),
    ("04-backward", "the answer should have been 22",
     gradients(lambda a: (a + a) + (a + a) * 10, 1), [22]),
    ("05-accumulation", "their sum, in one go: -136.0",
     gradients(lambda w: (w * 3 - 12) ** 2 + (w * 5 - 20) ** 2, 2), [-136]),
    ("05-accumulation", "-48, 32 and 16", [2 * g for g in SANITY], [-48, 32, 16]),
    ("06-checking", "central: 12.0001", [numerical_derivative(lambda x: x**3, 2, 0.01)],
     [12.0001]),
    ("07-networks", "The neuron answers 0.7071", NEURON, [-1.5, 0.5, 1.0, 0.0, 0.5]),
    ("10-questions", "8.0 12.0 5.545177",
     gradients(lambda a, b: (b * a.log()).exp(), 2, 3), [12, 5.545177444479562]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "quoted", "found", "expected"), QUOTED, ids=[quote[1] for quote in QUOTED]
)
def test_numbers_quoted_on_a_lesson_page_are_right(site, name, quoted, found, expected) -> None:
    assert quoted in site.words(name)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_lesson_s_table_of_xor_trainings_agrees_with_its_text(site: Site) -> None:
    page = site["08-training"]
    table = next(t for t in page.select("table") if "runs that got" in t.get_text())
    counts = [int(row.select("td")[1].get_text()) for row in table.select("tbody tr")]
    runs = int(re.findall(r"of (\d+)", table.get_text())[0])
    one, two, four = counts
    assert one == 0, "one hidden neuron is too few, from any start"
    assert 0 < two < runs, "some runs with two get stuck, and some do not"
    assert two < four <= runs


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_code_of_the_lesson_is_python_and_has_at_most_80_columns(source: Path) -> None:
    blocks = re.findall(r"^```python(.*?)\n(.*?)^```$", source.read_text("utf-8"), re.S | re.M)
    for options, code in blocks:
        compile(code, source.name, "exec")
        if "hide" not in options:
            assert [line for line in code.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_text_of_the_lesson_holds_a_solution(name: str) -> None:
    """Neither the texts nor the pages made from them may answer an exercise."""
    texts = {path: path.read_text("utf-8") for path in SOURCES}
    for exercise in COURSE.assignment(name).exercises.values():
        region = re.search(r"BEGIN SOLUTION\n(.*?)\n[^\n]*END SOLUTION", exercise.solution, re.S)
        assert region is not None
        solution = " ".join(region.group(1).split())
        for path, text in texts.items():
            assert "class Value" not in text and "autograder" not in text, path
            if len(solution) > 20:  # q3 = "b" may stand anywhere
                assert solution not in " ".join(text.split()), f"{path.name}: {exercise.id}"


# From the lesson to the notebooks and back.


def headings(name: str) -> dict[str, str]:
    """Return the headings of a released notebook, with the ids of their cells."""
    found = {}
    for cell in nbformat.read(COURSE.release / name / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```$", "", cell.source, flags=re.S | re.M)
            found |= {words: cell.id for words in re.findall(r"^#+ (.+)$", prose, re.M)}
    return found


def links(name: str) -> Iterator[tuple[str, str]]:
    """Yield the links to other files in the prose of a notebook, with their text."""
    for cell in nbformat.read(COURSE.release / name / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            yield from re.findall(r"(?<!!)\[([^]\n]+)\]\(([^)\s]+)\)", cell.source)


def test_lesson_pages_link_to_their_notebooks(site: Site) -> None:
    led_to = set()
    for source in SOURCES:
        for name, said in re.findall(r"\(notebook:(\w+)\)([^\n|]*)", source.read_text("utf-8")):
            led_to.add((page_of(source), name))
            for words in re.findall(r"\*([^*]+)\*", said):
                assert words in headings(name), f"{source.name} names {words}"
    assert {name for _, name in led_to} == set(ASSIGNMENTS)
    assert {page for page, _ in led_to} == set(NAMES) - {"11-words"}
    link = site["04-backward"].select_one('main a[href$=".ipynb"]')
    assert link is not None and link["href"] == "../backward/backward.ipynb"
    link = site["slides/2-backward"].select_one('main a[href$=".ipynb"]')
    assert link is not None and link["href"] == "../../backward/backward.ipynb"


def test_a_lesson_page_without_notebooks_beside_it_only_names_them() -> None:
    html = words_of("# T\n\nSee [value](notebook:value) and [this](#t).\n")
    assert 'See <strong>value</strong> and <a href="#t">this</a>.' in html


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_link_in_a_notebook_leads_to_a_page_or_a_heading(site: Site, name: str) -> None:
    found = list(links(name))
    pages = [href for _, href in found if href.startswith("../lesson/")]
    assert len(pages) >= 4
    for words, href in found:
        address = urlsplit(href)
        assert not address.scheme and not address.netloc, href
        target = (site.folder.parent / name / address.path).resolve()
        assert target.is_file(), f"{name} links to {href}"
        there = unquote(address.fragment)
        if target.suffix == ".ipynb" and not there:
            assert words.strip("*") == target.stem, f"{name} links to {href}"
        elif target.suffix == ".ipynb":
            assert there == f"cell-id={headings(target.stem)[words]}", f"{name} links to {href}"
        elif there:
            page = str(target.relative_to(site.folder).with_suffix(""))
            assert site[page].find(id=there), f"{name} links to {href}"


COLUMNS = 32  # characters of a text block on a screen of 360 pixels, where longer lines break


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_lines_of_a_graph_drawn_in_characters_are_not_wrapped(name: str) -> None:
    cells = nbformat.read(COURSE.release / name / f"{name}.ipynb", as_version=4).cells
    drawn = [
        line
        for cell in cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if set(line) & set("─═│┐")
    ]
    assert [line for line in drawn if len(line) > COLUMNS] == []


def test_each_notebook_leads_on_to_the_next() -> None:
    places = [*(f"{name}/{name}" for name, _ in COURSE.settings.assignments), "extra/digits"]
    for place, following in pairwise(places):
        cells = nbformat.read(COURSE.release / f"{place}.ipynb", as_version=4).cells
        assert f"(../{following}.ipynb)" in cells[-1].source


def test_each_question_of_the_checkpoint_links_to_its_chapter() -> None:
    cells = nbformat.read(COURSE.root / "release/checkpoint/checkpoint.ipynb", as_version=4).cells
    asked = [cell for cell in cells if re.match(r"## (Question|Exercise) \d", cell.source)]
    assert len(asked) == len(COURSE.assignment("checkpoint").exercises)
    for cell in asked:
        _, _, pointer = cell.source.partition("<summary>Where to look again</summary>")
        assert re.search(r"\.ipynb#|Questions? \d|on paper", pointer), cell.id


def words_of(source: str) -> str:
    return set_text(source, Session("course/lesson/x.md", {"Value": Value})).html


def test_an_expression_in_the_text_sees_the_code_blocks_above_it() -> None:
    source = (
        "# T\n\n```python hide\nx = 2\n```\n\nx is {= x}.\n\n"
        "```python\nx = 3.14159\n```\n\n{= x:.2f}\n"
    )
    html = words_of(source)
    assert "x is 2." in html and "3.14</p>" in html
    assert "x = 2" not in html


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "# T\n\n```python\n1 / 0\n```\n",
            r"lesson/x.md, line 3: [\s\S]*line 4[\s\S]*ZeroDivisionError",
        ),
        ("# T\n\n```python\nif\n```\n", r"line 3: [\s\S]*SyntaxError"),
        ("# T\n\n{= nothing}\n", r"\{= nothing\} failed: name 'nothing' is not defined"),
        ("# T\n\n```python hidden\n1\n```\n", "line 3: no block can be hidden"),
        (
            "# T\n\n```python\nfrom matplotlib.figure import Figure\nFigure()\n```\n",
            "a chart needs alt=",
        ),
        ("only words\n", "a heading is missing"),
    ],
)
def test_a_mistake_in_a_lesson_text_is_reported_with_its_line(source: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        words_of(source)


def test_the_same_lesson_text_gives_the_same_page() -> None:
    source = (
        '# T\n\n```python alt="A line."\nfrom matplotlib.figure import Figure\n'
        "figure = Figure()\nfigure.subplots().plot([1, 2])\nfigure\n```\n"
    )
    assert words_of(source) == words_of(source)


MOVES = '# T\n\n::: interactive kind one="a < b" two="1, 2"\nThe same in *words*.\n:::\n'


def test_an_interactive_on_a_page_has_its_settings_and_a_description() -> None:
    page = BeautifulSoup(set_text(MOVES, Session("a text", {})).html, "html.parser")
    [place] = page.select("[data-interactive]")
    assert place["data-interactive"] == "kind"
    assert json.loads(str(place["data-settings"])) == {"one": "a < b", "two": "1, 2"}
    assert place.get_text(strip=True) == "The same inwords."


def test_only_pages_with_an_interactive_carry_its_script(site: Site) -> None:
    for name, page in site.items():
        has = bool(page.select("[data-interactive]"))
        scripts = "".join(script.get_text() for script in page.select("script"))
        assert ("class Value" in scripts) == has, name
        for place in page.select("[data-interactive]"):
            assert len(place.get_text(strip=True)) > 60, name
        for question in page.select("[data-interactive=ask]"):
            asked = json.loads(str(question["data-settings"]))
            assert asked["is"] in asked.get("of", asked["is"]).split(" | "), name
    assert sum(bool(page.select("div[data-interactive]")) for page in site.values()) == 7


@pytest.mark.parametrize(
    ("script", "says"), [(None, "no script in"), ("'</script>'", "which would end it")]
)
def test_a_missing_script_or_one_that_contains_an_end_tag_is_refused(
    tmp_path: Path, script: str | None, says: str
) -> None:
    (tmp_path / "course.toml").write_text('id = "a"\ntitle = "A"\n[lesson]\nfolder = "texts"\n')
    for kind in ("lesson", "slides", "scripts"):
        (tmp_path / "texts" / kind).mkdir(parents=True)
    for kind in ("lesson", "slides"):
        (tmp_path / "texts" / kind / "index.md").write_text(MOVES)
    if script is not None:
        (tmp_path / "texts/scripts/a.js").write_text(script)
    with pytest.raises(LessonError, match=says):
        build(Course(tmp_path), tmp_path / "out")
