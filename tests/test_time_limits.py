"""Limits in time count the processor time of student code: a busy machine costs no points."""

from __future__ import annotations

import ast
import json
import math
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
from sandboxes import descendants
from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.errors import StudentProcessDied
from autograder.judging import grader as grading
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content
from autograder.records import BUBBLEWRAP, LANDLOCK, Limits
from autograder.sandbox import ForkServer, fork_server, proxies, time_budget
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import RemoteTarget
from autograder.sandbox.time_budget import TimeBudget, allowed

pytestmark = pytest.mark.subprocess

LIMIT = 0.3
BUSY = {
    "a loop": "while True: pass",
    "threads": """
import threading
for _ in range(3):
    threading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()
""",
}
BUSY_FAMILIES = {
    "children of a process that sleeps": """
import os, time
for _ in range(6):
    if os.fork() == 0:
        while True: pass
time.sleep(600)
""",
    "children that end": """
import os, time
while True:
    if os.fork() == 0:
        while time.process_time() < 0.05: pass
        os._exit(0)
    os.wait()
""",
    "children that are forgotten": """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    for _ in range(8):
        if os.fork() == 0:
            while time.process_time() < 2 * LIMIT: pass
            os._exit(0)
    time.sleep(1)
""".replace("LIMIT", str(LIMIT)),
}
IDLE = {
    "sleeps": "import time\ntime.sleep(600)",
    "stops itself": "import os, signal, time\ntry: os.kill(os.getpid(), signal.SIGSTOP)\n"
    "except OSError: pass\ntime.sleep(600)",
    "waits for a child": "import os, time\nif os.fork() == 0: time.sleep(600)\nos.wait()",
}


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


def test_time_in_which_student_code_sleeps_or_waits_is_not_counted(server):
    """So a busy machine takes no time away: code that sleeps looks like code that has to wait."""
    with server.spawn(1) as process:
        reply = process.request({"cell": f"import time\ntime.sleep({3 * LIMIT})"}, LIMIT)

    assert reply["error"] is None


@pytest.fixture(scope="module")
def unhurried(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    """Return a sandbox of a kind, with limits by the clock that no test reaches."""
    with ForkServer(Limits(max_slowdown=10_000), kind=request.param) as server:
        yield server


# Landlock lets student code start no processes.
@pytest.mark.parametrize(
    ("unhurried", "name"),
    [(LANDLOCK, name) for name in BUSY] + [(BUBBLEWRAP, name) for name in BUSY | BUSY_FAMILIES],
    indirect=["unhurried"],
)
def test_code_is_ended_when_all_its_processes_have_used_its_time(unhurried, name):
    source = (BUSY | BUSY_FAMILIES)[name]
    with unhurried.spawn(1) as process, pytest.raises(StudentProcessDied, match="timeout"):
        process.request({"cell": source}, LIMIT)
        process.request({"cell": "import time\ntime.sleep(600)"})  # Threads work on.

    assert process.used >= LIMIT


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """Return a sandbox whose limits by the clock are as short as those in processor time."""
    monkeypatch.setattr(fork_server, "_LEAST_BY_CLOCK", 0.0)
    with ForkServer(Limits(max_slowdown=1)) as server:
        yield server


@pytest.mark.parametrize("source", IDLE.values(), ids=IDLE)
def test_code_that_uses_no_processor_time_is_ended_by_the_clock(impatient, source):
    with impatient.spawn(1) as process, pytest.raises(StudentProcessDied, match="timeout"):
        process.request({"cell": source}, LIMIT)


def test_time_in_which_the_machine_stands_still_is_not_counted(server, monkeypatch):
    jump = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + jump[0])
    monkeypatch.setattr(fork_server, "time", clock)
    with server.spawn(1) as process:
        process.allow(10)
        jump[0] = 1000.0

        reply = process.request({"cell": "1"})

    assert reply["error"] is None


def test_a_cell_that_sleeps_is_interrupted(monkeypatch):
    """The time by the clock is up once the cell has started a process, and sleeps."""
    with ForkServer(kind=BUBBLEWRAP) as server, server.spawn(1) as process:
        process.request({"cell": "import os, time"})
        program, interrupt = server._program.process.pid, server._interrupt
        before = descendants(program)

        def interrupt_and_go_on(key: int) -> None:
            monkeypatch.undo()
            interrupt(key)

        monkeypatch.setattr(process, "_is_up", lambda: descendants(program) > before)
        monkeypatch.setattr(server, "_interrupt", interrupt_and_go_on)
        reply = process.request({"cell": "1\n2\nos.fork(); time.sleep(600)"}, grace=60)

    assert process.interrupted
    assert reply["stopped"] == [3, 3]


