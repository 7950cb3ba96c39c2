"""Tests are not run again where a process answers as another did, and nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from autograder.allowance import Allowance
from autograder.lending import give
from autograder.runs import Cell, Run
from autograder.sandbox import Limits, WarmServer
from autograder.suite import Suite, Verdict

TESTS = '''
import random

import pytest

from autograder.testing import close, exercise


@exercise("twice")
def test_twice(student, number):
    """It gives twice the number, and twice that."""
    first = student.twice(number())
    assert student.twice(first) == close(2 * first)


@exercise("apply")
def test_apply(student, number):
    """It applies a function to a number."""
    x, seen = number(), []

    def f(value):
        seen.append(value)
        return 3 * value

    assert student.apply(f, x) == close(3 * x)
    assert student.apply(f, 2 * x) == close(6 * x) and seen == close([x, 2 * x])


@exercise("random")
def test_random(student):
    """It gives the number back, whichever it is."""
    for _ in range(3):
        x = random.random()
        assert student.same(x) == x


@exercise("timed")
def test_timed(student):
    """It takes no longer than to work does."""
    worked, _ = student.timed(lambda: student.call(student.work))
    seconds, _ = student.timed(lambda: student.call(student.nothing))
    assert student.is_shorter(seconds, 1.0, [worked])


@exercise("keep")
@pytest.mark.parametrize("turn", [1, 2])
def test_keep(student, turn):
    """It calls the function that it was given last."""
    assert student.keep(lambda: turn) == turn
'''

RIGHT = """
import time
def work(): list(range(2_000_000))
def twice(x): return 2 * x
def apply(f, x): return f(x)
def same(x): return x
def nothing(): pass
def keep(f): return f()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[WarmServer]:
    with WarmServer(Limits(step_seconds=1.0)) as server:
        yield server


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    path = tmp_path / "test_example.py"
    path.write_text(TESTS, "utf-8")
    with Suite(path) as suite:
        yield suite


