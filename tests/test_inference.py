"""If no known mistake fits, inference explains what code computes, and its explanations are
true."""

from __future__ import annotations

import math
import random
import re
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO

import pytest
from answers import graded

from autograder.authoring.audit.cases import all_cases
from autograder.course_folder.course import find_course
from autograder.course_folder.misconceptions import percent_cells, resolve_like
from autograder.course_folder.sweeps import read_sweep
from autograder.errors import CourseError
from autograder.judging.formulas import fresh_points, holds, point_of, sweeps_entry
from coursecheck.check import diagnose, first_wrong, load_table, match, told_message
from coursecheck.examples import play
from coursecheck.inference import (
    ID,
    evaluate,
    explain_raised,
    failed_example,
    id_of,
    infer,
    sweep_examples,
)
from coursecheck.messages import explain
from namespaces import namespace

COURSE = find_course()
NAMES = COURSE.assignment_names()
ASSIGNMENTS = {name: COURSE.assignment(name) for name in NAMES}
TABLES = {name: load_table(each.table)["exercises"] for name, each in ASSIGNMENTS.items()}


class OutOfTime(BaseException):
    """Raised in code that has used up its processor time; it catches no parent of this."""


@contextmanager
def time_limit(seconds):
    def stop(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def changed(exercise, *edits, name="value"):
    """Return the solution with some edits."""
    source = ASSIGNMENTS[name].exercises[exercise].solution
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return source


def scope_with(name, exercise, *edits):
    return namespace(ASSIGNMENTS[name], **{exercise: changed(exercise, *edits, name=name)})


def alike(left, right):
    """Return whether two observations agree, numbers up to rounding."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(alike, left, right))
    if {type(left), type(right)} <= {int, float}:
        same = math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-7)
        return same or (math.isnan(left) and math.isnan(right))
    return left == right


def at(sweep, point):
    [example] = sweep_examples([{**sweep.as_table, "points": [[point[n] for n in sweep.names]]}])
    return example


def untrue(found, assignment, exercise, scope):
    """Return where an explanation's models differ from the code's results; "" if they agree."""
    rng = random.Random("fresh")
    for model in found.models:
        sweep = exercise.sweeps[model.sweep]
        quantity = sweep.quantities[model.quantity]
        for point in fresh_points(sweep, rng, 3):
            seen = play(at(sweep, point), scope)[model.quantity]
            right = evaluate(quantity.formula, point) if quantity.formula else None
            if holds(model.region, point) and not alike(seen, model.value(point, right)):
                return f"{quantity.name} at {point} is {seen}"
    return ""


def inferred(name, exercise, *edits):
    """Return the inferred words for a solution with some edits; they hold on fresh points as
    well."""
    scope = scope_with(name, exercise, *edits)
    each, entry = ASSIGNMENTS[name].exercises[exercise], TABLES[name][exercise]
    seen = [play(example, scope) for example in each.sweep_examples]
    found = infer(entry, seen, declared=True) or infer(entry, seen)
    if found is None:
        return None
    assert untrue(found, ASSIGNMENTS[name], each, scope) == ""
    return found.says


@pytest.mark.parametrize(
    ("name", "exercise", "edit", "says"),
    [
        ("value", "mul", ("+= other.data * out", "+= other.data ** 2 * out"),
         "the local slope behind `a.grad` were `y * y`"),
        ("value", "mul", ("= other.data * out.grad", "= other.data * self.grad"),
         "`a.grad` grew in proportion to h"),
        ("value", "mul", ("self.data * out.grad", "self.data * out.grad * out.grad"),
         "g counted twice"),
        ("value", "add", ("1.0 * out.grad\n        other", "1.0 + out.grad\n        other"),
         "g were added to the local slope"),
        ("backward", "tanh", ("(1.0 - t**2)", "(1.0 - t**3)"), "`1 - out ** 3`"),
        ("backward", "relu", ("> 0 else 0.0", "> 0 else 0.5"), "else 0.5`"),
        ("mlp", "mse", ("(p - t) ** 2", "(p - t) ** 3"), "`(x - t) ** 3`"),
        ("mlp", "sgd", ("p.data -= self.lr * v", "p.data -= v / self.lr"), "`x - q / lr`"),
        ("backward", "backward", ("self.grad = 1.0", "self.grad = self.grad * 3.0"), None),
    ],
)  # fmt: skip
def test_the_formula_that_an_answer_computes_is_inferred_and_explained(name, exercise, edit, says):
    found = inferred(name, exercise, edit)
    assert found is None if says is None else found is not None and says in found
    assert found is None or len(found.split()) <= 25


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_inferred_for_solutions_and_no_table_holds_a_right_formula(name):
    scope = namespace(ASSIGNMENTS[name])
    for exercise in ASSIGNMENTS[name].exercises.values():
        entry = TABLES[name].get(exercise.id, {})
        if not exercise.sweeps:
            continue
        assert infer(entry, [play(example, scope) for example in exercise.sweep_examples]) is None
        for sweep, said in zip(exercise.sweeps, entry["sweeps"], strict=True):
            for quantity, row in zip(sweep.quantities, said["quantities"], strict=True):
                for region, index in row.get("index", {}).items():
                    points = [point_of(sweep, each) for each in sweep.points]
                    inside = [point for point in points if holds(region, point)]
                    right = id_of([evaluate(quantity.formula, point) for point in inside])
                    assert right not in {index[i : i + ID] for i in range(0, len(index), ID)}


def test_for_a_wrong_factor_the_message_does_not_show_the_formula():
    found = inferred("value", "mul", ("+= other.data * out", "-= other.data * out"))
    assert "the right slope times -1" in found
    assert "`y`" not in found


def test_nothing_is_inferred_if_two_formulas_give_the_same_results():
    sweep = read_sweep("here", {"x": "2.0, -2.0", "results": "z = x + 1"}, "z = f(x)\n")
    [entry] = sweeps_entry([sweep], [[[3.0], [-1.0]]])
    # At these points x ** 2 and abs(2 * x), say, are the same, and elsewhere they differ.
    assert infer({"sweeps": [entry]}, [[4.0], [4.0]]) is None


def test_no_formula_is_inferred_for_a_region_in_which_there_is_one_point():
    """By chance, many formulas give its number."""
    found = inferred("value", "pow", ("exponent * self.data ** (", "result * self.data ** ("))
    assert "`out * x ** (n - 1)`" in found
    assert "0 < n < 1" not in found


def seconds(act: Callable[..., object], *arguments: object) -> float:
    """Return the processor time that the call takes this thread, the least of three times."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        act(*arguments)
        taken.append(time.thread_time() - started)
    return min(taken)


def play_all(examples, scope):
    return [play(example, scope) for example in examples]


def test_an_inference_and_a_check_take_little_time():
    for edit in (("exponent * self", "(exponent - 1) * self"), ("local * out", "local + out")):
        scope = scope_with("value", "pow", edit)
        examples = ASSIGNMENTS["value"].exercises["pow"].sweep_examples
        seen = play_all(examples, scope)
        playing = seconds(play_all, examples, scope)
        assert seconds(infer, TABLES["value"]["pow"], seen) < 100 * playing
        assert seconds(diagnose, TABLES["value"]["pow"], scope) < 400 * playing


def test_a_formula_is_said_if_no_public_example_shows_the_mistake(grader):
    """At the bases of the examples, the wrong slope is the right one."""
    wrong = changed("pow", ("exponent * self.data ** (", "abs(exponent) * self.data ** ("))
    says = diagnose(TABLES["value"]["pow"], namespace(ASSIGNMENTS["value"], pow=wrong)).says

    result = graded(grader, "value", {"pow": wrong}, {"pow"})["pow"]

    assert "your code behaves as if" in says.lower()
    assert result.message.startswith(says)


def test_an_error_at_a_point_of_a_sweep_is_reported_with_its_line(grader):
    wrong = changed("mul", ("+= other.data * out.grad", "+= out.data / self.data * out.grad"))
    result = graded(grader, "value", {"mul": wrong}, {"mul"})["mul"]
    line = "self.grad += out.data / self.data * out.grad"
    says = f"Your code raised ZeroDivisionError: float division by zero, in the line `{line}`."
    assert result.message.startswith(says)


def test_an_inference_reports_first_the_facts_for_which_the_course_has_words():
    found = inferred(
        "value",
        "add",
        ("out = Value", "self.data += other.data\n    out = Value"),
        ("Value(self.data + other.data,", "Value(self.data,"),
    )
    assert found == "The number of `a` itself changed."


def test_nothing_is_inferred_in_a_process_that_was_given_a_solution(grader):
    """With a wrong `node`, the numbers of `mul` come from a process that has a working one."""
    broken = changed("node", ("float(data)", "float(data) + 1"))
    wrong = changed("mul", ("* out.grad", "* out.grad + 1"))
    mul = graded(grader, "value", {"node": broken, "mul": wrong}, {"node", "mul"})["mul"]
    assert mul.points < mul.max_points
    assert "behaves as if" not in mul.message


def test_an_error_that_only_a_hidden_test_shows_is_explained_beside_another_mistake(grader):
    """At 0 a quotient fails as a slope of `mul`; with a wrong `add`, both have other processes."""
    add = changed("add", ("* out.grad", "* out.grad / 2"))
    mul = changed("mul", ("other.data * out.grad", "out.data / self.data * out.grad"))
    found = graded(grader, "value", {"add": add, "mul": mul}, {"add", "mul"})["mul"]
    assert found.message.startswith("Your code raised ZeroDivisionError")


def test_out_in_an_inferred_formula_is_the_student_s_result_and_not_the_right_one():
    edits = ("Value(math.sin(", "Value(math.cos("), ("+= math.cos(", "+= -math.sin(")
    found = inferred("backward", "extra_ops", *edits)
    # The slope is -out on paper alone: here out is a cosine.
    assert found == "For sin, your code behaves as if `z.data` were `cos(x)`."


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"x": "1.0, 2.0", "y": "1.0", "results": "z = x"}, "all of one length"),
        ({"x": "1.0, 2.0"}, "looks at something"),
        ({"x": "1.0, two", "results": "z = x"}, "'two' in a sweep is no number"),
    ],
)
def test_a_sweep_with_missing_or_invalid_headers_is_refused(headers, says):
    with pytest.raises(CourseError, match=re.escape(says)):
        read_sweep("here", headers, "z = x\n")


