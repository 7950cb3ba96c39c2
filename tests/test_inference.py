"""Inference explains code if no known mistake fits, and only with true sentences."""

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
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.course_folder.misconceptions import as_its_like, percent_cells
from autograder.course_folder.samples import read_behaviour, read_sample
from autograder.errors import CourseError
from autograder.judging.formulas import fresh_points, holds, point_of, samples_entry
from coursecheck.check import diagnose, first_wrong, load_table, match, own_words
from coursecheck.inference import ID, evaluate, example, id_of, infer, raised, sample_probes
from coursecheck.messages import explain
from coursecheck.probes import play
from namespaces import namespace

COURSE = find_course()
NAMES = assignment_names(COURSE)
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in NAMES}
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


def at(sample, point):
    [probe] = sample_probes([{**sample.as_table, "points": [[point[n] for n in sample.names]]}])
    return probe


def untrue(found, assignment, exercise, scope):
    """Return where an explanation's models differ from the code's results; "" if they agree."""
    rng = random.Random("fresh")
    if found.behaviour:
        number, chosen = found.behaviour
        model_scope = namespace(
            assignment, **{exercise.id: exercise.behaviours[number].source(chosen)}
        )
        for sample in exercise.samples:
            for probe in (at(sample, point) for point in fresh_points(sample, rng, 3)):
                if not alike(play(probe, scope), play(probe, model_scope)):
                    return f"the model differs in {probe.code}"
    for model in found.models:
        sample = exercise.samples[model.sample]
        quantity = sample.quantities[model.quantity]
        for point in fresh_points(sample, rng, 3):
            seen = play(at(sample, point), scope)[model.quantity]
            right = evaluate(quantity.formula, point) if quantity.formula else None
            if holds(model.region, point) and not alike(seen, model.value(point, right)):
                return f"{quantity.name} at {point} is {seen}"
    return ""


def inferred(name, exercise, *edits):
    """Return the inferred words for a solution with some edits; they hold on fresh points as
    well."""
    scope = scope_with(name, exercise, *edits)
    each = ASSIGNMENTS[name].exercises[exercise]
    found = infer(TABLES[name][exercise], [play(probe, scope) for probe in each.sample_probes])
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
        ("value", "pow", ("exponent * self", "(exponent - 1) * self"),
         "`(n - 1) * x ** (n - 1)`, where `n > 1`"),
        ("backward", "tanh", ("(1.0 - t**2)", "(1.0 - t**3)"), "`1 - out ** 3`"),
        ("backward", "relu", ("> 0 else 0.0", "> 0 else 0.5"), "else 0.5`"),
        ("mlp", "mse", ("(p - t) ** 2", "(p - t) ** 3"), "`(x - t) ** 3`"),
        ("mlp", "sgd", ("p.data -= self.lr * v", "p.data -= v / self.lr"), "`x - q / lr`"),
        ("backward", "backward", ("self.grad = 1.0", "self.grad = self.grad * 3.0"), None),
        ("backward", "backward", ("topological_order(self))", "topological_order(self)[:-1])"),
         "leaves out the root's step"),
        ("value", "trace", ("add((operand, node))", "add((node, node))"),
         "begin and end at the result"),
        ("value", "manual_backward", ("in order", "in dict.fromkeys(order)"), "once only"),
    ],
)  # fmt: skip
def test_the_computed_formula_is_explained(name, exercise, edit, says):
    found = inferred(name, exercise, edit)
    assert found is None if says is None else found is not None and says in found
    assert found is None or found.startswith(("Your code behaves as if", "For "))
    assert found is None or found.endswith("?")


def test_two_mistakes_at_once_are_explained_together():
    found = inferred(
        "backward",
        "deep",
        ("self.grad = 1.0", "self.grad += 1.0"),
        ("in reversed(order)", "in order"),
    )
    assert "adds the seed" in found and "from the operands to the results" in found


@pytest.mark.parametrize("name", NAMES)
def test_solutions_infer_nothing_and_no_right_formula_is_in_a_table(name):
    scope = namespace(ASSIGNMENTS[name])
    for exercise in ASSIGNMENTS[name].exercises.values():
        entry = TABLES[name].get(exercise.id, {})
        if not exercise.samples:
            continue
        assert infer(entry, [play(probe, scope) for probe in exercise.sample_probes]) is None
        for sample, said in zip(exercise.samples, entry["samples"], strict=True):
            for quantity, row in zip(sample.quantities, said["quantities"], strict=True):
                for region, index in row.get("index", {}).items():
                    points = [point_of(sample, each) for each in sample.points]
                    inside = [point for point in points if holds(region, point)]
                    right = id_of([evaluate(quantity.formula, point) for point in inside])
                    assert right not in {index[i : i + ID] for i in range(0, len(index), ID)}


