"""A mistake costs its own exercise only, and what a process shows tells no hidden number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.allowance import Allowance
from autograder.assignments import Assignment
from autograder.grading import Grader
from autograder.runs import Cell, Run, Shown
from autograder.sandbox import WarmServer
from autograder.suite import Suite, Verdict
from course.check import load_table

Grade = Callable[[dict[str, str]], tuple[dict[str, Any], int]]


def cells(assignment: Assignment, answers: dict[str, str]) -> list[Cell]:
    """A notebook that is right but for these answers."""
    return [
        *map(Cell, assignment.setup.values()),
        *(
            Cell(answers.get(exercise.id, exercise.solution), exercise.id)
            for exercise in assignment.exercises.values()
        ),
    ]


@pytest.fixture
def grade(course: Path, assignment: Assignment) -> Iterator[Grade]:
    """Grades a notebook: what is said of each exercise, and how many processes it took."""
    with Grader(course, bytes(32)) as grader:
        grader.start()

        def run(answers: dict[str, str]) -> tuple[dict[str, Any], int]:
            before = grader._server._count
            report = grader.grade("value", cells(assignment, answers)).report
            return {result.id: result for result in report.exercises}, (
                grader._server._count - before
            )

        yield run


@pytest.mark.parametrize("name", ["add.gradient_like_product", "trace.one_level"])
def test_a_known_mistake_takes_as_many_processes_each_time(grade, assignment, name):
    """On `add` others build, on `trace` none does. The verdicts are the same each time."""
    exercise = name.partition(".")[0]
    mistake = next(each for each in assignment.exercises[exercise].mistakes if each.id == name)
    (first, processes), *again = (grade({exercise: mistake.source}) for _ in range(3))
    assert again == [(first, processes)] * 2 and first[exercise].misconception == mistake.id
    others = [result for name, result in first.items() if name != exercise]
    assert all(result.status == "passed" for result in others)


def test_an_unknown_mistake_that_was_met_before_takes_fewer_processes(grade):
    source = "def trace(root):\n    raise ValueError('I have never met this one')"
    (first, most), (second, fewer), (third, again) = (grade({"trace": source}) for _ in range(3))
    assert first == second == third and first["trace"].points == 0
    assert most > fewer == again


def test_who_breaks_what_was_right_pays_for_it(grade, assignment):
    """A later cell brings a mistake into an earlier exercise: one that has been met there before.

    As its tests see it the earlier exercise has that mistake. It gets its points nevertheless.
    """
    mistake = assignment.exercises["add"].mistakes[0].source
    for _ in range(2):
        grade({"add": mistake})
    later = assignment.exercises["neg_sub"].solution
    results, _ = grade({"neg_sub": f"{later}\n\n{mistake}"})
    assert results["add"].status == "passed"
    assert results["neg_sub"].points < assignment.exercises["neg_sub"].max_points


def test_what_fails_with_another_is_not_tested_to_the_end(grade, assignment, monkeypatch):
    """Where it passes with the other one working, no more of its tests have to be seen to fail."""
    ran: list[tuple[str, list[bool]]] = []
    whole = Suite.run

    def watched(suite: Suite, exercise: str, *rest: Any) -> Iterator[Verdict]:
        passed: list[bool] = []
        ran.append((exercise, passed))
        for verdict in whole(suite, exercise, *rest):
            passed.append(verdict.passed)
            yield verdict

    monkeypatch.setattr(Suite, "run", watched)
    mistake = "add.returns_number"
    source = next(m.source for m in assignment.exercises["add"].mistakes if m.id == mistake)
    results, _ = grade({"add": source})
    assert results["add"].misconception == mistake
    assert all(results[name].status == "passed" for name in results if name != "add")
    failing = [passed for exercise, passed in ran if exercise != "add" and False in passed]
    assert failing and all(passed.index(False) == len(passed) - 1 for passed in failing)


SNEAKY = """
def sneak(number):
    Value.__add__ = lambda self, other: Value(number)
"""


def test_what_a_tested_process_shows_is_not_told(server: WarmServer, assignment: Assignment):
    """Unless one that had seen no hidden number has shown the very same."""
    exercise, shown = assignment.exercises["add"], Shown()

    def run() -> Run:
        run = Run(
            server, [*cells(assignment, {}), Cell(SNEAKY)], b"seed", Allowance(60), shown=shown
        )
        run.run_cells()
        return run

    tested, another = run(), run()
    try:
        student = tested.engine()
        student.call(student.sneak, 4.25)
        student.finish()
        assert "4.25" in repr(tested._play(exercise))
        observed = tested.observe(exercise)
        assert observed is not None and "4.25" not in repr(observed)
        another.engine()
        before = server._count
        assert another.observe(exercise) == observed
        assert server._count == before
    finally:
        tested.close()
        another.close()


def test_what_the_public_table_says_needs_no_other_process(
    server: WarmServer, assignment: Assignment
):
    exercise, shown = assignment.exercises["add"], Shown(load_table("value")["exercises"])
    wrong = next(each for each in exercise.mistakes if each.id == "add.gradient_like_product")
    for source in (exercise.solution, wrong.source):
        run = Run(server, cells(assignment, {"add": source}), b"seed", Allowance(60), shown=shown)
        try:
            run.run_cells()
            run.engine()
            before = server._count
            assert run.observe(exercise) is not None
            assert server._count == before
        finally:
            run.close()
