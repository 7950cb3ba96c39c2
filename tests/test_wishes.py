"""The page of wishes claims nothing without a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "wishes.md"
ANSWERED, _, OPEN = PAGE.read_text("utf-8").partition("\n## Not answered\n")


def rows(text: str) -> list[list[str]]:
    return [
        [part.strip() for part in line.strip("|\n").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith(("|---", "| wish"))
    ]


ROWS = rows(ANSWERED)


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
    assert headings == ["Instructors", "Students", "Not answered"] and len(ROWS) > 25


def test_what_is_not_answered_is_told_and_not_claimed_above():
    threads = re.compile(r"\b(?:NB|OT|PL|CC|GS)\d+\b")
    assert all(len(row) == 2 and all(row) for row in rows(OPEN)) and len(rows(OPEN)) > 5
    assert not {*threads.findall(ANSWERED)} & {*threads.findall(OPEN)}


@pytest.mark.parametrize("thread", ["NB1379", "NB1452", "NB1837", "OT622"])
def test_no_thread_is_cited_that_nobody_could_find(thread):
    assert thread not in ANSWERED + OPEN
