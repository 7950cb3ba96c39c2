"""What grading a class takes, beside stock nbgrader and alone.

    python benchmarks/grading.py class [--students 50] [--assignments value backward checkpoint]
        [--turns 2] [--otter]
    python benchmarks/grading.py large [value,backward,checkpoint:1000 ...]
    python benchmarks/grading.py gate --at-least 7

`class` draws a class as `honest_class.py` says and has it graded twice: by nbgrader as it comes,
and by this project, sandbox on, with a worker for each core. Each grader has a course folder of its
own and sees each notebook once. The class is split into `--turns` parts, and the notebooks that
loop, crash or eat memory are one more. For each part stock nbgrader grades one assignment after
another, a command for each, and `autograder grade` all of them by one command; who comes first
changes from part to part. Commands are new processes, and all that they take counts. Last, both
make the feedback pages of what they graded. With `--otter`, otter-grader grades the `value`
notebooks as well, without those that do harm.

`large` has this project alone grade a class for the first time, by one command for each argument.
`gate` compares a few notebooks of `value`, one worker, and ends with status 1 below `--at-least`.

The first two write their figures into the documentation; with `--only-print`, they do not. A
notebook's seconds are taken in the worker. The grader's memory is read twice a second, as the sum
over the command and all that it started, without the sandboxes; a page of memory that several
processes share counts in parts (PSS), so that the sum holds it once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import figures
import otter_grader
from honest_class import HOSTILE, Notebook, draw_class, draw_classes

from autograder.authoring.release import copy_course
from autograder.course_folder import key as keys
from autograder.course_folder.assignments import find_course, load_assignment

CORES = len(os.sched_getaffinity(0))
NAMES = ("value", "backward", "checkpoint")
OTTER = "value"
STOCK_CONFIG = """
import os, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
c = get_config()
c.CourseDirectory.course_id = "autograd"
"""


# Courses and commands.


def make_course(folder: Path, names: Sequence[str], stock: bool = False) -> Path:
    """A course with assignments released, with this project's configuration or with nbgrader's."""
    copy_course(find_course(), folder)
    # The numbers that hidden tests ask for depend on the key.
    (folder / keys.NAME).write_text("0" * 64 + "\n")
    if stock:
        (folder / "nbgrader_config.py").write_text(STOCK_CONFIG)
    run(folder, "nbgrader", "db", "upgrade")
    for name in names:
        run(folder, "nbgrader", "generate_assignment", name, "--force")
    return folder


def hand_in(folder: Path, notebooks: Iterable[Notebook]) -> None:
    """Have exactly these notebooks in the course's `submitted/`."""
    shutil.rmtree(folder / "submitted", ignore_errors=True)
    for notebook in notebooks:
        notebook.hand_in(folder)


def run(folder: Path, module: str, *arguments: str, may_fail: bool = False) -> float:
    """Run a command of this Python's to its end; returns the seconds it took."""
    started = time.perf_counter()
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if done.returncode and not may_fail:
        raise SystemExit(f"{module} {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return seconds


@dataclass
class Graded:
    """What one `autograder grade` took.

    Attributes:
        seconds: of the whole command.
        each: the seconds of each notebook, by assignment and student.
        done: when each of them was graded, in seconds from the start.
        memory: when it was read, and how many bytes the grader had.
    """

    seconds: float = 0.0
    each: dict[tuple[str, str], float] = field(default_factory=dict)
    done: list[float] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)

    @property
    def peak(self) -> int:
        return max((held for _, held in self.memory), default=0)


def grade(folder: Path, names: Sequence[str], workers: int = CORES) -> Graded:
    """Grade what was submitted by one command of this project's."""
    lines, found = folder / "seconds.txt", Graded()
    lines.unlink(missing_ok=True)
    script = Path(__file__).with_name("timed_grade.py")
    command = [sys.executable, script, lines, "grade", *names, "--workers", str(workers)]
    with tempfile.TemporaryFile() as told:
        started = time.monotonic()
        with subprocess.Popen(command, cwd=folder, stdout=told, stderr=told) as grader:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    grader.wait(0.5)
                    break
                found.memory.append((time.monotonic() - started, memory(grader.pid)))
        found.seconds = time.monotonic() - started
        if grader.returncode:
            told.seek(0)
            raise SystemExit(f"grading failed:\n{told.read().decode()[-2000:]}")
    for line in lines.read_text().splitlines():
        name, student, seconds, done = line.split()
        found.each[name, student] = float(seconds)
        found.done.append(float(done) - started)
    return found


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


