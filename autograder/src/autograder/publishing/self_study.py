"""Adds the parts of a self-study edition: answers to the questions, and solution pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from coursecheck.quiz import ANSWERS

from ..course_folder.course import Course
from ..judging.check_tables import answers_of
from ..judging.course_sessions import CourseSessions, server_of
from ..pages.solutions.page import write_solution_pages
from ..pages.templates import templates

SOLUTIONS = "solutions"
_NOTE = (
    "Of the self-study edition: what is right, and why the rest is not. The checks read it. It is "
    "for people who learn alone, never for a class that is marked."
)


def add_self_study(course: Course, names: Sequence[str], target: Path) -> None:
    """Write the answers to questions beside their notebooks, and the solution pages.

    Args:
        course: the course folder, with the executed notebooks in `solutions/`.
        names: the assignments.
        target: the folder of the edition, with a folder for each assignment.

    Raises:
        CourseError: an assignment has no solution notebook.
        SandboxUnavailable: this machine cannot run the sandbox, in which the answers' cells run.
    """
    with server_of(course) as server:
        for name in names:
            assignment = course.assignment(name)
            if answers := answers_of(assignment, CourseSessions(assignment, server)):
                content = {"note": _NOTE, "questions": answers}
                text = json.dumps(content, indent=1, ensure_ascii=False)
                (target / name / ANSWERS).write_text(text + "\n", "utf-8")
    write_solution_pages(course, [*names], target / SOLUTIONS)


def start_of_self_study(names: Sequence[str], folder: str) -> Markup:
    """Return the self-study part of an edition's start page, as HTML.

    Args:
        folder: the path of the solution pages, relative to the start page.
    """
    page = templates(__package__).get_template("self_study.html")
    return Markup(page.render(names=names, folder=folder))
