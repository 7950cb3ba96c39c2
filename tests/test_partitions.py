"""Hidden tests cover the kinds of inputs by design: the page that says so, and wrong answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

import blind_spots
import pytest

from autograder.authoring.audit.judging import time_limit
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.judging.hidden_tests import Suite
from autograder.wall.targets import LocalTarget

COURSE = find_course()
PAGE = COURSE / "docs" / "partitions.md"
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
EXERCISES = {e.id: e for each in ASSIGNMENTS.values() for e in each.exercises.values()}


@pytest.fixture(scope="module")
def suites() -> Iterator[dict[str, Suite]]:
    """The hidden tests, by exercise."""
    made = [Suite(each.tests) for each in ASSIGNMENTS.values()]
    yield {exercise: suite for suite in made for exercise in suite.exercises}
    for suite in made:
        suite.close()


def rows() -> dict[str, list[str]]:
    """The page's cells, by exercise."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    return {first: cells for first, *cells in lines if first in EXERCISES}


def test_every_exercise_has_a_row_and_every_cell_a_test_of_it_or_a_reason(suites):
    table, reasons = rows(), re.findall(r"^(\d+)\. ", PAGE.read_text("utf-8"), re.MULTILINE)
    assert table.keys() == EXERCISES.keys()
    assert len({len(cells) for cells in table.values()}) == 1
    for exercise, cells in table.items():
        tests = suites[exercise].promises(exercise) if exercise in suites else []
        names = {part for each in tests for part in (each.test, each.test.partition("[")[0])}
        for cell in cells:
            found = re.fullmatch(r"`(.+)`|\((\d+)\)", cell)
            assert found, f"{exercise}: {cell!r} is neither a test nor a reason"
            assert f"test_{found[1]}" in names or found[2] in reasons, f"{exercise}: {cell}"


def passes(assignment, suite, exercise: str, source: str) -> bool:
    """Whether an answer passes all hidden tests of its exercise."""
    try:
        with redirect_stdout(StringIO()), time_limit(10):
            names = assignment.namespace(**{exercise: source})
            return all(
                verdict.passed
                for verdict in suite.run(exercise, lambda _: LocalTarget(names), b"blind spots")
            )
    except Exception:
        return False


TRIED = sorted({*blind_spots.OPERATIONS, *blind_spots.CHANGED})


@pytest.mark.parametrize("exercise", TRIED)
def test_no_answer_that_is_wrong_for_one_kind_of_input_passes(suites, exercise: str):
    [assignment] = [each for each in ASSIGNMENTS.values() if exercise in each.exercises]
    solution, suite = EXERCISES[exercise].solution, suites[exercise]
    assert passes(assignment, suite, exercise, solution)
    wrong = dict(blind_spots.wrong_answers(exercise, solution))
    for kind, source in wrong.items():
        compile(source, kind, "exec")
    assert [kind for kind in wrong if passes(assignment, suite, exercise, wrong[kind])] == []
    assert len(wrong) >= 4
