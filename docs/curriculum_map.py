"""Says where the course covers what it set out to cover: `docs/curriculum-map.md`.

`docs/curriculum-map.toml` holds one row for everything that is asked for, with the places that
answer it. `make map` sets it as a page. A place that is not there, or does
not hold the words that it should, is an error.

    value:add                       a cell of a notebook, by its grade_id or its id
    value:add-x-plus-x ~ y = x + x  the same, and it must hold these words
    lesson:04-backward#slug         a page of the lesson, or a heading on it
    slides:1-graph#slug             a slide
    tests:value.TestAdd.test_adds   a hidden test, or a class of them
    code:course.draw.draw_graph     something that can be imported
    file:benchmarks/pytorch_xor.py  a file
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from mdit_py_plugins.anchors.index import slugify

from autograder.course_folder.assignments import find_course
from autograder.errors import CourseError

DATA = "docs/curriculum-map.toml"
PAGE = "docs/curriculum-map.md"

_TITLE = "# Where everything is"
_INTRO = f"""\
What the course set out to cover, row by row, and where a reader finds it. This page is made from
`{DATA}` by `make map`. A test proves that it is current, that every place is there, and
that no exercise, page, deck, interactive, picture or data set is left out.

In a notebook, a cell goes by the heading above it and its name: the exercise's id for a cell that
is graded, the cell's own id for others."""


@dataclass(frozen=True)
class Place:
    """Somewhere in the course.

    Attributes:
        kind: "lesson", "slides", "tests", "code", "file", or an assignment's name for a cell.
        name: what it is called there.
        label: how it is shown to a reader.
        link: where a link on the page leads, empty for none.
    """

    kind: str
    name: str
    label: str
    link: str = ""

    def __str__(self) -> str:
        return f"[{self.label}]({self.link})" if self.link else self.label


@dataclass(frozen=True)
class Row:
    """Something that is asked for, and where it is."""

    asked: str
    places: list[Place]


@dataclass(frozen=True)
class Section:
    """Rows that belong together.

    Attributes:
        title: the heading.
        about: a sentence or two on where the rows come from.
        rows: in the order of the data.
    """

    title: str
    about: str
    rows: list[Row]


def read_map(course: Path) -> list[Section]:
    """The sections of the map, every place looked up.

    Raises:
        CourseError: a place is not there, a row has none, or a section has lost a row.
    """
    data = tomllib.loads((course / DATA).read_text("utf-8"))
    return [_section(course, entry) for entry in data["section"]]


