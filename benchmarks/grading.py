"""Measures the grading of a class: by stock nbgrader, by otter-grader, and by this project.

    python benchmarks/grading.py class [--students 50] [--large 1000] [--minutes 40] [--only-print]
    python benchmarks/grading.py gate --at-least 8

`class` draws a class as `drawn_class.py` says. Each grader has a course folder of its own and
grades one assignment after another, a command for each, and then the notebooks that loop, crash or
eat memory; the order of the graders changes. Stock nbgrader is used as it comes. otter-grader is
fetched from the package index into an environment of its own; each exercise is one of its tests.
This project grades with its sandbox on and a worker for each core. Last, it grades a class of
`--large` students by one command. A grader that takes longer than its share of `--minutes` is
stopped, and the notebooks that it has graded until then count; a large class that does not fit into
the time left is made smaller. The outcome is written into the README and into docs/performance.md.

`gate` compares a small class in the same way, and ends with status 1 if the ratio is below
`--at-least`.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from drawn_class import COURSE, HOSTILE, Notebook, draw_class

from autograder.authoring.audit.report import write_block
from autograder.authoring.release import copy_course
from autograder.course_folder import key as keys
from autograder.course_folder.assignments import load_assignment

CORES = len(os.sched_getaffinity(0))
NAMES = ("value", "backward", "checkpoint")
HARM = "loop, crash, eat memory"
WAYS = ("stock nbgrader", "otter-grader", "this")
STOCK_CONFIG = """
import os, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
c = get_config()
c.CourseDirectory.course_id = "autograd"
"""
OTTER = "7.0.0"
OTTER_NEEDS = (f"otter-grader[grading]=={OTTER}", "pytest>=9,<10", "anywidget", "matplotlib")
OTTER_TEST = """
from otter.test_files import test_case

OK_FORMAT = False
name = "{exercise}"
points = {points}


@test_case(hidden=True)
def full_points(env):
    from autograder.authoring.in_notebook import run_hidden_tests

    found = run_hidden_tests("{exercise}", env).result
    assert found.points == found.max_points
"""
OTTER_RUN = """
import sys
from pathlib import Path
from otter.api import grade_submission

for path in sorted(Path("submitted").glob(f"*/{sys.argv[1]}/*.ipynb")):
    grade_submission(str(path), "autograder.zip", quiet=True)
    done = Path("autograded", *path.parts[1:])
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
"""


@dataclass
class Took:
    """Time and memory of a command.

    Attributes:
        seconds: until its end, or until it was stopped.
        graded: how many notebooks it had graded by then.
        peak: greatest memory in bytes of the command and its children, without its sandboxes.
    """

    seconds: float = 0.0
    graded: int = 0
    peak: int = 0

    @property
    def each(self) -> float:
        """Milliseconds for each notebook."""
        return 1000 * self.seconds / self.graded if self.graded else 0.0


def make_course(folder: Path, names: Sequence[str], stock: bool = False) -> Path:
    """Make a course with these assignments released, with nbgrader's configuration if `stock`."""
    copy_course(COURSE, folder)
    # The numbers of hidden tests depend on the key.
    (folder / keys.NAME).write_text("0" * 64 + "\n")
    if stock:
        (folder / "nbgrader_config.py").write_text(STOCK_CONFIG)
    nbgrader(folder, "db", "upgrade")
    for name in names:
        nbgrader(folder, "generate_assignment", name, "--force")
    return folder


def hand_in(folder: Path, notebooks: Iterable[Notebook]) -> None:
    """Put exactly these notebooks into the course's `submitted/`."""
    for each in ("submitted", "autograded"):
        shutil.rmtree(folder / each, ignore_errors=True)
    for notebook in notebooks:
        notebook.hand_in(folder)


