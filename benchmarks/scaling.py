"""How the time that grading takes grows: with the class, the workers and the notebook.

A class as in `sample_class.py` hands in `value`, and `autograder grade` grades it, as a command of
its own each time: classes of different size, and the same class with harmless code cells added
throughout each notebook. One command grades with more and more workers what a larger class hands
in for three assignments, and what a smaller one hands in for these and `mlp`, whose networks train.
Each run grades for the first time. The runs take turns, and a figure is the median of its runs.

    python benchmarks/scaling.py [--repeats 3]    # measures; writes docs/scaling.json
    python benchmarks/scaling.py --students 1000  # measures a large class; adds it to the file
    python benchmarks/scaling.py --draw           # tables and plots in docs/, from the file

With `--students`, each of `--assignments` is graded once for so many students, and several joined
by commas by one command; `mlp:100` has a class of its own size. The grader's peak memory is told:
once a second, the memory of its processes is read in `/proc/PID/smaps_rollup` and added up. The
processes are the command and all that it started, down to the sandboxes, which are not in the sum.
A page of memory that several processes share counts in parts (PSS), so that the sum holds it once;
of what is shared with a sandbox, it holds the grader's part.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from measuring import CORES, command, machine, table, tell
from sample_class import cleared, hand_in_all, make_course, run

from autograder.assignments import assignment_names, find_course

NAME, NAMES = "value", ("value", "backward", "checkpoint")
# What takes longest comes first: at the end all workers have something to do then.
FOUR = ("mlp", *NAMES)
DOCS = find_course() / "docs"
RESULTS, PAGE = DOCS / "scaling.json", DOCS / "performance.md"
SIZES, WORKERS, ADDED = (25, 50, 100, 200), (1, 2, 3), (0, 20, 50, 100, 200)

Measured = dict[str, Any]


# Measuring.


def measure(
    folder: Path, repeats: int, sizes: list[int], usual: int, large: int, small: int
) -> Measured:
    """Seconds of every run, by what is changed and to what.

    Args:
        sizes: of the classes that differ in size.
        usual: the size of the class whose notebooks get longer.
        large: the size of the class that more and more workers grade, in three assignments.
        small: the size of the one that they grade in all four.
    """
    course = folder / "course"
    make_course(course, list(FOUR))

    def with_class(
        name: str, students: int, added: int = 0, names: Sequence[str] = (NAME,)
    ) -> Path:
        made = Path(shutil.copytree(course, folder / name))
        for each in names:
            hand_in_all(made, each, students)
        for path in made.glob(f"submitted/*/{NAME}/{NAME}.ipynb"):
            lengthen(path, added)
        return made

    three = with_class("three", large, names=NAMES)
    four = with_class("four", small, names=FOUR)
    classes = {size: with_class(f"{size}_students", size) for size in sizes}
    longer = {added: with_class(f"{added}_added", usual, added) for added in ADDED}
    sample = nbformat.read(next(course.glob(f"release/{NAME}/*.ipynb")), as_version=4)
    cells = sum(cell.cell_type == "code" for cell in sample.cells)
    runs = {
        "students": {size: (at, CORES, [NAME]) for size, at in classes.items()},
        "workers": {count: (three, count, NAMES) for count in WORKERS},
        "workers_mlp": {count: (four, count, FOUR) for count in WORKERS},
        "cells": {cells + added: (at, 1, [NAME]) for added, at in longer.items()},
    }
    seconds: dict[str, dict[int, list[float]]] = {
        what: {value: [] for value in each} for what, each in runs.items()
    }
    for number in range(repeats):
        for what, each in runs.items():
            for value, how in each.items():
                seconds[what][value].append(grade(*how))
                print(f"run {number + 1}: {value:4} {what:<11} {seconds[what][value][-1]:8.2f} s",
                      flush=True)  # fmt: skip
    return {"class": usual, "large": large, "small": small, "seconds": seconds}


def lengthen(path: Path, added: int) -> None:
    """Add code cells throughout a notebook, as a student has who tries things out."""
    notebook = nbformat.read(path, as_version=4)
    every = len(notebook.cells) / (added or 1)
    for number in reversed(range(added)):
        cell = nbformat.v4.new_code_cell(f"attempt_{number} = {number} * 2\nattempt_{number}")
        notebook.cells.insert(round((number + 1) * every), cell)
    nbformat.write(notebook, path)


def grade(folder: Path, workers: int, names: Sequence[str]) -> float:
    """Seconds to grade a class for the first time."""
    as_handed_in(folder, names)
    return run(folder, "autograder", "grade", *names, "--workers", str(workers))


def as_handed_in(folder: Path, names: Sequence[str]) -> None:
    """Let nothing be graded, and nobody's marks be in the gradebook."""
    gradebook, empty = folder / "gradebook.db", folder / "empty.db"
    if not empty.exists():
        shutil.copy(gradebook, empty)
    shutil.copy(empty, gradebook)
    for name in names:
        cleared(folder, name)


