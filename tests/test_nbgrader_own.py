"""nbgrader's own tests pass on this course's configuration, but for what docs/nbgrader.md lists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import nbgrader
import pytest

THEIRS = Path(nbgrader.__file__).parent / "tests"
FILES = (
    "apps/test_nbgrader_autograde.py",
    "apps/test_nbgrader_generate_feedback.py",
    "apps/test_nbgrader_validate.py",
    "preprocessors/test_checkcellmetadata.py",
    "preprocessors/test_deduplicateids.py",
    "preprocessors/test_getgrades.py",
    "preprocessors/test_limitoutput.py",
    "preprocessors/test_overwritecells.py",
    "preprocessors/test_overwritekernelspec.py",
    "preprocessors/test_saveautogrades.py",
    "preprocessors/test_savecells.py",
)
TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "nbgrader.md"
LISTED = set(re.findall(r"`(test_\w+\.py::[^`]+)`", PAGE.read_text("utf-8")))
_OUTCOME = re.compile(r"(test_\w+\.py)::\w+::(\S+) (PASSED|FAILED|ERROR|SKIPPED)")


def node(test: str) -> str:
    """Return the test in pytest's form: with its folder and its class."""
    file, _, name = test.partition("::")
    [path] = THEIRS.glob(f"*/{file}")
    [case] = re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE)
    return f"{path}::{case}::{name}"


def outcomes(chosen: Iterable[str], scratch: Path, course: Path | None) -> dict[str, str]:
    """Run tests of nbgrader; return how each went.

    Args:
        chosen: files or single tests.
        scratch: a folder for their files.
        course: the folder with the configuration to run them on; None for nbgrader's own.
    """
    environment = os.environ | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
        "JUPYTER_CONFIG_PATH": str(course or ""),
    }
    command = [
        *(sys.executable, "-m", "pytest", "-v", "--tb=short", "-W", "ignore"),
        *("-c", os.devnull, "--rootdir", str(THEIRS), "-p", "no:cacheprovider"),
        *(("-p", "nbgrader_plug") if course else ()),
        *chosen,
    ]
    done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True)
    print(done.stdout, done.stderr)
    assert done.returncode in (0, 1), "nbgrader's tests could not be run"
    return {f"{file}::{name}": went for file, name, went in _OUTCOME.findall(done.stdout)}


def failed(outcomes: dict[str, str]) -> set[str]:
    return {test for test, went in outcomes.items() if went in ("FAILED", "ERROR")}


@pytest.mark.campaign
def test_only_listed_tests_of_nbgrader_differ(course, tmp_path):
    here = outcomes([str(THEIRS / file) for file in FILES], tmp_path, course)
    assert set(here) >= LISTED, "the page names tests that there are not"
    assert LISTED & set(here) <= failed(here), "listed as different, and not different any more"

    unlisted = failed(here) - LISTED
    stock = outcomes(map(node, sorted(unlisted | LISTED)), tmp_path, None)
    if fails_anyway := failed(stock):
        warnings.warn(f"fail on this machine without our settings: {fails_anyway}", stacklevel=1)
    assert unlisted <= failed(stock), "fail with our settings alone, and are not listed"
    assert not LISTED & failed(stock), "listed as different, and fail without our settings too"
