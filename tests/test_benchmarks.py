"""Benchmarks still find what they wrap or measure."""

from __future__ import annotations

import subprocess
import sys

from autograder.assignments import find_course, load_assignment


def test_the_path_of_a_notebook_is_profiled(tmp_path):
    script = find_course() / "benchmarks" / "profile_path.py"
    line = [sys.executable, script, "--repeats", "1", "--assignments", "value"]
    done = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True)
    rows = [row.strip("| ").split(" | ") for row in done.stdout.splitlines() if row[:1] == "|"]
    parts = {row[0]: row[1].split(" / ") for row in rows[2:]}
    ran = ("reading and aligning", "running cells", "hidden tests", "marks and JSON", "storing")
    assert all(float(each) > 0 for part in ran for each in parts[part])
    assert float(parts["second chances"][1]) > 0


def test_the_notebooks_of_all_known_mistakes_are_measured(tmp_path):
    script = find_course() / "benchmarks" / "every_mistake.py"
    line = [sys.executable, script, "--repeats", "1", "--assignments", "checkpoint"]
    done = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True)
    known = load_assignment(find_course(), "checkpoint").exercises.values()
    count = sum(not mistake.endless for each in known for mistake in each.mistakes)
    [row] = [row for row in done.stdout.splitlines() if row.startswith("| `checkpoint`")]
    assert row.startswith(f"| `checkpoint` | {count} |")