def page_text(course: Path) -> str:
    """The map as a page in Markdown."""
    parts = [_TITLE, _INTRO]
    for section in read_map(course):
        lines = ["| what is asked for | where it is |", "|---|---|"]
        lines += [
            f"| {_cell(row.asked)} | {'<br>'.join(_cell(str(place)) for place in row.places)} |"
            for row in section.rows
        ]
        parts += [f"## {section.title}", section.about.strip(), "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _section(course: Path, entry: dict[str, Any]) -> Section:
    rows = []
    for asked, places in entry["asked"].items():
        if not places:
            raise CourseError(f"{DATA}: nowhere in the course: {asked!r}")
        try:
            rows.append(Row(asked, [find_place(course, place) for place in places]))
        except CourseError as error:
            raise CourseError(f"{DATA}, {asked!r}: {error}") from error
    if len(rows) != entry["rows"]:
        raise CourseError(
            f"{DATA}: {entry['title']!r} shall have {entry['rows']} rows and has {len(rows)}"
        )
    return Section(entry["title"], entry["about"], rows)


def find_place(course: Path, text: str) -> Place:
    """Look up a place. Raises `CourseError` if it is not there or lacks the words it must hold."""
    spelled, _, words = text.partition(" ~ ")
    kind, _, name = spelled.partition(":")
    if kind in ("lesson", "slides"):
        place, holds = _heading(course, kind, name)
    elif kind == "tests":
        place, holds = _test(course, name)
    elif kind == "code":
        place, holds = _importable(name), ""
    elif kind == "file":
        path = course / name
        if not path.is_file():
            raise CourseError(f"there is no file {name}")
        place, holds = Place(kind, name, f"`{name}`", f"../{name}"), path.read_text("utf-8")
    else:
        place, holds = _notebook_cell(course, kind, name)
    if words not in holds:
        raise CourseError(f"{spelled} does not hold the words {words!r}")
    return place


def _notebook_cell(course: Path, assignment: str, name: str) -> tuple[Place, str]:
    for cell_name, heading, source in _cells(
        course / "source" / assignment / f"{assignment}.ipynb"
    ):
        if name in cell_name:
            label = f"{assignment}: {heading}, `{name}`"
            return Place(
                assignment, name, label, f"../release/{assignment}/{assignment}.ipynb"
            ), source
    raise CourseError(f"there is no cell {name!r} in the notebook {assignment!r}")


@lru_cache
def _cells(path: Path) -> list[tuple[set[str], str, str]]:
    """Of each cell its names, the heading that it stands below, and its source."""
    if not path.is_file():
        raise CourseError(f"there is no notebook {path.stem!r}")
    cells, heading = [], ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            found = re.search(
                # Three of these mark a written answer's solution and are nbgrader's own.
                r"^#+ (?!(?:BEGIN|END) SOLUTION)(.+)$",
                re.sub(r"^```.*?^```$", "", cell.source, flags=_LINES),
                re.M,
            )
            heading = found.group(1) if found else heading
        names = {cell.id, cell.metadata.get("nbgrader", {}).get("grade_id", cell.id)}
        cells.append((names, heading, cell.source))
    return cells


_LINES = re.DOTALL | re.MULTILINE


def _heading(course: Path, kind: str, name: str) -> tuple[Place, str]:
    page, _, slug = name.partition("#")
    path = course / "course" / kind / f"{page}.md"
    if not path.is_file():
        raise CourseError(f"there is no text {path.name} in course/{kind}")
    text = path.read_text("utf-8")
    prose = re.sub(
        r"^```.*?^```$", lambda code: "\n" * code.group().count("\n"), text, flags=_LINES
    )
    found = list(re.finditer(r"^(#+) (.+)$", prose, re.MULTILINE))
    lines = text.splitlines()
    for number, heading in enumerate(found):
        words = heading.group(2).replace("`", "")
        if slugify(words) == slug or (not slug and number == 0):
            first = prose.count("\n", 0, heading.start())
            later = [h for h in found[number + 1 :] if not slug or h.group(1) <= heading.group(1)]
            last = prose.count("\n", 0, later[0].start()) if later and slug else len(lines)
            kinds = {"lesson": "lesson", "slides": "slide"}
            link = f"../course/{kind}/{page}.md" + (f"#{slug}" if slug else "")
            return Place(kind, name, f"{kinds[kind]}: {words}", link), "\n".join(lines[first:last])
    raise CourseError(f"there is no heading {slug!r} in course/{kind}/{page}.md")


def _test(course: Path, name: str) -> tuple[Place, str]:
    assignment, _, rest = name.partition(".")
    path = course / "grading_tests" / f"test_{assignment}.py"
    if not path.is_file():
        raise CourseError(f"there is no {path.name} in grading_tests")
    body: list[ast.stmt] = ast.parse(path.read_text("utf-8")).body
    source = ""
    for part in rest.split("."):
        found = [
            node
            for node in body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == part
        ]
        if not found:
            raise CourseError(f"there is no {rest} in {path.name}")
        body, source = found[0].body, ast.get_docstring(found[0]) or ""
    label = f"hidden test `{rest}`" if "." in rest else f"hidden tests `{rest}`"
    return Place("tests", name, label, f"../grading_tests/{path.name}"), source


def _importable(name: str) -> Place:
    module, _, attribute = name.rpartition(".")
    try:
        getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise CourseError(f"{name} cannot be imported") from error
    return Place("code", name, f"`{name}`")


def main() -> int:
    """Write the page; returns the exit status."""
    course = find_course(Path(__file__).parent)
    try:
        text = page_text(course)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    (course / PAGE).write_text(text, "utf-8")
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
