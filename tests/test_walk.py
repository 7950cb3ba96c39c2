"""Each exercise is judged at its own place, and no secret is in a student's texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from answers import cells, graded, mistake
from campaigns import seed, size

from autograder.course_folder.assignments import Assignment, Exercise, find_course, load_assignment
from autograder.course_folder.settings import load_settings
from autograder.judging import explaining
from autograder.judging.diagnosis import how_it_fits
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import Suite
from autograder.judging.observations import as_in_table
from autograder.judging.trunk import Trunk
from autograder.judging.walk import Base, Try, best, next_base, places, to_explain
from autograder.model import (
    AUTO,
    BUBBLEWRAP,
    CORE_IS_RIGHT,
    LANDLOCK,
    Cell,
    ExerciseResult,
    Verdict,
)
from autograder.wall import WarmServer
from autograder.wall.proxies import Student
from autograder.wall.targets import RemoteTarget
from autograder.wall.time_budget import TimeBudget
from coursecheck.check import first_wrong, load_table
from coursecheck.messages import describe, explain, explain_cell


def verdicts(passed: str, saw: str = "a number", lost: str | None = None) -> list[Verdict]:
    """Return verdicts from a letter for each test: `+` passed, `-` did not."""
    return [Verdict("test", "", each == "+", lost, seen=[saw]) for each in passed]


def tried(base: Base, given: str, passed: str, **more: Any) -> Try:
    return Try(base, tuple(given.split()), verdicts(passed, **more))


FULL, HALF = tried(Base.OWN, "", "++"), tried(Base.OWN, "", "+-")
LACKS = tried(Base.OWN, "", "--", saw="raised NameError")
LATE = tried(Base.OWN, "", "+-", lost="timeout")
MENDED = tried(Base.MENDED, "b", "+-")
LATE_MENDED = tried(Base.MENDED, "b", "--", lost="timeout")


@pytest.mark.parametrize(
    ("tries", "earlier", "failed", "expected"),
    [
        ([], "a b", "", (Base.OWN, "")),
        ([], "a b", "b", (Base.OWN, "")),
        ([FULL], "a b", "b", None),
        ([HALF], "", "", None),
        ([HALF], "a b", "", (Base.MODEL, "a b")),
        ([HALF], "a b", "b", (Base.MENDED, "b")),
        ([HALF], "a b", "a b", (Base.MENDED, "a b")),
        ([HALF, MENDED], "a b", "b", (Base.MODEL, "a b")),
        ([HALF, MENDED], "b", "b", None),
        ([LACKS], "", "", (Base.WHOLE, "")),
        ([LACKS], "a b", "b", (Base.WHOLE, "")),
        ([LACKS, tried(Base.WHOLE, "", "--")], "a b", "b", (Base.MENDED, "b")),
        ([LACKS, tried(Base.WHOLE, "", "++")], "a b", "b", None),
        ([LATE], "a b", "", None),
        ([LATE], "a b", "b", (Base.MENDED, "b")),
        ([LATE, LATE_MENDED], "a b", "b", None),
    ],
)
def test_the_next_base(tries, earlier, failed, expected):
    found = next_base(tries, earlier.split(), failed.split())
    assert found == (expected and (expected[0], tuple(expected[1].split())))


def test_an_exercise_without_an_answer_is_given_nothing():
    assert next_base([HALF], ["a"], ["a"], is_answered=False) is None
    assert next_base([LACKS], ["a"], ["a"], is_answered=False) == (Base.WHOLE, ())
    assert next_base([LACKS], ["a"], ["a"], is_answered=False, has_later=False) is None
    assert next_base([LACKS], ["a"], ["a"], has_later=False) == (Base.MENDED, ("a",))


def test_a_test_that_passes_on_one_alone_refutes_a_model():
    answer = verdicts("+-")
    assert how_it_fits(answer, verdicts("+-")) == "all"
    assert how_it_fits(answer, verdicts("++")) == how_it_fits(answer, verdicts("--")) == ""
    assert how_it_fits(answer, verdicts("+-", saw="a text")) == "open"


def test_the_first_answer_to_a_question_that_is_read_counts():
    assert next_base([HALF], ["a"], ["a"], is_question=True) is None
    assert next_base([LACKS], ["a"], ["a"], is_question=True) == (Base.WHOLE, ())
    mended = tried(Base.MENDED, "a", "+-")
    assert next_base([LACKS, mended], ["a", "b"], ["a"], is_question=True) is None


@pytest.mark.parametrize(
    ("shares", "counts"),
    [
        (["+-"], Base.OWN),
        (["++", "+-"], Base.OWN),
        (["+-", "++"], Base.MENDED),
        (["+-", "+-", "+-"], Base.MENDED),
        (["+-", "--", "+-"], Base.OWN),
        (["--", "+-", "--"], Base.MENDED),
        (["--", "--", "--", "--"], Base.MENDED),
        (["--", "--", "--", "+-"], Base.WHOLE),
    ],
)
def test_the_try_that_counts(shares, counts):
    bases = [Base.OWN, Base.MENDED, Base.MODEL, Base.WHOLE]
    assert (
        best([tried(base, "", each) for base, each in zip(bases, shares, strict=False)]).base
        is counts
    )


def test_the_explanation_prefers_the_mended_base():
    own = tried(Base.OWN, "", "+-")
    mended = Try(Base.MENDED, ("a",), own.verdicts)
    assert best([own, mended]) is own and to_explain([own, mended]) is mended
    assert to_explain([own]) is own
    better = tried(Base.MODEL, "a b", "++")
    assert to_explain([own, mended, better]) is better


def test_places_are_those_of_the_test_cells():
    cells = [Cell("", "a"), Cell(""), Cell("", tests="a"), Cell("", "b"), Cell("")]
    assert places(cells, ["a", "b", "c"]) == {"a": 2, "b": 4, "c": 5}


Grade = Callable[..., dict[str, ExerciseResult]]
Graders = Callable[[str], Grader]
TABLE = load_table(load_assignment(find_course(), "value").table)["exercises"]


@pytest.fixture(scope="module")
def graders(course: Path) -> Iterator[Graders]:
    """Return a grader for each kind of sandbox; each measures the model solution once."""
    settings = load_settings(course)
    with ExitStack() as stack:

        @cache
        def of(kind: str) -> Grader:
            grader = stack.enter_context(Grader(course, bytes(32)))
            grader.use(WarmServer(settings.limits, settings.visible, kind))
            grader.start()
            return grader

        yield of


@pytest.fixture
def grade(graders: Graders) -> Grade:
    """Return a function that grades a notebook of `value` which is right but for some answers."""
    return partial(graded, graders(AUTO), "value")


@pytest.mark.parametrize("name", ["add.gradient_like_product", "trace.one_level"])
def test_a_mistake_costs_its_own_exercise_only(grade, assignment, name):
    """On `add` others build, on `trace` none does."""
    results = grade({name.partition(".")[0]: mistake(assignment, name)})
    assert results.pop(name.partition(".")[0]).misconception == name
    assert {each.status for each in results.values()} == {"passed"}


def test_a_later_cell_that_breaks_an_earlier_exercise_costs_its_own_points(grade, assignment):
    """The cell of `neg_sub` replaces the right `Value.__add__` by a wrong one.

    `add` is tested before that cell runs and gets its points; `neg_sub` loses some.
    """
    wrong = assignment.exercises["add"].mistakes[0].source
    later = assignment.exercises["neg_sub"].solution
    results = grade({"neg_sub": f"{later}\n\n{wrong}"}, {"add", "neg_sub"})
    assert results["add"].status == "passed"
    assert results["neg_sub"].points < assignment.exercises["neg_sub"].max_points


def test_an_answer_that_uses_a_wrong_cell_in_its_own_way_is_graded_with_it(grade, assignment):
    """`mul` uses a helper of the cell of `add`, which a working version does not have."""
    add = mistake(assignment, "add.operation_not_recorded") + "\ndef wrap(x):\n    "
    add += "return x if isinstance(x, Value) else Value(x)\n"
    mul = assignment.exercises["mul"].solution.replace(
        "def ", "def own(self, other):\n    return wrap(other)\n\n\ndef ", 1
    )
    results = grade({"add": add, "mul": mul + "\nown(Value(1.0), 2.0)\n"}, {"add", "mul"})
    assert results["mul"].status == "passed"
    assert results["add"].misconception == "add.operation_not_recorded"


def test_two_mistakes_are_both_named(grade, assignment):
    names = ["add.overwrites", "mul.own_data", "numerical.divides_by_h"]
    answers = {name.partition(".")[0]: mistake(assignment, name) for name in names}
    results = grade(answers)
    assert [results[name].misconception for name in answers] == names
    right = [each for name, each in results.items() if name not in answers]
    assert all(each.status == "passed" for each in right)


def test_a_fault_in_explaining_costs_no_points(grade, assignment, monkeypatch, caplog):
    answers = {"add": mistake(assignment, "add.overwrites")}
    before = grade(answers, {"add"})

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(explaining, "first_wrong", fails)
    after = grade(answers, {"add"})
    assert after["add"].points == before["add"].points > 0
    assert after["add"].message.startswith("This does not hold yet: ")
    assert after["add"].misconception is None and before["add"].misconception
    assert "add: the failure could not be explained" in caplog.text


def test_a_promise_is_shown_with_the_error_that_ended_its_test(grade, assignment):
    right = assignment.exercises["node"].solution
    wrong = right.replace("float(data)", "float(data) / bool(data)")
    result = grade({"node": wrong}, {"node"})["node"]
    assert result.misconception is None
    assert result.message == (
        "This does not hold yet: `data` is a float, also where an int was given. "
        "Its test ended with an error: ZeroDivisionError."
    )


def test_no_process_with_the_solution_of_an_exercise_lives_while_it_is_tested(
    grade, assignment, monkeypatch
):
    """Every earlier process is dead before the next runs a cell."""
    trunks: list[Trunk] = []
    begun = Trunk.__init__

    def watched(trunk: Trunk, *arguments: Any, **more: Any) -> None:
        begun(trunk, *arguments, **more)
        trunks.append(trunk)

    tested: list[tuple[str, set[str]]] = []
    whole = Suite._run_one

    def judged(suite: Suite, item: Any, target: Any, seed: bytes, **more: bool) -> Verdict:
        exercise = item.get_closest_marker("exercise").args[0]

        def checked(test: str) -> Any:
            found = target(test)
            if isinstance(found, RemoteTarget):
                processes = {trunk: trunk._process for trunk in trunks if trunk._process}
                [given] = [set(each.given) for each in processes if processes[each].is_open]
                assert exercise not in given
                tested.append((exercise, given))
            return found

        return whole(suite, item, checked, seed, **more)

    monkeypatch.setattr(Trunk, "__init__", watched)
    monkeypatch.setattr(Suite, "_run_one", judged)
    names = ["node.data_cut_to_int", "mul.own_data", "trace.one_level"]
    grade({name.partition(".")[0]: mistake(assignment, name) for name in names})
    assert any(given for _, given in tested)


SNEAKY = """
def sneak(number):
    Value.__add__ = lambda self, other: Value(number)