@pytest.fixture
def led(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tests that were run, as long as they are."""
    names: list[str] = []
    lead = suite._lead

    def noting(test, student, seed) -> Verdict:
        names.append(test.name)
        return lead(test, student, seed)

    monkeypatch.setattr(suite, "_lead", noting)
    return names


@pytest.fixture
def verdicts(server: WarmServer, suite: Suite) -> Iterator[Callable[..., list[Verdict]]]:
    """Runs an exercise's tests on a student's code; afterwards `look` may be run and shown."""
    runs: list[Run] = []

    def run(exercise: str, code: str = "", **lent: str) -> list[Verdict]:
        """With the code of exercises whose functions are lent, between the others' cells."""
        cells = [Cell(RIGHT), *(Cell("", each) for each in lent), Cell(code)]
        given = {each: partial(give, solution=source, setup=[]) for each, source in lent.items()}
        runs.append(Run(server, cells, b"seed", Allowance(60), given))
        runs[-1].run_cells()
        return list(suite.run(exercise, runs[-1].engine, b"seed"))

    yield run
    for each in runs:
        each.close()


def test_the_same_answers_get_the_same_verdict_without_the_test(verdicts, led):
    right, wrong = "", "def twice(x): return 2 * x + 1"
    first = [verdicts("twice", code) for code in (right, wrong)]
    assert [verdict.passed for [verdict] in first] == [True, False]
    assert led == ["test_twice", "test_twice"]
    again = [verdicts("twice", code) for code in (right, "def twice(x): return x + x", wrong)]
    assert again == [first[0], first[0], first[1]]
    assert len(led) == 2


def test_what_a_test_was_shown_is_kept(verdicts):
    wrong = "def twice(x): return 2 * x + 1"
    [first], [second] = verdicts("twice", wrong), verdicts("twice", wrong)
    assert len(first.seen) == 2 and first.seen == second.seen


def test_at_another_answer_the_test_takes_over_and_asks_nothing_twice(verdicts, led):
    verdicts("twice")
    # It answers the first question as the other one did, and the second one otherwise.
    code = """
calls = 0
def twice(x):
    global calls
    calls += 1
    assert calls <= 2
    return 2 * x + (calls == 2)
"""
    [verdict] = verdicts("twice", code)
    assert (verdict.passed, verdict.error) == (False, None)
    assert verdict.seen[1] == 2 * verdict.seen[0] + 1
    assert led == ["test_twice"] * 2


def test_functions_of_the_grader_are_answered_as_before(verdicts, led):
    codes = [
        "",
        "def apply(function, value): return function(value)",
        "def apply(f, x): return 3 * x",
        "def apply(f, x): return f(x + 1)",
    ]
    for _ in range(2):
        passed = [verdict.passed for code in codes for verdict in verdicts("apply", code)]
        assert passed == [True, True, False, False]
    assert led == ["test_apply"] * 3


def test_a_test_that_would_ask_otherwise_starts_again(verdicts, led):
    assert [verdict.passed for verdict in verdicts("random")] == [True]
    assert [verdict.passed for verdict in verdicts("random", "def same(x): return x + 1")] == [
        False
    ]
    # Once for the right code; for the other one once in vain, and once with numbers of its own.
    assert led == ["test_random"] * 3


def test_a_measured_time_is_no_reason_to_lead_a_test_again(verdicts, led):
    for _ in range(3):
        assert [verdict.passed for verdict in verdicts("timed")] == [True]
    assert led == ["test_timed"]
    slow = "def nothing(): list(range(6_000_000))"
    assert [verdict.passed for verdict in verdicts("timed", slow)] == [False]


def test_waiting_is_not_measured(verdicts):
    """So that a busy machine makes nobody's walk over a graph too slow."""
    kept_waiting = "def nothing(): time.sleep(0.5)"
    assert [verdict.passed for verdict in verdicts("timed", kept_waiting)] == [True]


def test_the_same_answers_too_late_are_no_answers(verdicts):
    assert [verdict.passed for verdict in verdicts("twice")] == [True]
    slow = "import time\ndef twice(x): time.sleep(1.5); return 2 * x"
    assert [verdict.lost for verdict in verdicts("twice", slow)] == ["timeout"]
    late = "import time\ndef apply(f, x): y = f(x); time.sleep(1.5); return y"
    for code in ("", late):
        assert verdicts("apply", code)[0].lost == ("timeout" if code else None)


def test_a_function_of_an_earlier_test_is_gone(verdicts):
    code = "first = []\ndef keep(f): first.append(f); return first[0]()"
    one, two = verdicts("keep", code)
    assert one.passed and (two.passed, two.error) == (False, "RuntimeError")


DOUBLE = "def double(x): return x + x"
USES_IT = "def twice(x): return double(x)"


def test_a_test_that_uses_lent_functions_is_not_run_again(verdicts, led):
    for _ in range(3):
        assert [verdict.passed for verdict in verdicts("twice", USES_IT, double=DOUBLE)] == [True]
    wrong = USES_IT + " + 1"
    assert [verdict.passed for verdict in verdicts("twice", wrong, double=DOUBLE)] == [False]
    assert led == ["test_twice"] * 2


def test_other_functions_are_lent_to_other_conversations(verdicts, led):
    triple = "def double(x): return x + x + x"
    first = verdicts("twice", USES_IT, double=DOUBLE)
    again = verdicts("twice", USES_IT, triple=triple)
    assert [verdict.passed for verdict in first + again] == [True, False]
    # In another order their functions have other numbers.
    none = "def none(x): return 0 * x"
    for lent in ({"double": DOUBLE, "none": none}, {"none": none, "double": DOUBLE}):
        assert [verdict.passed for verdict in verdicts("twice", USES_IT, **lent)] == [True]
    assert led == ["test_twice"] * 4


def test_where_cells_have_called_lent_functions_each_test_is_run(verdicts, led):
    for number in (1, 2):
        [verdict] = verdicts("twice", f"{USES_IT}\nbefore = double({number})", double=DOUBLE)
        assert verdict.passed
    assert led == ["test_twice"] * 2


def test_lent_functions_last_and_those_of_an_earlier_test_do_not(verdicts):
    lent = {"double": DOUBLE}
    keep = "def keep(f):\n    global kept\n    kept = globals().get('kept', f)\n    return kept()"
    assert [verdict.passed for verdict in verdicts("keep", keep, **lent)] == [True, False]
    lasting = "def keep(f):\n    assert double(f()) == 2 * f()\n    return f()"
    assert [verdict.passed for verdict in verdicts("keep", lasting, **lent)] == [True, True]
