"""Runs a sample class through the whole pipeline in a folder of its own."""

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
from ..course_folder.assignments import Assignment, assignment_names, load_assignment, place_of
from ..course_folder.key import course_key
from ..errors import CourseError
from ..faults import kept_at
from ..judging.grader import Grader
from ..model import Outcome
from ..pipeline.classroom import Classroom
from ..pipeline.workers import OneProcess
from ..terminal import console, say

_HOSTILE = {
    "endless_loop": "while True:\n    pass\n",
    "leaves_early": "import os\nos._exit(0)\n",
    "eats_memory": "hoard = bytearray(4 * 2**30)\n",
    "prints_for_ever": 'while True:\n    print("more " * 100)\n',
}
"""Answers of hostile students, by the student's id."""


def run_demo(course: Path, name: str | None, folder: Path | None) -> None:
    """Copy the course, make a sample class, grade it, make feedback and print where it is.

    Args:
        course: the course to copy.
        name: the assignment; the first that has hidden tests if None.
        folder: where to; a new temporary folder if None.
    """
    names = assignment_names(course)
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
    say(f"A sample class in {scratch}")
    copy_course(course, scratch)
    run_nbgrader(scratch, "generate_assignment", name, "--force")
    assignment = load_assignment(scratch, name)
    hand_in(scratch, assignment, sample_class(assignment))
    hand_in_unreadable(scratch, assignment)
    outcomes: list[Outcome] = []
    with (
        Grader(scratch, course_key(scratch)) as grader,
        Classroom(scratch, OneProcess(grader)) as room,
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
        report = _report(scratch, name)
    say(f"Feedback pages: {scratch}/feedback/STUDENT/{name}/{name}.html")
    say(f"Class report: {report}")
    say(f"Marks of the class: {scratch}/marks.csv")
    jupyter = Path(sys.executable).with_name("jupyter")
    say(f"The formgrader on it: cd {scratch} && {jupyter} lab")


def _report(course: Path, name: str) -> str:
    """Write the class report and return its place, or why there is none."""
    page = None
    with kept_at(name) as fault:
        from ..pages.class_report.page import write_report

        page = write_report(course, name, course / "class_report" / name)
    return fault.reason or str(page)


def sample_class(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Return submissions by student id: the source of each filled solution cell."""
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    students: dict[str, dict[str, str]] = {"all_right": right, "not_started": {}}
    for exercise in assignment.exercises.values():
        for mistake in exercise.mistakes[:1]:
            students[mistake.id.replace(".", "_")] = {**right, exercise.id: mistake.source}
    exercises = assignment.exercises.values()
    coded = [each.id for each in exercises if not (each.manual or each.form)] or [*right]
    # If there are enough exercises, the first, on which all others may build, stays right.
    for (student, source), exercise_id in zip(
        _HOSTILE.items(), cycle([*coded[1:], *coded[:1]]), strict=False
    ):
        students[student] = {**right, exercise_id: source}
    half = list(right)[: len(right) // 2]
    students["half_done"] = {exercise_id: right[exercise_id] for exercise_id in half}
    return students


def hand_in(course: Path, assignment: Assignment, students: dict[str, dict[str, str]]) -> None:
    """Write each student's notebook into submitted/."""
    for student, answers in students.items():
        path = _submitted(course, assignment.name, student)
        path.write_text(filled_notebook(course, assignment.name, answers), "utf-8")


def hand_in_unreadable(course: Path, assignment: Assignment) -> None:
    """Write a file that is cut off and an empty one into submitted/."""
    whole = filled_notebook(course, assignment.name, {})
    path = _submitted(course, assignment.name, "cut_off_file")
    path.write_text(whole[: len(whole) // 2], "utf-8")
    _submitted(course, assignment.name, "empty_file").touch()


def filled_notebook(course: Path, name: str, answers: dict[str, str]) -> str:
    """Return the release notebook's JSON with answers, by exercise id, in its solution cells."""
    notebook = nbformat.read(place_of(course, name).inside(course / "release"), as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers and cell.metadata.nbgrader.solution:
            cell.source = answers[grade_id]
    return json.dumps(notebook, indent=1, ensure_ascii=False)


def _submitted(course: Path, name: str, student: str) -> Path:
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{place_of(course, name).notebook}.ipynb"


def _table(name: str, outcomes: list[Outcome]) -> Table:
    table = Table(title=f"Marks for {name}")
    table.add_column("submission")
    table.add_column("points", justify="right")
    table.add_column("what was found")
    for outcome in outcomes:
        report = outcome.report
        assert report is not None
        wrong = [r for r in report.exercises if r.status not in ("passed", "manual")]
        found = outcome.error or "; ".join(
            f"{r.id}: {r.misconception or r.status.replace('_', ' ')}" for r in wrong[:3]
        ) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")  # fmt: skip
        table.add_row(outcome.student, f"{report.score:g} / {report.max_score:g}", Text(found))
    return table