# The whole submission.


@pytest.fixture(scope="module")
def five_seconds(course: Path) -> Iterator[Grader]:
    """Return a grader that gives a submission five seconds of processor time in all."""
    limits = Limits(seconds=3.0, training_seconds=3.0, cell_seconds=3.0)
    with Grader(Course(course), bytes(range(32)), limits, submission_seconds=5.0) as grader:
        yield grader


@pytest.fixture
def hurried(five_seconds: Grader, monkeypatch: pytest.MonkeyPatch) -> Grader:
    """Return that grader, with a limit by the clock that no test reaches."""
    monkeypatch.setattr(time_budget, "SLOWEST", 1000.0)
    return five_seconds


def graded(grader: Grader, notebook: str):
    return grade_content(grader, notebook.encode(), "value.ipynb", "value")


def compute(seconds: float) -> str:
    """Return a statement that uses so many seconds of processor time."""
    now = "__import__('time').process_time"
    return f"[None for _ in iter(lambda end={now}() + {seconds}: {now}() > end, True)]"


def test_an_honest_submission_gets_no_note_on_time(hurried):
    report = report_on_right_but(hurried, "value", {})
    assert (report.score, report.notes) == (report.max_score, [])


@pytest.mark.full
def test_all_tests_of_a_submission_share_its_time(hurried, course):
    """Each test alone stays below its limit; all tests together exceed the submission's."""
    right = solutions("value")
    slow = right["node"].replace("        self.", f"        {compute(0.3)}; self.", 1)
    assert slow != right["node"]
    done, report = graded(
        hurried, filled_notebook(Course(course), "value", {**right, "node": slow})
    )
    [note] = report.notes
    assert note.startswith("The 5 seconds that this notebook may take")
    late = [each for each in report.exercises if "time was used up" in each.message]
    assert late
    assert {each.status for each in late} == {"timeout"}
    assert all(f"`{each.id}`" in note for each in late)
    assert note in done.cells[0].source  # in the text for students and instructors


@pytest.mark.full
def test_if_cells_use_up_the_time_of_a_submission_its_tests_still_run(hurried, course):
    notebook = json.loads(filled_notebook(Course(course), "value", solutions("value")))
    for _ in range(12):
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [],
                                  "execution_count": None,
                                  "source": compute(1)})  # fmt: skip
    _, report = graded(hurried, json.dumps(notebook))
    assert report.score == report.max_score
    assert "` ran out of time: what it defines may be missing below." in report.notes[0]


# The time of loops.


@pytest.mark.parametrize(
    ("model", "timeouts", "trains", "seconds"),
    [(0.0, 0, False, 0.5), (0.01, 0, False, 0.75), (0.1, 0, False, 3.0), (0.2, 0, False, 4.0),
     (2.0, 0, False, 10.5), (0.0, 1, False, 0.25), (0.0, 9, False, 0.075), (0.1, 9, False, 0.475),
     (2.0, 9, False, 8.075), (0.01, 0, True, 4.0), (2.0, 0, True, 10.5), (0.01, 1, True, 2.0)],
)  # fmt: skip
def test_the_time_limit_of_a_test_follows_from_the_reference_time(model, timeouts, trains, seconds):
    """A training has a time of its own, whatever the reference solution takes."""
    assert allowed(Limits(), model, timeouts, trains) == pytest.approx(seconds)


