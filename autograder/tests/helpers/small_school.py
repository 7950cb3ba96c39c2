"""Makes a few submissions to `value`, and grades them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from schools import KEY, released, solutions

from autograder.commands.demo import hand_in, hand_in_unreadable
from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.workers import OneProcess, Workers
from autograder.records import SubmissionOutcome

STUDENTS = 6


def make_school(folder: Path) -> Path:
    """Make a course with submissions: in turn all right, with one mistake, and without answers; and
    two unreadable files."""
    released(folder)
    assignment, right = Course(folder).assignment("value"), solutions("value")
    wrong = {**right, "mul": assignment.exercises["mul"].mistakes[0].source}
    kinds = [right, wrong, {}]
    hand_in(Course(folder), assignment, {f"student_{n}": kinds[n % 3] for n in range(STUDENTS)})
    hand_in_unreadable(Course(folder), assignment)
    return folder


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_school(tmp_path_factory.mktemp("school"))


@pytest.fixture(scope="module")
def alone(school: Path) -> dict[str, dict]:
    """Return each student's outcome if one process grades all submissions."""
    with Grader(Course(school), KEY) as grader:
        return outcomes(school, OneProcess(grader))


def outcomes(school: Path, workers: Workers) -> dict[str, dict]:
    """Grade all submissions; return each student's report, stored marks and graded cells."""
    with Classroom(Course(school), workers, force=True) as room:
        wanted = [("value", student) for student in room.submissions("value")]
        outcomes = {outcome.student: outcome for outcome in room.grade(wanted)}
    assert len(outcomes) == len(wanted)
    return {student: seen(school, outcome) for student, outcome in outcomes.items()}


def seen(school: Path, outcome: SubmissionOutcome) -> dict:
    notebook = json.loads(
        (school / "autograded" / outcome.student / "value/value.ipynb").read_text()
    )
    for cell in notebook["cells"]:
        # Cells that a submission lacks get new ids.
        cell.pop("id")
    report = outcome.report.as_json() if outcome.report else None
    return {"report": report, "error": outcome.error, "cells": notebook["cells"],
            "marks": stored(school, outcome.student)}  # fmt: skip


def stored(school: Path, student: str) -> list[tuple]:
    with sqlite3.connect(school / "gradebook.db") as gradebook:
        return gradebook.execute(
            "select base_cell.name, auto_score, needs_manual_grade from grade"
            " join base_cell on base_cell.id = grade.cell_id"
            " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
            " join submitted_assignment on submitted_assignment.id"
            "   = submitted_notebook.assignment_id"
            " where student_id = ? order by base_cell.name",
            [student],
        ).fetchall()


def wait_for(condition: Callable[[], Any], seconds: float = 300) -> Any:
    """Return the first value of a condition that is true."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "this took too long"
        time.sleep(0.05)
    return found