def test_a_sweep_with_the_header_like_takes_over_the_lines_of_the_other_sweep(tmp_path):
    (tmp_path / "sums").mkdir()
    file = tmp_path / "sums" / "add.py"
    file.write_text("# %% sweep: add\n# x: 1.0, 2.0\n# facts: z\nz = add(x)\n", "utf-8")
    like = "# %% sweep: two\n# like: sums/add\n# facts: y\n# - z = add(x)\n# + y = two(x)\n"
    file.with_name("two.py").write_text(like, "utf-8")
    [cell] = percent_cells(file.with_name("two.py"))
    cell = resolve_like(file, cell)
    assert cell.headers == {"x": "1.0, 2.0", "facts": "y"} and cell.source == "y = two(x)\n"
    file.write_text("# %% cheat: add.a\nx = 1\n\n# %% cheat: add.b\nx = 2\n", "utf-8")
    file.with_name("two.py").write_text("# %% cheat: two.b\n# like: sums/add.b\n", "utf-8")
    [named] = percent_cells(file.with_name("two.py"))
    assert resolve_like(file, named).source == "x = 2\n"
    cell.headers["like"] = "sums/none"
    with pytest.raises(CourseError, match=r"there is no sweep in .*none\.py: correct `like`"):
        resolve_like(file, cell)


