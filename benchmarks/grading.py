"""Measures how long grading takes. docs/performance.md says what is measured, and how.

    python benchmarks/grading.py class [--minutes 45]
    python benchmarks/grading.py six
    python benchmarks/grading.py mlp

`class` writes its tables into docs/performance.md: a class by stock nbgrader, by this project and
by its service, with the floor beside it; then larger classes by this project. `six` compares a
class of six with stock nbgrader, in mlp and in the other notebooks. `mlp` grades a right mlp, and
one with each known mistake.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import psutil
from drawn_class import COURSE, HOSTILE, Notebook, draw_class

from autograder.authoring.audit.cases import Case, all_cases
from autograder.authoring.audit.judging import notebook_cells
from autograder.authoring.audit.report import write_block
from autograder.authoring.in_notebook import run_hidden_tests
from autograder.authoring.release import copy_course
from autograder.course_folder import key as keys
from autograder.judging.grader import Grader
from autograder.sandbox.guest.session import SELDOM

sys.path += [str(COURSE.grading_tests), str(COURSE.root / "autograder/tests/helpers")]

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(COURSE.root)}
CORES = len(os.sched_getaffinity(0))
QUICK, MLP = ("value", "backward", "checkpoint"), ("mlp",)
NAMES = QUICK + MLP
HARM = "loop, crash, eat memory"
LARGER = (30, 1000)
"""Numbers of students of the classes in `QUICK` that this project grades by itself."""

SHARE = 1 / 15
"""Greatest share of the time that one grader may take for one row of the table."""

WAYS = ("stock nbgrader", "this")
STOCK_CONFIG = """
import os, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
c = get_config()
c.CourseDirectory.course_id = "autograd"
"""


@dataclass
class Took:
    """Time and memory of a command.

    Attributes:
        seconds: wall-clock time until the command ended or was stopped.
        graded: the number of notebooks that were graded until then.
        peak: greatest memory in bytes of the command and its children, without sandboxes.
    """

    seconds: float = 0.0
    graded: int = 0
    peak: int = 0

    @property
    def each(self) -> float:
        """Milliseconds for each notebook."""
        return 1000 * self.seconds / max(1, self.graded)

    def shown(self, notebooks: int) -> str:
        """Return `each` as text, with the number graded if it is not that of the notebooks."""
        some = f" ({self.graded} of {notebooks})" if self.graded < notebooks else ""
        return f"{self.each:,.0f}{some}"


def make_course(folder: Path, names: Sequence[str], stock: bool = False) -> Path:
    """Make a course with these assignments released, with nbgrader's own configuration if
    `stock`."""
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
    """Replace the course's submissions by these notebooks."""
    for each in ("submitted", "autograded"):
        shutil.rmtree(folder / each, ignore_errors=True)
    for notebook in notebooks:
        notebook.hand_in(folder)


def run(
    folder: Path, command: Sequence[str], seconds: float = 3600.0, may_fail: bool = False
) -> Took:
    """Run a command in a course folder, and stop it after `seconds`."""
    took, started = Took(), time.monotonic()
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, env=ENVIRONMENT
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
    """Return a process and all its descendants, except sandboxes."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.name() != "bwrap":
            return [process, *(e for child in process.children() for e in family(child.pid))]
    return []


def memory(pid: int) -> int:
    """Return the memory in bytes of a process and its descendants; shared memory counts once."""
    held = 0
    for process in family(pid):
        with suppress(psutil.Error):
            held += process.memory_full_info().pss
    return held


def stop(pid: int) -> None:
    """Kill a process and its descendants; a sandbox ends with the process that started it."""
    for process in family(pid):
        with suppress(psutil.Error):
            process.kill()


def nbgrader(folder: Path, *arguments: str) -> None:
    """Run a command of nbgrader."""
    run(folder, [sys.executable, "-m", "nbgrader", *arguments])


def stock(folder: Path, names: Sequence[str], seconds: float = 3600.0) -> Took:
    """Grade with nbgrader, one command for each assignment."""
    total = Took()
    for name in names:
        command = [sys.executable, "-m", "nbgrader", "autograde", name]
        took = run(folder, command, seconds / len(names), may_fail=True)
        total = Took(total.seconds + took.seconds, took.graded, max(total.peak, took.peak))
    return total


def ours(folder: Path, names: Sequence[str]) -> Took:
    """Grade with this project, with a worker for each core."""
    return run(folder, [sys.executable, "-m", "autograder", "grade", *names])


def floor(name: str) -> float:
    """Return the milliseconds that the hidden tests take on the solution in this process, without
    a sandbox, but with its settings of the garbage collector: the least of three measurements."""
    from namespaces import namespace

    gc.freeze()
    gc.set_threshold(*SELDOM)
    assignment, taken = COURSE.assignment(name), []
    with chdir(COURSE.root):
        for _ in range(3):
            started = time.monotonic()
            scope = namespace(assignment)
            for exercise in assignment.exercises.values():
                if not exercise.manual:
                    run_hidden_tests(exercise.id, scope)
            taken.append(1000 * (time.monotonic() - started))
    return min(taken)


def waits(folder: Path, notebooks: Iterable[Notebook]) -> list[float]:
    """Hand notebooks in at the service, one after another; return the seconds from each upload
    until the student's open page has a link to the feedback."""
    from services import serving

    seconds = []
    with serving(folder) as service:
        for notebook in notebooks:
            visitor, number = service.visitor(notebook.student), len(service.attempts()) + 1
            upload = notebook.text(folder).encode()
            started = time.monotonic()
            status, page = visitor.hand_in(upload, notebook.assignment)
            if status != 200:
                raise SystemExit(f"the service took no notebook of {notebook.student}:\n{page}")
            next(part for part in visitor.events() if f"feedback/{number}" in part)
            seconds.append(time.monotonic() - started)
    return seconds


