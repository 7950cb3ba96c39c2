"""What one notebook costs: stock nbgrader and this autograder on the same class, in turn.

Each round makes a class of right, partly wrong and empty `value` notebooks and grades it twice:
with nbgrader as it comes, which starts a kernel a notebook and runs the hidden tests in it, and
with `autograder grade`, sandbox on. Prints seconds a notebook, and for the autograder also the
time from submitted file to stored marks once it is warm.

    python benchmarks/one_notebook.py [--students 9] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from sample_class import run, run_stock

from autograder.assignments import find_course, load_assignment
from autograder.classroom import Classroom
from autograder.demo import hand_in
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.publishing import copy_course
from autograder.workers import OneProcess


def make_class(folder: Path, students: int) -> None:
    """A released course with submissions: in turn all right, one mistake, not started."""
    copy_course(find_course(), folder)
    run(folder, "nbgrader", "generate_assignment", "value", "--force")
    assignment = load_assignment(folder, "value")
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    wrong = {**right, "mul": assignment.exercises["mul"].mistakes[0].source}
    kinds = [right, wrong, {}]
    class_ = {f"student_{number:03}": kinds[number % 3] for number in range(students)}
    hand_in(folder, assignment, class_)
    for unreadable in ("cut_off_file", "empty_file"):
        shutil.rmtree(folder / "submitted" / unreadable)


def stock(folder: Path) -> float:
    shutil.rmtree(folder / "autograded", ignore_errors=True)
    return run_stock(folder, "autograde", "value")


def whole_command(folder: Path) -> float:
    return run(folder, "autograder", "grade", "value", "--force", "--workers", "1")


def warm(folder: Path) -> list[tuple[str, float]]:
    """Seconds of each notebook after the first: from submitted file to stored marks."""
    times = []
    with (
        Grader(folder, course_key(folder)) as grader,
        Classroom(folder, OneProcess(grader), True) as room,
    ):
        students = room.submissions("value")
        list(room.grade([("value", student) for student in students[:2]]))
        for student in students[2:]:
            started = time.perf_counter()
            list(room.grade([("value", student)]))
            times.append((student, time.perf_counter() - started))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    stock_times, ours_times = [], []
    warm_times: dict[str, list[float]] = {"all right": [], "one mistake": [], "not started": []}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_class(folder, options.students)
        for round_number in range(1, options.rounds + 1):
            stock_times.append(stock(folder) / options.students)
            ours_times.append(whole_command(folder) / options.students)
            for student, seconds in warm(folder):
                warm_times[list(warm_times)[int(student[-3:]) % 3]].append(seconds)
            print(f"round {round_number}: stock nbgrader {stock_times[-1]:.3f} s a notebook, "
                  f"autograder {ours_times[-1]:.3f} s", flush=True)  # fmt: skip
    ratio = statistics.median(s / o for s, o in zip(stock_times, ours_times, strict=True))
    rows = {
        "stock nbgrader, whole command": stock_times,
        "autograder, whole command": ours_times,
        **{f"autograder, warm, {kind}": seconds for kind, seconds in warm_times.items()},
    }
    print(f"\nclass of {options.students}, median of {options.rounds} rounds, ms a notebook")
    for what, seconds in rows.items():
        print(f"{what:<32} {statistics.median(seconds) * 1000:7.0f}")
    print(f"ratio of the whole commands      {ratio:7.1f}")


if __name__ == "__main__":
    main()
