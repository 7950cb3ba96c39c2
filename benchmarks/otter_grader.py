"""A class's `value` notebooks: otter-grader, stock nbgrader and this autograder, in turn.

otter-grader comes from the package index by name, into an environment of its own in a temporary
folder. It grades with its own `grade_submission`, which needs no container, one notebook after
another in one process that has everything imported; it starts a kernel for each. Its tests run
the same hidden tests on the student's names as the hidden test cells do in stock nbgrader's
kernel: one otter test for each exercise, which passes where the exercise has full points. Nothing
is confined by either.

    python benchmarks/otter_grader.py [--students 20] [--repeats 3] [--page docs/performance.md]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

VERSION = "7.0.0"
NEEDS = [f"otter-grader[grading]=={VERSION}", "pytest>=9,<10", "anywidget", "matplotlib"]
NAME = "value"
OTTER, STOCK, ONE, EACH = (
    f"otter-grader {VERSION}", "stock nbgrader", "this project, 1 worker",
    "this project, a worker a core",
)  # fmt: skip
TEST = '''"""An exercise's hidden tests, for otter-grader."""

from otter.test_files import test_case

OK_FORMAT = False
name = "{exercise}"
points = {points}


@test_case(hidden=True)
def full_points(env):
    from autograder.local import run_hidden_tests

    found = run_hidden_tests("{exercise}", env).result
    assert found.points == found.max_points
'''


def main() -> None:
    # Not at the top: otter-grader's environment, which runs this file too, has none of it.
    from measuring import page_option, table, tell
    from sample_class import make_class

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    page_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        python = fetch(Path(scratch, "otter"))
        folder = Path(scratch, "class")
        make_class(folder, [NAME], options.students)
        exercises = write_tests(folder)
        rounds = [measure(folder, python) for _ in range(options.repeats)]
    rows = []
    for way in rounds[0]:
        seconds = statistics.median(found[way][0] for found in rounds)
        ratio = statistics.median(found[way][0] / found[EACH][0] for found in rounds)
        each = f"{seconds / options.students * 1000:,.0f}"
        full = f"{rounds[0][way][1]} of {exercises * options.students}"
        rows.append([way, f"{seconds:,.1f}", each, f"{ratio:.1f}", full])
    heads = ["", "seconds", "ms a notebook", "times the last", "exercises with full points"]
    text = f"A class of {options.students}, median of {options.repeats}:\n\n{table(heads, rows)}"
    tell("otter-grader", text, options.page)


def fetch(folder: Path) -> Path:
    """Make an environment that has otter-grader; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *pip, *NEEDS], check=True)
    return python


def write_tests(folder: Path) -> int:
    """Write what otter-grader grades with; returns the number of exercises."""
    from autograder.assignments import load_assignment

    exercises = [e for e in load_assignment(folder, NAME).exercises.values() if not e.manual]
    with zipfile.ZipFile(folder / "autograder.zip", "w") as archive:
        archive.writestr("otter_config.json", "{}")
        for each in exercises:
            text = TEST.format(exercise=each.id, points=each.max_points)
            archive.writestr(f"tests/{each.id}.py", text)
    return len(exercises)


def measure(folder: Path, otter: Path) -> dict[str, tuple[float, int]]:
    """For each way of grading, its seconds and how many exercises got full points."""
    from measuring import CORES
    from sample_class import cleared, full_marks, run, run_stock

    found = {OTTER: run_otter(folder, otter)}
    cleared(folder, NAME)
    found[STOCK] = run_stock(folder, "autograde", NAME), full_marks(folder, NAME)
    for way, workers in ((ONE, 1), (EACH, CORES)):
        cleared(folder, NAME)
        options = ("--force", "--workers", str(workers))
        seconds = run(folder, "autograder", "grade", NAME, *options)
        found[way] = seconds, full_marks(folder, NAME)
    return found


def run_otter(folder: Path, python: Path) -> tuple[float, int]:
    """Have otter-grader grade the class."""
    import autograder

    clone = str(Path(autograder.__file__).parents[1])
    answer = folder / "otter.json"
    subprocess.run(
        [python, __file__, "--inside", str(answer)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": clone},
        check=True,
        capture_output=True,
    )
    seconds, full = json.loads(answer.read_text())
    return seconds, full


def inside(answer: Path) -> None:
    """In otter-grader's environment: grade, and write down the seconds and the full points."""
    from otter.api import grade_submission

    started, full = time.perf_counter(), 0
    for path in sorted(Path().glob(f"submitted/*/{NAME}/{NAME}.ipynb")):
        graded = grade_submission(str(path), "autograder.zip", quiet=True)
        full += sum(each.passed_all for each in graded.results.values())
    answer.write_text(json.dumps([time.perf_counter() - started, full]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(Path(sys.argv[2]))
    else:
        main()