def measure(scratch: Path, minutes: int) -> str:
    """Return the results of `class` as Markdown."""
    end, share = time.monotonic() + 60 * minutes, 60 * minutes * SHARE
    graders = partial(stock, seconds=share), ours
    for way in WAYS:
        make_course(scratch / way, NAMES, stock=way != WAYS[-1])
    students = max(5, minutes * 2 // 3)
    notebooks, rows = draw_class(NAMES, students), []
    milliseconds: dict[str, float] = {}
    for turn, name in enumerate((*NAMES, HARM)):
        part = [e for e in notebooks if name == (HARM if e.kind in HOSTILE else e.assignment)]
        names = NAMES if name == HARM else (name,)
        took: dict[str, Took] = {}
        for way, grade in list(zip(WAYS, graders, strict=True))[:: 1 if turn % 2 else -1]:
            hand_in(scratch / way, part)
            took[way] = grade(scratch / way, names)
        theirs, own = (took[way] for way in WAYS)
        milliseconds[name] = own.each
        waited = waits(scratch / WAYS[1], part)
        rows.append(
            [
                name,
                f"{len(part)}",
                "" if name == HARM else f"{floor(name):,.0f}",
                theirs.shown(len(part)),
                own.shown(len(part)),
                f"{theirs.each / own.each:.1f}",
                f"{median(waited):.1f}",
                f"{quantiles(waited, n=20, method='inclusive')[-1]:.1f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    heads = ["", "notebooks", "floor, ms", *(f"{way}, ms each" for way in WAYS)]
    heads += [f"{WAYS[0]} / this", "hand-in to feedback: median, s", "slowest twentieth, s"]
    larger = grade_larger(scratch, sum(milliseconds[name] for name in QUICK), end)
    lines = [
        f"{students} students, {len(notebooks)} notebooks:\n",
        *table(heads, rows),
        "\nLarger classes in the first three assignments, by this project, one command for each:\n",
        *table(["students", "notebooks", "s", "ms each", "MB at most"], larger),
        f"\nBy `python {' '.join(sys.argv)}`, on {CORES} cores, "
        f"Python {platform.python_version()}.",
    ]
    return "\n".join(lines)


def grade_larger(scratch: Path, milliseconds: float, end: float) -> list[list[str]]:
    """Grade the classes in `LARGER`, made smaller if they do not fit into the time left.

    Args:
        milliseconds: how long this project takes for a student's notebooks in `QUICK`.
        end: the end of the time, on the clock of `time.monotonic`.
    """
    rows = []
    for wanted in LARGER:
        # Drawing and handing in take time as well.
        students = max(1, min(wanted, int(800 * (end - time.monotonic()) / milliseconds)))
        folder = make_course(scratch / str(wanted), QUICK)
        hand_in(folder, draw_class(QUICK, students))
        took = ours(folder, QUICK)
        numbers = (students, took.graded, took.seconds, took.each, took.peak / 1e6)
        rows.append([f"{number:,.0f}" for number in numbers])
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    aligned = ["---:" if head else "---" for head in heads]
    return [f"| {' | '.join(cells)} |" for cells in (heads, aligned, *rows)]


def compare_six(scratch: Path) -> None:
    """Print how many times as fast as stock nbgrader this project grades a class of six."""
    for names, target in ((QUICK, 20), (MLP, 12)):
        # Of nine drawn notebooks of an assignment, three do harm.
        notebooks = [each for each in draw_class(names, 9) if each.kind not in HOSTILE]
        times = []
        for way, grade in ((WAYS[0], stock), (WAYS[1], ours)):
            folder = make_course(scratch / f"{way} {names[0]}", names, stock=grade is stock)
            hand_in(folder, notebooks)
            took = grade(folder, names)
            times.append(took.each)
            print(f"{way}: {took.graded} of {len(notebooks)} notebooks, {took.each:,.0f} ms each")
        ratio = times[0] / times[1]
        print(f"{', '.join(names)}: {ratio:.1f} times, target {target}", flush=True)


def grade_mistakes() -> None:
    """Print how long a right mlp takes, and the median of all with one known mistake."""
    assignment = COURSE.assignment(*MLP)
    right, seconds = Case("variant", "right", *MLP, {}), {}
    with Grader(COURSE, bytes(32)) as grader:
        # The first grading loads the tests, and does not count.
        for case in (right, right, *all_cases(COURSE, assignment, "", ["mistake"])):
            started = time.monotonic()
            grader.grade(case.assignment, notebook_cells(assignment, case))
            seconds[case.id] = time.monotonic() - started
            print(f"{case.id}: {seconds[case.id]:.1f} s", flush=True)
    print(f"a right mlp: {seconds.pop(right.id):.1f} s, target 5")
    print(f"median of {len(seconds)} known mistakes: {median(seconds.values()):.1f} s, target 10")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["class", "six", "mlp"])
    parser.add_argument("--minutes", type=int, default=45, help="for `class`, with fewer students")
    options = parser.parse_args()
    if options.what == "mlp":
        return grade_mistakes()
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "six":
            return compare_six(Path(folder))
        print(f"{options.minutes} minutes, on a machine that does nothing else", flush=True)
        outcome = measure(Path(folder), options.minutes)
    print(outcome)
    write_block(COURSE.root / "docs/performance.md", "class", outcome)


if __name__ == "__main__":
    main()
