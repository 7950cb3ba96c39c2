"""Lent functions do what they would do there, and mostly need not be asked how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from test_fuzzing import JSON, fuzz

from autograder.assignments import Assignment, find_course, load_assignment
from autograder.channels import LocalChannel
from autograder.engines import Engine
from autograder.lending import give
from autograder.suite import Suite
from autograder.tracing import traced

THERE = """
class Unusual(Exception): pass

class Box:
    def __init__(self, n):
        self.n = n
    def bump(self):
        self.n += 1.0
        return self
    def __mul__(self, other):
        return Box(self.n * other)
    def __repr__(self):
        return f"Box({self.n!r})"

class Small(Box):
    pass

b = Box(1.0)

def change(box):
    box.n = -box.n

def fail(x):
    raise Unusual(x)
"""


class Counting(LocalChannel):
    """Counts how often the grader was called."""

    calls = 0

    def _callback(self, number: int, arguments: list[Any]) -> Any:
        self.calls += 1
        return super()._callback(number, arguments)


def lent(source: str) -> tuple[dict[str, Any], Counting]:
    """A namespace that is lent what `source` defines, and how it reaches the grader."""
    names: dict[str, Any] = {}
    exec(THERE, names)
    channel = Counting(names)
    give(Engine(channel), source, [])
    return names, channel


def own(source: str) -> dict[str, Any]:
    """A namespace that defines all that itself."""
    names: dict[str, Any] = {}
    exec(THERE + source, names)
    return names


def shown(names: dict[str, Any], expression: str) -> str:
    """What an expression gives there, or raises."""
    try:
        return repr(eval(expression, names))
    except Exception as error:
        return type(error).__name__


CLASS = """
class Mean:
    def __init__(self, count, rate=0.5):
        self.held = [0.0] * count
        self.rate = rate
        self.name = "mean"

    def step(self, numbers):
        self.held = [h + self.rate * (x - h) for h, x in zip(self.held, numbers)]
        return self.held if self.name == "mean" else None

    def after_a_change(self, n):
        self.n = n
        change(self)
        return self.n
"""
CLOSURES = """
def f(box, x):
    def later():
        box.n += box.n * x
        box.last = lambda y: [box.n, x, y]
    box.step = later
    box.n = 10 * x
    box.step()
    box.step()
    return [box.n, box.last(x)]

def g(box):
    twice = lambda x: x + x
    box.last = lambda x: twice(x) * box.n
    return box
"""
LATE = """
def f(x):
    box = Box(x)
    for turn in range(3):
        if turn == 0:
            box.last = lambda: turn * x
    return box.last()
"""
CHANGED = """
def f(x):
    box = Box(x)
    def last():
        return double(x)
    double = lambda x: x
    box.last = last
    double = lambda x: x + x
    return box.last()
"""
KEPT = """
def f(x):
    box, seen = Box(x), []
    def last():
        seen.append(x)
        return len(seen) + x
    box.last = last
    return box.last() + box.last()
"""
NESTED = """
def f(box, x):
    def nested(n):
        return (lambda: nested(n - 1)) if n else x
    box.last = nested(LEVELS)
    return box
