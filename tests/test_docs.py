"""The site of docs/ builds, stands alone, is complete, and agrees with the code."""

from __future__ import annotations

import ast
import base64
import importlib
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import unquote, urlsplit

import click
import nbformat
import nbgrader.apps
import pytest
from bs4 import BeautifulSoup
from jupyter_client.manager import KernelManager
from mdit_py_plugins.anchors.index import slugify
from nbconvert.exporters import HTMLExporter
from traitlets import HasTraits
from traitlets.config import Configurable

from autograder.authoring.cookbook import _FOLDER, RECIPES
from autograder.commands.main import GROUPS, main
from autograder.course_folder.course import Course
from autograder.hub.exchange import CollectFromEach
from autograder.notebook.cards import _LOOKS
from autograder.pipeline.classroom import course_directory
from autograder.records import LOST

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


@pytest.fixture(scope="module")
def pages(docs_site: Path) -> dict[Path, BeautifulSoup]:
    return {
        path: BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for path in docs_site.rglob("*.html")
    }


@pytest.mark.external
def test_every_page_is_in_the_site_and_in_its_contents(pages, docs_site):
    shown = {link["href"] for link in pages[docs_site / "index.html"].select(".sidebar-tree a")}
    assert {f"{page.stem}.html" for page in PAGES} - {"index.html"} <= shown
    assert {f"{page.stem}.html" for page in PAGES} <= {path.name for path in pages}


@pytest.mark.external
def test_every_link_and_anchor_leads_somewhere(pages):
    for path, page in pages.items():
        for tag, name in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src")):
            for element in page.find_all(tag, attrs={name: True}):
                parts = urlsplit(element[name])
                if parts.scheme in ("http", "https", "data"):
                    continue
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                assert target.is_file(), f"{path.name}: {element[name]}"
                if parts.fragment and target in pages:
                    anchor = unquote(parts.fragment)
                    assert pages[target].find(id=anchor), f"{path.name}: {element[name]}"


