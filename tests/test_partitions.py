"""No answer that is wrong for one kind of input alone passes the hidden tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

import blind_spots
import pytest

from autograder.authoring.audit.judging import time_limit
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.judging.hidden_tests import Suite
from autograder.wall.targets import LocalTarget

pytestmark = pytest.mark.slow

COURSE = find_course()
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
EXERCISES = {e.id: e for each in ASSIGNMENTS.values() for e in each.exercises.values()}


@pytest.fixture(scope="module")
def suites() -> Iterator[dict[str, Suite]]:
    """The hidden tests, by exercise."""
    made = [Suite(each.tests) for each in ASSIGNMENTS.values()]
    yield {exercise: suite for suite in made for exercise in suite.exercises}
    for suite in made:
        suite.close()


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
