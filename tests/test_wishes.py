"""The page of wishes claims nothing without a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "wishes.md"
ROWS = [
    [part.strip() for part in line.strip("|\n").split("|")]
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| wish"))
]


def defined_tests() -> set[str]:
    """Every test of the project, as `file::function`."""
    return {
        f"{path.name}::{node.name}"
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_each_wish_names_tests_that_exist(row):
    assert len(row) == 3
    wish, how, shown = row
    named = re.findall(r"`([^`]+)`", shown)
    assert wish and how and named
    assert set(named) <= defined_tests()
    assert re.sub(r"`[^`]+`|[, ]", "", shown) == ""


def test_the_page_has_both_sides():
    headings = re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == ["Instructors", "Students"] and len(ROWS) > 25
