"""Time that student code uses is limited, time that others take away from it is not counted."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answers import report_on, report_on_right_but, wrong
from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.errors import StudentLost
from autograder.judging import grader as grading
from autograder.judging.grader import Grader
from autograder.judging.trunk import Trunk
from autograder.model import Limits
from autograder.pipeline.one_submission import grade_content
from autograder.wall import WarmServer, on_one_processor, proxies, time_budget
from autograder.wall.proxies import Student
from autograder.wall.targets import RemoteTarget
from autograder.wall.time_budget import TimeBudget, allowed

BUSY = 4
LIMIT = 1.0
HALF_OF_IT = f"""
import time
while time.process_time() < {LIMIT / 2}:
    pass
"""
CHILDREN = f"""
import os
for _ in range({BUSY}):
    if os.fork() == 0:
        while True:
            pass
while True:
    pass
"""
FORGOTTEN_CHILDREN = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
alive = []
while True:
    while len(alive) < 8:
        child = os.fork()
        if child == 0:
            while time.process_time() < 0.2:
                pass
            os._exit(0)
        alive.append(child)
    time.sleep(0.05)
    alive.pop(0)
"""


HOGS = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        while True:
            pass
time.sleep(600)
"""


@contextmanager
def programs_that_never_rest(count: int) -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    # In sessions of their own: Linux shares a processor among sessions before processes.
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


@pytest.fixture
def one_processor() -> Iterator[None]:
    """Make all processes that are started from here share one processor with busy programs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with programs_that_never_rest(BUSY):
            yield
    finally:
        os.sched_setaffinity(0, before)


def seconds_to_lose(limits: Limits, source: str) -> float | None:
    """Return how long the cell ran until it was stopped; None if it came to its end."""
    with WarmServer(limits) as server, server.spawn(1) as student:
        # Only the cell counts, not the start of the process.
        student.request({"cell": "pass"}, 60)
        used = student.request({"cell": "import time; time.process_time()"}, 60)
        ready = float(used["outputs"][0]["data"]["text/plain"])
        source = source.replace("time.process_time()", f"time.process_time() - {ready}")
        started = time.monotonic()
        try:
            student.request({"cell": source}, LIMIT)
        except StudentLost as lost:
            assert lost.reason == "timeout"
            return time.monotonic() - started
    return None


@pytest.mark.slow
def test_a_loaded_machine_takes_no_time_away(one_processor):
    assert seconds_to_lose(Limits(patience=60), HALF_OF_IT) is None
    # The same without patience, to prove that the machine was loaded.
    assert seconds_to_lose(Limits(patience=1), HALF_OF_IT) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    ["import time\ntime.sleep(600)", CHILDREN, FORGOTTEN_CHILDREN],
    ids=["sleeps", "keeps the processor from itself", "forgets its children"],
)  # fmt: skip
def test_code_that_does_not_wait_for_others_gains_no_time(one_processor, source):
    taken = seconds_to_lose(Limits(patience=60), source)
    assert taken is not None
    assert taken < 20 * LIMIT


@pytest.mark.alone
@pytest.mark.campaign
def test_code_whose_children_keep_the_processor_gains_no_time():
    with on_one_processor():
        taken = seconds_to_lose(Limits(patience=20), HOGS)
    assert taken is not None
    assert taken < 1.5 * LIMIT


def test_a_loop_on_a_loaded_machine_ends_as_well(one_processor):
    taken = seconds_to_lose(Limits(patience=5), "while True: pass")
    assert taken is not None
    assert taken < 10 * LIMIT


# The whole submission.


@pytest.fixture(scope="module")
def hurried(course: Path) -> Iterator[Grader]:
    """Return a grader that gives a submission five seconds in all."""
    limits = Limits(seconds=3.0, training_seconds=3.0, cell_seconds=3.0)
    with Grader(course, bytes(range(32)), limits, submission_seconds=5.0) as grader:
        yield grader


def graded(grader: Grader, notebook: str):
    started = time.monotonic()
    done, report = grade_content(grader, notebook.encode(), "value.ipynb", "value")
    return done, report, time.monotonic() - started


def test_an_honest_submission_gets_no_note_on_time(hurried):
    report = report_on_right_but(hurried, "value", {})
    assert (report.score, report.notes) == (report.max_score, [])


@pytest.mark.slow
def test_all_parts_of_a_submission_share_its_time(hurried, course):
    """Each test alone stays below its limit; all tests together exceed the submission's."""
    right = solutions("value")
    slow = right["node"].replace("        self.", "        __import__('time').sleep(0.3); self.", 1)
    assert slow != right["node"]
    done, report, taken = graded(hurried, filled_notebook(course, "value", {**right, "node": slow}))
    [note] = report.notes
    assert note.startswith("The 5 seconds that this notebook may take")
    late = [each for each in report.exercises if "time was used up" in each.message]
    assert late
    assert {each.status for each in late} == {"timeout"}
    assert all(f"`{each.id}`" in note for each in late)
    assert note in done.cells[0].source  # in the text for students and instructors
    assert taken < 5 + 15


