"""A mistake costs its own exercise only, and what a student reads holds no secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.course_folder.assignments import Assignment, find_course, load_assignment
from autograder.judging import one_notebook
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import Suite
from autograder.judging.student_run import Run, as_in_table
from autograder.model import Cell, Verdict
from autograder.wall import WarmServer
from autograder.wall.proxies import Student
from autograder.wall.targets import RemoteTarget
from autograder.wall.time_budget import TimeBudget
from coursecheck.check import load_table
from coursecheck.messages import describe

Grade = Callable[[dict[str, str]], tuple[dict[str, Any], int]]
TABLE = load_table(load_assignment(find_course(), "value").table)["exercises"]


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


def mistake(assignment: Assignment, name: str) -> str:
    exercise = assignment.exercises[name.partition(".")[0]]
    return next(each.source for each in exercise.mistakes if each.id == name)


@pytest.mark.parametrize("name", ["add.gradient_like_product", "trace.one_level"])
def test_a_mistake_costs_its_own_exercise_only(grade, assignment, name):
    """On `add` others build, on `trace` none does. The verdicts are the same each time."""
    exercise = name.partition(".")[0]
    first, *again = (grade({exercise: mistake(assignment, name)}) for _ in range(3))
    assert again == [first] * 2 and first[0][exercise].misconception == name
    others = [result for name, result in first[0].items() if name != exercise]
    assert all(result.status == "passed" for result in others)


def test_who_breaks_what_was_right_pays_for_it(grade, assignment):
    """A later cell brings a mistake into an earlier exercise.

    As its tests see it the earlier exercise has that mistake. It gets its points nevertheless.
    """
    wrong = assignment.exercises["add"].mistakes[0].source
    later = assignment.exercises["neg_sub"].solution
    results, _ = grade({"neg_sub": f"{later}\n\n{wrong}"})
    assert results["add"].status == "passed"
    assert results["neg_sub"].points < assignment.exercises["neg_sub"].max_points


def test_what_leans_on_a_wrong_cell_in_its_own_way_is_graded_with_it(grade, assignment):
    """`mul` uses a helper of the cell of `add`, which a working version does not have."""
    add = mistake(assignment, "add.operation_not_recorded") + "\ndef wrap(x):\n    "
    add += "return x if isinstance(x, Value) else Value(x)\n"
    mul = assignment.exercises["mul"].solution.replace(
        "def ", "def own(self, other):\n    return wrap(other)\n\n\ndef ", 1
    )
    results, _ = grade({"add": add, "mul": mul + "\nown(Value(1.0), 2.0)\n"})
    assert results["mul"].status == "passed"
    assert results["add"].misconception == "add.operation_not_recorded"


def test_two_mistakes_are_both_named(grade, assignment):
    names = ["add.overwrites", "mul.own_data", "numerical.divides_by_h"]
    answers = {name.partition(".")[0]: mistake(assignment, name) for name in names}
    results, _ = grade(answers)
    assert [results[name].misconception for name in answers] == names
    right = [each for name, each in results.items() if name not in answers]
    assert all(each.status == "passed" for each in right)


def test_no_process_that_was_given_an_exercise_is_alive_while_it_is_tested(
    grade, assignment, monkeypatch
):
    """Nor is any other one: the one before is dead before the next runs a cell."""
    runs: list[Run] = []
    begun = Run.__init__

    def watched(run: Run, *arguments: Any, **more: Any) -> None:
        begun(run, *arguments, **more)
        runs.append(run)

    tested: list[tuple[str, set[str]]] = []
    whole = Suite._run_one

    def judged(suite: Suite, item: Any, target: Any, seed: bytes) -> Verdict:
        exercise = item.get_closest_marker("exercise").args[0]

        def checked(test: str) -> Any:
            found = target(test)
            if isinstance(found, RemoteTarget):
                alive = [run for run in runs if run._process is not None and run._process.is_open]
                [given] = [set(run.given) for run in alive]
                assert exercise not in given
                tested.append((exercise, given))
            return found

        return whole(suite, item, checked, seed)

    monkeypatch.setattr(Run, "__init__", watched)
    monkeypatch.setattr(Suite, "_run_one", judged)
    names = ["node.data_cut_to_int", "mul.own_data", "trace.one_level"]
    grade({name.partition(".")[0]: mistake(assignment, name) for name in names})
    assert any(given for _, given in tested)


SNEAKY = """
def sneak(number):
    Value.__add__ = lambda self, other: Value(number)