def test_a_factor_is_reported_without_the_formula_and_without_its_size():
    found = inferred("value", "mul", ("+= other.data * out", "-= other.data * out"))
    assert "the right slope times a fixed factor" in found
    assert "-1" not in found.split("Take")[0] and "`y`" not in found


def test_code_that_two_models_explain_is_not_explained():
    sample = read_sample("here", {"x": "2.0, -2.0", "results": "z = x + 1"}, "z = f(x)\n")
    [entry] = samples_entry([sample], [[[3.0], [-1.0]]])
    # At these points x ** 2 and abs(2 * x), say, are the same, and elsewhere they differ.
    assert infer({"samples": [entry]}, [[4.0], [4.0]]) is None


def test_no_formula_is_inferred_from_a_region_with_a_single_point():
    """By chance, many formulas give its number."""
    found = inferred("value", "pow", ("exponent * self.data ** (", "result * self.data ** ("))
    assert "`out * x ** (n - 1)`, where `n > 1` and where `n < 0`" in found
    assert "0 < n < 1" not in found


def seconds(act: Callable[..., object], *arguments: object) -> float:
    """Return the processor time that the call takes this thread, the least of three times."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        act(*arguments)
        taken.append(time.thread_time() - started)
    return min(taken)


def test_an_inference_and_a_check_are_quick():
    for edit in (("exponent * self", "(exponent - 1) * self"), ("local * out", "local + out")):
        scope = scope_with("value", "pow", edit)
        exercise = ASSIGNMENTS["value"].exercises["pow"]
        seen = [play(probe, scope) for probe in exercise.sample_probes]
        assert seconds(infer, TABLES["value"]["pow"], seen) < 0.02
        assert seconds(diagnose, TABLES["value"]["pow"], scope) < 0.1


def test_the_grader_and_the_check_infer_the_same_words(grader):
    wrong = changed("mul", ("+= other.data * out", "+= other.data ** 2 * out"))
    result = graded(grader, "value", {"mul": wrong}, {"mul"})["mul"]
    assert result.misconception is None and "`y * y`" in result.inferred
    assert result.message.startswith(result.inferred)
    says = diagnose(TABLES["value"]["mul"], namespace(ASSIGNMENTS["value"], mul=wrong)).says
    assert says == result.inferred


def test_an_error_at_a_point_of_a_sample_is_reported_with_its_line(grader):
    wrong = changed("mul", ("+= other.data * out.grad", "+= out.data / self.data * out.grad"))
    result = graded(grader, "value", {"mul": wrong}, {"mul"})["mul"]
    line = "self.grad += out.data / self.data * out.grad"
    says = f"Your code raised ZeroDivisionError: float division by zero, in the line `{line}`."
    assert result.message.startswith(says) and result.inferred is None


def test_a_long_text_that_never_changes_is_not_quoted():
    entry = TABLES["value"]["manual_backward"]
    texts = [["x" * 30, probe[1], probe[2]] for probe in entry["samples"][0]["right"]]
    assert infer(entry, texts) is None
    short = [["x" * 5, probe[1], probe[2]] for probe in entry["samples"][0]["right"]]
    assert '`ran` were "xxxxx"' in infer(entry, short).says


def test_facts_with_words_of_the_course_come_first():
    found = inferred(
        "value",
        "add",
        ("out = Value", "self.data += other.data\n    out = Value"),
        ("Value(self.data + other.data,", "Value(self.data,"),
    )
    assert found.startswith("Your code behaves as if the number of `a` itself changed")


def test_nothing_is_inferred_in_a_process_that_was_given_a_solution(grader):
    """With a wrong `node`, the numbers of `mul` come from a process that has a working one."""
    broken = changed("node", ("float(data)", "float(data) + 1"))
    wrong = changed("mul", ("* out.grad", "* out.grad + 1"))
    mul = graded(grader, "value", {"node": broken, "mul": wrong}, {"node", "mul"})["mul"]
    assert mul.points < mul.max_points and mul.inferred is None


def test_a_mistake_that_no_public_example_shows_is_explained_beside_another_exercises(grader):
    """At 0 a quotient fails as a slope of `mul`; with a wrong `add`, both have other processes."""
    add = changed("add", ("* out.grad", "* out.grad / 2"))
    mul = changed("mul", ("other.data * out.grad", "out.data / self.data * out.grad"))
    found = graded(grader, "value", {"add": add, "mul": mul}, {"add", "mul"})["mul"]
    assert found.message.startswith("Your code raised ZeroDivisionError")


def test_out_stands_for_the_result_that_the_code_gave():
    edits = ("Value(math.sin(", "Value(math.cos("), ("+= math.cos(", "+= -math.sin(")
    found = inferred("backward", "extra_ops", *edits)
    # The slope is -out on paper alone: here out is a cosine.
    assert found.startswith("For sin, your code behaves as if `z.data` were `cos(x)`. Take")


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"x": "1.0, 2.0", "y": "1.0", "results": "z = x"}, "all of one length"),
        ({"x": "1.0, 2.0"}, "looks at something"),
        ({"x": "1.0, two", "results": "z = x"}, "'two' in a sample is no number"),
    ],
)
def test_a_sample_that_is_not_whole_is_refused(headers, says):
    with pytest.raises(CourseError, match=re.escape(says)):
        read_sample("here", headers, "z = x\n")


def test_a_wrong_choice_without_words_is_refused():
    with pytest.raises(CourseError, match="say what each wrong choice of `order` does"):
        read_behaviour("here", {"order": "after | before"}, "")


def test_a_cell_that_is_like_another_has_its_headers_and_lines_with_edits(tmp_path):
    (tmp_path / "sums").mkdir()
    file = tmp_path / "sums" / "add.py"
    file.write_text("# %% sample: add\n# x: 1.0, 2.0\n# facts: z\nz = add(x)\n", "utf-8")
    like = "# %% sample: two\n# like: sums/add\n# facts: y\n# - z = add(x)\n# + y = two(x)\n"
    file.with_name("two.py").write_text(like, "utf-8")
    [cell] = percent_cells(file.with_name("two.py"))
    cell = as_its_like(file, cell)
    assert cell.headers == {"x": "1.0, 2.0", "facts": "y"} and cell.source == "y = two(x)\n"
    file.write_text("# %% cheat: add.a\nx = 1\n\n# %% cheat: add.b\nx = 2\n", "utf-8")
    file.with_name("two.py").write_text("# %% cheat: two.b\n# like: sums/add.b\n", "utf-8")
    [named] = percent_cells(file.with_name("two.py"))
    assert as_its_like(file, named).source == "x = 2\n"
    cell.headers["like"] = "sums/none"
    with pytest.raises(CourseError, match=r"there is no sample in .*none\.py: correct `like`"):
        as_its_like(file, cell)


def test_a_formula_that_the_solution_does_not_compute_is_refused():
    sample = read_sample("here", {"x": "2.0, 3.0", "results": "z = x + 1"}, "z = x * x\n")
    with pytest.raises(CourseError, match="mend the formula"):
        samples_entry([sample], [[[4.0], [9.0]]])


@pytest.mark.parametrize("name", NAMES)
def test_inferences_about_a_changed_solution_hold_on_fresh_points(name):
    said = []
    for case in all_cases(COURSE, ASSIGNMENTS[name], "inference", ["mutant"])[::8]:
        exercise = ASSIGNMENTS[name].exercises[case.exercise]
        if not exercise.samples:
            continue
        shown = None
        with suppress(Exception, OutOfTime), time_limit(2), redirect_stdout(StringIO()):
            scope = namespace(ASSIGNMENTS[name], **case.answers)
            shown = [play(probe, scope) for probe in exercise.sample_probes]
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
def test_any_results_are_explained_without_an_error(name):
    rng = random.Random("odd results")

    def damaged(rows, is_odd):
        return [[rng.choice(ODD) if is_odd(i) else item for i, item in enumerate(row)]
                for row in rows]  # fmt: skip

    for entry in (each for each in TABLES[name].values() if "probes" in each):
        for column in (0, 1, 2, 3, None):

            def is_odd(i, column=column):
                return rng.random() < 0.3 if column is None else i == column

            shown = damaged([probe["right"] for probe in entry["probes"]], is_odd)
            rows = [row for each in entry.get("samples", ()) for row in each["right"]]
            alike = rng.choice(ODD)
            for seen in (damaged(rows, is_odd), [[alike] * len(row) for row in rows]):
                example(entry, seen, infer(entry, seen))
                raised(entry, seen, ())
            assert isinstance(explain(entry["probes"], shown) or own_words(entry, shown), str)
            match(entry, shown)
            first_wrong(entry, shown)
