"""Makes the feedback on one attempt, and delivers it to its student."""

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
from ...nbgrader_plugins.autograde import COURSE, HideTests
from ...notebook.intake import RECEIPTS, read_plain_file
from ...pages.feedback.exporter import feedback_page
from ...pages.templates import templates
from .attempts import OVER, WAITING, Attempt

NOTHING = "Taken in. It is graded, and what is found is shown after the due date."
"""Text for each attempt while its results are hidden."""

WRONG = "not right yet"
_STATUS = {"passed": "right", "partial": "partly right", "manual": "waits for a person",
           "missing": "not started", "ungraded": "waits for a person"}  # fmt: skip


def whole_page(course: Path, attempt: Attempt, graded: Graded, penalty: float) -> str:
    """Return the feedback page on an attempt, as `nbgrader generate_feedback` would make it now.

    Args:
        graded: the outcome of its grading.
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
    resources: dict[str, Any] = {"nbgrader": about, COURSE: course}
    notebook, resources = HideTests().preprocess(notebook, resources)
    return feedback_page(notebook, resources)


@dataclass(frozen=True)
class Shown:
    """The visible part of an attempt. Students' pages are made from this, and never from `Attempt`.

    Attributes:
        submitted: when it was handed in, in UTC; None if unknown.
        text: its state in words; "" if its results are shown.
        points: earned and possible points; None if they are hidden.
        lines: as `lines_of` makes them.
        counts: whether the page says that it gives the mark.
    """

    id: int
    assignment: str
    submitted: datetime | None
    text: str = ""
    points: tuple[float, float] | None = None
    lines: tuple[dict[str, Any], ...] = ()
    counts: bool = False


def shown(attempt: Attempt, level: str, wait: str, with_lines: bool = True) -> Shown:
    """Return the part of an attempt that a student may see.

    Args:
        level: one of `settings.SHOWN`. Only at the last one the page says which attempt counts,
            since that is decided by points.
        wait: the text for an attempt that is not graded yet; at the first level it has to be the
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
    """Return the visible part of each exercise: title and result, at the last level the mistake."""
    if level == "nothing":
        return []
    lines = []
    for each in attempt.report.get("exercises", ()):
        went = _STATUS.get(each["status"], WRONG)
        is_shown = level == "mistakes"
        lines.append(
            {
                "title": each["title"] or each["id"],
                "kind": {"right": "passed", "partly right": "partial", WRONG: "failed"}.get(
                    went, ""
                ),
                "went": went,
                "message": each["message"].split("\n\n")[0] if is_shown and went != "right" else "",
                "points": each["points"] if is_shown else None,
                "max_points": each["max_points"],
            }
        )
    return lines


@cache
def pages() -> Environment:
    """Return the templates of the service's pages."""
    return templates(__package__)


def page_shown(attempt: Attempt, level: str, whole: Path) -> bytes:
    """Return the page that a student may read now: the whole feedback, or the list of exercises."""
    if level == "mistakes":
        return whole.read_bytes()
    page = pages().get_template("short.html")
    return page.render(shown=shown(attempt, level, "")).encode()


def release(attempt: Attempt, page: bytes, files: Path, exchange: Path) -> None:
    """Put a page into the exchange, for nbgrader's *Fetch Feedback* of this very submission."""
    try:
        secret = read_plain_file(files / RECEIPTS[1], most=1000).decode()
    except (UnreadableNotebook, UnicodeDecodeError):  # An upload has no such file.
        return
    folder = exchange / "feedback"
    if not secret or not folder.is_dir():
        return
    # nbgrader looks for a page by the name of each notebook, and students rename theirs.
    names = {attempt.assignment, *(path.stem for path in files.glob("*.ipynb"))}
    for name in names:
        target = folder / f"{notebook_hash(secret=secret, notebook_id=name)}.html"
        write_whole(target, page, 0o644)
