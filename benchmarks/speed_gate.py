"""A loose guard against a grader grown slow: how many times as long stock nbgrader takes.

Both grade notebooks of one class, and what a notebook takes is compared, so that a slow or a busy
machine changes little. Stock nbgrader grades a few, since it takes seconds for each, and this
project grades all, since starting its command takes longer than grading a few. Ends with status 1
where the ratio is below `--at-least`.

    python benchmarks/speed_gate.py --at-least 7
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import machine
from sample_class import cleared, make_class, run, run_stock

NAME, STUDENTS, FOR_STOCK = "value", 60, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at-least", type=float, required=True)
    wanted = parser.parse_args().at_least
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_class(folder, [NAME], STUDENTS)
        some = f"--student=student_000[0-{FOR_STOCK - 1}]"
        stock = run_stock(folder, "autograde", NAME, some) / FOR_STOCK
        cleared(folder, NAME)
        ours = run(folder, "autograder", "grade", NAME, "--workers", "1") / STUDENTS
    ratio = stock / ours
    print(f"`{NAME}` on {machine()}, milliseconds a notebook:")
    print(f"stock nbgrader {stock * 1000:.0f}, this project {ours * 1000:.0f}")
    print(f"ratio {ratio:.1f}, at least {wanted:g} wanted")
    sys.exit(ratio < wanted)


if __name__ == "__main__":
    main()
