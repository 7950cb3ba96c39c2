"""Grades the submissions of a made-up class in a copy of the course, from release to feedback."""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import cycle
from pathlib import Path

import nbformat
from rich.table import Table
from rich.text import Text

from ..authoring.release import copy_course, run_nbgrader
from ..course_folder.assignments import Assignment
from ..course_folder.course import Course
from ..errors import CourseError
from ..isolation import isolated_errors
from ..judging.grader import Grader
from ..pipeline.classroom import Classroom
from ..pipeline.workers import OneProcess
from ..records import Status, SubmissionOutcome
from ..terminal import console, echo

_HOSTILE = {
    "endless_loop": "while True:\n    pass\n",
    "leaves_early": "import os\nos._exit(0)\n",
    "eats_memory": "hoard = bytearray(4 * 2**30)\n",
    "prints_for_ever": 'while True:\n    print("more " * 100)\n',
}
"""Code of hostile answers, by the student's id."""


def run_demo(course: Course, name: str | None, folder: Path | None) -> None:
    """Copy the course, make a sample class, grade it, make feedback pages and print their paths.

    Args:
        course: the course to copy.
        name: the assignment; if None, the first in alphabetical order.
        folder: the folder of the copy; if None, a new temporary folder.
    """
    names = course.assignment_names()
    if not names:
        raise CourseError(
            f"no assignment of {course} has hidden tests, so there is nothing to show: write "
            "grading_tests/test_ASSIGNMENT.py first"
        )
    name = name or names[0]
    if name not in names:
        raise CourseError(
            f"there is no assignment {name!r} in {course} (there are: {', '.join(names)})"
        )
    scratch = folder or Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    echo(f"A sample class in {scratch}")
    copy = copy_course(course, scratch)
    run_nbgrader(scratch, "generate_assignment", name, "--force")
    assignment = copy.assignment(name)
    hand_in(copy, assignment, sample_class(assignment))
    hand_in_unreadable(copy, assignment)
    outcomes: list[SubmissionOutcome] = []
    with (
        Grader(copy, copy.key) as grader,
        Classroom(copy, OneProcess(grader)) as room,
        console.status("grading") as status,
    ):
        wanted = [(name, student) for student in room.submissions(name)]
        for outcome in room.grade(wanted):
            outcomes.append(outcome)
            status.update(f"graded {len(outcomes)} of {len(wanted)}: {outcome.student}")
    console.print(_table(name, outcomes))
    with console.status("writing feedback pages"):
        run_nbgrader(scratch, "generate_feedback", name, "--force")
        run_nbgrader(scratch, "export", "--to", "marks.csv")
        report = _report(copy, name)
    echo(f"Feedback pages: {scratch}/feedback/STUDENT/{name}/{name}.html")
    echo(f"Class report: {report}")
    echo(f"Marks of the class: {scratch}/marks.csv")
    jupyter = Path(sys.executable).with_name("jupyter")
    echo(f"The formgrader on it: cd {scratch} && {jupyter} lab")


def _report(course: Course, name: str) -> str:
    """Write the class report and return its path; if it cannot be written, return the reason."""
    page = None
    with isolated_errors(name) as fault:
        from ..pages.class_report.page import write_report

        page = write_report(course, name, course.root / "class_report" / name)
    return fault.reason or str(page)


def sample_class(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Return the answers of a made-up class: by student id, the code by exercise id.

    An exercise that a student has not solved is missing.
    """
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    students: dict[str, dict[str, str]] = {"all_right": right, "not_started": {}}
    for exercise in assignment.exercises.values():
        for mistake in exercise.mistakes[:1]:
            students[mistake.id.replace(".", "_")] = {**right, exercise.id: mistake.source}
    exercises = assignment.exercises.values()
    coded = [each.id for each in exercises if not (each.manual or each.form)] or [*right]
    # The first exercise is the last to get hostile code, since all others may build on it.
    for (student, source), exercise_id in zip(
        _HOSTILE.items(), cycle([*coded[1:], *coded[:1]]), strict=False
    ):
        students[student] = {**right, exercise_id: source}
    half = list(right)[: len(right) // 2]
    students["half_done"] = {exercise_id: right[exercise_id] for exercise_id in half}
    return students


def hand_in(course: Course, assignment: Assignment, students: dict[str, dict[str, str]]) -> None:
    """Write each student's notebook into submitted/."""
    for student, answers in students.items():
        path = _submitted(course, assignment.name, student)
        path.write_text(filled_notebook(course, assignment.name, answers), "utf-8")


def hand_in_unreadable(course: Course, assignment: Assignment) -> None:
    """Write two unreadable submissions into submitted/: a file that is cut off and an empty one."""
    whole = filled_notebook(course, assignment.name, {})
    path = _submitted(course, assignment.name, "cut_off_file")
    path.write_text(whole[: len(whole) // 2], "utf-8")
    _submitted(course, assignment.name, "empty_file").touch()


def filled_notebook(course: Course, name: str, answers: dict[str, str]) -> str:
    """Return the release notebook's JSON with answers, by exercise id, in its solution cells."""
    notebook = nbformat.read(course.release_of(name), as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers and cell.metadata.nbgrader.solution:
            cell.source = answers[grade_id]
    return json.dumps(notebook, indent=1, ensure_ascii=False)


def _submitted(course: Course, name: str, student: str) -> Path:
    folder = course.root / "submitted" / student / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{course.notebook_path(name).notebook}.ipynb"


def _table(name: str, outcomes: list[SubmissionOutcome]) -> Table:
    table = Table(title=f"Marks for {name}")
    table.add_column("submission")
    table.add_column("points", justify="right")
    table.add_column("what was found")
    for outcome in outcomes:
        report = outcome.report
        assert report is not None
        wrong = [r for r in report.exercises if r.status not in (Status.PASSED, Status.MANUAL)]
        found = outcome.error or "; ".join(
            f"{r.id}: {r.misconception or r.status.replace('_', ' ')}" for r in wrong[:3]
        ) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")  # fmt: skip
        table.add_row(outcome.student, f"{report.score:g} / {report.max_score:g}", Text(found))
    return table
