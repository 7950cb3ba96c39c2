"""A class of 50 over several assignments: stock nbgrader and this autograder, in turn.

For each assignment, nbgrader as it comes grades the class and makes its feedback pages, and then
this project does, sandbox on, with two worker processes and with one. Stock nbgrader starts a
kernel for each notebook and runs the hidden tests in it. Prints seconds, ratios, and how the
marks compare.

    python benchmarks/whole_class.py [--students 50] [--assignments value backward checkpoint]
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import tempfile
from pathlib import Path

from sample_class import make_class, run, run_stock

MODES = {"2 workers": ("--workers", "2"), "1 worker": ("--workers", "1")}


def marks(folder: Path, name: str) -> dict[str, float]:
    """Every student's automatic marks in the gradebook."""
    query = """
        select submitted_assignment.student_id, total(grade.auto_score)
        from grade
        join submitted_notebook on submitted_notebook.id = grade.notebook_id
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join notebook on notebook.id = submitted_notebook.notebook_id
        where notebook.name = ?
        group by 1
    """
    with sqlite3.connect(folder / "gradebook.db") as database:
        return dict(database.execute(query, [name]))


def cleared(folder: Path, name: str) -> None:
    for step in ("autograded", "feedback"):
        for made in (folder / step).glob(f"*/{name}"):
            shutil.rmtree(made)


def measure(folder: Path, name: str, students: int, stock: bool) -> dict[str, float]:
    """Seconds that each way takes with one assignment."""
    seconds = {}
    if stock:
        seconds["stock nbgrader"] = run_stock(folder, "autograde", name)
        seconds["stock feedback"] = run_stock(folder, "generate_feedback", name)
    seen = []
    for mode, options in MODES.items():
        cleared(folder, name)
        seconds[mode] = run(folder, "autograder", "grade", name, "--force", *options)
        seen.append(marks(folder, name))
    seconds["feedback"] = run(folder, "nbgrader", "generate_feedback", name, "--force")
    assert seen[0] == seen[1] and len(seen[0]) == students, "two modes gave different marks"
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=50)
    parser.add_argument("--assignments", nargs="+", default=["value", "backward", "checkpoint"])
    parser.add_argument("--no-stock", action="store_true", help="leave stock nbgrader out")
    options = parser.parse_args()
    total: dict[str, float] = {}
    print(f"class of {options.students}; seconds for the class, milliseconds a notebook")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_class(folder, options.assignments, options.students)
        for name in options.assignments:
            found = measure(folder, name, options.students, not options.no_stock)
            for way, seconds in found.items():
                total[way] = total.get(way, 0.0) + seconds
                each = seconds / options.students * 1000
                print(f"{name:<12} {way:<16} {seconds:8.1f} s {each:8.0f} ms", flush=True)
    print()
    for way, seconds in total.items():
        each = seconds / options.students / len(options.assignments) * 1000
        print(f"{'in all':<12} {way:<16} {seconds:8.1f} s {each:8.0f} ms")
    print(f"2 workers over 1: {total['1 worker'] / total['2 workers']:.2f}×")
    if not options.no_stock:
        print(f"2 workers over stock nbgrader: {total['stock nbgrader'] / total['2 workers']:.1f}×")
        print(f"feedback over stock nbgrader: {total['stock feedback'] / total['feedback']:.1f}×")


if __name__ == "__main__":
    main()
