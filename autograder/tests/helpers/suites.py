"""Runs hidden tests that are given as text, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.judging.hidden_tests import Suite
from autograder.records import Verdict
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import LocalTarget


def here(cell: str, helpers: dict[str, bytes] | None = None) -> Student:
    """Run a cell in this process; return its names as the fixture `student` of a hidden test."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(cell, scope)
    return Student(LocalTarget(scope), helpers or {})


def verdict(folder: Path, body: str, names: dict[str, Any]) -> Verdict:
    """Return the verdict of a hidden test with this body, run on these names."""
    source = f"@exercise('x')\ndef test_it(student):\n    {body}\n"
    return verdicts(folder, source, names)["test_it"]


def verdicts(folder: Path, source: str, names: dict[str, Any], **files: str) -> dict[str, Verdict]:
    """Return, by name, the verdicts of the hidden tests of the exercise "x", run on these names."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    path = folder / "test_some.py"
    path.write_text(f"import pytest\nfrom autograder.testing import *\n{source}", "utf-8")
    with Suite(path) as suite:
        found = suite.run("x", lambda _: LocalTarget(names), b"seed")
        return {verdict.test: verdict for verdict in found}