class OnPaper:
    """A student process that records its limits in place of running."""

    limits = Limits(cell_seconds=10)
    used, timed_out = 0.0, False

    def allow(
        self, seconds: float, room: float = math.inf, more: Any = None, latest: float = math.inf
    ) -> None:
        self.seconds, self.more, self.latest = seconds, more, latest


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the two clocks that budgets read, to be set by a test: the time `now`, and the
    processor time that this process has `used`."""
    time_read = SimpleNamespace(now=100.0, used=7.0)
    clock = SimpleNamespace(monotonic=lambda: time_read.now, thread_time=lambda: time_read.used)
    monkeypatch.setattr(time_budget, "time", clock)
    return time_read


def test_a_budget_counts_the_time_of_its_processes_and_of_the_grader(clock):
    budget, process = TimeBudget(60.0, taken=10.0), OnPaper()
    budget.started(process)

    clock.used += 20
    process.used = 5.0

    assert budget.used == 35.0
    assert budget.left() == 25.0


def test_a_time_budget_ends_at_three_times_its_seconds_of_wall_clock_time(clock):
    budget = TimeBudget(60.0, taken=10.0)

    clock.now += 165

    assert budget.left() == 3 * 60 - 10 - 165
    clock.now += 5
    assert budget.is_up


def test_a_process_gets_the_time_that_is_allowed_or_that_the_budget_has_left(clock):
    budget, process, later = TimeBudget(60.0), OnPaper(), OnPaper()
    budget.started(process)

    def model() -> float:
        return 0.1

    budget.give(process, model)
    assert (process.seconds, process.more()) == (0.5, 3.0 - 0.5)
    process.timed_out = True
    budget.started(later)
    budget.give(later, model)
    assert (later.seconds, later.more()) == (0.25, 1.5 - 0.25)
    budget.forgive()
    budget.give(later, model)
    assert later.seconds == 0.5
    clock.used += 59.5
    budget.give(later, lambda: 2.0)
    assert (later.seconds, later.more()) == (0.5, 0.0)
    with pytest.raises(StudentProcessDied, match="used up"):
        budget.give_to_cell(later, keep=0.1)


def test_cells_that_have_run_and_cells_of_the_course_get_more_time_whatever_came_before(clock):
    budget, strict, process = TimeBudget(60.0), TimeBudget(60.0, of_course=1.0), OnPaper()
    for kind, has_run, seconds in (
        (budget, False, 20), (budget, True, 20), (strict, False, 10), (strict, True, 20)
    ):  # fmt: skip
        kind.give_to_known_cell(process, has_run)
        assert process.seconds == seconds
    clock.used += 55
    budget.give_to_known_cell(process, True)
    assert process.seconds == 5


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
    "a child": "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()",
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

    def begin(*seconds: float, **options: Any) -> TimeBudget:
        begun.append(TimeBudget(*seconds, **options))
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


@pytest.mark.full
@pytest.mark.parametrize(("kind", "at"), [*zip(ENDLESS, SOME, strict=True)], ids=ENDLESS)
def test_endless_code_costs_its_own_exercise(grader, kind, at):
    name, exercise = at
    assert lost_by_endless(grader, name, [exercise], kind) == [exercise]


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "exercise"), SOME)
@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_code_uses_less_than_two_seconds_of_the_budget(warm, budgets, name, exercise, kind):
    assert lost_by_endless(warm, name, [exercise], kind) == [exercise]
    assert budgets[-1].used < 2


@pytest.mark.full
def test_endless_trainings_take_at_most_three_times_their_limit_each(grader, budgets):
    trainings = ["xor", "moons", "four_points"]

    assert wrong(report_on_right_but(grader, "mlp", {})) == []
    assert lost_by_endless(grader, "mlp", trainings, "a loop") == trainings

    right, endless = (budget.used for budget in budgets)
    assert endless - right < 3 * len(trainings) * grader.course.settings.limits.training_seconds


@pytest.mark.full
@pytest.mark.parametrize(
    "name", ["mlp", *(pytest.param(each, marks=pytest.mark.campaign) for each in OTHERS)]
)
def test_a_right_notebook_loses_nothing_on_a_busy_machine(grader, name):
    with programs_that_never_rest(4):
        report = report_on_right_but(grader, name, {})
    assert wrong(report) == report.notes == []


@pytest.mark.full
def test_trainings_of_the_largest_sizes_that_the_notebook_names_fit_into_the_time(course, grader):
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


def test_measuring_the_reference_solution_takes_no_time_from_the_test(server, monkeypatch):
    """Else a test that looks at many values, after a slow reference solution, would be cut off."""
    thread_time, measuring = time.thread_time, [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: thread_time() + measuring[0])

    def measured() -> float:
        measuring[0] += 10 * proxies._MOST_SECONDS
        return 10.0

    with server.spawn(1) as process:
        process.request({"cell": "import time\nnumbers = [*range(300)]"})
        process.request({"cell": f"def slow():\n    {compute(1)}\n    return numbers"})
        process.allow(0.1, more=measured)
        student = Student(RemoteTarget(process))
        found = student.slow()
        assert [number for number in found] == [*range(300)]
        assert process.asking >= 10 * proxies._MOST_SECONDS
