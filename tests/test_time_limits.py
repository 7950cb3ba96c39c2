"""Time: what student code uses up is limited, what others take away from it is not counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.sandbox import Limits, StudentLost, WarmServer
from autograder.submissions import grade_content

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


@pytest.fixture
def one_processor() -> Iterator[None]:
    """All that is started from here shares one processor with programs that never rest."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    command = [sys.executable, "-c", "while True: pass"]
    # In sessions of their own: Linux shares a processor among sessions before processes.
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(BUSY)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()
        os.sched_setaffinity(0, before)


def seconds_to_lose(limits: Limits, source: str) -> float | None:
    """For how long the cell ran until it was stopped; None where it came to its end."""
    with WarmServer(limits) as server, server.spawn(1) as student:
        # What counts is the cell, not how the process got ready.
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
    # The same without patience, so that the machine was loaded indeed.
    assert seconds_to_lose(Limits(patience=1), HALF_OF_IT) is not None


@pytest.mark.slow
@pytest.mark.parametrize("source", ["import time\ntime.sleep(600)", CHILDREN],
                         ids=["sleeps", "keeps the processor from itself"])  # fmt: skip
def test_who_does_not_wait_for_others_gains_no_time(one_processor, source):
    taken = seconds_to_lose(Limits(patience=60), source)
    assert taken is not None
    assert taken < 20 * LIMIT


def test_a_loop_on_a_loaded_machine_ends_too(one_processor):
    taken = seconds_to_lose(Limits(patience=5), "while True: pass")
    assert taken is not None
    assert taken < 10 * LIMIT


# The whole submission.


@pytest.fixture(scope="module")
def hurried(course: Path) -> Iterator[Grader]:
    """A grader that gives a submission eight seconds in all."""
    limits = Limits(cell_seconds=3.0, step_seconds=2.0, test_seconds=3.0)
    with Grader(course, bytes(range(32)), limits, submission_seconds=8.0) as grader:
        yield grader


def graded(grader: Grader, notebook: str):
    started = time.monotonic()
    done, report = grade_content(grader, notebook.encode(), "value.ipynb", "value")
    return done, report, time.monotonic() - started


def test_an_honest_submission_hears_nothing_of_it(hurried, course, assignment):
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    _, report, _ = graded(hurried, filled_notebook(course, "value", right))
    assert (report.score, report.notes) == (report.max_score, [])


@pytest.mark.slow
def test_a_submission_has_its_time_for_all_that_it_does_together(hurried, course, assignment):
    """Each test alone would be in time for long, replays and second chances add up."""
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    slow = right["node"].replace("        self.", "        __import__('time').sleep(0.3); self.", 1)
    assert slow != right["node"]
    done, report, taken = graded(hurried, filled_notebook(course, "value", {**right, "node": slow}))
    [note] = report.notes
    assert note.startswith("The 8 seconds that this notebook may take")
    late = [each for each in report.exercises if "time was used up" in each.message]
    assert late
    assert {each.status for each in late} == {"timeout"}
    assert all(f"`{each.id}`" in note for each in late)
    assert note in done.cells[0].source  # where students and instructors read it
    assert taken < 8 + 15


@pytest.mark.slow
def test_cells_that_use_up_the_time_leave_some_for_the_tests(hurried, course, assignment):
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    notebook = json.loads(filled_notebook(course, "value", right))
    for _ in range(12):
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [],
                                  "execution_count": None,
                                  "source": "import time; time.sleep(1)"})  # fmt: skip
    done, report, taken = graded(hurried, json.dumps(notebook))
    assert report.score == report.max_score
    [note] = report.notes
    assert "cells at the end" in note
    assert "ran out of time" in done.cells[-1].outputs[0].evalue
    assert taken < 8 + 15
