"""Cheats made by a program, and cheats that search the student process for the tests' helpers."""

from __future__ import annotations

import ast
from functools import cache
from zlib import crc32

import pytest
from answers import graded
from campaigns import size

from autograder.course_folder.course import find_course
from autograder.judging.hidden_tests import Suite
from autograder.sandbox.targets import LocalTarget
from namespaces import namespace

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

COURSE = find_course()
ASSIGNMENTS = {name: COURSE.assignment(name) for name in COURSE.assignment_names()}


@cache
def suite(assignment: str) -> Suite:
    return Suite(ASSIGNMENTS[assignment].tests)


@pytest.fixture(scope="module", autouse=True)
def suites_are_closed():
    yield
    for assignment in ASSIGNMENTS:
        suite(assignment).close()
    suite.cache_clear()


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


@pytest.mark.sized
@pytest.mark.parametrize(("assignment", "exercise"), AUTOMATIC)
def test_functions_that_only_raise_earn_nothing(assignment, exercise):
    tree = ast.parse(exercise.solution)
    step = size(5, 1)
    for kind in KINDS[crc32(exercise.id.encode()) % step :: step]:
        for each in ast.walk(tree):
            if isinstance(each, ast.FunctionDef):
                each.body = ast.parse(f"raise {kind}").body
        names = namespace(ASSIGNMENTS[assignment], **{exercise.id: ast.unparse(tree)})
        verdicts = suite(assignment).run(exercise.id, lambda _, n=names: LocalTarget(n), b"raised")
        assert [(each.passed, each.broken) for each in verdicts] == [
            (False, "") for _ in suite(assignment).criteria(exercise.id)
        ], kind


CALLS_HELPER_MODULES = {
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


def test_answers_that_call_helper_modules_of_the_hidden_tests_earn_few_points(grader):
    found = graded(grader, "backward", CALLS_HELPER_MODULES, {*CALLS_HELPER_MODULES})
    for result in found.values():
        assert result.points <= 0.2 * result.max_points, result.id


COPIED = {
    "topological_order": """
import runpy, course.interactives.graphs
topological_order = runpy.run_path(course.interactives.graphs.__file__)["topological"]
""",
    "deep": """
import runpy, course.push
push = runpy.run_path(course.push.__file__)["push"]


def backward_without_recursion(root):
    push(root, 1.0)
""",
}
"""Answers that take copies of the course's own files."""

STEPPED = """
import cmath


def NAME(self):
    out = Value(math.NAME(self.data), (self,), "NAME")

    def _backward():
        self.grad += cmath.NAME(complex(self.data, 1e-30)).imag / 1e-30 * out.grad

    out._backward = _backward
    return out


Value.NAME = NAME
"""
"""An answer that finds its slopes by a step into the complex plane."""

KNOWN = {**COPIED, **{name: STEPPED.replace("NAME", name) for name in ("exp", "log", "tanh")}}


@pytest.mark.parametrize("exercise", KNOWN)
def test_answers_known_to_earn_points_without_solving_an_exercise_are_documented(grader, exercise):
    answers = {exercise: KNOWN[exercise]}
    result = graded(grader, "backward", answers, {exercise})[exercise]
    page = (COURSE.root / "docs" / "audit.md").read_text("utf-8")
    admitted = page.partition("### What earns points all the same")[2].partition("\n## ")[0]
    assert (f"`{exercise}`" in admitted) == (result.points == result.max_points)
