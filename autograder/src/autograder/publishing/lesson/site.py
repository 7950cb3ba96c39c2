"""Writes the lesson's pages in order, with a table of contents and links to neighbouring pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jinja2
import matplotlib
from matplotlib.figure import Figure

from ...course_folder.course import Course
from ...course_folder.modules import course_object
from ...errors import LessonError
from .code_blocks import Session
from .pictures import CHART_STYLE
from .rendering import Text, set_text

LOOK = Path(__file__).with_name("look")
NOTEBOOK = "../{name}/{name}.ipynb"  # a notebook's address, relative to a page of the lesson


def build(
    course: Course, folder: Path, beside: Sequence[str] = (), link: str = NOTEBOOK
) -> list[Path]:
    """Write the lesson to `folder` and the slides to `folder/slides`.

    Each page is self-contained: programs that show a single page, such as JupyterLab, do not load
    other files for it.

    Args:
        course: the course folder, with the texts and the notebooks.
        folder: the target folder, created if missing.
        beside: the assignments to whose notebooks the pages link. Other assignments' names are
            shown without a link.
        link: the address of a notebook, relative to `folder`, with `{name}` for the assignment's
            name.

    Returns:
        The paths of the pages: the lesson's in the order of reading, then the slides'.

    Raises `LessonError` if code in a text failed, or a text is invalid.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(LOOK), autoescape=True, undefined=jinja2.StrictUndefined
    )
    with matplotlib.rc_context(CHART_STYLE):
        near = {name: link.format(name=name) for name in beside}
        texts = {path.stem: _page(course, path, near) for path in _sources(course, "lesson")}
        near = {name: f"../{place}" for name, place in near.items()}
        decks = {path.stem: _deck(course, path, near) for path in _sources(course, "slides")}
    written = []
    settings = course.settings
    names = list(texts)
    for number, name in enumerate(names):
        page = templates.get_template("page.html").render(
            course=settings.title,
            browser=settings.browser,
            scripts=_scripts(course, [texts[name]]),
            texts=texts,
            decks=decks,
            name=name,
            before=names[number - 1] if number else None,
            after=names[number + 1] if number + 1 < len(names) else None,
        )
        written.append(_write(folder / f"{name}.html", page))
    for name, slides in decks.items():
        deck = templates.get_template("deck.html").render(
            course=settings.title, scripts=_scripts(course, slides), slides=slides
        )
        written.append(_write(folder / "slides" / f"{name}.html", deck))
    return written


def opening(course: Course) -> dict[str, str]:
    """Return what the lesson's first page begins with.

    Returns:
        The text between the title and the first heading, as HTML, under the key "html", and what
        its interactives need under "js" and "css".
    """
    text = _page(course, _sources(course, "lesson")[0], {})
    begin = re.sub(r".*</h1>|<h2.*", "", text.html, flags=re.DOTALL)
    return {"html": begin, **_scripts(course, [text])}


def _sources(course: Course, kind: str) -> list[Path]:
    """Return the paths of the texts in the order of reading: the index, then the others by name.

    Args:
        kind: the folder of the texts, "lesson" or "slides".
    """
    folder = course.package_home / course.settings.lesson.folder / kind
    found = sorted(folder.glob("*.md"), key=lambda p: (p.stem != "index", p))
    if not found:
        raise LessonError(f"there is no text in {folder}")
    return found


def _scripts(course: Course, texts: Sequence[Text]) -> dict[str, str]:
    """Return the course's scripts under the key "js", and its styles under "css".

    Without an interactive element in the page's texts, return {}.
    """
    if not any("data-interactive=" in text.html for text in texts):
        return {}
    folder = course.package_home / course.settings.lesson.folder / "scripts"
    found = {
        kind: "\n".join(path.read_text("utf-8") for path in sorted(folder.glob(f"*.{kind}")))
        for kind in ("js", "css")
    }
    if not found["js"]:
        raise LessonError(f"a text has an interactive, and there is no script in {folder}")
    if "</script" in found["js"].lower():
        raise LessonError(f"a script in {folder} holds “</script”, which would end it on the page")
    return found


def _page(course: Course, path: Path, notebooks: Mapping[str, str]) -> Text:
    return set_text(path.read_text("utf-8"), _session(course, path), notebooks=notebooks)


def _deck(course: Course, path: Path, notebooks: Mapping[str, str]) -> list[Text]:
    """Return the slides of a deck, which lines of three dashes separate in its file."""
    session = _session(course, path)
    return [
        set_text(part, session, line, notebooks) for line, part in _slides(path.read_text("utf-8"))
    ]


def _slides(source: str) -> Iterator[tuple[int, str]]:
    line = 1
    for part in re.split(r"^---\n", source, flags=re.MULTILINE):
        yield line, part
        line += part.count("\n") + 1


def _session(course: Course, path: Path) -> Session:
    """Return a session for a text, whose code can use `Figure` and the names in `lesson.names`."""
    place = course.settings.lesson.names
    names = course_object(course, place)(course) if place else {}
    scope = {"Figure": Figure, **names}
    return Session(str(path.relative_to(course.package_home)), scope)


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8")
    return path
