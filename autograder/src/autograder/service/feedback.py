"""Renders and delivers the part of an attempt's feedback that the student may see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash

from ..course_folder.course import COURSE, Course
from ..errors import CourseError, UnreadableNotebook
from ..files import write_atomic
from ..gradebook.class_results import ClassResults, StudentResult, class_results
from ..isolation import isolated_errors
from ..nbgrader_plugins.autograde import HideTests
from ..notebook.intake import RECEIPTS, read_plain_file
from ..pages.feedback import (
    ReadMarks,
    StoredMarks,
    course_rubrics,
    is_current,
    stored_marks,
)
from ..pages.feedback.exporter import feedback_page
from ..pages.templates import templates
from ..records import GradedNotebook, Status
from .attempts import GRADED, OVER, REFUSED, WAITING, Attempt

NOTHING = "Taken in. It is graded, and what is found is shown after the due date."
"""Text on every attempt, graded or not, while its results are hidden from the student."""

WRONG = "not right yet"
_STATUS = {
    Status.PASSED: "right",
    Status.PARTIAL: "partly right",
    Status.MANUAL: "waits for a person",
    Status.MISSING: "not started",
    Status.UNGRADED: "waits for a person",
}


class CountingPages:
    """Renders the full feedback pages of attempts that count, with the gradebook's marks and
    comments."""

    def __init__(self, course: Course, folders: CourseDirectory) -> None:
        self._course = course
        self._folders = folders

    def stored(self, name: str, student: str | None = None) -> dict[str, StoredMarks]:
        """Return the gradebook's marks of an assignment by student id, for one student or all."""
        place = self._course.notebook_path(name)
        rubrics = course_rubrics(self._course, place.folder, place.notebook)
        return stored_marks(self._folders.db_url, place.folder, place.notebook, student, rubrics)

    def is_current(self, attempt: Attempt, page: Path, stored: StoredMarks | None) -> bool:
        """Return whether a page is up to date, or cannot be rendered again.

        Args:
            page: the path of the attempt's feedback page.
            stored: the gradebook's marks; None if it has none, so that the page cannot be rendered.
        """
        path = self._graded(attempt)
        return stored is None or not path.exists() or is_current(page, path, stored)

    def now(self, attempt: Attempt, page: Path) -> bytes:
        """Return the content of an attempt's feedback page.

        A page of an attempt that counts is rendered again if it does not show the gradebook's
        marks. If that fails, the old page is returned.

        Args:
            page: the path of the page.
        """
        if attempt.counts:
            stored = self.stored(attempt.assignment, attempt.student).get(attempt.student)
            if not self.is_current(attempt, page, stored):
                with isolated_errors(f"{attempt.assignment} of {attempt.student}"):
                    return self.make(attempt)
        return page.read_bytes()

    def make(self, attempt: Attempt) -> bytes:
        """Render the page that `nbgrader generate_feedback` would write now; return its content."""
        place = self._course.notebook_path(attempt.assignment)
        about = {
            "student": attempt.student,
            "assignment": place.folder,
            "notebook": place.notebook,
            "db_url": self._folders.db_url,
        }
        resources: dict[str, Any] = {"nbgrader": about, COURSE: self._course}
        notebook = nbformat.v4.reads(self._graded(attempt).read_text("utf-8"))
        for step in (ReadMarks(), HideTests()):
            notebook, resources = step.preprocess(notebook, resources)
        return feedback_page(notebook, resources).encode()

    def _graded(self, attempt: Attempt) -> Path:
        place, folders = self._course.notebook_path(attempt.assignment), self._folders
        graded = folders.autograded_directory
        folder = folders.format_path(graded, attempt.student, place.folder)
        return Path(folder) / f"{place.notebook}.ipynb"