"""


def test_public_probes_never_run_after_a_hidden_test(server: WarmServer, assignment: Assignment):
    trunk = Trunk(server, [*cells(assignment, {}), Cell(SNEAKY)], 1, TimeBudget(60))
    add, end = assignment.exercises["add"], len(assignment.setup) + len(assignment.exercises) + 1
    try:
        assert trunk.observe(end, add, add.probes)
        student = Student(trunk.target(end))
        student.sneak(4.25)
        student.finish()
        with pytest.raises(RuntimeError, match="has seen no hidden number"):
            trunk.observe(end, add, add.probes)
    finally:
        trunk.close()


def test_with_given_solutions_only_public_values_are_shown():
    """Neither a text nor the digits of a number are shown: both may hold a working version."""
    entry = TABLE["add"]
    known = entry["mistakes"][0]["results"]
    assert as_in_table(known, entry) == known
    right = [probe["right"] for probe in entry["probes"]]
    assert as_in_table(right, entry) == right
    secret = [[_replaced(item) for item in row] for row in right]
    words = repr(as_in_table(secret, entry))
    assert "secret" not in words and "1.23456" not in words
    words = [describe(item) for row in as_in_table(secret, entry) for item in row]
    assert {"another number"} <= set(words) <= {
        "another number", "another text", "another object", "an error (Exception)",
        *(describe(item) for row in right for item in row),
    }  # fmt: skip


def test_a_result_of_another_kind_than_expected_is_explained():
    probe = {"code": "", "observe": ["x.grad"], "right": [1.0]}
    assert explain([probe], [[{"another": "text"}]]).endswith("where a number is expected.")
    assert explain([probe], [[{"another": "number"}]]) == ""


def test_a_right_error_explains_no_mistake():
    error = {"error": "ValueError", "message": "hello", "line": "raise BadLine"}
    probe = {"observe": ["f()", "n"], "right": [{"error": "ValueError"}, 2]}
    assert explain([probe], [[error, 3]]) == ""
    assert "raise BadLine" in explain([{**probe, "right": [1, 2]}], [[error, 3]])


def test_a_stub_left_in_a_cell_is_named_so():
    cell = "q1 = 'a'\nraise NotImplementedError()"
    says = explain_cell("NotImplementedError", " (cell.py, line 2)", "", cell)
    assert says.startswith("Not finished yet")
    judge = {"observe": ["right"], "right": [True]}
    words = explain([judge], [[{"another": "list"}]])
    assert words == "`right` is another list, where True or False is expected."


def test_the_example_beside_an_error_is_the_one_that_raised_it():
    probes = [
        {"code": "first", "observe": ["x"], "right": [1.0]},
        {"code": "second", "observe": ["y"], "right": [2.0]},
    ]
    observed = [[4.0], [{"error": "TypeError", "message": "no number"}]]
    says = explain(probes, [[1.0], observed[1]])
    assert first_wrong({"probes": probes}, observed, says).code == "second"
    assert first_wrong({"probes": probes}, observed, "Another sentence.").code == "first"


def _replaced(item: Any) -> Any:
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return 1.23456789
    return {"error": "Exception", "message": "secret", "line": "secret = 1"}


SOLUTIONS_IN_TEXTS = """
def told(self):
    import gc
    return repr([f.__doc__ for f in gc.get_objects() if getattr(f, "__name__", "") == "add"])[:900]
