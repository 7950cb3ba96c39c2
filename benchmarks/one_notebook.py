"""What one notebook costs, from submitted file to stored marks, and what of it is student code.

For each assignment a right notebook, one with a mistake and one that was not started are graded
again and again by a warm grader, sandbox on. Beside it stands what the same cells and the same
hidden tests take in one process, without a wall, a notebook or a gradebook: that much is the
student's own running time and the tests'. For `value`, nbgrader as it comes grades the same three
notebooks in the same run; it starts a kernel a notebook.

    python benchmarks/one_notebook.py [--repeats 9] [--assignments value backward …]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from contextlib import redirect_stdout, suppress
from io import StringIO
from multiprocessing import get_context
from pathlib import Path

from sample_class import run, run_stock

from autograder.assignments import Assignment, assignment_names, find_course, load_assignment
from autograder.classroom import Classroom
from autograder.demo import hand_in
from autograder.engines import Engine, LocalChannel
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.publishing import copy_course
from autograder.suite import Suite
from autograder.workers import OneProcess, collect_seldom

Answers = dict[str, str]


def kinds(assignment: Assignment) -> dict[str, Answers]:
    """Three students' answers by exercise; the mistake is in the third exercise."""
    exercises = [e for e in assignment.exercises.values() if not e.manual]
    right = {exercise.id: exercise.solution for exercise in exercises}
    mistake = next(mistake for mistake in exercises[2].mistakes if not mistake.endless)
    return {
        "all_right": right,
        "one_mistake": {**right, exercises[2].id: mistake.source},
        "not_started": {exercise.id: exercise.stub for exercise in exercises},
    }


def without_a_wall(assignment: Assignment, suite: Suite, answers: Answers) -> float:
    """Seconds that the cells and their hidden tests take in this process alone."""
    started = time.perf_counter()
    scope: dict[str, object] = {"__name__": "__main__"}
    with redirect_stdout(StringIO()):
        for source in (*assignment.setup.values(), *answers.values()):
            with suppress(NotImplementedError):
                exec(compile(source, "<cell>", "exec", dont_inherit=True), scope)
        for exercise in suite.exercises:
            list(suite.run(exercise, lambda: Engine(LocalChannel(scope)), b"seed"))
    return time.perf_counter() - started


def measure(folder: Path, name: str, repeats: int) -> None:
    """Print a line for each of the three students; to be called in a process of its own."""
    collect_seldom()  # as the command does, and a student's process
    assignment = load_assignment(folder, name)
    suite = Suite(assignment.tests)
    students = kinds(assignment)
    hand_in(folder, assignment, students)
    with (
        Grader(folder, course_key(folder)) as grader,
        Classroom(folder, OneProcess(grader), force=True) as room,
    ):
        for student, answers in students.items():
            walled, bare = [], []
            for _ in range(repeats + 1):
                started = time.perf_counter()
                list(room.grade([(name, student)]))
                walled.append(time.perf_counter() - started)
                bare.append(without_a_wall(assignment, suite, answers))
            whole, own = (statistics.median(times[1:]) * 1000 for times in (walled, bare))
            print(f"{name:<12} {student:<12} {whole:10.0f} {own:18.0f} {whole - own:8.0f}",
                  flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--assignments", nargs="+", default=assignment_names(find_course()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy_course(find_course(), folder)
        for name in options.assignments:
            run(folder, "nbgrader", "generate_assignment", name, "--force")
        print(f"milliseconds a notebook, median of {options.repeats}")
        print(f"{'':<25} {'graded':>10} {'cells and tests':>18} {'beyond':>8}")
        for name in options.assignments:
            # What graded another assignment before is slower by a third, wall or no wall.
            alone = get_context("spawn").Process(
                target=measure, args=(folder, name, options.repeats)
            )
            alone.start()
            alone.join()
            if alone.exitcode:
                raise SystemExit(alone.exitcode)
        if "value" in options.assignments:
            seconds = run_stock(folder, "autograde", "value", "--force") / 3
            print(f"stock nbgrader on value: {seconds * 1000:.0f}")


if __name__ == "__main__":
    main()
