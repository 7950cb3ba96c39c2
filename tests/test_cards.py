"""Wrong answers of beginners: the visible check and the report say what a tutor would."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

import pytest
from answers import graded
from campaigns import drawn

from autograder.course_folder.course import find_course
from autograder.course_folder.misconceptions import PercentCell, percent_cells
from coursecheck.check import diagnose, load_table
from coursecheck.messages import MOST_ROWS
from namespaces import namespace_at

COURSE = find_course()
ANSWERS = [
    (name, cell)
    for name in COURSE.assignment_names()
    for cell in percent_cells(Path(__file__).with_name("answers") / f"{name}.py")
]


def each(test: int):
    return [
        pytest.param(name, cell, id=cell.name, marks=drawn(cell.name, test, 2))
        for name, cell in ANSWERS
    ]


def wanted(cell: PercentCell, place: str) -> list[str]:
    return cell.headers.get(place, cell.headers["says"]).split(" | ")


def in_a_notebook(source: str) -> str:
    """Return the same code, compiled under the name of a cell whose lines can be looked up."""
    name = f"<ipython-input-{len(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return f"exec(compile({source!r}, {name!r}, 'exec'), globals())\n"


@pytest.mark.parametrize("name", COURSE.assignment_names())
def test_no_sentence_about_a_known_mistake_has_over_25_words(name):
    assignment = COURSE.assignment(name)
    mistakes = [mistake for each in assignment.exercises.values() for mistake in each.mistakes]
    texts = [mistake.says for mistake in mistakes] + [says for _, says in assignment.hints]

    sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.?!])\s+", text)]

    assert [sentence for sentence in sentences if len(sentence.split()) > 25] == []


@pytest.mark.parametrize(("name", "cell"), each(4))
def test_the_visible_check_says_what_a_tutor_would(name, cell):
    assignment = COURSE.assignment(name)
    exercise = assignment.exercises[cell.name.partition(".")[0]]
    table = load_table(assignment.table)
    source = in_a_notebook(cell.answer(exercise.solution))

    found = diagnose(
        table["exercises"][exercise.id],
        namespace_at(assignment, exercise.id, source),
        table["hints"],
    )

    says = found.says if found else "passes"
    assert [words for words in wanted(cell, "check") if words not in says] == []
    assert "behaves as if" not in says
    if found and found.failed_example:
        shown = found.failed_example.shown_rows
        assert len(shown) <= MOST_ROWS
        assert shown == sorted(shown, key=lambda row: row.right)


@pytest.mark.subprocess
@pytest.mark.parametrize(("name", "cell"), each(8))
def test_the_report_says_what_a_tutor_would(grader, name, cell):
    exercise = COURSE.assignment(name).exercises[cell.name.partition(".")[0]]
    source = cell.answer(exercise.solution)

    result = graded(grader, name, {exercise.id: source}, {exercise.id})[exercise.id]

    says = result.message.partition("\n\n")[0]
    assert [words for words in wanted(cell, "report") if words not in says] == []
    assert result.points < result.max_points
