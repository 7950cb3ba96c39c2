"""Adds the parts for people who learn alone: right answers, solutions, discussion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from coursecheck.quiz import ANSWERS

from ..course_folder.assignments import Assignment, load_assignment
from ..judging.models import Models, server_of
from ..pages.solutions.page import write_solution_pages
from ..pages.templates import templates
from ..wall.proxies import Student, look

SOLUTIONS = "solutions"
_NOTE = (
    "Of the self-study edition: what is right, and why the rest is not. The checks read it. It is "
    "for people who learn alone, never for a class that is marked."
)


def add_self_study(course: Path, names: Sequence[str], target: Path) -> None:
    """Put the answers to questions beside their notebooks, and the pages with solutions.

    Args:
        course: the course folder, with the executed notebooks in `solutions/`.
        names: the assignments, each of which has a folder in `target`.

    Raises:
        CourseError: an assignment has no solution notebook.
        SandboxUnavailable: the cells with the answers cannot be confined here.
    """
    with server_of(course) as server:
        for name in names:
            assignment = load_assignment(course, name)
            if answers := _answers(assignment, Models(assignment, server)):
                held = {"note": _NOTE, "questions": answers}
                text = json.dumps(held, indent=1, ensure_ascii=False)
                (target / name / ANSWERS).write_text(text + "\n", "utf-8")
    write_solution_pages(course, [*names], target / SOLUTIONS)


def start_of_self_study(names: Sequence[str], folder: str) -> Markup:
    """Return the self-study part of an edition's start page.

    Args:
        folder: the path of the pages with solutions, seen from the start page.
    """
    page = templates(__package__).get_template("self_study.html")
    return Markup(page.render(names=names, folder=folder))


def _answers(assignment: Assignment, models: Models) -> dict[str, Any]:
    """Return for each question the right answer, and the sentence on each known wrong one."""

    def given_by(exercise: str, source: str) -> str | float:
        target = models.target(exercise, {exercise: source})
        answer = look(getattr(Student(target("")), exercise))
        if isinstance(answer, str):
            return answer.strip().lower()
        return answer if isinstance(answer, int) else float(answer)

    return {
        each.id: {
            "right": given_by(each.id, each.solution),
            "wrong": [
                {"answer": given_by(each.id, mistake.source), "says": mistake.says}
                for mistake in each.mistakes
            ],
        }
        for each in assignment.exercises.values()
        if each.form
    }
