"""A cell that takes too long is interrupted, and its exercise is judged by what the cell has
defined."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from answers import report_on, wrong
from schools import solutions

from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.records import BUBBLEWRAP, LANDLOCK, Limits, Report
from autograder.sandbox import ForkServer
from autograder.sandbox.time_budget import allowed_to_cell

COMPUTE = "import time\nbegun = time.process_time()\nwhile time.process_time() < begun + {}: pass\n"
FILL = "room = bytearray(420 << 20)\nfor i in range(0, len(room), 4096): room[i] = 1\n"
SEEDS = "for seed in range(10):\n    train_moons(seed)\n"
LOOP = "while True: pass\n"


either = pytest.mark.parametrize("strict", [BUBBLEWRAP, LANDLOCK], indirect=True, scope="module")


@pytest.fixture(
    scope="module", params=[BUBBLEWRAP, pytest.param(LANDLOCK, marks=pytest.mark.campaign)]
)
def strict(course: Path, request: pytest.FixtureRequest) -> Iterator[Grader]:
    """Return a grader for a kind of sandbox, which interrupts a cell after two seconds.

    By day, tests that are marked `either` try both kinds.
    """
    settings = load_settings(course)
    with Grader(Course(course), bytes(32)) as grader:
        limits = replace(settings.limits, cell_seconds=2.0)
        grader.use(ForkServer(limits, settings.visible, request.param))
        yield grader


def graded(
    grader: Grader, name: str, *changes: tuple[str, str, str], without: Collection[str] = ()
) -> Report:
    """Return the report on a right notebook whose cells have code before and after the answer,
    `without` the answers to some exercises."""
    right = solutions(name)
    answers = {each: right[each] for each in right.keys() - without}
    for exercise, before, after in changes:
        answers[exercise] = f"{before}{answers[exercise]}\n{after}"
    return report_on(grader, name, answers)


@pytest.mark.full
@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("name", "exercise", "before", "after"),
    [
        ("value", "mul", "", COMPUTE.format(1)),
        ("value", "mul", COMPUTE.format(1.5), ""),
        ("value", "add", "", f"{FILL}{COMPUTE.format(1)}"),
        ("value", "div", "", "try:\n    while True: pass\nfinally:\n    pass\n"),
        ("backward", "backward", "", COMPUTE.format(60)),
        pytest.param("mlp", "moons", "", SEEDS, marks=pytest.mark.campaign),
    ],
)
def test_interrupted_code_beside_an_answer_costs_no_points(strict, name, exercise, before, after):
    # Other trainings, which take seconds, are not begun.
    others = set(strict.course.settings.limits.trainings) - {exercise}
    report = graded(strict, name, (exercise, before, after), without=others)
    assert {*wrong(report)} == others & strict.course.assignment(name).exercises.keys()


@pytest.mark.full
@pytest.mark.subprocess
def test_a_loop_at_the_end_of_every_cell_costs_time_only(strict):
    ids = strict.course.assignment("value").exercises
    started = time.process_time()
    report = graded(strict, "value", *((each, "", LOOP) for each in ids))
    assert wrong(report) == []
    assert time.process_time() - started < 10
    assert all("was stopped in line" in each.note and "`while True: pass`" in each.note
               for each in report.exercises if each.status == "passed")  # fmt: skip


@pytest.mark.full
@pytest.mark.subprocess
def test_a_loop_before_the_definitions_is_named_with_its_line(strict):
    report = graded(strict, "value", ("mul", LOOP, ""))
    assert wrong(report) == ["mul"]
    mul = next(each for each in report.exercises if each.id == "mul")
    assert (mul.points, mul.misconception) == (0.0, None)
    assert "was stopped in line 1, `while True: pass`" in mul.message


@pytest.mark.subprocess
@either
def test_for_endless_code_the_note_names_the_line_within_the_function(strict):
    cell = "def f():\n    total = 0\n    while True: total += 1\n\nf()\n"
    report = graded(strict, "value", ("trace", "", cell))
    trace = next(each for each in report.exercises if each.id == "trace")
    assert trace.status == "passed" and "`while True: total += 1`" in trace.note


@pytest.mark.full
@either
@pytest.mark.subprocess
def test_the_process_of_a_cell_that_ignores_interrupts_is_ended(strict):
    cell = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{LOOP}"
    report = graded(strict, "value", ("mul", "", cell))
    assert wrong(report) == ["mul"]
    mul = next(each for each in report.exercises if each.id == "mul")
    assert mul.message.startswith("The cell itself ran out of time.") and not mul.misconception


def test_cells_that_never_end_leave_every_later_cell_its_part():
    limits, left, cells, seconds = Limits(cell_seconds=10), 120.0, 40, []
    part = left / cells / 2
    for later in reversed(range(cells)):
        seconds.append(allowed_to_cell(limits, left, part, later))
        left -= seconds[-1]
    assert seconds[:6] == [10] * 6
    assert min(seconds) >= part and left >= 0
    assert allowed_to_cell(limits, 120.0, part, 0) == 10
