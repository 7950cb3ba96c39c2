"""A student process that is killed from outside is no verdict, and memory is checked before
starting."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from kills import student_processes

from autograder.commands.demo import filled_notebook
from autograder.commands.doctor import examine
from autograder.course_folder.assignments import Assignment
from autograder.errors import ProcessKilled, SandboxLost, StudentLost
from autograder.judging import grader as grading
from autograder.judging.grader import Grader
from autograder.model import Limits
from autograder.pipeline.one_submission import grade_content
from autograder.wall import WarmServer, memory
from autograder.wall.memory import WORKER_BYTES, fitting_workers

SLOW = "\nimport time\ntime.sleep(0.2)\n"


@contextmanager
def all_killed() -> Iterator[None]:
    """Kill each student process of this process once it is a tenth of a second old.

    Before that it may still belong to the sandbox's own start.
    """
    own, is_over = psutil.Process(), threading.Event()

    def kill() -> None:
        while not is_over.wait(0.02):
            for pid in student_processes(own):
                with suppress(ProcessLookupError, psutil.NoSuchProcess):
                    if time.time() - psutil.Process(pid).create_time() > 0.1:
                        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()


def test_a_process_killed_from_outside_raises_an_error_of_its_own(server: WarmServer):
    with server.spawn(1) as student:
        student.request({"cell": "1"}, 60)
        [*pids] = student_processes(psutil.Process())
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(ProcessKilled):
            student.request({"cell": "1"}, 60)


@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(9)",
        "import os, signal\ntry: os.kill(1, signal.SIGSEGV)\nexcept OSError: pass",
    ],
)
def test_a_process_that_ends_itself_is_the_students(server: WarmServer, source: str):
    with server.spawn(1) as student, pytest.raises(StudentLost):
        student.request({"cell": source + "\nimport ctypes; ctypes.string_at(0)"}, 60)


def test_a_process_whose_end_is_known_delays_no_other(server: WarmServer):
    student = server.spawn(1)
    student.request(
        {"cell": "import threading, os; threading.Timer(0.1, os._exit, [0]).start()"}, 60
    )
    deadline = time.monotonic() + 60
    while not server._ended and time.monotonic() < deadline:
        student.seconds()
    assert server._ended
    student.close()
    with server.spawn(2) as other:
        assert other.request({"cell": "1"}, 60)["error"] is None
    assert not server._ended


@pytest.mark.parametrize("how", ["setrlimit", "prlimit"])
def test_student_code_cannot_have_itself_killed_by_a_limit_in_time(server: WarmServer, how: str):
    source = (
        "import resource\n"
        "def prlimit(*limit): resource.prlimit(0, *limit)\n"
        "def setrlimit(*limit): resource.setrlimit(*limit)\n"
        f"{how}(resource.RLIMIT_CPU, (1, 1))"
    )
    with server.spawn(1) as student:
        reply = student.request({"cell": source}, 60)
        assert reply["error"] in ("PermissionError", "ValueError"), reply


@pytest.fixture
def slow_notebook(course: Path, assignment: Assignment) -> bytes:
    """Return a notebook whose first cell leaves a moment in which its process can be killed."""
    answers = {name: exercise.solution for name, exercise in assignment.exercises.items()}
    return filled_notebook(course, "value", {**answers, "node": answers["node"] + SLOW}).encode()


def test_a_kill_while_others_are_graded_blames_no_student(grader: Grader, slow_notebook: bytes):
    grader.is_alone = False
    try:
        with all_killed(), pytest.raises(SandboxLost, match="Nothing of it was stored"):
            grade_content(grader, slow_notebook, "value.ipynb", "value")
    finally:
        grader.is_alone = True
    _, report = grade_content(grader, slow_notebook, "value.ipynb", "value")
    assert report.score == report.max_score


def test_a_kill_when_memory_ran_out_blames_no_student(
    grader: Grader, slow_notebook: bytes, monkeypatch
):
    counts = iter(range(10))
    monkeypatch.setattr(grading, "count_oom_kills", lambda: next(counts))
    with all_killed(), pytest.raises(SandboxLost, match="want of memory"):
        grade_content(grader, slow_notebook, "value.ipynb", "value")


def test_code_that_is_killed_each_time_while_alone_is_the_cause(
    grader: Grader, slow_notebook: bytes
):
    with all_killed():
        _, report = grade_content(grader, slow_notebook, "value.ipynb", "value")
    assert next(each for each in report.exercises if each.id == "node").status == "crashed"


def test_a_rehearsal_that_is_killed_from_outside_is_tried_once_more(course: Path, monkeypatch):
    kills, rehearse = iter([True]), grading.rehearse

    def killed_at_first(*given):
        if next(kills, False):
            raise ProcessKilled("a student process was killed from outside")
        return rehearse(*given)

    monkeypatch.setattr(grading, "rehearse", killed_at_first)
    with Grader(course, b"a key that no rehearsal has had yet") as grader:
        assert grader.rehearse("checkpoint") == []
    assert next(kills, None) is None


# Memory.


def _group(folder: Path, **files: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in files.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{number}\n")
    (folder / "memory.stat").write_text("total_inactive_file 5\ninactive_file 7\n")


def test_a_control_group_bounds_free_memory(tmp_path: Path):
    own = tmp_path / "cgroup"
    own.write_text("4:memory:/jobs/one\n0::/user/slice\n")
    _group(tmp_path / "jobs/one", memory_max=1000, memory_current=300)
    _group(tmp_path / "user", memory_max=500, memory_current=100)
    assert sorted(memory._left_in_groups(tmp_path, own)) == [407, 707]
    first = tmp_path / "memory/jobs"
    _group(first)
    (first / "memory.limit_in_bytes").write_text("900")
    (first / "memory.usage_in_bytes").write_text("600")
    assert sorted(memory._left_in_groups(tmp_path, own)) == [305, 407, 707]


@pytest.mark.parametrize(("free", "workers"), [(0, 1), (2.4, 2), (100, 8)])
def test_no_more_workers_than_memory(monkeypatch, free, workers):
    each = Limits().memory + WORKER_BYTES
    monkeypatch.setattr(memory, "free_memory", lambda: int(free * each))
    assert fitting_workers(8) == workers


def test_the_doctor_compares_free_memory_with_the_workers_need(monkeypatch):
    monkeypatch.setattr("autograder.commands.doctor.free_memory", lambda: 1 << 29)
    [finding] = [each for each in examine(None) if each.what == "memory"]
    assert not finding.fine
    assert "0.5 GiB free" in finding.found