def measure_large(folder: Path, commands: list[tuple[list[str], int]]) -> list[Measured]:
    """Grade a large class by each of some commands; seconds, and the grader's peak memory in bytes.

    Args:
        commands: the assignments of each, and how many students hand them in.
    """
    sizes = {name: students for names, students in commands for name in names}
    make_course(folder, list(sizes))
    for name, students in sizes.items():
        hand_in_all(folder, name, students)
    found = []
    for graded, students in commands:
        as_handed_in(folder, list(sizes))
        seconds, peak = watched(folder, graded)
        about = {"assignments": graded, "students": students}
        found.append({**about, "seconds": seconds, "peak": peak})
        print(f"{' '.join(graded):<28} {seconds:8.1f} s {peak / 1e6:8.0f} MB", flush=True)
    return found


def watched(folder: Path, names: list[str]) -> tuple[float, int]:
    """Grade assignments by one command; how many seconds it took, and how many bytes at most."""
    program = [sys.executable, "-m", "autograder", "grade", *names]
    quiet = subprocess.DEVNULL
    started = time.perf_counter()
    with subprocess.Popen(program, cwd=folder, stdout=quiet, stderr=quiet) as grader:
        peak = 0
        while True:
            with suppress(subprocess.TimeoutExpired):
                grader.wait(1)
                break
            peak = max(peak, memory(grader.pid))
    if grader.returncode:
        raise SystemExit(f"grading {' '.join(names)} ended with status {grader.returncode}")
    return time.perf_counter() - started, peak


def memory(pid: int) -> int:
    """Bytes that a process and all that it started take, without its sandboxes."""
    try:
        tasks = Path(f"/proc/{pid}/task")
        if Path(f"/proc/{pid}/comm").read_text().strip() == "bwrap":
            return 0
        children = [
            int(child)
            for task in tasks.iterdir()
            for child in (task / "children").read_text().split()
        ]
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # It has just ended.
    own = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return own + sum(memory(child) for child in children)


# Telling.


def medians(found: Measured, what: str) -> dict[int, float]:
    return {int(value): statistics.median(runs) for value, runs in found["seconds"][what].items()}


def fitted(points: dict[int, float]) -> tuple[float, float, float]:
    """The line through the points: seconds at 0, seconds for each one more, largest deviation.

    The deviation is a share of what was measured.
    """
    slope, start = statistics.linear_regression(list(points), list(points.values()))
    off = max(abs(start + slope * x - y) / y for x, y in points.items())
    return start, slope, off


def tables(found: Measured) -> str:
    """What was measured, as Markdown."""
    parts = []
    heads = {
        "students": "students",
        "workers": f"workers, {found['large']} students × {len(NAMES)}",
        "workers_mlp": f"workers, {found['small']} students × {len(FOUR)}",
        "cells": f"code cells, {found['class']} students and 1 worker",
    }
    for what, head in heads.items():
        points = medians(found, what)
        rows = [["seconds", *(f"{seconds:.1f}" for seconds in points.values())]]
        parts.append(table([head, *map(str, points)], rows))
    start, slope, off = fitted(medians(found, "students"))
    parts.append(
        f"The line that fits the class sizes best: {start:.1f} s to start, and {slope * 1000:.0f} "
        f"ms a student. No class is further off than {off:.1%}."
    )
    for what, count in (("workers", len(NAMES)), ("workers_mlp", len(FOUR))):
        runs = found["seconds"][what]
        gains = [alone / both for alone, both in zip(runs["1"], runs["2"], strict=True)]
        told = ", ".join(f"{gain:.2f}" for gain in gains)
        parts.append(
            f"One worker's time over that of two, {count} assignments: "
            f"{statistics.median(gains):.2f} (run by run: {told})."
        )
    return "\n\n".join(parts)


