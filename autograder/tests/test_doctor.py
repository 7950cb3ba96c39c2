"""`autograder doctor` reports everything that is missing, and no command ends with a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder import terminal
from autograder.sandbox.bubblewrap import find_bubblewrap

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
    return {finding["what"]: finding for finding in json.loads(done.stdout)}


@pytest.mark.subprocess
def test_doctor_reports_a_missing_package(odd_course):
    found = findings(odd_course)
    assert "nobody-has-this" in found["packages"]["found"]
    assert not found["packages"]["fine"]
    assert found["packages"]["remedy"]
    assert found["sandbox"]["found"].startswith("not tried")


@pytest.mark.subprocess
def test_doctor_reports_a_full_disk_a_read_only_course_and_a_terminal_without_utf_8(
    odd_course, tmp_path
):
    full = tmp_path / "full"
    full.mkdir()
    box = [find_bubblewrap(), "--dev-bind", "/", "/", "--size", 1 << 20, "--tmpfs", full]
    box += ["--ro-bind", odd_course, odd_course, "--"]
    found = findings(odd_course, *box, TMPDIR=str(full), PYTHONIOENCODING="latin-1")

    assert "is full" in found["disk of temporary files"]["found"]
    assert "Read-only" in found["disk of the course"]["found"]
    assert "latin-1" in found["locale"]["found"] or "iso8859" in found["locale"]["found"]

    for what in ("disk of temporary files", "disk of the course", "locale"):
        assert found[what]["remedy"]
        assert not found[what]["fine"]


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(28, "No space left on device"), "Make room on its disk"),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: cannot be read or written"),
        (ZeroDivisionError("a student's own words"), "failed (ZeroDivisionError in test_doctor.py"),
    ],
)
def test_an_unexpected_error_is_printed_as_one_line_with_advice(error, advice):
    @click.command()
    @terminal.report_errors
    def broken():
        raise error

    done = CliRunner().invoke(broken)
    assert done.exit_code == 2
    assert done.output.startswith("autograder: ")
    assert advice in done.output
    assert done.output.count("\n") == 1
    assert "a student's own words" not in done.output