@pytest.mark.slow
def test_cells_that_use_up_the_time_leave_some_for_the_tests(hurried, course):
    notebook = json.loads(filled_notebook(course, "value", solutions("value")))
    for _ in range(12):
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [],
                                  "execution_count": None,
                                  "source": "import time; time.sleep(1)"})  # fmt: skip
    done, report, taken = graded(hurried, json.dumps(notebook))
    assert report.score == report.max_score
    [note] = report.notes
    assert "cells at the end" in note
    assert "ran out of time" in done.cells[-1].outputs[0].evalue
    assert taken < 5 + 15


# The time of loops.


@pytest.mark.parametrize(
    ("model", "timeouts", "trains", "seconds"),
    [(0.0, 0, False, 0.5), (0.01, 0, False, 0.75), (0.1, 0, False, 3.0), (0.2, 0, False, 4.0),
     (2.0, 0, False, 10.5), (0.0, 1, False, 0.25), (0.0, 9, False, 0.075), (0.1, 9, False, 0.475),
     (2.0, 9, False, 8.075), (0.01, 0, True, 4.0), (2.0, 0, True, 10.5), (0.01, 1, True, 2.0)],
)  # fmt: skip
def test_time_is_measured_by_the_model_solution(model, timeouts, trains, seconds):
    """A training has a time of its own, whatever the model solution takes."""
    assert allowed(Limits(), model, timeouts, trains) == pytest.approx(seconds)


class OnPaper:
    """A student process that records its limits in place of running."""

    limits, has_forked = Limits(patience=3.0), False
    delayed, timed_out = 0.0, False

    def allow(self, seconds: float, room: float = math.inf, more: Any = None) -> None:
        self.seconds, self.more = seconds, more


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the two clocks that budgets read, to be set by a test: the time `now`, and the seconds
    that this process has `waited` for a processor."""
    time_read = SimpleNamespace(now=100.0, waited=0.0)
    clock = SimpleNamespace(monotonic=lambda: time_read.now)
    monkeypatch.setattr(time_budget, "time", clock)
    monkeypatch.setattr(time_budget, "own_wait", lambda: time_read.waited)
    return time_read


def test_a_budget_excludes_waits_for_other_programs(clock):
    budget, process = TimeBudget(60.0, taken=10.0), OnPaper()
    budget.started(process)
    clock.now += 30
    process.delayed, clock.waited = 5.0, 20.0
    assert (budget.used, budget.left()) == (20.0, 40.0)
    process.has_forked = True  # Its children may have made this process wait.
    assert (budget.used, budget.left()) == (35.0, 25.0)
    process.delayed, clock.now = 1000.0, 100.0 + 165
    assert budget.left() == 3 * 60 - 10 - 165 and not budget.is_up  # the time that patience leaves
    clock.now += 5
    assert budget.is_up


def test_a_budget_gives_the_allowed_or_the_remaining_time(clock):
    budget, process, later = TimeBudget(60.0), OnPaper(), OnPaper()
    budget.started(process)

    def model() -> float:
        clock.now += 7  # Measuring it is no time of the submission.
        return 0.1

    budget.give(process, model)
    assert (process.seconds, process.more()) == (0.5, 3.0 - 0.5 + 7)
    assert budget.used == 0.0
    process.timed_out = True
    budget.started(later)
    budget.give(later, model)
    assert (later.seconds, later.more()) == (0.25, 1.5 - 0.25 + 7)
    budget.forgive()
    budget.give(later, model)
    assert later.seconds == 0.5
    clock.now += 59.5
    budget.give(later, lambda: 2.0)
    assert (later.seconds, later.more()) == (0.5, 0.0)
    with pytest.raises(StudentLost, match="used up"):
        budget.give(later, model, keep=0.1)


DOUBLING = """
def walk(nodes):
    if nodes:
        walk(nodes[1:])
        walk(nodes[1:])
walk(list(range(60)))
"""
ENDLESS = {
    "a loop": "while True:\n    pass",
    "a loop that catches everything": "while True:\n    try:\n        while True: pass\n"
    "    except BaseException:\n        pass",
    "sleep": "import time\ntime.sleep(600)",
    "recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    "work that doubles": DOUBLING,
    "a list that grows": "found = []\nwhile True:\n    found.append(found)",
}
OTHERS = ("value", "backward", "checkpoint")
SOME = [("backward", "deep"), ("value", "node"), ("value", "trace"), ("backward", "tanh"),
        ("checkpoint", "q19"), ("checkpoint", "q18")]  # fmt: skip


@pytest.fixture
def budgets(monkeypatch) -> list[TimeBudget]:
    """Return the time budgets of the gradings in the test."""
    begun: list[TimeBudget] = []

    def begin(*seconds: float) -> TimeBudget:
        begun.append(TimeBudget(*seconds))
        return begun[-1]

    monkeypatch.setattr(grading, "TimeBudget", begin)
    return begun


def with_all_functions(source: str, first: str) -> str:
    """Return a cell with a statement in front of every function's body, methods too."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [*ast.parse(first).body, *node.body]
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.fixture(scope="module")
def warm(grader: Grader) -> Grader:
    """Return a grader that has met endless code in each of these assignments."""
    for name, exercise in dict(SOME).items():
        report_on(grader, name, {exercise: "while True:\n    pass"})
    return grader


