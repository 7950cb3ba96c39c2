"""The marks of tests hold: what starts a program or takes long fails without its mark."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from programs import run_program

pytestmark = pytest.mark.subprocess

TESTS = """
import subprocess

import pytest
import tiers

tiers.MOST, tiers.BUSY = 0.05, float("inf")


def test_starts():
    subprocess.run(["true"])


@pytest.mark.subprocess
def test_starts_and_is_marked():
    subprocess.run(["true"])


def test_works():
    for _ in range(10_000_000):
        pass


@pytest.mark.full
def test_works_and_is_marked():
    for _ in range(10_000_000):
        pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder in which pytest has run the tests above."""
    folder = tmp_path_factory.mktemp("tiers")
    (folder / "test_it.py").write_text(TESTS)
    helpers = str(Path(__file__).parent / "helpers")
    environment = {**os.environ, "PYTHONPATH": helpers, "COLUMNS": "200"}
    line = [sys.executable, "-m", "pytest", "-p", "tiers", "-rA", "test_it.py"]
    printed = run_program(line, 1, cwd=folder, env=environment).stdout
    (folder / "printed").write_text(printed)
    return folder


@pytest.mark.parametrize(("test", "mark"), [("test_starts", "subprocess"), ("test_works", "full")])
def test_a_test_without_its_mark_fails_and_names_the_mark(folder, test, mark):
    lines = (folder / "printed").read_text().splitlines()

    [failed] = [line for line in lines if line.startswith(f"FAILED test_it.py::{test} ")]
    assert f"needs the mark `{mark}`" in failed


@pytest.mark.parametrize("test", ["test_starts_and_is_marked", "test_works_and_is_marked"])
def test_a_test_with_its_mark_passes(folder, test):
    assert f"PASSED test_it.py::{test}\n" in (folder / "printed").read_text()


def test_the_processor_time_of_each_test_is_recorded_the_longest_first(folder):
    lines = (folder / "artefacts/durations.tsv").read_text().splitlines()

    names = [line.split("\t")[2].removeprefix("test_it.py::") for line in lines]
    assert {*names[:2]} == {"test_works", "test_works_and_is_marked"}
    assert {*names[2:]} == {"test_starts", "test_starts_and_is_marked"}
