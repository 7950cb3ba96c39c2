"""Each exercise is judged at its own test cell, and no text for students contains a secret."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from answers import cells, graded, mistake
from tested_course import COURSE

from autograder.course_folder.assignments import Assignment
from autograder.judging import explaining
from autograder.judging.diagnosis import how_it_fits
from autograder.judging.explaining import Evidence, Explanation, explain_failure
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import Suite
from autograder.judging.notebook_session import NotebookSession
from autograder.judging.observations import as_in_table
from autograder.judging.points import blank
from autograder.judging.policy import (
    Conclusion,
    Context,
    NextRun,
    Situation,
    SuiteRun,
    decide,
    gains,
    keeps_verdicts,
    next_run,
    places,
    suspects,
)
from autograder.judging.submission import Submission
from autograder.records import (
    Cell,
    ExerciseResult,
    Verdict,
)
from autograder.sandbox import ForkServer
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import RemoteTarget
from autograder.sandbox.time_budget import TimeBudget
from coursecheck.check import first_wrong, load_table
from coursecheck.messages import describe, explain, explain_cell


def verdicts(passed: str, saw: str = "a number", lost: str | None = None) -> list[Verdict]:
    """Return verdicts from a letter for each test: `+` passed, `-` did not."""
    return [Verdict("test", "", each == "+", lost, seen=[saw]) for each in passed]


def suite_run(context: Context, replaced: str, passed: str, **more: Any) -> SuiteRun:
    return SuiteRun(context, tuple(replaced.split()), verdicts(passed, **more))


FULL, HALF = suite_run(Context.SUBMITTED, "", "++"), suite_run(Context.SUBMITTED, "", "+-")
LACKS = suite_run(Context.SUBMITTED, "", "--", saw="raised NameError")
LATE = suite_run(Context.SUBMITTED, "", "+-", lost="timeout")
REPLACED = suite_run(Context.FAILED_REPLACED, "b", "+-")
LATE_REPLACED = suite_run(Context.FAILED_REPLACED, "b", "--", lost="timeout")
ALL = suite_run(Context.ALL_REPLACED, "a b", "--")


def after(
    runs: list[SuiteRun], earlier: str = "", failed: str = "", **more: Any
) -> NextRun | Conclusion:
    """Return the decision on an exercise after these runs; `failed` lists earlier exercises."""
    others = {name: Situation(runs=[HALF]) for name in failed.split()}
    return decide("c", {**others, "c": Situation(earlier.split(), runs=runs, **more)})


def in_words(decision: NextRun | Conclusion) -> tuple[Any, ...]:
    """Return the context and the exercises replaced there, or the reason of a conclusion."""
    if isinstance(decision, NextRun):
        return decision.context, " ".join(decision.replaced)
    return (decision.reason,)


@pytest.mark.parametrize(
    ("runs", "earlier", "failed", "expected"),
    [
        ([], "a b", "", (Context.SUBMITTED, "")),
        ([], "a b", "b", (Context.SUBMITTED, "")),
        ([FULL], "a b", "b", ("graded as submitted: full points",)),
        ([HALF], "", "", ("graded as submitted: no other context is left",)),
        ([HALF], "a b", "", (Context.ALL_REPLACED, "a b")),
        ([HALF], "a b", "b", (Context.FAILED_REPLACED, "b")),
        ([HALF], "a b", "a b", (Context.FAILED_REPLACED, "a b")),
        ([HALF, REPLACED], "a b", "b", (Context.ALL_REPLACED, "a b")),
        (
            [HALF, REPLACED],
            "b",
            "b",
            (
                "graded with working versions of `b`: no other context is left; none of 2 contexts "
                "gives more points",
            ),
        ),
        ([LACKS], "", "", (Context.FULL_NOTEBOOK, "")),
        ([LACKS], "a b", "b", (Context.FULL_NOTEBOOK, "")),
        (
            [LACKS, suite_run(Context.FULL_NOTEBOOK, "", "--")],
            "a b",
            "b",
            (Context.FAILED_REPLACED, "b"),
        ),
        (
            [LACKS, suite_run(Context.FULL_NOTEBOOK, "", "++")],
            "a b",
            "b",
            ("graded with all cells of the notebook: full points",),
        ),
        ([LATE], "a b", "", ("graded as submitted: it took too long, and would again",)),
        ([LATE], "a b", "b", (Context.FAILED_REPLACED, "b")),
        (
            [LATE, LATE_REPLACED],
            "a b",
            "b",
            (
                "graded as submitted: it took too long, and would again; none of 2 contexts gives "
                "more points",
            ),
        ),
        (
            [HALF, REPLACED, suite_run(Context.ALL_REPLACED, "a b", "++")],
            "a b",
            "b",
            ("graded with working versions of `a`, `b`: full points",),
        ),
    ],
)
def test_the_policy_chooses_the_next_suite_run_or_concludes_with_a_reason(
    runs, earlier, failed, expected
):
    assert in_words(after(runs, earlier, failed)) == expected


@pytest.mark.parametrize(
    ("run", "facts", "expected"),
    [
        (HALF, {"is_answered": False}, ("graded as submitted: there is no answer",)),
        (LACKS, {"is_answered": False}, (Context.FULL_NOTEBOOK, "")),
        (
            LACKS,
            {"is_answered": False, "has_later": False},
            ("graded as submitted: there is no answer",),
        ),
        (LACKS, {"has_later": False}, (Context.FAILED_REPLACED, "a")),
        (
            HALF,
            {"is_question": True},
            ("graded as submitted: the first answer to a question that is read counts",),
        ),
        (LACKS, {"is_question": True}, (Context.FULL_NOTEBOOK, "")),
    ],
)
def test_missing_answers_and_questions_get_other_suite_runs_than_exercises(run, facts, expected):
    assert in_words(after([run], "a", "a", **facts)) == expected


@pytest.mark.parametrize(
    ("runs", "failed", "expected"),
    [
        ([], "", (Context.SUBMITTED, "")),
        ([], "b", (Context.FAILED_REPLACED, "b")),
        (
            [suite_run(Context.FAILED_REPLACED, "b", "++")],
            "b",
            ("graded with working versions of `b`: full points",),
        ),
        ([REPLACED], "b", (Context.SUBMITTED, "")),
        ([LATE_REPLACED], "b", (Context.SUBMITTED, "")),
        ([REPLACED, HALF], "b", (Context.ALL_REPLACED, "a b")),
        ([REPLACED, LACKS], "b", (Context.FULL_NOTEBOOK, "")),
        (
            [LATE_REPLACED, LATE],
            "b",
            (
                "graded as submitted: it took too long, and would again; none of 2 contexts gives "
                "more points",
            ),
        ),
    ],
)
def test_a_training_is_tested_with_failed_exercises_replaced_first(runs, failed, expected):
    assert in_words(after(runs, "a b", failed, trains=True)) == expected


def test_a_training_in_a_circle_is_tested_as_submitted():
    gained = suite_run(Context.FAILED_REPLACED, "b", "++")

    decision = after([gained], "a b", "b", trains=True, circle={"b"})

    assert in_words(decision) == (Context.SUBMITTED, "")


def test_a_question_is_not_tested_again_after_its_answer_was_read():
    replaced = suite_run(Context.FAILED_REPLACED, "a", "+-")
    assert isinstance(after([LACKS, replaced], "a b", "a", is_question=True), Conclusion)


@pytest.mark.parametrize(
    ("runs", "before"),
    [
        ([HALF], HALF),
        ([LACKS, suite_run(Context.FULL_NOTEBOOK, "", "+-")], None),
        ([LACKS, suite_run(Context.FULL_NOTEBOOK, "", "--")], LACKS),
    ],
)
def test_verdicts_of_the_full_notebook_are_not_reused_in_other_contexts(runs, before):
    decision = after(runs, "a b", "b")

    assert isinstance(decision, NextRun)
    assert decision.before is before


def test_cells_are_replaced_after_all_exercises_were_tested_as_submitted_and_in_full():
    situations = {name: Situation([*earlier]) for name, earlier in (("b", "a"), ("c", "ab"))}
    order = []

    while wanted := next_run(situations):
        name, run = wanted
        order.append((name, run.context))
        situations[name].runs.append(
            suite_run(run.context, " ".join(run.replaced), "--", saw="raised NameError")
        )

    assert order == [
        ("b", Context.SUBMITTED),
        ("c", Context.SUBMITTED),
        ("b", Context.FULL_NOTEBOOK),
        ("c", Context.FULL_NOTEBOOK),
        ("b", Context.ALL_REPLACED),
        ("c", Context.FAILED_REPLACED),
        ("c", Context.ALL_REPLACED),
    ]


def test_an_inferred_model_fits_only_if_it_passes_and_fails_the_same_tests_as_the_answer():
    answer = verdicts("+-")
    assert how_it_fits(answer, verdicts("+-")) == "all"
    assert how_it_fits(answer, verdicts("++")) == how_it_fits(answer, verdicts("--")) == ""
    assert how_it_fits(answer, verdicts("+-", saw="a text")) == "open"


@pytest.mark.parametrize(
    ("shares", "counts"),
    [
        (["+-"], Context.SUBMITTED),
        (["++", "+-"], Context.SUBMITTED),
        (["+-", "++"], Context.FAILED_REPLACED),
        (["+-", "+-", "+-"], Context.FAILED_REPLACED),
        (["+-", "--", "+-"], Context.SUBMITTED),
        (["--", "+-", "--"], Context.FAILED_REPLACED),
        (["--", "--", "--", "--"], Context.FAILED_REPLACED),
        (["--", "--", "--", "+-"], Context.FULL_NOTEBOOK),
    ],
)
def test_the_suite_run_with_the_largest_share_counts_and_a_fixed_order_breaks_ties(shares, counts):
    contexts = [
        (Context.SUBMITTED, ""),
        (Context.FAILED_REPLACED, "b"),
        (Context.ALL_REPLACED, "a b"),
        (Context.FULL_NOTEBOOK, ""),
    ]
    runs = [suite_run(*where, each) for where, each in zip(contexts, shares, strict=False)]

    decision = after(runs, "a b", "b", is_answered=False, has_later=False)

    assert isinstance(decision, Conclusion)
    assert decision.counts.context is counts


def reused(context: Context, replaced: str, run: SuiteRun) -> SuiteRun:
    return SuiteRun(context, tuple(replaced.split()), run.verdicts, run)


def test_explanations_come_from_the_context_with_failed_ones_replaced_if_verdicts_are_equal():
    replaced = reused(Context.FAILED_REPLACED, "b", HALF)

    decision = after([HALF, replaced, reused(Context.ALL_REPLACED, "a b", HALF)], "a b", "b")

    assert isinstance(decision, Conclusion)
    assert (decision.counts, decision.explained) == (HALF, replaced)


def test_a_complete_suite_run_counts_even_if_its_verdicts_equal_earlier_ones():
    replaced = SuiteRun(Context.FAILED_REPLACED, ("b",), HALF.verdicts)

    decision = after([HALF, replaced, ALL], "a b", "b")

    assert isinstance(decision, Conclusion)
    assert (decision.counts, decision.explained) == (replaced, replaced)


@pytest.mark.parametrize(
    ("before", "context", "now", "saw", "keeps"),
    [
        ("--", Context.FAILED_REPLACED, "", "a number", None),
        ("--", Context.FAILED_REPLACED, "-", "a number", None),
        ("--", Context.FAILED_REPLACED, "--", "a number", True),
        ("--", Context.FAILED_REPLACED, "-", "a text", False),
        ("--", Context.FAILED_REPLACED, "+-", "a number", False),
        ("--", Context.ALL_REPLACED, "-", "a number", True),
        ("--", Context.ALL_REPLACED, "-", "a text", None),
        ("--", Context.ALL_REPLACED, "--", "a text", True),
        ("--", Context.ALL_REPLACED, "-+", "a text", False),
        ("+-", Context.FAILED_REPLACED, "-", "a number", True),
        ("+-", Context.FAILED_REPLACED, "+", "a number", False),
    ],
)
def test_verdicts_are_reused_if_failed_tests_fail_in_the_same_way_in_another_context(
    before, context, now, saw, keeps
):
    run = NextRun(context, ("a",), suite_run(Context.SUBMITTED, "", before), "")
    assert keeps_verdicts(run, verdicts(now, saw)) is keeps


def test_suite_runs_with_replaced_exercises_do_not_count_for_answers_that_call_each_other():
    gained = suite_run(Context.FAILED_REPLACED, "b", "++")
    situations = {
        "b": Situation(runs=[HALF]),
        "c": Situation(["b"], runs=[LACKS, gained], has_later=False),
    }
    suspected = suspects("b", situations)

    situations["c"].circle.add("b")

    decision = decide("c", situations)
    assert isinstance(decision, Conclusion)
    assert (suspected, decision.counts) == (["c"], LACKS)
    assert decision.reason.startswith("graded as submitted: the solution of `b` does not count")


@pytest.mark.parametrize(
    ("now", "saw", "expected"), [("+", "a text", True), ("-", "a number", False),
                                 ("-", "a text", None)],
)  # fmt: skip
def test_a_failed_test_gains_from_replaced_exercises_if_it_then_passes(now, saw, expected):
    [before], [after] = verdicts("-"), verdicts(now, saw)
    assert gains(before, after) is expected


def test_an_exercise_without_a_test_cell_is_tested_after_the_last_cell_that_may_belong_to_it():
    cells = [Cell("", "a"), Cell(""), Cell("", tests="a"), Cell("", "b"), Cell("")]
    assert places(cells, ["a", "b", "c"]) == {"a": 2, "b": 4, "c": 5}


Grade = Callable[..., dict[str, ExerciseResult]]
TABLE = load_table(COURSE.assignment("value").table)["exercises"]


@pytest.fixture
def grade(grader: Grader) -> Grade:
    """Return a function that grades a notebook of `value` which is right but for some answers."""
    return partial(graded, grader, "value")


@pytest.mark.parametrize("name", ["add.gradient_like_product", "trace.one_level"])
def test_a_mistake_costs_only_its_own_exercise(grade, assignment, name):
    """Use `add`, on which other exercises build, and `trace`, on which none does."""
    results = grade({name.partition(".")[0]: mistake(assignment, name)})
    assert results.pop(name.partition(".")[0]).misconception == name
    assert {each.status for each in results.values()} == {"passed"}


def test_a_later_cell_that_breaks_an_earlier_exercise_costs_its_own_points(grade, assignment):
    """The cell of `trace` replaces the right `Value.__add__` by a wrong one."""
    later = assignment.exercises["trace"].solution
    wrong = "Value.__add__ = lambda self, other: Value(self.data)"

    results = grade({"trace": f"{later}\n\n{wrong}"}, {"add", "trace"})

    assert results["add"].status == "passed"
    assert results["trace"].status == "partial"


def test_an_answer_that_uses_a_helper_of_another_wrong_cell_passes_as_submitted(grade, assignment):
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
    names = ["add.overwrites", "mul.own_data", "trace.one_level"]
    answers = {name.partition(".")[0]: mistake(assignment, name) for name in names}
    results = grade(answers)
    assert [results[name].misconception for name in answers] == names
    right = [each for name, each in results.items() if name not in answers]
    assert all(each.status == "passed" for each in right)


def test_the_first_explainer_that_explains_counts(assignment, monkeypatch):
    explainers = (lambda _: None, lambda _: Explanation("second"), lambda _: Explanation("third"))
    monkeypatch.setattr(explaining, "EXPLAINERS", explainers)
    nothing: Any = None
    evidence = Evidence(Submission(assignment, [], bytes(32)), nothing, {}, {}, nothing, nothing)
    exercise = next(iter(assignment.exercises.values()))
    result = blank(exercise)

    explain_failure(result, exercise, HALF, evidence)

    assert result.message == "second"


def test_an_error_while_explaining_costs_no_points(grade, assignment, monkeypatch, caplog):
    answers = {"add": mistake(assignment, "add.overwrites")}
    before = grade(answers, {"add"})

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(explaining, "first_wrong", fails)
    after = grade(answers, {"add"})
    assert after["add"].points == before["add"].points > 0
    assert after["add"].message.startswith("This does not hold yet: ")
    assert after["add"].misconception is None
    assert before["add"].misconception
    assert "add: the failure could not be explained" in caplog.text


def test_a_criterion_is_shown_with_the_error_that_ended_its_test(grade, assignment):
    right = assignment.exercises["node"].solution
    wrong = right.replace("float(data)", "float(data) / (data in (2.5, 3))")
    result = grade({"node": wrong}, {"node"})["node"]
    assert result.misconception is None
    assert result.message == (
        "An error (ZeroDivisionError) ended the test of this: `Value(data)` keeps the number it is "
        "given."
    )


def test_no_process_with_the_solution_of_an_exercise_lives_while_it_is_tested(
    grade, assignment, monkeypatch
):
    """Every earlier process is dead before the next runs a cell."""
    sessions: list[NotebookSession] = []
    begun = NotebookSession.__init__

    def watched(session: NotebookSession, *arguments: Any, **more: Any) -> None:
        begun(session, *arguments, **more)
        sessions.append(session)

    tested: list[tuple[str, set[str]]] = []
    whole = Suite._run_one

    def judged(suite: Suite, item: Any, target: Any, seed: bytes, **more: bool) -> Verdict:
        exercise = item.get_closest_marker("exercise").args[0]

        def checked(test: str) -> Any:
            found = target(test)
            if isinstance(found, RemoteTarget):
                processes = {session: session._process for session in sessions if session._process}
                [replaced] = [set(each.replaced) for each in processes if processes[each].is_open]
                assert exercise not in replaced
                tested.append((exercise, replaced))
            return found

        return whole(suite, item, checked, seed, **more)

    monkeypatch.setattr(NotebookSession, "__init__", watched)
    monkeypatch.setattr(Suite, "_run_one", judged)
    names = ["node.data_cut_to_int", "mul.own_data", "trace.one_level"]
    grade({name.partition(".")[0]: mistake(assignment, name) for name in names})
    assert any(replaced for _, replaced in tested)


SNEAKY = """
def sneak(number):
    Value.__add__ = lambda self, other: Value(number)
