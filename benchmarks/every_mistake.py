"""How long the notebooks of all known mistakes take beyond what the students' own code takes.

Each notebook is right but for one mistake. A warm grader grades it, sandbox on, as in
`one_notebook.py`, which says what counts as the student's own. For each assignment it is told how
many mistakes there are and how far beyond their own time grading takes them, and which ones take
more than 25 ms.

    python benchmarks/every_mistake.py [--repeats 9] [--enough 1.0]
        [--assignments value backward …] [--page docs/performance.md]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from measuring import alone, page_option, table, tell
from one_notebook import Answers, measure
from sample_class import make_course

from autograder.assignments import Assignment, assignment_names, find_course

BAR = 25


def mistakes(assignment: Assignment) -> dict[str, Answers]:
    """A student for each known mistake, but for those that never end."""
    exercises = [e for e in assignment.exercises.values() if not e.manual]
    right = {exercise.id: exercise.solution for exercise in exercises}
    return {
        mistake.id.replace(".", "_"): {**right, exercise.id: mistake.source}
        for exercise in exercises
        for mistake in exercise.mistakes
        if not mistake.endless
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument(
        "--enough", type=float, default=1.0, help="seconds after which a notebook is not repeated"
    )
    parser.add_argument("--assignments", nargs="+", default=assignment_names(find_course()))
    page_option(parser)
    options = parser.parse_args()
    rows, slow = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_course(folder, options.assignments)
        for name in options.assignments:
            found = alone(measure, folder, name, options.repeats, mistakes, options.enough)
            beyond = {key: 1000 * (whole - own) for key, (whole, own) in found.items()}
            slow += [f"{key} {extra:.0f}" for key, extra in beyond.items() if extra > BAR]
            *_, ninth = statistics.quantiles(beyond.values(), n=10)
            figures = statistics.median(beyond.values()), ninth, max(beyond.values())
            within = sum(extra <= BAR for extra in beyond.values())
            whole = statistics.median(1000 * whole for whole, _ in found.values())
            more = (f"{each:+,.0f}" for each in figures)
            rows.append([f"`{name}`", f"{len(found)}", f"{whole:,.0f}", *more, f"{within}"])
            print(*rows[-1], flush=True)
    print(*slow, sep="\n")
    heads = ["", "mistakes", "graded in", "beyond their own", "nine in ten", "most", f"≤ {BAR} ms"]
    tell("every mistake", f"Milliseconds, medians:\n\n{table(heads, rows)}", options.page)


if __name__ == "__main__":
    main()