def mul(self, other):
    out = Value(self.data * getattr(other, "data", other), (self,), told(self))
    out.data = hash(told(self)) % 10**9
    return out
Value.__mul__ = mul
"""


def test_a_working_version_does_not_reach_the_feedback(grade, assignment):
    """`mul` finds the function `add` in its process, which on a mended base is the solution's."""
    assert "Return the node for" in assignment.exercises["add"].solution
    answers = {"add": "def add(self, other):\n    pass\n", "mul": SOLUTIONS_IN_TEXTS}
    results = grade(answers, {*answers})
    assert results["mul"].points < assignment.exercises["mul"].max_points
    assert "[None]" in results["mul"].message or "another" in results["mul"].message
    assert "Return the node" not in results["mul"].message


def test_a_mistake_beside_a_loop_is_graded_and_observed(grade, assignment):
    mul = assignment.exercises["mul"].solution
    loop = mul.replace("### BEGIN SOLUTION", "while True:\n        pass", 1)
    name = "neg_sub.minus_for_both"
    answers = {"mul": loop, "neg_sub": mistake(assignment, name)}
    results = grade(answers, {*answers})
    assert results["mul"].status == "timeout"
    assert results["neg_sub"].misconception == name and results["neg_sub"].example


SECOND = "def {0}(self):\n    return {1}\n\n\nValue.{0} = {0}\n"
CIRCLES = {
    "tanh and sigmoid": ("backward", {
        "tanh": SECOND.format("tanh", "(self * 2).sigmoid() * 2 - 1"),
        "sigmoid": SECOND.format("sigmoid", "((self * 0.5).tanh() + 1) * 0.5"),
    }),
    "backward by a stub": ("backward", {
        "backward": SECOND.format("backward", "backward_without_recursion(self)"),
        "deep": None,
    }),
    "backward and deep": ("backward", {
        "backward": SECOND.format("backward", "backward_without_recursion(self)"),
        "deep": SECOND.format("backward_without_recursion", "self.backward()"),
    }),
    "order by a stub": ("backward", {
        "topological_order": """
def topological_order(root):
    kept, nodes = [], [root]
    for node in nodes:
        nodes += [each for each in node._prev if all(each is not other for other in nodes)]
    for node in nodes:
        node._backward = lambda node=node: kept.append(node)
    backward_without_recursion(root)
    return kept[::-1]
""",
        "deep": None,
    }),
    "bce and cross_entropy": ("mlp", {
        "bce": "def bce(z, target):\n    return cross_entropy([z * 0, z], int(target))\n",
        "cross_entropy": """
def cross_entropy(scores, target):
    loss, total = 0, scores[target]
    for index, score in enumerate(scores):
        if index != target:
            part = bce(score - total, 0)
            loss, total = loss + part, total + part
    return loss
""",
    }),
    "xor and moons": ("mlp", {
        "xor": "def train_xor(inputs, targets, seed):\n"
               "    return train_moons(inputs, [2 * each - 1 for each in targets], seed)\n",
        "moons": "def train_moons(points, labels, seed):\n"
                 "    return train_xor(points, [(each + 1) / 2 for each in labels], seed)\n",
    }),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("circle", "kind"),
    [
        pytest.param(circle, kind, marks=[] if is_daily else [pytest.mark.campaign])
        for number, (circle, (about, _)) in enumerate(CIRCLES.items())
        for place, kind in enumerate((BUBBLEWRAP, LANDLOCK))
        for is_daily in [about != "mlp" and number % 2 == place]
    ],
)
def test_exercises_that_call_each_other_earn_nothing(graders, circle, kind):
    name, answers = CIRCLES[circle]
    results = graded(graders(kind), name, answers, set(answers))
    assert {each: results[each].points for each in answers} == dict.fromkeys(answers, 0.0)