"""


def test_public_examples_cannot_run_in_a_session_after_a_hidden_test(
    server: ForkServer, assignment: Assignment
):
    session = NotebookSession(server, [*cells(assignment, {}), Cell(SNEAKY)], 1, TimeBudget(60))
    add, end = assignment.exercises["add"], len(assignment.setup) + len(assignment.exercises) + 1
    try:
        assert session.observe(end, add, add.examples)
        student = Student(session.target(end))
        student.sneak(4.25)
        student.finish()
        with pytest.raises(RuntimeError, match="has seen no hidden number"):
            session.observe(end, add, add.examples)
    finally:
        session.close()


def test_values_of_a_process_with_solutions_are_shown_only_if_the_check_table_has_them():
    """Neither a text nor the digits of a number are shown: both may hold a working version."""
    entry = TABLE["add"]
    known = entry["mistakes"][0]["results"]
    assert as_in_table(known, entry) == known
    right = [example["right"] for example in entry["examples"]]
    assert as_in_table(right, entry) == right
    secret = [[_replaced(item) for item in row] for row in right]
    words = repr(as_in_table(secret, entry))
    assert "secret" not in words
    assert "1.23456" not in words
    words = [describe(item) for row in as_in_table(secret, entry) for item in row]
    assert {"another number"} <= set(words) <= {
        "another number", "another text", "another object", "an error (Exception)",
        *(describe(item) for row in right for item in row),
    }  # fmt: skip


def test_a_result_of_another_type_than_expected_is_explained():
    example = {"code": "", "observe": ["x.grad"], "right": [1.0]}
    assert explain([example], [[{"another": "text"}]]).endswith("where a number is expected.")
    assert explain([example], [[{"another": "number"}]]) == ""


def test_an_error_that_the_example_expects_is_not_explained():
    error = {"error": "ValueError", "message": "hello", "line": "raise BadLine"}
    example = {"observe": ["f()", "n"], "right": [{"error": "ValueError"}, 2]}
    assert explain([example], [[error, 3]]) == ""
    assert "raise BadLine" in explain([{**example, "right": [1, 2]}], [[error, 3]])


def test_a_stub_left_in_a_cell_is_reported_as_unfinished():
    cell = "q1 = 'a'\nraise NotImplementedError()"
    says = explain_cell("NotImplementedError", " (cell.py, line 2)", "", cell)
    assert says.startswith("Not finished yet")
    judge = {"observe": ["right"], "right": [True]}
    words = explain([judge], [[{"another": "list"}]])
    assert words == "`right` is another list, where True or False is expected."


def test_an_explained_error_is_shown_with_the_example_that_raised_it():
    examples = [
        {"code": "first", "observe": ["x"], "right": [1.0]},
        {"code": "second", "observe": ["y"], "right": [2.0]},
    ]
    observed = [[4.0], [{"error": "TypeError", "message": "no number"}]]
    says = explain(examples, [[1.0], observed[1]])
    assert first_wrong({"examples": examples}, observed, says).code == "second"
    assert first_wrong({"examples": examples}, observed, "Another sentence.").code == "first"


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


def test_text_of_a_solution_that_replaced_an_answer_never_reaches_the_feedback(grade, assignment):
    """`mul` finds the function `add` in its process, which on a context with failed exercises
    replaced is the solution's."""
    assert "Return the Value of" in assignment.exercises["add"].solution
    answers = {"add": "def add(self, other):\n    pass\n", "mul": SOLUTIONS_IN_TEXTS}
    results = grade(answers, {*answers})
    assert results["mul"].points < assignment.exercises["mul"].max_points
    assert "[None]" in results["mul"].message or "another" in results["mul"].message
    assert "Return the Value of" not in results["mul"].message