"""


def test_an_observer_is_never_asked_after_a_hidden_test(server: WarmServer, assignment: Assignment):
    run = Run(server, [*cells(assignment, {}), Cell(SNEAKY)], b"seed", TimeBudget(60))
    try:
        run.run_cells()
        assert run.observe(assignment.exercises["add"], TABLE["add"])
        student = Student(run.target())
        student.sneak(4.25)
        student.finish()
        with pytest.raises(RuntimeError, match="has seen no hidden number"):
            run.observe(assignment.exercises["add"], TABLE["add"])
    finally:
        run.close()


def test_where_working_versions_were_given_only_what_is_public_is_told():
    """Neither a text nor the digits of a number: both may hold a working version."""
    entry = TABLE["add"]
    known = entry["mistakes"][0]["results"]
    assert as_in_table(known, entry) == known
    right = [probe["right"] for probe in entry["probes"]]
    assert as_in_table(right, entry) == right
    secret = [[_replaced(item) for item in row] for row in right]
    told = repr(as_in_table(secret, entry))
    assert "secret" not in told and "1.23456" not in told
    told = [describe(item) for row in as_in_table(secret, entry) for item in row]
    assert {"another number"} <= set(told) <= {
        "another number", "another text", "another object", "an error (Exception)",
        *(describe(item) for row in right for item in row),
    }  # fmt: skip


def _replaced(item: Any) -> Any:
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return 1.23456789
    return {"error": "Exception", "message": "secret", "line": "secret = 1"}


SOLUTIONS_IN_TEXTS = """
import inspect
def told(self):
    import gc
    texts = [repr(f.__code__.co_code) for f in gc.get_objects() if callable(f) and
             getattr(f, "__name__", "") == "add"]
    return str(texts)[:900]
def mul(self, other):
    out = Value(self.data * getattr(other, "data", other), (self,), told(self))
    out.data = hash(told(self)) % 10**9
    return out
Value.__mul__ = mul
"""


def test_a_working_version_does_not_reach_the_feedback(grade, assignment):
    add = mistake(assignment, "add.overwrites")
    results, _ = grade({"add": add, "mul": SOLUTIONS_IN_TEXTS})
    said = results["mul"].message
    assert results["mul"].points == 0 or results["mul"].status != "passed"
    assert "\\x" not in said and "co_code" not in said
    if results["mul"].example is not None:
        seen = [row.seen for row in results["mul"].example.rows if not row.right]
        public = repr(TABLE["mul"])
        assert all(describe(each).startswith("another") or repr(each) in public for each in seen)


def test_a_slow_mistake_beside_a_loop_is_graded_and_observed(grade, assignment, monkeypatch):
    """Its tests are first run to the end when its second chance comes, in the very process that is
    then to be its observer: the one with a working version of the exercise that loops."""
    monkeypatch.setattr(one_notebook, "_QUICK", 0.0)
    mul = assignment.exercises["mul"].solution
    loop = mul.replace("### BEGIN SOLUTION", "while True:\n        pass", 1)
    name = "neg_sub.minus_for_both"
    results, _ = grade({"mul": loop, "neg_sub": mistake(assignment, name)})
    assert results["mul"].status == "timeout"
    assert results["neg_sub"].misconception == name and results["neg_sub"].example