def test_relative_links_of_every_page_lead_to_a_file_of_the_clone():
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", page.read_text("utf-8"))  # code is no link
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if not urlsplit(target).scheme and not target.startswith("#"):
                assert (DOCS / target.partition("#")[0]).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_and_make_targets_in_readme_and_contributing_exist(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not urlsplit(target).scheme:
            path, _, anchor = target.partition("#")
            assert (ROOT / path).exists(), target
            if anchor:
                held = (ROOT / path).read_text("utf-8")
                headings = re.findall(r"^#+ (.+)$", held, re.MULTILINE)
                assert anchor in map(slugify, headings), target
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in re.findall(r"(?:^    |`)make ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name


OF_ITS_OWN = "new-course.md"
FILE = re.compile(
    r"`((?:autograder|coursecheck|course|grading_tests|tests|benchmarks|docs)/[^`\s]+)`"
)


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_every_file_and_folder_that_a_page_names_exists(page):
    """Capital letters stand for any name; some files are made by the page's commands, and one page
    is about a course of its own."""
    for name in FILE.findall(page.read_text("utf-8")):
        if not re.search(r"[A-Z]{4}|square", name) and page.name != OF_ITS_OWN:
            assert (ROOT / name).exists(), name


ADVISED = re.compile(r"pip install (?!-)(.*?)(?:`|$|  #)", re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_commands_in_the_docs_install_packages_only_from_the_clone(page):
    """`performance.md` names the version of nbgrader that it compares with, and advises nothing."""
    for advised in ADVISED.findall(page.read_text("utf-8")):
        if (page.name, advised) != ("performance.md", "nbgrader"):
            assert all(each.strip("'").startswith(".") for each in advised.split()), advised


@pytest.mark.external
def test_pages_of_the_site_load_nothing_from_another_host(pages, docs_site):
    for path, page in pages.items():
        for element in page.find_all(["script", "img", "link", "iframe", "source", "object"]):
            for name in ("src", "href", "srcset", "data"):
                assert not urlsplit(element.get(name, "")).netloc, f"{path.name}: {element}"
    for style in docs_site.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", style.read_text("utf-8"), flags=re.DOTALL)
        for address in re.findall(r"url\(['\"]?([^'\")]*)|@import\s+['\"]?([^'\";]*)", text):
            assert not urlsplit("".join(address)).netloc, f"{style.name}: {address}"


@pytest.mark.external
def test_the_site_holds_no_notebook_and_no_test(docs_site):
    assert not {path.suffix for path in docs_site.rglob("*")} & {".ipynb", ".py", ".toml"}
    assert not (docs_site / "_downloads").exists()


# Commands.


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the tables below a heading, up to the next of its rank."""
    text = (DOCS / page).read_text("utf-8")
    rank = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert rank is not None
    rest = re.split(rf"^#{{1,{len(rank[1])}}} ", text[rank.end() :], flags=re.MULTILINE)[0]
    lines = re.findall(r"^\|(.+)\|$", rest, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines if "---" not in line]


def test_the_docs_list_commands_in_the_groups_that_help_prints():
    table: dict[str, list[str]] = {}
    for heading, verbs, _ in rows("commands.md", "The verbs")[1:]:
        group = heading or [*table][-1]
        table.setdefault(group, []).extend(verb.split()[0] for verb in names(verbs))

    assert table == {
        heading: [command.name for command in part.COMMANDS] for heading, part in GROUPS.items()
    }


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each command of `autograder` that a page has, in a block or in a line."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    fenced = "\n".join(re.findall(r"^```(?:ba)?sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^ {4}(autograder .+)$", text, re.MULTILINE)
    lines += re.findall(r"^(autograder .+)$", fenced, re.MULTILINE)
    for line in [*lines, *re.findall(r"`(autograder [^`\n]+)`", text)]:
        yield re.split(r" +#|[|>&;]", line)[0].split()[1:]


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists_with_its_options(page):
    for words in commands(page):
        command: click.Command = main
        rest = iter(word for word in words if word != "--help")
        for word in rest:
            if word.startswith("--"):
                [option] = [each for each in command.params if word in each.opts] or [None]
                assert isinstance(option, click.Option), words
                if not option.is_flag:
                    next(rest, None)
            elif isinstance(command, click.Group) and word.islower():
                assert word in command.commands, words
                command = command.commands[word]


def names(cell: str) -> list[str]:
    return [found[1] for found in CODE.findall(cell)]


def test_every_status_is_documented():
    documented = {
        name for row in rows("commands.md", "The status of an exercise") for name in names(row[0])
    }
    assert documented == {*LOST, *_LOOKS, "failed"}


def test_every_target_of_the_makefile_is_documented():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    [targets] = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert set(targets.split()) <= set(re.findall(r"`make ([a-z-]+)`", page))


# Settings.


def configurable() -> dict[str, type[HasTraits]]:
    """Return nbgrader's classes and this project's, by name."""
    own = [*nbgrader.apps.NbGraderApp().classes, HTMLExporter, CollectFromEach, KernelManager]
    for name in (
        "autograder.nbgrader_plugins.late_policy",
        "nbgrader.exchange",
        "nbgrader.exchange.default",
    ):
        own += vars(importlib.import_module(name)).values()
    return {
        each.__name__: each
        for each in own
        if isinstance(each, type) and issubclass(each, Configurable)
    }


def settings() -> set[str]:
    return set(re.findall(r"`c\.(\w+\.\w+)`", (DOCS / "settings.md").read_text("utf-8")))


def test_every_documented_setting_exists():
    known = configurable()
    for setting in settings():
        owner, _, name = setting.partition(".")
        assert name in known[owner].class_trait_names(config=True), setting


def test_every_setting_of_this_project_is_documented():
    config = course_directory(Course(ROOT)).config
    used = {f"{owner}.{name}" for owner, given in config.items() for name in given}
    hub = (ROOT / "autograder" / "src" / "autograder" / "hub" / "folders.py").read_text("utf-8")
    used |= set(re.findall(r"^c\.(\w+\.\w+) =", hub, re.MULTILINE))
    for owner, kind in configurable().items():
        if kind.__module__.startswith("autograder."):
            used |= {f"{owner}.{name}" for name in kind.class_own_traits(config=True)}
    assert used <= settings()


def test_every_class_that_a_page_names_exists():
    text = (DOCS / "settings.md").read_text("utf-8")
    for name in re.findall(r"`(autograder\.[\w.]+)`", text):
        assert resolve_name(name) is not None


def test_every_environment_variable_that_a_page_names_is_read():
    folders = (ROOT / "tests", ROOT / "autograder" / "tests")
    tests = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")]
    known = "\n".join([*sources(), *tests])
    for row in rows("settings.md", "Environment variables")[1:]:
        assert all(name in known for name in names(row[0]))


# Troubleshooting.

TOLD = (DOCS / "troubleshooting.md").read_text("utf-8")
QUOTED = re.findall(r"^- (`.+?`(?:, `.+?`)*): ", TOLD, re.MULTILINE)


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield every text in Python code but docstrings, filled-in values as "…"."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))
            and id(node) not in docstrings
        ):
            yield text_of(node)


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    return "…"


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax trees of all three packages."""
    folders = (ROOT / "autograder" / "src", ROOT / "autograder" / "coursecheck", ROOT / "course")
    return {
        path: ast.parse(path.read_text("utf-8"))
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    }


@cache
def sources() -> list[str]:
    """Return the texts in the code, and the lines of other files with words for people."""
    others = ["Makefile", "course/interactives/panel.js",
              "autograder/src/autograder/pages/feedback/page.html",
              "course/lesson/10-questions.md"]  # fmt: skip
    lines = [line for name in others for line in (ROOT / name).read_text("utf-8").splitlines()]
    return [*lines, *(text for tree in trees().values() for text in texts(tree))]


def quotes(symptom: str, text: str) -> bool:
    """Return whether the text holds the symptom's pieces, one after the other."""
    place = 0
    for piece in symptom.split("…"):
        place = text.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True


def is_in_the_code(symptom: str) -> bool:
    return any(quotes(symptom, text) for text in sources())


def test_the_table_of_folders_is_in_the_import_order():
    page = (DOCS / "how-it-works.md").read_text("utf-8")
    table = page.partition("| place | holds |")[2].partition("\n\n")[0]
    firsts = "".join(re.findall(r"^(\|[^|]+)\|", table, re.MULTILINE))
    order = runpy.run_path(str(ROOT / "autograder/tests/test_architecture.py"))["ORDER"]
    assert re.findall(r"`(\w+)(?:/|\.py)`", firsts) == [e for e in order if e != "__main__"]


def test_every_message_in_troubleshooting_is_in_the_code():
    documented = {message for quoted in QUOTED for message in names(quoted)}
    assert len(documented) > 100
    assert {message for message in documented if not is_in_the_code(message)} == set()


@pytest.mark.parametrize("folder", ["source", "release"])
def test_each_notebook_begins_with_its_cover_picture(folder):
    from readme_pictures import READER, covers

    descriptions = {"value": READER} | {name: words for name, (_, words) in covers().items()}
    for name, words in descriptions.items():
        title = nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4).cells[0]
        assert f"![{words}.](attachment:cover.png)" in title.source
        picture = base64.b64decode(title.attachments["cover.png"]["image/png"])
        assert picture.startswith(b"\x89PNG") and len(picture) < 80_000
        assert (b"acTL" in picture) == (name == "value")  # the part of a PNG that moves


def test_the_readme_s_graph_is_what_draw_graph_draws():
    from readme_pictures import FOLDER, graph

    assert (FOLDER / "graph.svg").read_text("utf-8") == graph()
    for name in ("graph.svg", "check.png", "feedback.png"):
        assert f"(docs/pictures/{name})" in (ROOT / "README.md").read_text("utf-8")
        assert 1_000 < (FOLDER / name).stat().st_size < 100_000


def test_the_cookbook_shows_the_code_of_each_recipe():
    page = (DOCS / "cookbook.md").read_text("utf-8")
    assert set(re.findall(r"autograder new \w+ --like (\w+)", page)) == set(RECIPES)
    texts = [path.read_text("utf-8") for path in _FOLDER.rglob("*.py")]
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        assert any(block in text for text in texts), block
