"""Summarizes a graded notebook for the student: points, mistakes, next steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from nbformat.notebooknode import NotebookNode

from ...course_folder.assignments import distinct_titles
from ...course_folder.own_notebooks import exercises_of
from ...notebook.restoring import MISSING_CELL
from ...records import ADVICE, NO_RESPONSE, Status

_HEADING = re.compile(r"^##\s+(?:(?:Exercise|Question)\s+\d+\s*·\s*)?(.+)$", re.MULTILINE)

# Results of an exercise: a sign and a text, since a colour without a text is not accessible.
RIGHT, PARTLY, NOT_YET = ("✓", "right"), ("◐", "partly right"), ("✗", "not right yet")
NOT_STARTED, WAITS = ("○", "not started"), ("✎", "waits for a person")


@dataclass(frozen=True)
class Line:
    """One exercise in the summary.

    Attributes:
        points: the points; None if the exercise waits for a person.
        went: the result's sign and text.
        says: the message, in plain text; "" if the answer is right.
        advice: a sentence with the next step; "" for none.
        weight: "extra", "bonus" or "".
        by_hand: whether a person gave the points.
        comment: whether a person wrote a comment.
        rubric: whether a person marked the answer by the items of a rubric.
        needs: the exercises on which this one builds.
    """

    id: str
    title: str
    points: float | None
    max_points: float
    went: tuple[str, str]
    says: str = ""
    advice: str = ""
    weight: str = ""
    by_hand: bool = False
    comment: bool = False
    rubric: bool = False
    needs: tuple[str, ...] = ()


def summary(notebook: NotebookNode) -> list[Line]:
    """Return a line for each graded exercise, in the order of the notebook. Advice that several
    exercises have in common is given once."""
    report = notebook.metadata.get("autograder", {}).get("report", {})
    verdicts = {each["id"]: each for each in report.get("exercises", ())}
    lines, heading, comments, answers = [], "", set(), {}
    ids = exercises_of(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := _HEADING.search(cell.source)):
            heading = match.group(1).strip()
        metadata = cell.metadata.get("nbgrader") or {}
        exercise = ids.get(grade_id := metadata.get("grade_id", ""), grade_id)
        if metadata.get("solution") or metadata.get("task"):
            answers[exercise] = cell.source
            if metadata.get("comment") not in (None, "", NO_RESPONSE):
                comments.add(exercise)
        if "score" in metadata:
            verdict = verdicts.get(exercise, {})
            missing = answers.get(exercise) == MISSING_CELL
            lines.append(_line(exercise, heading, metadata, verdict, missing, exercise in comments))
    titles = distinct_titles({line.id: line.title for line in lines})
    given: set[str] = set()
    for index, line in enumerate(lines):
        advice = "" if line.advice in given else line.advice
        lines[index] = replace(line, title=titles[line.id], advice=advice)
        given.add(line.advice)
    return lines


def _line(
    exercise: str,
    heading: str,
    metadata: dict[str, Any],
    verdict: dict[str, Any],
    missing: bool,
    comment: bool,
) -> Line:
    score, max_points = metadata["score"], metadata["points"]
    earned = round(score - metadata.get("extra", 0.0), 6)
    status = verdict.get("status", "")
    # In the gradebook, a bonus has a maximum of 0.
    is_bonus = bool(verdict.get("bonus"))
    max_points = verdict["max_points"] if is_bonus else max_points
    weight = "bonus" if is_bonus else "extra" if verdict.get("extra") else ""
    # For a written answer the message only says that a person will mark it.
    message = "" if status == Status.MANUAL else verdict.get("message", "")
    says, _, example = message.partition("\n\n")
    if metadata["waits"] and not metadata["by_hand"]:
        went, says, score = WAITS, "", None
    elif earned >= max_points and (max_points or status in (Status.PASSED, Status.MANUAL, "")):
        went, says = RIGHT, ""
    elif earned > 0 or (not max_points and status == Status.PARTIAL):
        went = PARTLY
    else:
        went = NOT_STARTED if status == Status.MISSING or missing else NOT_YET
    rubric = "rubric" in metadata
    advice = _advice(went, status, says, bool(example), comment, rubric)
    # Prefer the verdict's title: in a damaged notebook, the heading may be another exercise's.
    title = verdict.get("title", "")
    if title in ("", exercise):
        title = heading or exercise.replace("_", " ")
    return Line(
        exercise,
        title,
        score,
        max_points,
        went,
        says,
        advice,
        weight,
        metadata["by_hand"],
        comment,
        rubric,
        tuple(verdict.get("needs", ())),
    )


def _advice(
    went: tuple[str, str], status: str, says: str, example: bool, comment: bool, rubric: bool
) -> str:
    """Return a sentence with the next step for the student; "" for none."""
    if went == RIGHT:
        return ""
    if went == WAITS:
        return "Nothing to do: your answer will be read."
    if went == NOT_STARTED:
        return "Write your answer, then run the check below it."
    if status in ADVICE:
        # Most messages with this status end with the advice.
        return "" if ADVICE[status] in says else ADVICE[status]
    if comment:
        return "Read the comment below your answer."
    if rubric and status == Status.MANUAL:
        return "Read below your answer what it lacks."
    if example:
        return "Compare the public example below with your code, then run the check again."
    return "" if status == Status.MANUAL else "Read what the tests found below your answer."


def first_to_mend(lines: list[Line]) -> Line | None:
    """Return the exercise to work on next; None if all are right.

    Of those that the student has begun, it is the one on which most others build, and of several
    the first. If none is begun, it is the first that is not right.
    """
    begun = [line for line in lines if line.went in (NOT_YET, PARTLY)]
    if not begun:
        return next((line for line in lines if line.went == NOT_STARTED), None)
    return max(begun, key=lambda line: count_built_on(line, lines))


def count_built_on(base: Line, lines: list[Line]) -> int:
    """Return how many exercises build on one."""
    return sum(base.id in line.needs for line in lines)
