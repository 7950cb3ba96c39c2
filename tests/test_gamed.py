"""The cheapest wrong answers, in `tests/gamed/`, do not earn what they did not do.

They look results up, ask the course's own functions, or read what the tests were made with. Where
one has no part of the exercise right, its header says that it earns nothing.
"""

from __future__ import annotations

import ast
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO

import pytest

from autograder.authoring.audit.cases import Case
from autograder.authoring.audit.judging import notebook_cells, time_limit
from autograder.course_folder.assignments import (
    assignment_names,
    find_course,
    load_assignment,
)
from autograder.course_folder.misconceptions import percent_cells
from autograder.judging.hidden_tests import Suite
from autograder.wall.targets import LocalTarget

pytestmark = pytest.mark.slow

COURSE = find_course()
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in assignment_names(COURSE)}
GAMED = [
    pytest.param(assignment, each.kind, each.headers, each.source, id=f"{each.kind}: {each.name}",
                 marks=[pytest.mark.slow] if each.kind in ("four_points", "moons") else [])
    for assignment in ASSIGNMENTS
    for each in percent_cells(
        COURSE / "tests" / "gamed" / f"{assignment}.py"
    )
]  # fmt: skip


@cache
def suite(assignment: str) -> Suite:
    return Suite(ASSIGNMENTS[assignment].tests)


@pytest.fixture(scope="module", autouse=True)
def suites_are_closed():
    yield
    for assignment in ASSIGNMENTS:
        suite(assignment).close()
    suite.cache_clear()


def test_every_exercise_has_been_gamed():
    automatic = {
        each.id
        for assignment in ASSIGNMENTS.values()
        for each in assignment.exercises.values()
        if not each.manual
    }
    assert {case.values[1] for case in GAMED} == automatic


@pytest.mark.parametrize(("assignment", "exercise", "headers", "source"), GAMED)
def test_the_cheapest_wrong_answer_does_not_pass(assignment, exercise, headers, source):
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), time_limit(120):
        names = ASSIGNMENTS[assignment].namespace(**{exercise: source})
        target = LocalTarget(names)
        verdicts = list(suite(assignment).run(exercise, lambda _: target, b"gamed"))
    earned = sum(verdict.passed for verdict in verdicts)
    assert earned == 0 if headers.get("earns") == "nothing" else earned < len(verdicts)


KINDS = ("ArithmeticError", "AssertionError", "AttributeError", "Exception", "GeneratorExit",
         "IndexError", "KeyError", "KeyboardInterrupt", "NotImplementedError", "OSError",
         "RuntimeError", "StopAsyncIteration", "StopIteration", "TypeError",
         "ValueError")  # fmt: skip
AUTOMATIC = [
    pytest.param(name, exercise, id=exercise.id)
    for name, assignment in ASSIGNMENTS.items()
    for exercise in assignment.exercises.values()
    if not exercise.manual and not exercise.form
]


@pytest.mark.parametrize(("assignment", "exercise"), AUTOMATIC)
def test_functions_that_only_raise_earn_nothing(assignment, exercise):
    tree = ast.parse(exercise.solution)
    for kind in KINDS:
        for each in ast.walk(tree):
            if isinstance(each, ast.FunctionDef):
                each.body = ast.parse(f"raise {kind}").body
        names = ASSIGNMENTS[assignment].namespace(**{exercise.id: ast.unparse(tree)})
        verdicts = suite(assignment).run(exercise.id, lambda _, n=names: LocalTarget(n), b"raised")
        assert [(each.passed, each.broken) for each in verdicts] == [
            (False, "") for _ in suite(assignment).promises(exercise.id)
        ], kind


COPIED = """
import copy


def train_xor(inputs, targets, seed):
    random.seed(seed)
    model, least = MLP(2, [4, 1]), None
    optimizer = SGD(model.parameters(), lr=0.5)
    for _ in range(250):
        [loss] = train(model, inputs, targets, mse, optimizer, 1)
        if least is None or loss < least:
            least, best = loss, copy.deepcopy(model)
    return best
"""


def test_a_copy_of_the_network_that_was_trained_is_right():
    names = ASSIGNMENTS["mlp"].namespace(xor=COPIED)
    verdicts = suite("mlp").run("xor", lambda _: LocalTarget(names), b"copied")
    assert all(verdict.passed for verdict in verdicts)


BEHIND_THE_WALL = {
    "topological_order": """
def topological_order(root):
    import gc

    for each in gc.get_objects():
        if getattr(each, "__name__", "") == "reverse_topological":
            return each(root)[::-1]
    return [root]
""",
    "backward": """
def backward(self):
    import gc

    self.grad = 1.0
    for each in gc.get_objects():
        if getattr(each, "__name__", "") == "reverse_topological":
            for node in each(self):
                node._backward()
            return


Value.backward = backward
""",
}
"""Answers that search the process for the hidden tests' own helper functions."""


def test_the_hidden_tests_own_walks_cannot_be_borrowed(grader):
    assignment = ASSIGNMENTS["backward"]
    case = Case("mistake", "gamed", "backward", BEHIND_THE_WALL)
    graded = grader.grade("backward", notebook_cells(assignment, case), set(BEHIND_THE_WALL))
    for result in graded.report.exercises:
        if result.id in BEHIND_THE_WALL:
            assert result.points <= 0.2 * result.max_points, result.id