def run(
    folder: Path, command: Sequence[str], seconds: float = 3600.0, may_fail: bool = False
) -> Took:
    """Run a command in a course folder for so many seconds at most."""
    took, started = Took(), time.monotonic()
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONPATH": str(COURSE)},
        ) as process:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
                took.peak = max(took.peak, memory(process.pid))
                if time.monotonic() - started > seconds:
                    stop(process.pid)
        took.seconds = time.monotonic() - started
        if process.returncode and not may_fail and took.seconds < seconds:
            output.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{output.read().decode()[-2000:]}")
    took.graded = sum(1 for _ in folder.glob("autograded/*/*/*.ipynb"))
    return took


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all that it started, its sandboxes left out."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.name() != "bwrap":
            return [process, *(e for child in process.children() for e in family(child.pid))]
    return []


def memory(pid: int) -> int:
    """Return the bytes of memory of a process and its family; shared memory counts once."""
    held = 0
    for process in family(pid):
        with suppress(psutil.Error):
            held += process.memory_full_info().pss
    return held


def stop(pid: int) -> None:
    """Kill a process and its family; a sandbox ends with the process that started it."""
    for process in family(pid):
        with suppress(psutil.Error):
            process.kill()


def nbgrader(folder: Path, *arguments: str) -> None:
    """Run a command of nbgrader's."""
    run(folder, [sys.executable, "-m", "nbgrader", *arguments])


def stock(folder: Path, names: Sequence[str], seconds: float) -> Took:
    """Grade with nbgrader, one command for each assignment."""
    total = Took()
    for name in names:
        command = [sys.executable, "-m", "nbgrader", "autograde", name]
        took = run(folder, command, seconds / len(names), may_fail=True)
        total = Took(total.seconds + took.seconds, took.graded, max(total.peak, took.peak))
    return total


def ours(folder: Path, names: Sequence[str], seconds: float) -> Took:
    """Grade with this project, with a worker for each core."""
    command = [sys.executable, "-m", "autograder", "grade", *names, "--workers", str(CORES)]
    return run(folder, command, seconds)