def full_marks(folder: Path, notebooks: Iterable[Notebook]) -> int:
    """How many exercises of these notebooks the gradebook has at full marks."""
    query = """
        select notebook.name, submitted_assignment.student_id
        from grade
        join grade_cells on grade_cells.id = grade.cell_id
        join submitted_notebook on submitted_notebook.id = grade.notebook_id
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join notebook on notebook.id = submitted_notebook.notebook_id
        where grade_cells.cell_type = 'code' and grade.auto_score = grade_cells.max_score
    """
    wanted = {(each.assignment, each.student) for each in notebooks}
    with sqlite3.connect(folder / "gradebook.db") as database:
        return sum(found in wanted for found in database.execute(query))


def graded_file(folder: Path, notebook: Notebook) -> Path:
    name = notebook.assignment
    return folder / "autograded" / notebook.student / name / f"{name}.ipynb"


# A class beside stock nbgrader.


def measure_class(scratch: Path, names: list[str], students: int, turns: int, otter: bool) -> Any:
    """Grade a class in all ways; everything that the figures are made of."""
    python = otter_grader.fetch(scratch / "otter") if otter else None
    stock = make_course(scratch / "stock", names, stock=True)
    ours = make_course(scratch / "ours", names)
    if python:
        otter_grader.write_tests(stock, OTTER)
    notebooks = draw_classes(names, students)
    harmless = [each for each in notebooks if each.kind not in HOSTILE]
    harmful = [each for each in notebooks if each.kind in HOSTILE]
    parts = [(False, harmless[turn::turns]) for turn in range(turns)]
    measured: list[dict[str, Any]] = []
    seconds: dict[tuple[str, str], float] = {}
    for number, (is_harmful, part) in enumerate([*parts, (True, harmful)]):
        if not part:
            continue
        found: dict[str, Any] = {"harmful": is_harmful, "notebooks": len(part)}
        for is_stock in (True, False) if number % 2 == 0 else (False, True):
            hand_in(stock if is_stock else ours, part)
            if is_stock:
                found["stock"] = {
                    name: run(stock, "nbgrader", "autograde", name, may_fail=True)
                    for name in names
                    if any(each.assignment == name for each in part)
                }
            else:
                graded = grade(ours, names)
                seconds |= graded.each
                found |= {"ours": graded.seconds, "peak": graded.peak}
        if python and not is_harmful:
            try:
                found["otter"] = otter_grader.grade(stock, python, OTTER, 60 * len(part))
            except subprocess.SubprocessError as error:
                print(f"otter-grader is left out: {error}", flush=True)
                python = None
        measured.append(found)
        told = sum(found["stock"].values()), found["ours"]
        print(f"{len(part)} notebooks: stock {told[0]:.1f} s, this {told[1]:.1f} s", flush=True)
    lost = [each for each in notebooks if not graded_file(stock, each).exists()]
    not_graded = [each for each in notebooks if not graded_file(ours, each).exists()]
    if not_graded or any(each.kind not in HOSTILE for each in lost):
        raise SystemExit(f"not graded: by stock nbgrader {lost}, by this {not_graded}")
    cut = [
        each
        for each in notebooks
        if each not in lost and "CellTimeoutError" in graded_file(stock, each).read_text("utf-8")
    ]
    exercises = {
        name: sum(not each.manual for each in load_assignment(ours, name).exercises.values())
        for name in names
    }
    return {
        "students": students,
        "names": names,
        "parts": measured,
        "notebooks": [
            [each.assignment, each.kind, seconds[each.assignment, each.student]]
            for each in notebooks
        ],
        "lost": len(lost),
        "cut": [sum(each.kind in HOSTILE for each in cut),
                sum(each.kind not in HOSTILE for each in cut)],
        "exercises": sum(exercises[each.assignment] for each in harmless),
        "full": [full_marks(stock, harmless), full_marks(ours, harmless)],
        "feedback": {
            name: [run(folder, "nbgrader", "generate_feedback", name) for folder in (stock, ours)]
            for name in names
        },
        "pages": [
            sum(1 for _ in folder.glob("feedback/*/*/*.html")) for folder in (stock, ours)
        ],
        "otter": {"version": otter_grader.VERSION, "name": OTTER} if python else None,
    }  # fmt: skip


