"""Copies of answers are found, and answers that were written independently are not."""

from __future__ import annotations

import itertools
import re

from tested_course import COURSE

from autograder.course_folder.misconceptions import percent_cells
from autograder.pages.class_report.similarity import ALIKE, similar_pairs

VALUE = COURSE.assignment("value")
STUBS = {exercise.id: exercise.stub for exercise in VALUE.exercises.values()}


def variants() -> dict[str, dict[str, str]]:
    """Return the right answers of the value assignment that were written independently."""
    found = {}
    for path in sorted((COURSE.root / "tests" / "variants" / "value").glob("*.py")):
        cells = {cell.name: cell.source for cell in percent_cells(path)}
        found[path.stem] = cells
    return found


def renamed(cells: dict[str, str]) -> dict[str, str]:
    """Return a copy that a student disguised: other names, other spacing, comments added."""
    names = {"other": "b", "out": "result", "self": "a", "node": "n", "nodes": "seen"}
    return {
        exercise: "# my own work\n"
        + re.sub(r"\b(" + "|".join(names) + r")\b", lambda found: names[found[0]], source)
        .replace(" = ", "  =  ")
        for exercise, source in cells.items()
    }  # fmt: skip


def test_a_disguised_copy_is_found_and_independent_answers_are_not():
    answers = variants()
    assert len(answers) >= 12
    assert similar_pairs(answers, STUBS, alike=0.65) == []

    [pair] = similar_pairs({**answers, "copied": renamed(answers["lambdas"])}, STUBS)
    assert {pair.first, pair.second} == {"copied", "lambdas"}
    assert pair.similarity > 0.95 > ALIKE


def test_all_copies_in_a_small_group_are_found():
    answers = variants()
    few = {f"friend {i}": renamed(answers["direct"]) for i in range(2)}
    found = similar_pairs({**answers, **few}, STUBS)
    expected = set(itertools.combinations(sorted([*few, "direct"]), 2))

    assert {tuple(sorted((pair.first, pair.second))) for pair in found} == expected