def fetch_otter(folder: Path) -> str:
    """Make an environment that has otter-grader; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *pip, *OTTER_NEEDS], check=True)
    return python


def otter(folder: Path, python: str, name: str, seconds: float) -> Took:
    """Grade an assignment with otter-grader, one notebook after another in one process."""
    with zipfile.ZipFile(folder / "autograder.zip", "w") as archive:
        archive.writestr("otter_config.json", "{}")
        for each in load_assignment(COURSE, name).exercises.values():
            if not each.manual:
                text = OTTER_TEST.format(exercise=each.id, points=each.max_points)
                archive.writestr(f"tests/{each.id}.py", text)
    return run(folder, [python, "-c", OTTER_RUN, name], seconds)


def measure(scratch: Path, students: int, large: int, minutes: float) -> str:
    """Grade a class by all three, and a large one by this project; return the results as
    Markdown."""
    end, share = time.monotonic() + 60 * minutes, 60 * minutes / 10
    python = fetch_otter(scratch / "environment")
    for way in WAYS:
        make_course(scratch / way, NAMES, stock=way != WAYS[-1])
    notebooks = draw_class(NAMES, students)
    rows: list[tuple[str, int, dict[str, Took]]] = []
    for turn, name in enumerate((*NAMES, HARM)):
        part = [e for e in notebooks if name == (HARM if e.kind in HOSTILE else e.assignment)]
        names = NAMES if name == HARM else (name,)
        took = {}
        for way in WAYS if turn % 2 else WAYS[::-1]:
            hand_in(scratch / way, part)
            if way == WAYS[0]:
                took[way] = stock(scratch / way, names, share)
            elif way == WAYS[2]:
                took[way] = ours(scratch / way, names, share)
            elif name != HARM:
                took[way] = otter(scratch / way, python, name, share)
        rows.append((name, len(part), took))
        print(name, len(part), took, flush=True)
    # As many as fit into the time left; drawing and handing in take time as well.
    each = max(took[WAYS[2]].each for _, _, took in rows) / 1000
    fit = int((end - time.monotonic()) * 0.8 / each / len(NAMES))
    folder = make_course(scratch / "large", NAMES)
    many = draw_class(NAMES, min(large, max(fit, 1)))
    hand_in(folder, many)
    return text(students, rows, (len(many) // len(NAMES), ours(folder, NAMES, 3600.0)))


def text(
    students: int, rows: list[tuple[str, int, dict[str, Took]]], large: tuple[int, Took]
) -> str:
    """Return the results as Markdown: a table, notes on it, and the conditions of measurement."""
    heads = ["", "notebooks", *(f"{way}, ms each" for way in WAYS)]
    lines = [
        f"{students} students, {sum(count for _, count, _ in rows)} notebooks:",
        "",
        *(f"| {' | '.join(row)} |" for row in ([*heads, *(f"{w} / this" for w in WAYS[:2])],
                                               ["---", *["---:"] * 6])),
    ]  # fmt: skip
    for name, count, took in rows:
        times = {way: took[way].each for way in took if took[way].graded}
        cells = [name, str(count), *(f"{times[w]:,.0f}" if w in times else "" for w in WAYS)]
        cells += [f"{times[w] / times[WAYS[2]]:.1f}" if w in times else "" for w in WAYS[:2]]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        *(
            f"- {way} graded {took[way].graded} of the {count} notebooks of {name}: it was stopped "
            "or left the others without marks."
            for name, count, took in rows
            for way in took
            if took[way].graded < count
        ),
        f"- This project graded {large[1].graded:,} notebooks of {large[0]:,} students by one "
        f"command in {large[1].seconds:,.0f} s, {large[1].each:,.0f} ms each, with "
        f"{large[1].peak / 1e6:,.0f} MB of memory at most.",
        "",
        f"By `python {' '.join(sys.argv)}`, on {CORES} cores, Python {platform.python_version()}.",
    ]
    return "\n".join(lines)


def gate(scratch: Path, at_least: float, students: int = 14, turns: int = 3) -> int:
    """Compare the times of a small class, all of whose notebooks both grade; return the exit
    status.

    If the first measurement falls short, the median of three counts, since a machine may be busy
    for a moment.
    """
    notebooks = [each for each in draw_class(NAMES, students) if each.kind not in HOSTILE]
    ratios: list[float] = []
    for turn in range(turns):
        slow = make_course(scratch / f"stock{turn}", NAMES, stock=True)
        fast = make_course(scratch / f"ours{turn}", NAMES)
        hand_in(slow, notebooks)
        hand_in(fast, notebooks)
        theirs, own = stock(slow, NAMES, 3600.0), ours(fast, NAMES, 3600.0)
        times = f"stock nbgrader {theirs.each:.0f}, this project {own.each:.0f}"
        print(f"{len(notebooks)} notebooks, milliseconds each: {times}")
        if not theirs.graded == own.graded == len(notebooks):
            raise SystemExit(f"stock nbgrader graded {theirs.graded} of them, this {own.graded}")
        ratios.append(theirs.each / own.each)
        print(f"ratio {ratios[-1]:.1f}, at least {at_least:g} wanted", flush=True)
        if ratios[0] >= at_least:
            break
    return int(median(ratios) < at_least)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parsers = parser.add_subparsers(dest="what", required=True)
    beside = parsers.add_parser("class", help="a class by three graders, and a large one by this")
    beside.add_argument("--students", type=int, default=50)
    beside.add_argument("--large", type=int, default=1000, help="students of the large class")
    beside.add_argument("--minutes", type=float, default=40, help="what grading may take in all")
    beside.add_argument("--only-print", action="store_true", help="write nothing")
    guard = parsers.add_parser("gate", help="a loose guard against a grader grown slow")
    guard.add_argument("--at-least", type=float, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "gate":
            sys.exit(gate(Path(folder), options.at_least))
        found = measure(Path(folder), options.students, options.large, options.minutes)
    print(found)
    for page in () if options.only_print else ("README.md", "docs/performance.md"):
        write_block(COURSE / page, "class", found)


if __name__ == "__main__":
    main()
