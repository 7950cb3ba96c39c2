"""`autograder` with a stopwatch in its workers: a line in a file for each notebook graded.

    python benchmarks/timed_grade.py FILE grade value backward

Each line holds the assignment, the student, the seconds from the submitted bytes to the graded
notebook, and when it was done, by the system's monotonic clock. Storing, which the command's own
process does meanwhile, is not in them. All else is as in `python -m autograder`, the order in which
modules are imported too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

WATCHED = "autograder.pipeline.workers"


def timed(grade: Callable[..., Any], file: str) -> Callable[..., Any]:
    """The function that grades one job, which writes down how long it took."""
    lines = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def grade_timed(grader: Any, job: Any, *more: Any) -> Any:
        started = time.monotonic()
        graded = grade(grader, job, *more)
        done = time.monotonic()
        os.write(lines, f"{job.assignment} {job.student} {done - started} {done}\n".encode())
        return graded

    return grade_timed


class Stopwatch:
    """Finds the module of the workers as it is found otherwise, and times it once it has run."""

    def __init__(self, file: str) -> None:
        self._file = file

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        run = spec.loader.exec_module

        def run_and_time(module: ModuleType) -> None:
            run(module)
            module.grade_job = timed(module.grade_job, self._file)  # type: ignore[attr-defined]

        spec.loader.exec_module = run_and_time  # type: ignore[method-assign]
        return spec


if __name__ == "__main__":
    from autograder.__main__ import run

    sys.meta_path.insert(0, Stopwatch(sys.argv.pop(1)))  # type: ignore[arg-type]
    run()