def marked(gradebook: Gradebook, attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts; those that count have the points that the gradebook holds now.

    An instructor may have changed the points since the attempt was graded.
    """
    counting = [each for each in attempts if each.counts and each.state == GRADED]
    students = {each.student for each in counting}
    only = next(iter(students)) if len(students) == 1 else None
    classes: dict[str, ClassResults] = {}
    # SQLAlchemy would return objects of an earlier call, without later changes by other programs.
    gradebook.db.expire_all()
    try:
        for name in {each.assignment for each in counting}:
            with suppress(CourseError):  # The assignment is not in the gradebook any more.
                classes[name] = class_results(gradebook, name, only)
    finally:
        gradebook.db.commit()
    results = {
        (name, result.student): (class_result, result)
        for name, class_result in classes.items()
        for result in class_result.submitted
    }
    counting_ids = {each.id for each in counting}
    return [
        _marked(each, *results[each.assignment, each.student])
        if each.id in counting_ids and (each.assignment, each.student) in results
        else each
        for each in attempts
    ]


def _marked(attempt: Attempt, results: ClassResults, result: StudentResult) -> Attempt:
    """Return an attempt with its points from the gradebook."""
    exercises = [
        _marked_exercise(each, results, result) for each in attempt.report.get("exercises", ())
    ]
    report = {**attempt.report, "exercises": exercises}
    return replace(attempt, points=result.score, max_points=results.max_score, report=report)


def _marked_exercise(
    exercise: dict[str, Any], results: ClassResults, result: StudentResult
) -> dict[str, Any]:
    """Return an exercise of a report with its points and status from the gradebook."""
    name, status = exercise["id"], exercise["status"]
    points = result.points.get(name, exercise["points"])
    # A bonus exercise is worth 0 points in nbgrader: only the report has its maximum.
    most = results.max_points.get(name) or exercise["max_points"]
    if points is None or (points, most) == (exercise["points"], exercise["max_points"]):
        return exercise | {"max_points": most}
    if points >= most:
        status = Status.PASSED
    elif points > 0:
        status = Status.PARTIAL
    elif status in (Status.PASSED, Status.PARTIAL, Status.MANUAL, Status.UNGRADED):
        status = Status.FAILED
    by_person = exercise["points"] is None
    message = "" if by_person else exercise["message"]
    more = {"points": points, "max_points": most, "status": status, "message": message}
    return exercise | more


def whole_page(course: Course, attempt: Attempt, graded: GradedNotebook, penalty: float) -> str:
    """Return the full feedback page, as HTML, on an attempt that does not count.

    The gradebook holds no marks of this attempt.

    Args:
        graded: the outcome of the attempt's grading.
        penalty: the late penalty in points.
    """
    notebook = nbformat.v4.reads(graded.text)
    score = most = 0.0
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader") or {}
        if metadata.get("grade") or metadata.get("task"):
            points = graded.marks.points.get(metadata["grade_id"]) if graded.marks else None
            # The metadata that `ReadMarks` sets from the gradebook for an attempt that counts.
            metadata.update(score=points or 0.0, by_hand=False, waits=points is None)
            score += points or 0.0
            most += metadata["points"]
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
class VisibleAttempt:
    """The part of an attempt that its student may see; students' pages use no other data of it.

    Attributes:
        submitted: when the attempt was handed in, in UTC; None if unknown.
        text: a sentence on the attempt's state; "" if its results are shown.
        points: earned and possible points; None if they are hidden.
        lines: one for each exercise, as `lines_of` returns them.
        counts: whether the page says that this attempt gives the mark.
    """

    id: int
    assignment: str
    submitted: datetime | None
    text: str = ""
    points: tuple[float, float] | None = None
    lines: tuple[dict[str, Any], ...] = ()
    counts: bool = False


def visible_part(
    attempt: Attempt, level: str, wait: str, with_lines: bool = True
) -> VisibleAttempt:
    """Return the part of an attempt that its student may see.

    Args:
        level: one of `settings.SHOWN`. Only at the level "mistakes" the student learns which
            attempt counts, since that depends on the points.
        wait: the text for an attempt that is not graded yet. At the level "nothing" the same text
            is shown after the grading, so that the time of grading stays hidden.
        with_lines: whether to include the results of the exercises.
    """
    visible = VisibleAttempt(attempt.id, attempt.assignment, attempt.submitted)
    if attempt.state == OVER:
        return replace(visible, text="Not graded: all attempts were used before.")
    if attempt.state == REFUSED:
        text = f"Nothing in it can be graded, so it does not count: {attempt.error}"
        return replace(visible, text=text)
    if level == "nothing":
        return replace(visible, text=wait or NOTHING)
    if attempt.state == WAITING:
        return replace(visible, text=wait)
    visible = replace(visible, counts=attempt.counts and level == "mistakes")
    if attempt.error:
        return replace(visible, text=f"Nothing in it could be graded: {attempt.error}")
    lines = tuple(lines_of(attempt, level)) if with_lines else ()
    points = (attempt.points or 0.0, attempt.max_points or 0.0) if level == "mistakes" else None
    return replace(visible, points=points, lines=lines)


def lines_of(attempt: Attempt, level: str) -> list[dict[str, Any]]:
    """Return the visible part of each exercise for a template, as a dict.

    The dict has id, title and result; at the level "mistakes", also message and points. There are
    none at the level "nothing".
    """
    if level == "nothing":
        return []
    lines = []
    for each in attempt.report.get("exercises", ()):
        went = _STATUS.get(each["status"], WRONG)
        is_shown = level == "mistakes"
        lines.append(
            {
                "id": each["id"],
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
    """Return the Jinja environment with the templates of the service's pages."""
    return templates(__package__)


def visible_page(attempt: Attempt, level: str, full_page: Callable[[], bytes]) -> bytes:
    """Return the page that a student may read now.

    Args:
        level: "mistakes" for the full feedback, any other for a list of exercises with results.
        full_page: returns the full feedback page; only called at the level "mistakes".
    """
    is_refused = attempt.state == REFUSED
    if level == "mistakes" and not is_refused:
        return full_page()
    title = "nothing to grade" if is_refused else "which exercises are right"
    page = pages().get_template("short.html")
    return page.render(shown=visible_part(attempt, level, ""), title=title).encode()


def release(attempt: Attempt, page: bytes, files: Path, exchange: Path) -> None:
    """Write a page into the exchange, where nbgrader's *Fetch Feedback* finds it.

    nbgrader derives the page's file name from a secret in the submission, so that only the student
    who handed it in can find the page.

    Args:
        page: the page's content, as HTML.
        files: the folder with the attempt's files, which include the secret.
        exchange: the course's folder in nbgrader's exchange.
    """
    try:
        secret = read_plain_file(files / RECEIPTS[1], most=1000).decode()
    except (UnreadableNotebook, UnicodeDecodeError):  # An upload has no such file.
        return
    folder = exchange / "feedback"
    if not secret or not folder.is_dir():
        return
    # The file name also depends on the submitted notebook's name, and students may rename it.
    names = {attempt.assignment, *(path.stem for path in files.glob("*.ipynb"))}
    for name in names:
        target = folder / f"{notebook_hash(secret=secret, notebook_id=name)}.html"
        write_atomic(target, page, 0o644)
