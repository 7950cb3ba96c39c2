"""Makes the feedback on one attempt, and puts it where the student looks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment
from nbgrader.utils import notebook_hash

from ...errors import UnreadableNotebook
from ...files import write_whole
from ...model import Graded
from ...nbgrader_plugins.autograde import HideTests
from ...notebook.intake import RECEIPTS, read_plain_file
from ...pages.feedback.exporter import feedback_page
from ...pages.templates import templates
from .attempts import OVER, WAITING, Attempt

NOTHING = "Taken in. It is graded, and what is found is shown after the due date."
"""The words for each attempt while nothing may be shown of it."""

WRONG = "not right yet"
_STATUS = {"passed": "right", "partial": "partly right", "manual": "waits for a person",
           "missing": "not started", "ungraded": "waits for a person"}  # fmt: skip


def whole_page(attempt: Attempt, graded: Graded, penalty: float) -> str:
    """The feedback page on an attempt, as `nbgrader generate_feedback` would make it now.

    Args:
        graded: what became of it.
        penalty: points that are taken off for being late.
    """
    notebook = nbformat.v4.reads(graded.text)
    score = most = 0.0
    for cell in notebook.cells:
        own = cell.metadata.get("nbgrader") or {}
        if own.get("grade") or own.get("task"):
            points = graded.marks.points.get(own["grade_id"]) if graded.marks else None
            own.update(score=points or 0.0, by_hand=False, waits=points is None)
            score += points or 0.0
            most += own["points"]
    about: dict[str, Any] = {
        "student": attempt.student,
        "notebook": attempt.assignment,
        "score": score - penalty,
        "max_score": most,
        "late_penalty": penalty,
    }
    resources: dict[str, Any] = {"nbgrader": about}
    notebook, resources = HideTests().preprocess(notebook, resources)
    return feedback_page(notebook, resources)


@dataclass(frozen=True)
class Shown:
    """An attempt as its student may see it: their pages are made of this, and of no `Attempt`.

    Attributes:
        submitted: when it was handed in, in UTC; None where nothing says.
        text: how it is with it, in words; empty where its results say so.
        points: earned and to be had; None where they are not shown.
        lines: as `lines_of` makes them.
        counts: whether it is shown that the mark is of this one.
    """

    id: int
    assignment: str
    submitted: datetime | None
    text: str = ""
    points: tuple[float, float] | None = None
    lines: tuple[dict[str, Any], ...] = ()
    counts: bool = False


def shown(attempt: Attempt, level: str, wait: str, with_lines: bool = True) -> Shown:
    """The part of an attempt that a student may see.

    Args:
        level: one of `settings.SHOWN`. Only at the last one it is told which attempt counts, since
            that is decided by points.
        wait: how it is with an attempt that is not graded yet; at the first level it has to be the
            same once it is graded.
    """
    about = Shown(attempt.id, attempt.assignment, attempt.submitted)
    if attempt.state == OVER:
        return replace(about, text="Not graded: all attempts were used before.")
    if level == "nothing":
        return replace(about, text=wait or NOTHING)
    if attempt.state == WAITING:
        return replace(about, text=wait)
    about = replace(about, counts=attempt.counts and level == "mistakes")
    if attempt.error:
        return replace(about, text=f"Nothing in it could be graded: {attempt.error}")
    lines = tuple(lines_of(attempt, level)) if with_lines else ()
    points = (attempt.points or 0.0, attempt.max_points or 0.0) if level == "mistakes" else None
    return replace(about, points=points, lines=lines)


def lines_of(attempt: Attempt, level: str) -> list[dict[str, Any]]:
    """What may be shown of each exercise: its title and how it went; the mistake at the most."""
    if level == "nothing":
        return []
    lines = []
    for each in attempt.report.get("exercises", ()):
        went = _STATUS.get(each["status"], WRONG)
        is_told = level == "mistakes"
        lines.append(
            {
                "title": each["title"] or each["id"],
                "kind": {"right": "passed", "partly right": "partial", WRONG: "failed"}.get(
                    went, ""
                ),
                "went": went,
                "message": each["message"].split("\n\n")[0] if is_told and went != "right" else "",
                "points": each["points"] if is_told else None,
                "max_points": each["max_points"],
            }
        )
    return lines


@cache
def pages() -> Environment:
    """The templates of the service's pages."""
    return templates(__package__)


def page_shown(attempt: Attempt, level: str, whole: Path) -> bytes:
    """The page that a student may read now: the whole feedback, or which exercises are right."""
    if level == "mistakes":
        return whole.read_bytes()
    page = pages().get_template("short.html")
    return page.render(shown=shown(attempt, level, "")).encode()


def release(attempt: Attempt, page: bytes, files: Path, exchange: Path) -> None:
    """Put a page into the exchange, for nbgrader's *Fetch Feedback* of this very submission."""
    try:
        secret = read_plain_file(files / RECEIPTS[1], most=1000).decode()
    except (UnreadableNotebook, UnicodeDecodeError):  # It did not come by the exchange.
        return
    folder = exchange / "feedback"
    if not secret or not folder.is_dir():
        return
    # nbgrader looks for a page by the name of each notebook, and students rename theirs.
    names = {attempt.assignment, *(path.stem for path in files.glob("*.ipynb"))}
    for name in names:
        target = folder / f"{notebook_hash(secret=secret, notebook_id=name)}.html"
        write_whole(target, page, 0o644)