def test_values_kept_between_calls_make_no_circle(graders):
    assignment = load_assignment(graders(AUTO).course, "backward")
    wrong = ("topological_order.keeps_what_it_listed", "exp.passes_unchanged")
    answers = {name.partition(".")[0]: mistake(assignment, name) for name in wrong}
    results = graded(graders(AUTO), "backward", answers)
    lost = [each.id for each in results.values() if each.status not in ("passed", "manual")]
    assert lost == [*answers]


RECURSIVE = """
def backward(self, first=True):
    if first:
        uses, nodes = {}, [self]
        for node in nodes:
            for operand in set(node._prev):
                if operand not in uses:
                    uses[operand] = 0
                    nodes.append(operand)
                uses[operand] += 1
        Value._uses, self.grad = uses, 1.0
    self._backward()
    for operand in set(self._prev):
        Value._uses[operand] -= 1
        if Value._uses[operand] == 0:
            operand.backward(False)


Value.backward = backward
"""


@pytest.mark.parametrize(
    "deep", [{}, {"deep": None}, {"deep": ""}], ids=["filled", "untouched", "missing"]
)
def test_later_cells_do_not_affect_an_earlier_exercise(graders, deep):
    """The cell of `deep` attaches another function to `Value.backward`, also as released."""
    answers = {"backward": RECURSIVE, **deep}
    results = graded(graders(AUTO), "backward", answers, {"backward"})
    assert results["backward"].points == 7.0