def lost_by_endless(grader: Grader, name: str, exercises: Collection[str], kind: str) -> list[str]:
    """Return the exercises that lose points if all functions of these never end."""
    answers = {
        each: with_all_functions(source, ENDLESS[kind])
        for each, source in solutions(name).items()
        if each in exercises
    }
    return wrong(report_on_right_but(grader, name, answers))


@pytest.mark.parametrize(("kind", "at"), [*zip(ENDLESS, SOME, strict=True)], ids=ENDLESS)
def test_endless_code_costs_its_own_exercise(grader, kind, at):
    """Earlier exercises may call it: `deep` replaces the engine's `backward`."""
    name, exercise = at
    assert lost_by_endless(grader, name, [exercise], kind) == [exercise]


@pytest.mark.alone
@pytest.mark.campaign
@pytest.mark.parametrize(("name", "exercise"), SOME)
@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_code_takes_two_seconds(warm, budgets, name, exercise, kind):
    assert lost_by_endless(warm, name, [exercise], kind) == [exercise]
    assert budgets[-1].used < 2


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["a loop", pytest.param("sleep", marks=pytest.mark.campaign)])
def test_endless_trainings_take_fifteen_seconds(grader, budgets, kind):
    trainings = ["xor", "moons", "four_points"]
    assert lost_by_endless(grader, "mlp", trainings, kind) == trainings
    assert budgets[-1].used < 15


@pytest.mark.alone
@pytest.mark.parametrize(
    "name", ["mlp", *(pytest.param(each, marks=pytest.mark.campaign) for each in OTHERS)]
)
def test_a_right_notebook_loses_nothing_on_a_busy_machine(grader, name):
    with programs_that_never_rest(8):
        report = report_on_right_but(grader, name, {})
    assert wrong(report) == report.notes == []


@pytest.mark.alone
def test_there_is_time_for_the_trainings_that_the_notebook_names(course, grader):
    notebook = (course / "source/mlp/mlp.ipynb").read_text("utf-8")
    assert "up to 10 hidden neurons and 1,000 epochs" in notebook
    assert "up to 15 hidden neurons and for 100 rounds" in notebook
    assert "Up to 20 hidden neurons" in notebook  # and 200 epochs
    answers = solutions("mlp")
    exercises = [*answers]
    larger = (Path(__file__).parent / "variants/mlp/larger_networks.py").read_text("utf-8")
    for cell in larger.split("# %% ")[1:]:
        name, _, source = cell.partition("\n")
        answers[name] = source.replace("epochs=600", "epochs=1000").replace("[12, 1]", "[15, 1]")
        answers[name] = answers[name].replace("range(50)", "range(100)")
    assert [*answers] == exercises
    assert wrong(report_on(grader, "mlp", answers)) == []


def test_an_exercise_for_which_the_machine_stood_still_is_tried_once_more(grader, monkeypatch):
    target, stalled = Trunk.target, []

    def standing_still(trunk: Trunk, place: int, exercise: str, *more: Any) -> RemoteTarget:
        if exercise == "mul" and len(stalled) < 1:
            stalled.append(exercise)
            raise StudentLost("timeout", "the machine stood still")
        return target(trunk, place, exercise, *more)

    monkeypatch.setattr(Trunk, "target", standing_still)
    report = report_on_right_but(grader, "value", {})
    assert stalled and report.score == report.max_score


@pytest.mark.alone
def test_measuring_the_model_solution_does_not_count_for_the_waiting_test(server, monkeypatch):
    """Else a test that looks at many values, after a slow model solution, would be cut off."""
    monkeypatch.setattr(proxies, "_MOST_SECONDS", 0.3)

    def measured() -> float:
        until = time.thread_time() + 0.6
        while time.thread_time() < until:
            pass
        return 10.0

    with server.spawn(1) as process:
        process.request({"cell": "import time\nnumbers = [*range(300)]"})
        process.request({"cell": "def slow():\n    time.sleep(2.5)\n    return numbers"})
        process.allow(0.1, more=measured)
        student = Student(RemoteTarget(process))
        found = student.slow()
        assert [number for number in found] == [*range(300)]
        assert process.asking > 0.5
