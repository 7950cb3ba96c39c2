"""A student process that was killed from outside gives no verdict, and workers start only if memory
suffices."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from answers import report_on_right_but
from kills import student_processes
from schools import solutions
from small_school import wait_for

from autograder.commands.demo import filled_notebook
from autograder.commands.doctor import examine
from autograder.course_folder.course import Course
from autograder.errors import ProcessKilled, SandboxDied, StudentProcessDied
from autograder.judging import grader as grading
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content
from autograder.records import Limits
from autograder.sandbox import ForkServer, memory
from autograder.sandbox.fork_server import StudentProcess
from autograder.sandbox.guest import server as guest
from autograder.sandbox.memory import WORKER_BYTES, fitting_workers

KILLS = "\n# The process is killed before it runs this cell.\n"


def kill_students(server: ForkServer) -> None:
    """Kill the student processes of a fork server from outside."""
    for pid in student_processes(psutil.Process(server._program.process.pid)):
        os.kill(pid, signal.SIGKILL)


def test_a_student_process_killed_from_outside_raises_sandbox_died(server: ForkServer):
    with server.spawn(1) as student:
        student.request({"cell": "1"}, 60)
        kill_students(server)

        with pytest.raises(ProcessKilled):
            student.request({"cell": "1"}, 60)


@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(9)",
        "import os, signal\ntry: os.kill(1, signal.SIGSEGV)\nexcept OSError: pass",
    ],
)
def test_a_student_process_that_ends_itself_counts_as_ended_by_the_student(
    server: ForkServer, source: str
):
    with server.spawn(1) as student, pytest.raises(StudentProcessDied):
        student.request({"cell": source + "\nimport ctypes; ctypes.string_at(0)"}, 60)


def test_an_ended_student_process_does_not_delay_the_next_one(server: ForkServer):
    student = server.spawn(1)
    student.request(
        {"cell": "import threading, os; threading.Timer(0.1, os._exit, [0]).start()"}, 60
    )
    wait_for(lambda: student.seconds() and server._ended)

    student.close()
    with server.spawn(2) as other:
        assert other.request({"cell": "1"}, 60)["error"] is None

    assert not server._ended


@pytest.mark.parametrize("how", ["setrlimit", "prlimit"])
def test_student_code_cannot_lower_its_own_limit_of_processor_time(server: ForkServer, how: str):
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
def killed_notebook(course: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return a notebook whose process is killed at its first cell, each time."""
    request = StudentProcess.request

    def kill_and_request(process: StudentProcess, message: dict[str, Any], *given, **named):
        if KILLS in message.get("cell", ""):
            request(process, {"steps": []})  # So that the process has been started.
            kill_students(process._server)
        return request(process, message, *given, **named)

    monkeypatch.setattr(StudentProcess, "request", kill_and_request)
    right = solutions("value")
    return filled_notebook(
        Course(course), "value", {**right, "node": right["node"] + KILLS}
    ).encode()


def test_a_kill_while_other_submissions_are_graded_gives_no_mark(
    grader: Grader, killed_notebook: bytes, monkeypatch
):
    monkeypatch.setattr(grader, "is_alone", False)
    with pytest.raises(SandboxDied, match="Nothing of it was stored"):
        grade_content(grader, killed_notebook, "value.ipynb", "value")

    report = report_on_right_but(grader, "value", {})
    assert report.score == report.max_score


def test_a_kill_when_memory_ran_out_is_reported_as_want_of_memory(
    grader: Grader, killed_notebook: bytes, monkeypatch
):
    counts = iter(range(10))
    monkeypatch.setattr(grading, "count_oom_kills", lambda: next(counts))

    with pytest.raises(SandboxDied, match="want of memory"):
        grade_content(grader, killed_notebook, "value.ipynb", "value")


def test_code_that_is_killed_twice_while_graded_alone_counts_as_crashed(
    grader: Grader, killed_notebook: bytes
):
    _, report = grade_content(grader, killed_notebook, "value.ipynb", "value")

    assert {exercise.id: exercise.status for exercise in report.exercises}["node"] == "crashed"


@pytest.mark.subprocess
@pytest.mark.subprocess
@pytest.mark.parametrize(("ends", "reason"), [(True, None), (False, "ended")])
def test_a_process_that_is_ending_keeps_the_reason_of_its_end(ends, reason):
    """Its exit status tells who ended it, however late the fork server reads it."""
    process = subprocess.Popen(["true" if ends else "cat"], stdin=subprocess.PIPE)
    if ends:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    student = guest.Student(process.pid, os.pidfd_open(process.pid), {}, None)
    server = guest.Server(None, None, None)
    server._students[1] = student

    server._handle({"kill": 1}, [])

    assert student.reason == reason
    os.close(student.pidfd)
    process.stdin.close()
    process.wait()


@pytest.mark.subprocess
def test_a_solution_check_that_is_killed_from_outside_is_repeated_once(course: Path, monkeypatch):
    kills, check_solution = iter([True]), grading.check_solution

    def killed_at_first(*given):
        if next(kills, False):
            raise ProcessKilled("a student process was killed from outside")
        return check_solution(*given)

    monkeypatch.setattr(grading, "check_solution", killed_at_first)
    with Grader(Course(course), b"a key that no solution check has had yet") as grader:
        assert grader.check_solution("checkpoint") == []

    assert next(kills, None) is None


# Memory.


def _group(folder: Path, **files: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in files.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{number}\n")
    (folder / "memory.stat").write_text("total_inactive_file 5\ninactive_file 7\n")


@pytest.fixture
def own_groups(tmp_path: Path) -> Path:
    """Return a file like /proc/self/cgroup, with a group of version 1 and one of version 2."""
    path = tmp_path / "cgroup"
    path.write_text("4:memory:/jobs/one\n0::/user/slice\n")
    return path


def test_limits_of_version_2_control_groups_reduce_free_memory(tmp_path: Path, own_groups: Path):
    _group(tmp_path / "jobs/one", memory_max=1000, memory_current=300)
    _group(tmp_path / "user", memory_max=500, memory_current=100)

    assert sorted(memory._left_in_groups(tmp_path, own_groups)) == [407, 707]


def test_limits_of_version_1_control_groups_reduce_free_memory(tmp_path: Path, own_groups: Path):
    group = tmp_path / "memory/jobs"
    _group(group)
    (group / "memory.limit_in_bytes").write_text("900")
    (group / "memory.usage_in_bytes").write_text("600")

    assert list(memory._left_in_groups(tmp_path, own_groups)) == [305]


@pytest.mark.parametrize(("free", "workers"), [(0, 1), (2.4, 2), (100, 8)])
def test_no_more_workers_are_started_than_fit_into_free_memory(monkeypatch, free, workers):
    each = Limits().memory + WORKER_BYTES
    monkeypatch.setattr(memory, "free_memory", lambda: int(free * each))
    assert fitting_workers(8) == workers


@pytest.mark.subprocess
def test_doctor_compares_free_memory_with_the_need_of_the_workers(monkeypatch):
    monkeypatch.setattr("autograder.commands.doctor.free_memory", lambda: 1 << 29)
    [finding] = [finding for finding in examine(None) if finding.what == "memory"]
    assert not finding.fine
    assert "0.5 GiB free" in finding.found