SLOTS = """
class Value:
    __slots__ = ("data", "grad", "_prev", "_local_grads", "_op", "label")

    def __init__(self, data, _children=(), _op="", label="", local_grads=()):
        self.data, self.grad = float(data), 0.0
        self._prev, self._local_grads = tuple(_children), local_grads
        self._op, self.label = _op, label

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def _backward(self):
        for operand, slope in zip(self._prev, self._local_grads):
            operand.grad += slope * self.grad
"""
BINARY = """
def {name}(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(self.data {sign} other.data, (self, other), "{sign}", local_grads={slopes})


Value.__{name}__ = {name}
"""


def test_an_engine_of_another_kind_keeps_the_points_of_later_exercises(grade):
    answers = {
        "node": SLOTS,
        "add": BINARY.format(name="add", sign="+", slopes="(1.0, 1.0)"),
        "mul": BINARY.format(name="mul", sign="*", slopes="(other.data, self.data)"),
    }
    results = grade(answers)
    assert results["manual_backward"].points == 5.0
    assert results["add"].points == results["mul"].points == 4.0


BESIDE: dict[str, Callable[[Exercise], str]] = {
    "wrong": lambda other: next(each.source for each in other.mistakes if not each.endless),
    "looping": lambda other: "while True:\n    pass\n",
    "crashing": lambda other: "import os\nos._exit(1)\n",
    "missing": lambda other: other.stub,
}


