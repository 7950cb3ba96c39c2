"""What one feedback page costs: nbgrader's own exporter and this course's, on the same class.

Grades a class in which every notebook differs, then has nbgrader make its feedback pages in turn
with its own settings and with the course's, in one warm process. Prints the processor time that a
page takes in user mode. With `--at-least 5`, ends with status 1 where the ratio is below.

    python benchmarks/feedback_pages.py [--students 30] [--rounds 3] [--at-least 5]
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from traitlets.config import Config

from autograder import formulas, rendering
from autograder.assignments import find_course, load_assignment
from autograder.classroom import course_directory
from autograder.demo import filled_notebook
from autograder.feedback import exporter
from autograder.publishing import copy_course, run_nbgrader

REMEMBERED = (exporter._highlighted, exporter._safe, rendering._rendered_once, formulas.mathml)
OURS = ("exporter_class", "preprocessors")


def make_class(folder: Path, students: int) -> None:
    """A graded class: each has one mistake, in turn, and wrote every answer in their own way."""
    copy_course(find_course(), folder)
    run_nbgrader(folder, "generate_assignment", "value", "--force")
    exercises = load_assignment(folder, "value").exercises
    right = {exercise.id: exercise.solution for exercise in exercises.values()}
    mistakes = [(e.id, m.source) for e in exercises.values() for m in e.mistakes if not m.endless]
    for number in range(students):
        name, source = mistakes[number * 5 % len(mistakes)]
        answers = {
            key: f"{cell}\n# by student {number}\n"
            for key, cell in {**right, name: source}.items()
        }  # fmt: skip
        path = folder / "submitted" / f"student_{number:03}" / "value" / "value.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(filled_notebook(folder, "value", answers), "utf-8")
    command = [sys.executable, "-m", "autograder", "grade", "value"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def user_seconds(folder: Path, stock: bool) -> float:
    """Processor time in user mode for the feedback pages of the whole class."""
    directory = course_directory(folder)
    config = Config(directory.config)
    if stock:
        for name in OURS:
            config.GenerateFeedback.pop(name, None)
        config.pop("HTMLExporter", None)
    directory.assignment_id = "value"
    converter = GenerateFeedback(coursedir=directory, config=config, force=True)
    converter.log.setLevel(logging.CRITICAL)
    for remembered in REMEMBERED:  # a class is graded once: nothing is known of it before
        remembered.cache_clear()
    started = os.times().user
    converter.start()
    return os.times().user - started


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-least", type=float, default=0.0)
    options = parser.parse_args()
    times: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_class(folder, options.students)
        for round_number in range(options.rounds + 1):
            for stock in (True, False):
                seconds = user_seconds(folder, stock) / options.students
                if round_number:  # the first one imports and compiles
                    times[stock].append(seconds)
    print(f"class of {options.students}, median of {options.rounds} rounds, user ms a page")
    print(f"nbgrader's own exporter  {statistics.median(times[True]) * 1000:7.1f}")
    print(f"this course's            {statistics.median(times[False]) * 1000:7.1f}")
    ratio = statistics.median(a / b for a, b in zip(times[True], times[False], strict=True))
    print(f"ratio                    {ratio:7.1f}")
    sys.exit(ratio < options.at_least)


if __name__ == "__main__":
    main()
