"""`autograder doctor` reports whatever is missing, and no command ends in a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder import terminal
from autograder.wall.bubblewrap import find_bubblewrap

SETTINGS = """
id = "odd"
title = "Odd"
[student_code]
packages = ["ipython", "nobody-has-this"]
"""


@pytest.fixture
def odd_course(tmp_path: Path) -> Path:
    folder = tmp_path / "course"
    (folder / "source").mkdir(parents=True)
    (folder / "course.toml").write_text(SETTINGS)
    return folder


def findings(course: Path, *before: object, **environment: str) -> dict[str, dict]:
    line = [*before, sys.executable, "-m", "autograder", "doctor", "--json", "--course", course]
    done = subprocess.run(
        [*map(str, line)], capture_output=True, text=True, env={"PATH": "/usr/bin", **environment}
    )
    assert "Traceback" not in done.stderr, done.stderr
    return {each["what"]: each for each in json.loads(done.stdout)}


def test_a_missing_package_is_a_finding(odd_course):
    found = findings(odd_course)
    assert "nobody-has-this" in found["packages"]["found"] and not found["packages"]["fine"]
    assert found["packages"]["remedy"]
    assert found["sandbox"]["found"].startswith("not tried")


def test_a_full_disk_a_read_only_course_and_a_poor_terminal_are_findings(odd_course, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    box = [find_bubblewrap(), "--dev-bind", "/", "/", "--size", 1 << 20, "--tmpfs", full]
    box += ["--ro-bind", odd_course, odd_course, "--"]
    found = findings(odd_course, *box, TMPDIR=str(full), PYTHONIOENCODING="latin-1")
    assert "is full" in found["disk of temporary files"]["found"]
    assert "Read-only" in found["disk of the course"]["found"]
    assert "latin-1" in found["locale"]["found"] or "iso8859" in found["locale"]["found"]
    for what in ("disk of temporary files", "disk of the course", "locale"):
        assert found[what]["remedy"] and not found[what]["fine"]


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(28, "No space left on device"), "Make room on its disk"),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: cannot be read or written"),
        (ZeroDivisionError("a student's own words"), "failed (ZeroDivisionError in test_doctor.py"),
    ],
)
def test_an_unforeseen_error_is_one_sentence(error, advice):
    @click.command()
    @terminal.for_people
    def broken():
        raise error

    done = CliRunner().invoke(broken)
    assert done.exit_code == 2 and done.output.startswith("autograder: ")
    assert advice in done.output and done.output.count("\n") == 1
    assert "a student's own words" not in done.output