@pytest.mark.sized
@pytest.mark.parametrize("name", ["value", "backward", "checkpoint", "mlp"])
def test_other_exercises_change_neither_points_nor_explanation(grader, name):
    """Try a known mistake beside another wrong exercise, in pairs that are drawn."""
    rng = random.Random(seed(1))
    different = []
    assignment = load_assignment(grader.course, name)
    coded = [each for each in assignment.exercises.values() if each.mistakes and not each.form]
    pairs = [(each, other) for each in coded for other in coded if each is not other]
    usual = 0 if name == "mlp" else 1  # its trainings take long
    for exercise, other in rng.sample(pairs, size(usual, len(pairs))):
        wrong = rng.choice([each for each in exercise.mistakes if not each.endless])
        answers = {exercise.id: wrong.source}
        kind = rng.choice([*BESIDE])
        found = []
        for beside in ({}, {other.id: BESIDE[kind](other)}):
            both = {**answers, **beside}
            result = graded(grader, name, both, {*both})[exercise.id]
            found.append((result.points, result.misconception))
        if found[0] != found[1]:
            different.append((wrong.id, kind, other.id, *found))
    assert different == []


def test_state_that_outlives_a_test_costs_the_same_on_every_base(grader):
    kept = mistake(load_assignment(grader.course, "backward"), "deep.keeps_what_it_listed")
    found = []
    for beside in ({}, {"backward": "import os\nos._exit(1)\n"}):
        answers = {"deep": kept, **beside}
        found.append(graded(grader, "backward", answers, {*answers})["deep"].promises)
    assert found[0] == found[1] and {passed for _, passed in found[0]} == {True, False}


def test_an_answer_that_needs_a_later_cell_is_explained_with_its_name(assignment, grade):
    """The answer is right with the whole notebook; else the message names the later cell."""
    mul = "def helper(x):\n    return x\n\n\n" + assignment.exercises["mul"].solution
    add = assignment.exercises["add"].solution.replace("### BEGIN SOLUTION", "helper(self)", 1)
    results = grade({"add": add, "mul": mul}, {"add", "mul"})
    assert results["add"].status == "passed" and "a later cell defines" in results["add"].note
    broken = f"{mul}\n\n\nValue.__add__ = None\n"
    results = grade({"add": add, "mul": broken}, {"add", "mul"})
    assert results["add"].points == 0
    assert "needs `helper`, which only the cell of `mul` further down" in results["add"].message


ONCE = """
def push_gradients(root, order):
    root.grad = 1.0
    for node in dict.fromkeys(order):
        node._backward()
"""


def test_the_computed_formula_is_explained_beside_a_wrong_answer(assignment, grade):
    """Samples that differ on the own cells are run on the base that counted."""
    alone = grade({"manual_backward": ONCE}, {"manual_backward"})["manual_backward"]
    assert "runs a step once only where it is listed twice" in alone.message
    for name in ("node.operands_dropped", "node.backward_is_none"):
        answers = {"node": mistake(assignment, name), "manual_backward": ONCE}
        beside = grade(answers, {*answers})
        assert beside["manual_backward"].inferred == alone.inferred


def test_only_an_answer_that_needs_a_later_cell_is_explained_so(course, graders):
    """`check_gradients` has a mistake of its own; `deep` brings the `backward` that is missing."""
    none = "def backward(self):\n    self.order.reverse()\n\n\nValue.backward = backward\n"
    wrong = mistake(load_assignment(course, "backward"), "check_gradients.first_input_only")
    answers = {"backward": none, "check_gradients": wrong}
    result = graded(graders(AUTO), "backward", answers, {*answers})["check_gradients"]
    assert 0 < result.points < result.max_points
    assert "a later cell" not in result.note and "`backward`" in result.note


def test_a_right_core_is_reported_as_right(course, graders):
    mistakes = load_assignment(course, "mlp").exercises["train"].mistakes
    [wrong] = [each for each in mistakes if each.id == "train.batch_size_ignored"]
    result = graded(graders(AUTO), "mlp", {"train": wrong.source}, {"train"})["train"]
    assert result.message.startswith(CORE_IS_RIGHT + wrong.says)


def test_a_function_s_own_name_is_no_definition_of_a_later_cell(assignment, grade):
    """`_backward` is missing in `node`; inside `add` there is a function with this name."""
    source = mistake(assignment, "node.no_backward").replace("self.label = label", "")
    result = grade({"node": source}, {"node"})["node"]
    assert result.points < result.max_points and "further down" not in result.message
