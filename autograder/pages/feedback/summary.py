"""Sums a graded notebook up for its student: points, mistakes, next steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from nbformat.notebooknode import NotebookNode

from ...course_folder.assignments import distinct_titles
from ...course_folder.own_notebooks import exercises_of
from ...model import ADVICE
from ...notebook.restoring import MISSING_CELL

_HEADING = re.compile(r"^##\s+(?:(?:Exercise|Question)\s+\d+\s*·\s*)?(.+)$", re.MULTILINE)

# The result of an exercise: a sign and a word, since some readers do not see the colour.
RIGHT, PARTLY, NOT_YET = ("✓", "right"), ("◐", "partly right"), ("✗", "not right yet")
NOT_STARTED, WAITS = ("○", "not started"), ("✎", "waits for a person")


@dataclass(frozen=True)
class Line:
    """One exercise in the summary.

    Attributes:
        went: its sign and word.
        says: the message, in plain text; "" if it is right.
        advice: the next step.
        weight: "extra", "bonus" or "".
        by_hand: whether a person gave the points.
        comment: whether somebody wrote one.
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


def summary(notebook: NotebookNode) -> list[Line]:
    """Return a line for each graded exercise, in the order of the notebook."""
    report = notebook.metadata.get("autograder", {}).get("report", {})
    verdicts = {each["id"]: each for each in report.get("exercises", ())}
    lines, heading, comments, answers = [], "", set(), {}
    ids = exercises_of(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := _HEADING.search(cell.source)):
            heading = found.group(1).strip()
        own = cell.metadata.get("nbgrader") or {}
        exercise = ids.get(grade_id := own.get("grade_id", ""), grade_id)
        if own.get("solution") or own.get("task"):
            answers[exercise] = cell.source
            if own.get("comment"):
                comments.add(exercise)
        if "score" in own:
            verdict = verdicts.get(exercise, {})
            missing = answers.get(exercise) == MISSING_CELL
            lines.append(_line(exercise, heading, own, verdict, missing, exercise in comments))
    titles = distinct_titles({line.id: line.title for line in lines})
    return [replace(line, title=titles[line.id]) for line in lines]


def _line(
    exercise: str,
    heading: str,
    own: dict[str, Any],
    verdict: dict[str, Any],
    missing: bool,
    comment: bool,
) -> Line:
    score, most = own["score"], own["points"]
    status = verdict.get("status", "")
    # In nbgrader, a bonus has 0 points.
    is_bonus = bool(verdict.get("bonus"))
    most = verdict["max_points"] if is_bonus else most
    weight = "bonus" if is_bonus else "extra" if verdict.get("extra") else ""
    # The message of an answer that a person marks says that one will.
    message = "" if status == "manual" else verdict.get("message", "")
    says, _, example = message.partition("\n\n")
    if own["waits"] and not own["by_hand"]:
        went, says, score = WAITS, "", None
    elif score >= most and (most or status in ("passed", "manual", "")):
        went, says = RIGHT, ""
    elif score > 0 or (not most and status == "partial"):
        went = PARTLY
    else:
        went = NOT_STARTED if status == "missing" or missing else NOT_YET
    advice = _advice(went, status, says, bool(example), comment)
    # In a damaged notebook, the heading may be another exercise's.
    title = verdict.get("title") or heading or exercise.replace("_", " ")
    return Line(exercise, title, score, most, went, says, advice, weight, own["by_hand"], comment)


def _advice(went: tuple[str, str], status: str, says: str, example: bool, comment: bool) -> str:
    if went == RIGHT:
        return ""
    if went == WAITS:
        return "Nothing to do: your answer will be read."
    if went == NOT_STARTED:
        return "Write your answer, then run the check below it."
    if status in ADVICE:
        # Most messages of this kind end with the advice.
        return "" if ADVICE[status] in says else ADVICE[status]
    if comment:
        return "Read the comment below your answer."
    if example:
        return "Compare the public example below with your code, then run the check again."
    return "" if status == "manual" else "Read what the tests found below your answer."


def first_to_mend(lines: list[Line]) -> Line | None:
    """Return the exercise to begin with: later exercises build on earlier ones."""
    return next((line for line in lines if line.went in (NOT_STARTED, NOT_YET, PARTLY)), None)