def test_a_mistake_is_named_even_if_another_exercise_never_ends(grade, assignment):
    mul = assignment.exercises["mul"].solution
    loop = mul.replace("### BEGIN SOLUTION", "while True:\n        pass", 1)
    name = "trace.one_level"
    answers = {"mul": loop, "trace": mistake(assignment, name)}
    results = grade(answers, {*answers})
    assert results["mul"].status == "timeout"
    assert results["trace"].misconception == name
    assert results["trace"].failed_example


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


def test_an_engine_of_another_design_gets_the_points_of_later_exercises(grade):
    answers = {
        "node": SLOTS,
        "add": BINARY.format(name="add", sign="+", slopes="(1.0, 1.0)"),
        "mul": BINARY.format(name="mul", sign="*", slopes="(other.data, self.data)"),
    }
    results = grade(answers)
    assert {name: results[name].points for name in ("add", "mul", "trace")} == {
        "add": 4.0, "mul": 4.0, "trace": 5.0
    }  # fmt: skip


def test_the_message_names_the_later_cell_that_an_answer_needs(assignment, grade):
    """The answer is right with the whole notebook; else the message names the later cell."""
    mul = "def helper(x):\n    return x\n\n\n" + assignment.exercises["mul"].solution
    add = assignment.exercises["add"].solution.replace("### BEGIN SOLUTION", "helper(self)", 1)
    results = grade({"add": add, "mul": mul}, {"add", "mul"})
    assert results["add"].status == "passed"
    assert "a later cell defines" in results["add"].note
    broken = f"{mul}\n\n\nValue.__add__ = None\n"
    results = grade({"add": add, "mul": broken}, {"add", "mul"})
    assert results["add"].points == 0
    assert "needs `helper`, which only the cell of `mul` further down" in results["add"].message


def test_a_name_within_a_later_function_is_not_reported_as_needed(assignment, grade):
    """`_backward` is missing in `node`; inside `add` there is a function with this name."""
    source = mistake(assignment, "node.no_backward")
    result = grade({"node": source}, {"node"})["node"]
    assert result.points < result.max_points
    assert "further down" not in result.message
