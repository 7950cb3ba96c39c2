"""A class of students for the benchmarks: released assignments, and what was handed in.

Of twenty submissions about ten are right, each written in one of the ways in `tests/variants` or as
the solution is, eight hold one mistake, one holds two and one was not started. Mistakes that never
end are left out: stock nbgrader would measure its own timeout.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from autograder import keys
from autograder.assignments import Assignment, find_course, load_assignment
from autograder.audit.cases import all_cases
from autograder.demo import hand_in
from autograder.publishing import copy_course

STOCK_CONFIG = """
import os, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
c = get_config()
c.CourseDirectory.course_id = "autograd"
"""


def make_class(folder: Path, names: list[str], students: int, seed: str = "class") -> None:
    """Put a released course into `folder`, with a submission of every student's to each of `names`.

    Args:
        folder: an empty folder.
        names: the assignments.
        students: how many.
        seed: what every student's answers are drawn from.
    """
    make_course(folder, names)
    for name in names:
        hand_in_all(folder, name, students, seed)


def make_course(folder: Path, names: list[str]) -> None:
    """Put a course with the assignments `names`, released, into an empty folder."""
    copy_course(find_course(), folder)
    # Which mistakes keep a network from learning depends on the key's numbers.
    (folder / keys.NAME).write_text("0" * 64 + "\n")
    run(folder, "nbgrader", "db", "upgrade")
    for name in names:
        run(folder, "nbgrader", "generate_assignment", name, "--force")


def hand_in_all(folder: Path, name: str, students: int, seed: str = "class") -> None:
    """Hand in one assignment for each student of a class."""
    assignment = load_assignment(folder, name)
    hand_in(folder, assignment, {
        student: answers(assignment, random.Random(f"{seed} {name} {student}"))
        for student in (f"student_{number:04}" for number in range(students))
    })  # fmt: skip


def answers(assignment: Assignment, rng: random.Random) -> dict[str, str]:
    """What one student wrote, by exercise."""
    exercises = [e for e in assignment.exercises.values() if not e.manual]
    right = {exercise.id: exercise.solution for exercise in exercises}
    kind = rng.random()
    if kind < 0.05:
        return {}
    if kind < 0.55:
        return right | rng.choice([{}, *_ways(assignment.name)])
    for exercise in rng.sample(exercises, 1 if kind < 0.95 else 2):
        right[exercise.id] = rng.choice([m for m in exercise.mistakes if not m.endless]).source
    return right


@cache
def _ways(name: str) -> list[dict[str, str]]:
    """Other right answers to an assignment, by exercise."""
    cases = all_cases(find_course(), load_assignment(find_course(), name), "", ["variant"])
    return [case.answers for case in cases]


def cleared(folder: Path, name: str) -> None:
    """Take away what grading and feedback made of an assignment; the gradebook stays."""
    for step in ("autograded", "feedback"):
        for made in (folder / step).glob(f"*/{name}"):
            shutil.rmtree(made)


def full_marks(folder: Path, name: str) -> int:
    """How many exercises of the class the gradebook has at full marks."""
    query = """
        select count(*)
        from grade
        join grade_cells on grade_cells.id = grade.cell_id
        join base_cell on base_cell.id = grade_cells.id
        join notebook on notebook.id = base_cell.notebook_id
        where notebook.name = ? and grade_cells.cell_type = 'code'
            and grade.auto_score = grade_cells.max_score
    """
    with sqlite3.connect(folder / "gradebook.db") as database:
        [[count]] = database.execute(query, [name])
    return int(count)


def run(folder: Path, module: str, *arguments: str) -> float:
    """Run a command of this Python's to its end; returns the seconds it took."""
    started = time.perf_counter()
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started


def run_stock(folder: Path, *arguments: str) -> float:
    """Run nbgrader as it comes, without this project's configuration; returns the seconds."""
    ours = (folder / "nbgrader_config.py").read_text()
    (folder / "nbgrader_config.py").write_text(STOCK_CONFIG)
    try:
        return run(folder, "nbgrader", *arguments)
    finally:
        (folder / "nbgrader_config.py").write_text(ours)
