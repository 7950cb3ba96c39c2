"""Hidden tests of a text, run in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.judging.hidden_tests import Suite
from autograder.model import Verdict
from autograder.wall.targets import LocalTarget


def verdicts(folder: Path, source: str, names: dict[str, Any], **files: str) -> dict[str, Verdict]:
    """Return the verdicts of the hidden tests of exercise "x" on a namespace, by test."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    path = folder / "test_some.py"
    path.write_text(f"import pytest\nfrom autograder.testing import *\n{source}", "utf-8")
    with Suite(path) as suite:
        found = suite.run("x", lambda _: LocalTarget(names), b"seed")
        return {verdict.test: verdict for verdict in found}
