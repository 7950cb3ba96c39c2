"""The class that the benchmarks grade is what its page says; what is measured is written down."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import nbformat

from autograder.course_folder.assignments import find_course

COURSE = find_course(Path(__file__).parent)
sys.path.append(str(COURSE / "benchmarks"))

import drawn_class  # noqa: E402
import grading  # noqa: E402
from drawn_class import ANSWERS, HOSTILE, NOTEBOOKS, UNTOUCHED, draw_class  # noqa: E402


def shares(head: str) -> dict[str, float]:
    """Return what the page says of the class, by the first column of one of its tables."""
    page = (COURSE / "docs" / "performance.md").read_text("utf-8")
    [rows] = re.findall(rf"\| {head} \|.*?\n\n", page, re.DOTALL)
    return {name: int(share) / 100 for name, share in re.findall(r"\| ([\w ]+) \| (\d+) %", rows)}


def test_the_page_has_the_shares_of_all_kinds():
    assert shares("answer") == ANSWERS and shares("notebook") == NOTEBOOKS


def test_a_class_is_drawn_from_its_seed_and_no_two_cells_are_alike(monkeypatch):
    monkeypatch.setattr(drawn_class, "_mutants", lambda *_: [])
    drawn = draw_class(["value"], 50)
    assert drawn == draw_class(["value"], 50) != draw_class(["value"], 50, "another")
    assert Counter(each.kind for each in drawn) == {k: s * 50 for k, s in NOTEBOOKS.items()}
    cells = [cell for each in drawn for cell in each.answers.values()]
    assert len(set(cells)) == len(cells) == 48 * 10
    assert all(bool(each.answers) == (each.kind != UNTOUCHED) for each in drawn)


def test_notebooks_are_handed_in_and_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(drawn_class, "_mutants", lambda *_: [])
    drawn = [each for each in draw_class(["checkpoint"], 9) if each.kind not in HOSTILE][:3]
    folder = grading.make_course(tmp_path, ["checkpoint"])
    grading.hand_in(folder, drawn)
    path = tmp_path / "submitted" / drawn[0].student / "checkpoint" / "checkpoint.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    sources = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in cells}
    assert {name: sources[name] for name in drawn[0].answers} == drawn[0].answers
    took = grading.ours(folder, ["checkpoint"], 600.0)
    assert took.graded == 3 and took.peak > 10**7 and 0 < took.each < 1000 * took.seconds


def test_what_was_measured_is_a_table():
    stock, otter, this = (grading.Took(seconds, 2, 10**8) for seconds in (8.0, 2.0, 0.5))
    rows = [
        ("value", 2, {"stock nbgrader": stock, "otter-grader": otter, "this": this}),
        (grading.HARM, 3, {"stock nbgrader": stock, "this": grading.Took(3.0, 3)}),
    ]
    told = grading.text(2, rows, (1000, grading.Took(600.0, 3000, 3 * 10**8)))
    for line in (
        "| value | 2 | 4,000 | 1,000 | 250 | 16.0 | 4.0 |",
        "| loop, crash, eat memory | 3 | 4,000 |  | 1,000 | 4.0 |  |",
        "- stock nbgrader graded 2 of the 3 notebooks of loop, crash, eat memory: it was stopped",
        "3,000 notebooks of 1,000 students by one command in 600 s, 200 ms each, with 300 MB",
    ):
        assert line in told