def test_a_formula_that_the_solution_does_not_compute_is_refused():
    sweep = read_sweep("here", {"x": "2.0, 3.0", "results": "z = x + 1"}, "z = x * x\n")
    with pytest.raises(CourseError, match="mend the formula"):
        sweeps_entry([sweep], [[[4.0], [9.0]]])


@pytest.mark.parametrize("name", NAMES)
def test_an_inferred_formula_also_holds_at_points_that_were_not_used(name):
    said = []
    for case in all_cases(COURSE, ASSIGNMENTS[name], "inference", ["mutant"])[::8]:
        exercise = ASSIGNMENTS[name].exercises[case.exercise]
        if not exercise.sweeps:
            continue
        shown = None
        with suppress(Exception, OutOfTime), time_limit(2), redirect_stdout(StringIO()):
            scope = namespace(ASSIGNMENTS[name], **case.answers)
            shown = [play(example, scope) for example in exercise.sweep_examples]
        if shown and (found := infer(TABLES[name][exercise.id], shown)):
            why = untrue(found, ASSIGNMENTS[name], exercise, scope)
            said.append((case.about, why))
    assert len(said) > 3 and [each for each in said if each[1]] == []


ODD = (
    *(0.0, 1.5, -3, True, None, "", "+", [], [1, 2.0], {"error": "ValueError"}),
    *(math.inf, math.nan, 1e308, 5e-324, 10**30),
)
"""Results that an answer may give where another kind of result is right."""


@pytest.mark.parametrize("name", NAMES)
def test_odd_results_of_student_code_raise_no_error_in_explaining(name):
    rng = random.Random("odd results")

    def damaged(rows, is_odd):
        return [[rng.choice(ODD) if is_odd(i) else item for i, item in enumerate(row)]
                for row in rows]  # fmt: skip

    for entry in (each for each in TABLES[name].values() if "examples" in each):
        for column in (0, 1, 2, 3, None):

            def is_odd(i, column=column):
                return rng.random() < 0.3 if column is None else i == column

            shown = damaged([example["right"] for example in entry["examples"]], is_odd)
            rows = [row for each in entry.get("sweeps", ()) for row in each["right"]]
            alike = rng.choice(ODD)
            for seen in (damaged(rows, is_odd), [[alike] * len(row) for row in rows]):
                failed_example(entry, seen, infer(entry, seen))
                explain_raised(entry, seen, ())
            assert isinstance(explain(entry["examples"], shown) or told_message(entry, shown), str)
            match(entry, shown)
            first_wrong(entry, shown)
