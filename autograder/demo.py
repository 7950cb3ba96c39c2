"""A sample class, run through the whole pipeline in a folder of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .assignments import Assignment, load_assignment
from .class_report.page import write_report
from .classroom import Classroom, Outcome
from .grading import Grader
from .keys import course_key
from .publishing import copy_course, run_nbgrader
from .workers import OneProcess

ASSIGNMENT = "value"

_HOSTILE = {
    "endless_loop": ("mul", "while True:\n    pass\n"),
    "leaves_early": ("pow", "import os\nos._exit(0)\n"),
    "eats_memory": ("trace", "hoard = bytearray(4 * 2**30)\n"),
    "prints_for_ever": ("numerical", 'while True:\n    print("more " * 100)\n'),
}


def run_demo(course: Path, folder: Path | None, console: Console) -> None:
    """Copy the course, make a sample class, grade it, make feedback and print where it is.

    Args:
        course: the course to copy.
        folder: where to; a new temporary folder if None.
        console: where to tell about it.
    """
    scratch = folder or Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    console.print(f"A sample class in {scratch}", highlight=False)
    copy_course(course, scratch)
    run_nbgrader(scratch, "generate_assignment", ASSIGNMENT, "--force")
    assignment = load_assignment(scratch, ASSIGNMENT)
    hand_in(scratch, assignment, sample_class(assignment))
    hand_in_unreadable(scratch, assignment)
    outcomes: list[Outcome] = []
    with (
        Grader(scratch, course_key(scratch)) as grader,
        Classroom(scratch, OneProcess(grader)) as room,
        console.status("grading") as status,
    ):
        wanted = [(ASSIGNMENT, student) for student in room.submissions(ASSIGNMENT)]
        for outcome in room.grade(wanted):
            outcomes.append(outcome)
            status.update(f"graded {len(outcomes)} of {len(wanted)}: {outcome.student}")
    console.print(_table(outcomes))
    with console.status("writing feedback pages"):
        run_nbgrader(scratch, "generate_feedback", ASSIGNMENT, "--force")
        run_nbgrader(scratch, "export", "--to", "marks.csv")
        report = write_report(scratch, ASSIGNMENT, scratch / "class_report" / ASSIGNMENT)
    console.print(f"Feedback pages: {scratch}/feedback/STUDENT/{ASSIGNMENT}/{ASSIGNMENT}.html",
                  highlight=False)  # fmt: skip
    console.print(f"Class report: {report}", highlight=False)
    console.print(f"Marks of the class: {scratch}/marks.csv", highlight=False)
    jupyter = Path(sys.executable).with_name("jupyter")
    console.print(f"The formgrader on it: cd {scratch} && {jupyter} lab", highlight=False)


def sample_class(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Submissions by student id: which solution cells each filled in, and with what."""
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    students: dict[str, dict[str, str]] = {"all_right": right, "not_started": {}}
    for exercise in assignment.exercises.values():
        for mistake in exercise.mistakes[:1]:
            name = mistake.id.replace(".", "_")
            students[name] = {**right, exercise.id: mistake.source}
    for name, (exercise_id, source) in _HOSTILE.items():
        students[name] = {**right, exercise_id: source}
    half = list(right)[: len(right) // 2]
    students["half_done"] = {name: right[name] for name in half}
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
    """The release notebook's JSON with answers, by exercise id, in its solution cells."""
    notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers and cell.metadata.nbgrader.solution:
            cell.source = answers[grade_id]
    return json.dumps(notebook, indent=1, ensure_ascii=False)


def _submitted(course: Path, name: str, student: str) -> Path:
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.ipynb"


def _table(outcomes: list[Outcome]) -> Table:
    table = Table(title=f"Marks for {ASSIGNMENT}")
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
