"""What one notebook costs, from submitted file to stored marks, and what of it is student code.

For each assignment a right notebook, one with a mistake and one that was not started are graded
again and again by a warm grader, sandbox on. Beside it stands what the student's code takes in one
process, without a wall, a notebook or a gradebook: the same cells and the same hidden tests with
the same numbers, second chances included. For `value`, nbgrader as it comes grades the same three
notebooks in the same run; it starts a kernel a notebook.

    python benchmarks/one_notebook.py [--repeats 25] [--assignments value backward …]
        [--page README.md]
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from measuring import alone, page_option, table, tell
from sample_class import make_course, run_stock

from autograder.assignments import Assignment, assignment_names, find_course, load_assignment
from autograder.channels import LocalChannel
from autograder.classroom import Classroom
from autograder.demo import hand_in
from autograder.engines import Engine
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.notebooks import cells_to_run, restore, template
from autograder.reading import read_notebook
from autograder.runs import Cell, seed_of_cells
from autograder.sandbox.inside.session import SELDOM
from autograder.sandbox.inside.shell import forget, warm_shell
from autograder.suite import Suite
from autograder.workers import OneProcess, collect_seldom

Answers = dict[str, str]
KINDS = ("all right", "one mistake", "not started")


def kinds(assignment: Assignment) -> dict[str, Answers]:
    """Three students' answers by exercise; the mistake is in the third exercise."""
    exercises = [e for e in assignment.exercises.values() if not e.manual]
    right = {exercise.id: exercise.solution for exercise in exercises}
    mistake = next(mistake for mistake in exercises[2].mistakes if not mistake.endless)
    wrong = {**right, exercises[2].id: mistake.source}
    untouched = {exercise.id: exercise.stub for exercise in exercises}
    names = [kind.replace(" ", "_") for kind in KINDS]
    return dict(zip(names, (right, wrong, untouched), strict=True))


def without_a_wall(assignment: Assignment, suite: Suite, cells: list[Cell], seed: bytes) -> float:
    """Seconds that the student's code takes in this process.

    That is the notebook's cells, as a kernel runs them, and the tests that grading runs: all of
    them, but where one mistake made other exercises fail, these until they fail, and once more
    without it. Garbage is looked for as seldom as in a student's process.
    """
    usual = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    seconds, failed = _run(assignment, suite, cells, suite.exercises, seed)
    untouched = _untouched(assignment, cells)
    wrong = [name for name in failed if name not in untouched]
    if len(wrong) > 1:
        solution = assignment.exercises[wrong[0]].solution
        mended = [Cell(solution) if cell.exercise == wrong[0] else cell for cell in cells]
        seconds += _run(assignment, suite, mended, wrong[1:], seed)[0]
    gc.set_threshold(*usual)
    return seconds


def _untouched(assignment: Assignment, cells: list[Cell]) -> set[str]:
    """The exercises whose cells hold the stub."""
    return {
        cell.exercise
        for cell in cells
        if cell.exercise in assignment.exercises
        and cell.source == assignment.exercises[cell.exercise].stub
    }


def _run(
    assignment: Assignment, suite: Suite, cells: list[Cell], exercises: list[str], seed: bytes
) -> tuple[float, list[str]]:
    """Run all cells and some exercises' tests: how many seconds it took, and which failed."""
    shell = warm_shell()
    forget(shell)
    untouched = _untouched(assignment, cells)
    failed: list[str] = []

    def passed(exercise: str) -> bool:
        run = suite.run(exercise, lambda: Engine(LocalChannel(shell.user_ns)), seed)
        verdicts = (verdict.passed for verdict in run)
        return all([*verdicts] if exercise in untouched or not failed else verdicts)

    random.seed(seed_of_cells(seed))
    started = time.perf_counter()
    for cell in cells:
        shell.run_one_cell(cell.source)
    with redirect_stdout(StringIO()):
        for name in exercises:
            if not passed(name):
                failed.append(name)
    return time.perf_counter() - started, failed


def cells_of(folder: Path, name: str, student: str) -> list[Cell]:
    """The cells of a submitted notebook that are run for a mark."""
    path = folder / "submitted" / student / name / f"{name}.ipynb"
    notebook = read_notebook(path.read_bytes(), path.name)
    restored = restore(notebook, template(folder, name), path.name)
    return [cell for _, cell in cells_to_run(restored.notebook)]


def measure(
    folder: Path,
    name: str,
    repeats: int,
    students_of: Callable[[Assignment], dict[str, Answers]] = kinds,
    enough: float = math.inf,
) -> dict[str, tuple[float, float]]:
    """For each of the students, the seconds of the whole path and without a wall.

    To be called in a process of its own.

    Args:
        repeats: how often each is measured, after a first time that does not count.
        enough: after how many seconds a student is measured no more, once there is a figure.
    """
    collect_seldom()  # as the command does
    assignment = load_assignment(folder, name)
    suite = Suite(assignment.tests)
    students = students_of(assignment)
    hand_in(folder, assignment, students)
    found = {}
    with (
        Grader(folder, course_key(folder)) as grader,
        Classroom(folder, OneProcess(grader), force=True) as room,
    ):
        for student in students:
            cells = cells_of(folder, name, student)
            walled, bare = [], []
            for turn in range(repeats + 1):
                if turn > 1 and sum(walled) + sum(bare) > enough:
                    break
                started = time.perf_counter()
                [outcome] = room.grade([(name, student)])
                walled.append(time.perf_counter() - started)
                assert outcome.report is not None
                seed = bytes.fromhex(outcome.report.seed)
                bare.append(without_a_wall(assignment, suite, cells, seed))
            found[student] = statistics.median(walled[1:]), statistics.median(bare[1:])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--assignments", nargs="+", default=assignment_names(find_course()))
    page_option(parser)
    options = parser.parse_args()
    rows, stock = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_course(folder, options.assignments)
        for name in options.assignments:
            found = alone(measure, folder, name, options.repeats)
            cells = [f"{whole * 1000:,.0f} ({own * 1000:,.0f})" for whole, own in found.values()]
            rows.append([f"`{name}`", *cells])
            print(*rows[-1], flush=True)
        if "value" in options.assignments:
            each = run_stock(folder, "autograde", "value", "--force") / len(KINDS)
            stock = [
                "",
                f"Stock nbgrader takes {each * 1000:,.0f} for each `value` notebook of these.",
            ]
    lines = [
        f"Milliseconds, median of {options.repeats}; in brackets, what the student's code takes,",
        "second chances included, in one process without a wall, a notebook or a gradebook:",
        "",
        table(["", *KINDS], rows),
        *stock,
    ]
    tell("one notebook", "\n".join(lines), options.page)


if __name__ == "__main__":
    main()
