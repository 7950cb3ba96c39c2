"""A class over several assignments: stock nbgrader and this autograder, in turn.

For each assignment, nbgrader as it comes grades the class and makes its feedback pages, and then
this project does, sandbox on, with one worker process and with one for each core. Last, one
command of this project's grades all the assignments, as an instructor would call it, in both ways;
stock nbgrader takes one assignment a command. It starts a kernel for each notebook and runs the
hidden tests in it.

    python benchmarks/whole_class.py [--students 50] [--assignments value backward checkpoint]
        [--repeats 3] [--page docs/performance.md]

Prints seconds for the class, and the ratios: medians over the repeats.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
from pathlib import Path

from measuring import CORES, machine, page_option, table, tell
from sample_class import cleared, make_class, run, run_stock

STOCK, ONE, EACH = "stock nbgrader", "this, 1 worker", "this, a worker a core"
TOGETHER_ONE, TOGETHER = "this, one command, 1 worker", "this, one command"
STOCK_FEEDBACK, FEEDBACK = "stock feedback", "this feedback"
WAYS = (STOCK, ONE, EACH, TOGETHER_ONE, TOGETHER, STOCK_FEEDBACK, FEEDBACK)
ALL = "all of them"

Seconds = dict[tuple[str, str], float]
"""How long each way took with each assignment, or with all."""


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


def measure(folder: Path, names: list[str], students: int, stock: bool) -> Seconds:
    """Grade every assignment in every way once."""
    seconds: Seconds = {}
    seen: list[dict[str, dict[str, float]]] = [{}, {}]

    def timed(name: str, way: str, took: float) -> None:
        seconds[name, way] = took
        print(f"{name:<12} {way:<22} {took:8.1f} s", flush=True)

    for name in names:
        if stock:
            cleared(folder, name)
            timed(name, STOCK, run_stock(folder, "autograde", name))
            timed(name, STOCK_FEEDBACK, run_stock(folder, "generate_feedback", name))
        for way, count, found in ((ONE, 1, seen[0]), (EACH, CORES, seen[1])):
            cleared(folder, name)
            options = ("--force", "--workers", str(count))
            timed(name, way, run(folder, "autograder", "grade", name, *options))
            found[name] = marks(folder, name)
        timed(name, FEEDBACK, run(folder, "nbgrader", "generate_feedback", name, "--force"))
    for way, count in ((TOGETHER_ONE, 1), (TOGETHER, CORES)):
        for name in names:
            cleared(folder, name)
        options = ("--force", "--workers", str(count))
        timed(ALL, way, run(folder, "autograder", "grade", *names, *options))
    last = {name: marks(folder, name) for name in names}
    complete = all(len(found) == students for found in last.values())
    if not complete or any(found != last for found in seen):
        raise SystemExit("two ways of grading gave different marks, or not everybody has marks")
    for way in {way for _, way in seconds} - {TOGETHER_ONE, TOGETHER}:
        seconds[ALL, way] = sum(seconds[name, way] for name in names)
    return seconds


def ratio(rounds: list[Seconds], name: str, slow: str, fast: str) -> float:
    """How many times as long one way takes as another: the median of the rounds' ratios."""
    return statistics.median(each[name, slow] / each[name, fast] for each in rounds)


def summary(rounds: list[Seconds], names: list[str], students: int) -> str:
    """The medians as a Markdown table, and the ratios in words."""

    def row(name: str) -> list[str]:
        return [
            f"{statistics.median(each[name, way] for each in rounds):,.1f}"
            if (name, way) in rounds[0]
            else ""
            for way in WAYS
        ]

    rows = [*([f"`{name}`", *row(name)] for name in names), [ALL, *row(ALL)]]
    lines = [
        f"Seconds for a class of {students}, median of {len(rounds)}:",
        "",
        table(["", *WAYS], rows),
        "",
        "One way's time over another's:",
        "",
    ]
    ratios = [(STOCK, EACH), (STOCK, TOGETHER), (STOCK_FEEDBACK, FEEDBACK)]
    ratios += [(ONE, EACH), (TOGETHER_ONE, TOGETHER)]
    for slow, fast in ratios:
        if (ALL, slow) in rounds[0]:
            line = f"- {slow} / {fast}: {ratio(rounds, ALL, slow, fast):.1f}×"
            if fast != TOGETHER:
                each = (f"`{name}` {ratio(rounds, name, slow, fast):.1f}×" for name in names)
                line += f" ({', '.join(each)})"
            lines.append(line)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=50)
    parser.add_argument("--assignments", nargs="+", default=["value", "backward", "checkpoint"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--no-stock", action="store_true", help="leave stock nbgrader out")
    page_option(parser)
    options = parser.parse_args()
    names = options.assignments
    print(f"class of {options.students}, {machine()}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_class(folder, names, options.students)
        rounds = [
            measure(folder, names, options.students, not options.no_stock)
            for _ in range(options.repeats)
        ]
    print()
    tell("whole class", summary(rounds, names, options.students), options.page)


if __name__ == "__main__":
    main()