"""
STEPS = "[(m := Mean(3)).step([1.0, {x}, 3.0]), m.step([{x}, 0.25, 4.0]), m.held, m.rate]"


@pytest.mark.parametrize(
    ("source", "expressions", "calls"),
    [
        ("def f(a, b): return (a - b) * a / 2 + b ** 2 - -a", ["f(1.5, 2.5)", "f(3.5, -1.0)"], 1),
        ("def f(a, *, b=2.0): return a / b", ["f(1.5)", "f(2.5)", "f(1.5, b=4.0)"], 2),
        ("def f(a): return [0.0 * a, -0.0, (0.0, a + 0), None, 'x']", ["f(-1.0)", "f(1.0)"], 1),
        ("def f(xs): return sum(xs) / len(xs)", ["f([1.5, 2.5])", "f([0.1, 0.2])", "f([0.3])"], 2),
        ("def f(a): return a * a", ["f(1.5)", "f(7000)", "f(2 ** 70)", "f(Box(2.0).n)"], 2),
        ("def f(n, x): return [x * i for i in range(n)]", ["f(3, 1.5)", "f(3, 2.5)"], 1),
        ("def f(box): return box.bump().n + box.n", ["f(Box(1.0))", "f(Box(2.5))"], 1),
        ("def f(p, q):\n p.n, q.n = 5.0, 7.0\n return p.n",
         ["f(Box(0), Box(0))", "f(b := Box(0), b)"], 1),
        ("def f(b):\n b.n += 1.0\n change(b)\n return [b.n, b]", ["f(Box(1.0))", "f(Box(2.5))"], 1),
        ("def f(x): return Box(x * 2)", ["f(1.5)", "f(2.5)"], 1),
        ("def f(g, x): return g(n=x)", ["f(Box, 1.5)", "f(Box, 2.5)"], 1),
        ("def f(x): return g(x) + 1\ndef g(x): return 2 * x", ["f(1.5)", "f(2.5)"], 1),
        ("def f(x): return getattr(x, 'n')", ["f(Box(1.5))", "f(Box(2.5))"], 1),
        ("def f(x): return fail(x)", ["f(1.5)", "f(2.5)"], 1),
        ("def f(x): return nowhere(x)", ["f(1.5)"], 1),
        ("def f(x): return x.missing", ["f(1.5)", "f(Box(1.0))"], 2),
        ("def f(x): return float(x) + float('inf') + float(2)", ["f(1.5)", "f(2.5)"], 1),
        ("def f(x): return (x if isinstance(x, Box) else Box(x)).n",
         ["f(1.5)", "f(Box(2.5))", "f(2)", "f('x')"], 4),
        ("def f(x): return [isinstance(x, float), isinstance(x, (int, float)), isinstance(x, int)]",
         ["f(1.5)", "f(2)", "f(2.5)"], 2),
        (CLOSURES, ["f(Box(1.5), 2.5)", "f(Box(-1.5), 3.5)"], 1),
        (CLOSURES, ["g(Box(1.5)).last(2.5)", "g(Box(1.5)).last()", "g(Box(2.5)).last(1, 2)"], 1),
        ("def f(x):\n b = Box(x)\n def g(c):\n  c.n = 1.0\n  b.n = 2.0\n  return c.n\n b.g = g\n"
         " return [b.g(b), b.g(Box(x))]", ["f(1.5)", "f(2.5)"], 1),
        (NESTED.replace("LEVELS", "4"), ["f(Box(1.0), 2.5).last()()()()"], 1),
        (NESTED.replace("LEVELS", "50"), ["f(Box(1.0), 2.5).last()" + "()" * 49], 103),
        (CLASS, [STEPS.format(x=1.5), STEPS.format(x=2.5)], 2),
        (CLASS, ["Mean(1).after_a_change(1.5)", "Mean(1).after_a_change(2.5)"], 2),
    ],
)  # fmt: skip
def test_one_answer_holds_for_all_arguments_of_a_shape(source, expressions, calls):
    names, channel = lent(source)
    for expression in expressions * 2:
        assert shown(names, expression) == shown(own(source), expression)
    assert channel.calls == calls


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("def f(x): return 'more' if x > 1 else 'less'", ["0.5", "1.5"]),
        ("def f(x): return 'more' if 1 < x else 'less'", ["0.5", "1.5"]),
        ("def f(x): return 1 if x else 2", ["0.5", "0.0"]),
        ("def f(x): return 1 if x == 0.5 else 2", ["0.5", "0.0"]),
        ("def f(x): return x in (0.5, 2.5)", ["0.5", "0.0"]),
        ("def f(x): return {0.5: 'a'}.get(x)", ["0.5", "0.0"]),
        ("import math\ndef f(x): return math.sqrt(x)", ["0.25", "2.25"]),
        ("def f(x): return f'{x:.1f}' + str(x)", ["0.25", "2.25"]),
        ("def f(x): return isinstance(x, float)", ["0.25", "Box(1.0)"]),
        ("def f(x): return isinstance(x, Box)", ["change", "Small(1.0)"]),
        ("def f(x): return isinstance(x.n, float)", ["Box(1.0)", "Box('a')"]),
        ("def f(x, y): return isinstance(x, y)", ["b, Box", "b, Small"]),
        ("def f(x): return type(x) == float", ["0.25", "Box(1.0)"]),
        ("def f(x, y): return x is y", ["(b := Box(1.0)), b", "Box(1.0), Box(1.0)"]),
        ("def f(x): return x.n is None", ["Box('text')", "Box(None)"]),
        ("def f(x):\n try: return 1 / x\n except ZeroDivisionError: return 0", ["0.5", "0.0"]),
        ("def f(x):\n match x:\n  case 0.5: return 1\n  case _: return 2", ["0.5", "0.0"]),
        (LATE, ["0.5", "1.5"]),
        (CHANGED, ["0.5", "1.5"]),
        (KEPT, ["0.5", "1.5"]),
        ("def f(x): return list(range(int(x)))", ["3.5", "2.5"]),
        ("def f(x): return [max(x, 1.0), abs(x), round(x), x // 1]", ["3.5", "-2.5"]),
        ("def f(x): return [y for y in x if y > 1]", ["[0.5, 1.5]", "[2.5, 1.5]"]),
        ("def f(x): return len(x)", ["[1.0] * 1001", "[1.0] * 1002"]),
        ("def f(x): return x[0] + 1", ["[1.0] * 1001", "[2.0] * 1002"]),
        ("def f(x):\n if x < 0: raise ValueError\n return x", ["0.5", "-0.5"]),
        ("def f(x): return sum(y for _ in range(200) for y in x)", ["[0.5] * 30", "[1.5] * 30"]),
    ],
)  # fmt: skip
def test_what_a_function_asks_it_is_told_each_time(source, arguments):
    """Each two arguments have one shape, and the answers differ."""
    names, _ = lent(source)
    expected = [shown(own(source), f"f({each})") for each in arguments]
    assert expected[0] != expected[1]
    for _ in range(2):
        assert [shown(names, f"f({each})") for each in arguments] == expected


def test_a_function_with_many_shapes_is_called_in_the_end():
    names, channel = lent("def f(n, x): return n * x")
    assert [names["f"](n, 0.5) for n in range(150)] == [n * 0.5 for n in range(150)]
    before = channel.calls
    assert [names["f"](n, 1.5) for n in range(90)] == [n * 1.5 for n in range(90)]
    assert channel.calls == before
    assert [names["f"](n, 1.5) for n in range(120, 130)] == [n * 1.5 for n in range(120, 130)]
    assert channel.calls == before + 10


def test_lists_that_hold_themselves_have_a_shape():
    names, _ = lent("def f(x): return 1")
    endless: list[Any] = []
    endless.append(endless)
    assert names["f"](endless) == 1


@pytest.mark.parametrize(
    "source",
    [
        "kept = []\ndef f(x):\n kept.append(x)\n return kept[0] + x",
        "n = 0.0\ndef f(x):\n global n\n n = n + x\n return n",
        "def f(x, kept=[]):\n kept.append(x)\n return kept[0] + x",
        "def f(x, *, kept=([],)):\n kept[0].append(x)\n return kept[0][0] + x",
        "def make():\n n = [0.0]\n def f(x):\n  n.append(x)\n  return n[1]\n return f\nf = make()",
    ],
)
def test_what_a_function_keeps_it_keeps(source):
    names, there = lent(source)[0], own(source)
    for x in (0.5, 1.5, 2.5):
        assert names["f"](x) == there["f"](x)


def test_objects_that_are_kept_here_are_not_read_while_a_program_is_written():
    names, _ = lent("box = Box(1.5)\ndef f(x): return box.n * x")
    assert names["f"](2.0) == 3.0
    names["box"].n = 2.5
    assert names["f"](2.0) == 5.0


def test_an_expression_may_not_ask():
    with pytest.raises(TypeError, match="no program can be written"):
        traced(lambda x: x if x > 0 else -x)


def lent_tracer(source: str) -> Callable[[Any], Any]:
    channel = LocalChannel({})
    give(Engine(channel), source, [])
    return channel._functions[1]  # after the function itself


TRACER = lent_tracer("def f(n, xs): return [[x] * n for x in xs]")
MANY = ["list", *[""] * 2000]


@fuzz
@given(JSON)
@example([["200", MANY], [], [], []])
@example([["9" * 90, MANY], [], [], []])
@example([["9" * 9000, MANY], [], [], []])
@example([["[" * 90, MANY], [], [], []])
@example([["3", ["list", *[""] * 100_000]], [], [], []])
@example([["3", MANY], [], ["n"], ["3"]])
def test_any_shape_gets_a_program_of_moderate_length_or_none(shape: Any) -> None:
    program = TRACER(shape)
    assert program is None or len(repr(program)) < 1_000_000


# The course's own functions.


@pytest.fixture(scope="module", params=["value", "backward", "mlp"])
def assignment(request: pytest.FixtureRequest) -> Assignment:
    return load_assignment(find_course(), request.param)


def test_with_any_exercise_lent_the_others_pass(assignment):
    exercises = [each for each in assignment.exercises.values() if not each.manual]
    setup = list(assignment.setup.values())
    with Suite(assignment.tests) as suite:
        for turn, exercise in enumerate(exercises):
            names: dict[str, Any] = {"__name__": "__main__"}
            channel = Counting(names)
            for source in setup:
                exec(source, names)
            for each in exercises:
                if each is exercise:
                    give(Engine(channel), each.solution, setup)
                else:
                    exec(each.solution, names)
            for each in exercises[turn + 1 :]:
                verdicts = suite.run(each.id, partial(Engine, channel), b"seed")
                failed = [verdict.promise for verdict in verdicts if not verdict.passed]
                assert not failed, (exercise.id, each.id, failed)
