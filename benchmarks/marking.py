"""Measures how long people wait who mark 300 written answers, here and in nbgrader's formgrader.

    python benchmarks/marking.py [--students 300]

A browser without a window marks q22 of `checkpoint` by keyboard alone: for each answer, the time is
that from the key that leaves it until the next answer can be marked. In the formgrader, each answer
is passed by the keys that its own help names.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from grading import COURSE, make_course, run
from nbgrader.api import Gradebook
from playwright.sync_api import Page, sync_playwright

sys.path += [str(COURSE.root / "autograder/tests/helpers")]

from browsers import CHROMIUM, QUIET
from schools import solutions
from serving import serve

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course

NAME, EXERCISE = "checkpoint", "q22"
FORMGRADER_READY = """() => window.formgrader?.loaded && formgrader.grades?.loaded
    && formgrader.comments?.loaded"""
OURS_READY = "document.readyState === 'complete' && document.forms.length > 0"
FORMGRADER_ANSWERS = 30
"""Number of answers that are passed in the formgrader, which takes seconds for each."""


def graded(folder: Path, students: int) -> None:
    """Make a course with a graded class in which everybody has written something else."""
    make_course(folder, [NAME])
    course, right = Course(folder), solutions(NAME, COURSE)
    answers = {
        f"student_{number:04}": {**right, EXERCISE: f"Backward needs one pass, says {number}."}
        for number in range(students)
    }
    hand_in(course, course.assignment(NAME), answers)
    run(folder, [sys.executable, "-m", "autograder", "grade", NAME])


def waits(page: Page, count: int, mark: Callable[[], None], is_ready: str) -> list[float]:
    """Return the seconds from the end of `mark` until the next answer is ready, for each answer."""
    found = []
    for _ in range(count):
        address = page.url
        mark()
        started = time.perf_counter()
        page.wait_for_url(lambda url, before=address: url != before)
        page.wait_for_function(is_ready)
        found.append(time.perf_counter() - started)
    return found


def here(page: Page, folder: Path, students: int) -> list[float]:
    """Mark every answer on the pages of `autograder mark`, by two keys each."""
    command = [sys.executable, "-m", "autograder", "mark", NAME, "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as pages:
        try:
            address = next(word for word in pages.stdout.readline().split() if "://" in word)
            page.goto(address)
            page.goto(f"{address.partition('?')[0]}{NAME}/{EXERCISE}")

            def mark() -> None:
                page.keyboard.press("n")
                page.keyboard.press("Enter")

            return waits(page, students - 1, mark, OURS_READY)
        finally:
            pages.send_signal(signal.SIGINT)


def formgrader(page: Page, folder: Path, students: int) -> list[float]:
    """Pass answers in nbgrader's formgrader, as it serves them."""
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        first = min(each.id for each in gradebook.notebook_submissions(NAME, NAME))
    home = folder.parent / "home"
    home.mkdir()
    with serve(folder, home) as lab:
        page.context.request.get(lab.address("login"), max_redirects=0)
        page.goto(f"{lab.url}/formgrader/submissions/{first}/")
        page.wait_for_function(FORMGRADER_READY)
        leave = partial(page.keyboard.press, "Control+.")
        return waits(page, min(FORMGRADER_ANSWERS, students - 1), leave, FORMGRADER_READY)


def shown(what: str, found: list[float]) -> str:
    typical, slowest = median(found), quantiles(found, n=20)[-1]
    return f"{what}: {len(found)} answers, {typical:.3f} s each, one in twenty over {slowest:.3f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch) / "course"
        graded(folder, options.students)
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = chromium.new_page()
        page.set_default_timeout(120_000)
        theirs = formgrader(page, folder, options.students)
        print(shown("formgrader", theirs), flush=True)
        ours = here(page, folder, options.students)
        print(shown("autograder mark, two keys each", ours))
        print(f"the wait is a {median(theirs) / median(ours):.0f}th of the formgrader's")
        chromium.close()


if __name__ == "__main__":
    main()
