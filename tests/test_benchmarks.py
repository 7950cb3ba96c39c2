"""Benchmarks that wrap the product from outside still find what they wrap."""

from __future__ import annotations

import subprocess
import sys

from autograder.assignments import find_course


def test_the_path_of_a_notebook_is_profiled(tmp_path):
    script = find_course() / "benchmarks" / "profile_path.py"
    line = [sys.executable, script, "--repeats", "1", "--assignments", "value"]
    done = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True)
    rows = [row.strip("| ").split(" | ") for row in done.stdout.splitlines() if row[:1] == "|"]
    parts = {row[0]: row[1].split(" / ") for row in rows[2:]}
    ran = ("reading and aligning", "running cells", "hidden tests", "marks and JSON", "storing")
    assert all(float(each) > 0 for part in ran for each in parts[part])
    assert float(parts["second chances"][1]) > 0
