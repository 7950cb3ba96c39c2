"""Where the time of one notebook goes, from submitted file to stored marks.

For each assignment a right notebook, one with a mistake and one that was not started are graded
again and again by a warm grader, sandbox on, and the parts of the path are timed from outside:
each function named in `PARTS` is wrapped. Time counts for the innermost of them that is running,
so that the parts add up; what none of them takes is the rest. Prints medians, in milliseconds.

    python benchmarks/profile_path.py [--repeats 25] [--assignments value backward …]
        [--page docs/performance.md]
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measuring import alone, page_option, table, tell
from one_notebook import KINDS, kinds
from sample_class import make_course

from autograder import grading, submissions, workers
from autograder.assignments import assignment_names, find_course, load_assignment
from autograder.classroom import Classroom
from autograder.demo import hand_in
from autograder.diagnosis import Diagnosis
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.runs import Run
from autograder.workers import OneProcess, collect_seldom

PARTS: dict[str, list[tuple[Any, str]]] = {
    "reading and aligning": [
        (Classroom, "job"),
        (submissions, "read_notebook"),
        (submissions, "template"),
        (submissions, "restore"),
    ],
    "running cells": [(Run, "run_cells")],
    "hidden tests": [(grading._Grading, "_fails"), (grading._Grading, "_is_missing")],
    "second chances": [(grading._Grading, "_second_chance")],
    "observing probes": [(Run, "observe")],
    "diagnosis": [(Diagnosis, "name")],
    "marks and JSON": [
        (submissions, "write_results"),
        (workers, "marks_of"),
        (workers, "json"),
    ],
    "storing": [(Classroom, "store"), (Classroom, "settle")],
}
REST, ALL = "the rest", "in all"


class Clock:
    """Tells how long each part has been the innermost one running, in seconds."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running = [REST]
        self._since = time.perf_counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._turn()
        self._running.append(name)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def read(self) -> dict[str, float]:
        """The seconds since it was last read."""
        self._turn()
        found, self.seconds = self.seconds, defaultdict(float)
        return found

    def _turn(self) -> None:
        now = time.perf_counter()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted for a part."""

        @functools.wraps(function)
        def wrapped(*positional: Any, **named: Any) -> Any:
            with self.part(name):
                return function(*positional, **named)

        return wrapped

    def watch(self) -> None:
        """Wrap the functions of all parts, for as long as this process lives."""
        for part, functions in PARTS.items():
            for owner, name in functions:
                function = getattr(owner, name)
                # The module is shared with all others: only what it is called from here counts.
                timed = (
                    SimpleNamespace(dumps=self.timed(part, json.dumps))
                    if function is json
                    else self.timed(part, function)
                )
                setattr(owner, name, timed)


def measure(folder: Path, name: str, repeats: int) -> dict[str, dict[str, float]]:
    """The medians of each student's parts; to be called in a process of its own."""
    collect_seldom()  # as the command does
    clock = Clock()
    clock.watch()
    assignment = load_assignment(folder, name)
    students = kinds(assignment)
    hand_in(folder, assignment, students)
    found: dict[str, dict[str, float]] = {}
    with (
        Grader(folder, course_key(folder)) as grader,
        Classroom(folder, OneProcess(grader), force=True) as room,
    ):
        for student in students:
            rounds = []
            for _ in range(repeats + 1):
                clock.read()
                list(room.grade([(name, student)]))
                rounds.append(clock.read())
            found[student] = {
                part: statistics.median(each[part] for each in rounds[1:])
                for part in (*PARTS, REST)
            }
            found[student][ALL] = statistics.median(sum(each.values()) for each in rounds[1:])
    return found


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f}" if seconds >= 0.01 else f"{seconds * 1000:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--assignments", nargs="+", default=assignment_names(find_course()))
    page_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_course(folder, options.assignments)
        found = {
            name: alone(measure, folder, name, options.repeats) for name in options.assignments
        }
    rows = [
        [part, *(" / ".join(milliseconds(kind[part]) for kind in found[name].values())
                 for name in found)]
        for part in (*PARTS, REST, ALL)
    ]  # fmt: skip
    text = f"Milliseconds, {' / '.join(KINDS)}, median of {options.repeats}:"
    text += f"\n\n{table(['', *(f'`{name}`' for name in found)], rows)}"
    tell("path", text, options.page)


if __name__ == "__main__":
    main()