def large_table(large: list[Measured]) -> str:
    rows = [
        [
            ", ".join(f"`{name}`" for name in each["assignments"]),
            f"{each['students']:,}",
            f"{each['seconds']:,.0f}",
            f"{each['seconds'] / each['students'] * 1000:,.0f}",
            f"{each['peak'] / 1e6:,.0f}",
        ]
        for each in large
    ]
    heads = ["", "students", "seconds", "ms a student", "peak memory of the grader, MB"]
    return table(heads, rows)


# Drawing.

INK, PAPER, FAINT, LINE, OTHER = "#1f2328", "#ffffff", "#d0d4d9", "#0072b2", "#b35900"
ON_DARK = {INK: "#e6e9ec", PAPER: "#16181b", FAINT: "#3c4147", LINE: "#56b4e9", OTHER: "#f0a04b"}
DARK = "".join(
    f'[style*="{kind}: {light}"] {{ {kind}: {dark} !important }}\n'
    for light, dark in ON_DARK.items()
    for kind in ("fill", "stroke")
)


def draw(found: Measured, folder: Path) -> None:
    """Draw the plots, each with a dashed line of what it is to be compared with."""
    points = medians(found, "students")
    each = points[max(points)] / max(points)
    plot(folder / "scaling-students.svg", points, "students in the class",
         "in proportion to the class", lambda x: each * x)  # fmt: skip
    points = medians(found, "workers")
    one = points[min(points)] * min(points)
    plot(folder / "scaling-workers.svg", points, "worker processes",
         "in proportion to 1 / workers", lambda x: one / x)  # fmt: skip
    points = medians(found, "cells")
    cell = points[min(points)] / min(points)
    plot(folder / "scaling-cells.svg", points, "code cells in the notebook",
         "in proportion to the cells", lambda x: cell * x)  # fmt: skip


def plot(
    path: Path,
    points: dict[int, float],
    across: str,
    compared: str,
    expected: Callable[[float], float],
) -> None:
    """Write a plot of seconds as SVG, readable on light and on dark pages."""
    import matplotlib
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "scaling",
        "font.family": "sans-serif",
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.4, 3.6), facecolor=PAPER, layout="constrained")
        axes = figure.add_subplot(facecolor=PAPER)
        steps = [min(points) + (max(points) - min(points)) * step / 100 for step in range(101)]
        axes.plot(list(points), list(points.values()), "o-", color=LINE, label="measured")
        axes.plot(steps, [expected(x) for x in steps], "--", color=OTHER, label=compared)
        axes.set(xlabel=across, ylabel="time for the class (s)", xticks=list(points))
        axes.set(xlim=(0, None), ylim=(0, None))
        axes.grid(color=FAINT, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=2, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    text = path.read_text("utf-8")
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{DARK}}}</style>"
    head, end, rest = text.partition("<defs>")
    lines = f"{head}{style}\n {end}{rest}".splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", "utf-8")


# The command.


def save(path: Path, what: str, measured: Any) -> None:
    """Keep what was measured in the file of results, beside what is there."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[what] = {"generated by": command(), "on": machine(), "measured": measured}
    path.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--class-size", type=int, default=100, help="where sizes do not change")
    parser.add_argument("--large", type=int, default=400, help="the class for more workers")
    parser.add_argument("--small", type=int, default=50, help="as well, but with mlp")
    parser.add_argument("--students", type=int, help="grade a class of so many, and nothing else")
    parser.add_argument("--assignments", nargs="+", default=assignment_names(find_course()))
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="where --draw puts the tables")
    options = parser.parse_args()
    if options.draw:
        for what, each in json.loads(options.results.read_text("utf-8")).items():
            text = (tables if what == "scaling" else large_table)(each["measured"])
            tell(what, text, options.page, each["generated by"], each["on"])
            if what == "scaling":
                draw(each["measured"], options.page.parent)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.students:
            parts = [each.partition(":") for each in options.assignments]
            commands = [
                (names.split(","), int(size or options.students)) for names, _, size in parts
            ]
            large = measure_large(folder, commands)
            save(options.results, "large", large)
            print(large_table(large))
        else:
            sizes = options.sizes, options.class_size, options.large, options.small
            found = measure(folder, options.repeats, *sizes)
            save(options.results, "scaling", found)
            print(tables(json.loads(json.dumps(found))))


if __name__ == "__main__":
    main()