# A large class, and the gate.


def measure_large(scratch: Path, classes: list[str]) -> Any:
    """Grade each of some classes for the first time, by one command of this project's."""
    measured = []
    for number, each in enumerate(classes):
        listed, _, count = each.partition(":")
        names, students = listed.split(","), int(count)
        folder = make_course(scratch / str(number), names)
        notebooks = draw_classes(names, students, with_examples=False)
        hand_in(folder, notebooks)
        graded = grade(folder, names)
        if missing := [each for each in notebooks if not graded_file(folder, each).exists()]:
            raise SystemExit(f"not graded: {missing}")
        every = max(1, len(graded.memory) // 200)
        measured.append({
            "names": names,
            "students": students,
            "seconds": graded.seconds,
            "each": sorted(round(seconds, 4) for seconds in graded.each.values()),
            "peak": graded.peak,
            "memory": [
                [round(at, 1), held, sum(done <= at for done in graded.done)]
                for at, held in graded.memory[::every]
            ],
        })  # fmt: skip
        print(f"{each}: {graded.seconds:.1f} s, {graded.peak / 1e6:.0f} MB", flush=True)
    return measured


def gate(scratch: Path, at_least: float, students: int = 40, for_stock: int = 5) -> int:
    """Compare what a notebook takes; returns the status to end with.

    Stock nbgrader grades a few, since it takes seconds for each, and this project all, since its
    command takes longer to start than to grade a few.
    """
    name = "value"
    notebooks = [each for each in draw_class(name, students) if each.kind not in HOSTILE]
    stock = make_course(scratch / "stock", [name], stock=True)
    ours = make_course(scratch / "ours", [name])
    hand_in(stock, notebooks[:for_stock])
    hand_in(ours, notebooks)
    slow = run(stock, "nbgrader", "autograde", name) / for_stock
    fast = grade(ours, [name], workers=1).seconds / len(notebooks)
    print(f"`{name}` on {figures.machine()}, milliseconds a notebook:")
    print(f"stock nbgrader {slow * 1000:.0f}, this project {fast * 1000:.0f}")
    print(f"ratio {slow / fast:.1f}, at least {at_least:g} wanted")
    return int(slow / fast < at_least)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parsers = parser.add_subparsers(dest="what", required=True)
    beside = parsers.add_parser("class", help="a class, beside stock nbgrader")
    beside.add_argument("--students", type=int, default=50)
    beside.add_argument("--assignments", nargs="+", default=list(NAMES))
    beside.add_argument("--turns", type=int, default=2)
    beside.add_argument("--otter", action="store_true", help="have otter-grader grade as well")
    large = parsers.add_parser("large", help="large classes, by this project alone")
    large.add_argument("classes", nargs="*", default=[f"{','.join(NAMES)}:1000"])
    for each in (beside, large):
        each.add_argument("--only-print", action="store_true", help="write nothing")
    guard = parsers.add_parser("gate", help="a loose guard against a grader grown slow")
    guard.add_argument("--at-least", type=float, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if options.what == "gate":
            sys.exit(gate(scratch, options.at_least))
        if options.what == "large":
            measured = measure_large(scratch, options.classes)
        else:
            measured = measure_class(
                scratch, options.assignments, options.students, options.turns, options.otter
            )
    figures.tell(options.what, measured, keep=not options.only_print)


if __name__ == "__main__":
    main()
