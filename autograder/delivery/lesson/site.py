"""Assembles the pages: order, contents, links to the page before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jinja2
import matplotlib
from matplotlib.figure import Figure

from ...course_folder.modules import course_object
from ...course_folder.settings import load_settings
from ...errors import LessonError
from .code_blocks import Session
from .pictures import CHART_STYLE
from .rendering import Text, set_text

__all__ = ["LessonError", "build"]

LOOK = Path(__file__).with_name("look")


NOTEBOOK = "../{name}/{name}.ipynb"  # from a page of the lesson


def build(
    course: Path, folder: Path, beside: Sequence[str] = (), link: str = NOTEBOOK
) -> list[Path]:
    """Write the lesson to `folder` and the slides to `folder/slides`.

    Each page is one file with all that it needs: programs that show a single page, such as
    JupyterLab, do not fetch files beside it.

    Args:
        course: the clone with the text and the notebooks.
        folder: the target; it is made if it is missing.
        beside: assignments whose notebooks lie beside `folder`, each in a folder of its own name.
            The pages lead to these, and name the others only.
        link: the address of a notebook, seen from `folder`, with `{name}` for an assignment's name.

    Returns:
        The pages, the lesson's first one first.

    Raises `LessonError` if code in the text failed, or the text is invalid.
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
    settings = load_settings(course)
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


def _sources(course: Path, kind: str) -> list[Path]:
    """Return the texts in the order of reading, which is that of their names, the index first."""
    settings = load_settings(course)
    folder = settings.package_home(course) / settings.lesson.folder / kind
    found = sorted(folder.glob("*.md"), key=lambda p: (p.stem != "index", p))
    if not found:
        raise LessonError(f"there is no text in {folder}")
    return found


def _scripts(course: Path, texts: Sequence[Text]) -> dict[str, str]:
    """Return the scripts and styles for a page with interactives, by "js" and "css"."""
    if not any("data-interactive=" in text.html for text in texts):
        return {}
    settings = load_settings(course)
    folder = settings.package_home(course) / settings.lesson.folder / "scripts"
    found = {
        kind: "\n".join(path.read_text("utf-8") for path in sorted(folder.glob(f"*.{kind}")))
        for kind in ("js", "css")
    }
    if not found["js"]:
        raise LessonError(f"a text has an interactive, and there is no script in {folder}")
    if "</script" in found["js"].lower():
        raise LessonError(f"a script in {folder} holds “</script”, which would end it on the page")
    return found


def _page(course: Path, path: Path, notebooks: Mapping[str, str]) -> Text:
    return set_text(path.read_text("utf-8"), _session(course, path), notebooks=notebooks)


def _deck(course: Path, path: Path, notebooks: Mapping[str, str]) -> list[Text]:
    """Return the slides of a deck; a line of three dashes stands between them."""
    session = _session(course, path)
    return [
        set_text(part, session, line, notebooks) for line, part in _slides(path.read_text("utf-8"))
    ]


def _slides(source: str) -> Iterator[tuple[int, str]]:
    line = 1
    for part in re.split(r"^---\n", source, flags=re.MULTILINE):
        yield line, part
        line += part.count("\n") + 1


def _session(course: Path, path: Path) -> Session:
    """Return a session with the names for a text's examples: `Figure`, and the course's own."""
    settings = load_settings(course)
    place = settings.lesson.names
    names = course_object(course, place)(course) if place else {}
    scope = {"Figure": Figure, **names}
    return Session(str(path.relative_to(settings.package_home(course))), scope)


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8")
    return path
