"""Several worker processes give the same marks as one, whatever happens to the processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from small_school import KEY, alone, outcomes, school, stored, wait_for

from autograder.course_folder.course import Course
from autograder.errors import SandboxDied, SandboxUnavailable
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.workers import ManyProcesses, OneProcess, grade_job, prepare
from autograder.records import GradedNotebook, Job
from autograder.sandbox import ForkServer

pytestmark = pytest.mark.subprocess


assert alone and school  # fixtures of tests here


@pytest.mark.full
def test_two_processes_give_the_same_marks_as_one(school, alone):
    with ManyProcesses(Course(school), KEY, 2) as many:
        assert outcomes(school, many) == alone

    assert alone["student_0"]["report"]["score"] == alone["student_0"]["report"]["max_score"]
    assert 0 < alone["student_1"]["report"]["score"] < alone["student_0"]["report"]["score"]
    assert alone["student_2"]["report"]["score"] == 0


def where_it_runs(asked: Path, count: int) -> set[int]:
    """Return the processors that this worker may use, once all `count` workers run this function.

    Each worker puts a file into the folder `asked`, so none is asked twice.
    """
    (asked / str(os.getpid())).touch()
    wait_for(lambda: len([*asked.iterdir()]) == count)
    return os.sched_getaffinity(0)


def processors_of_workers(school: Path, asked: Path, count: int) -> list[set[int]]:
    """Return the processors that each of `count` workers may use; `asked` is a new folder."""
    asked.mkdir()
    with ManyProcesses(Course(school), KEY, count, ForkServer.start_fork_servers(count)) as many:
        where = [many._pool.submit(where_it_runs, asked, count) for _ in range(count)]
        return [future.result() for future in where]


@pytest.mark.full
def test_each_worker_keeps_to_a_processor_if_there_is_one_for_each(school, tmp_path):
    """The workers are forked from a fresh process: one with threads of other tests forks none."""
    everywhere = os.sched_getaffinity(0)
    count = len(everywhere)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        each = fresh.submit(processors_of_workers, school, tmp_path / "each", count).result()
        more = fresh.submit(processors_of_workers, school, tmp_path / "more", count + 1)
        assert sorted(each, key=min) == [{number} for number in sorted(everywhere)]
        assert more.result() == [everywhere] * (count + 1)
        assert fresh.submit(os.sched_getaffinity, 0).result() == everywhere


@pytest.mark.full
def test_submissions_graded_while_others_are_stored_are_stored_together(school, alone):
    with (
        ManyProcesses(Course(school), KEY, 2) as many,
        Classroom(Course(school), many, force=True) as room,
    ):
        jobs = [room.job("value", student) for student in alone]
        assert sum(map(len, many.run(jobs))) == len(jobs)  # So that both have started.
        coming = many.run(jobs)
        batches = [next(coming)]
        wait_for(lambda: not many._pool._pending_work_items)
        batches += coming

    assert len(batches) <= 2
    assert sorted(job.student for done in batches for job, _ in done) == sorted(alone)


class Failing(Grader):
    """A grader that raises an error at one student's cells."""

    def grade(self, name, cells, *more, **others):
        if not any("def add" in cell.source for cell in cells):
            raise ZeroDivisionError
        return super().grade(name, cells, *more, **others)


@pytest.mark.full
def test_an_error_of_the_grader_affects_only_one_student(school, alone, capsys):
    with Failing(Course(school), KEY) as grader:
        graded = outcomes(school, OneProcess(grader))
    failed = [student for student, seen in graded.items() if seen["report"] is None]

    assert failed
    assert len(failed) < len(alone)

    for student, seen in graded.items():
        if student in failed:
            assert "the grader itself failed" in seen["error"]
            assert "value.ipynb" in seen["error"]
            assert "ZeroDivisionError in test_workers.py, line " in seen["error"]
        else:
            assert seen == alone[student]

    assert "Traceback" not in capsys.readouterr().err


class LosesSandbox(OneProcess):
    """Workers whose sandbox is killed during a submission, as often as a list says for its
    student."""

    def __init__(self, grader: Grader, monkeypatch: pytest.MonkeyPatch, losses: list[int]) -> None:
        super().__init__(grader)
        self.left = 0
        self._losses = iter(losses)
        spawn = ForkServer.spawn

        def spawn_and_lose(server, *given):
            student = spawn(server, *given)
            if self.left:
                self.left -= 1
                end_program(server)
            return student

        monkeypatch.setattr(ForkServer, "spawn", spawn_and_lose)

    def run(self, jobs):
        for job in jobs:
            self.left = next(self._losses)
            yield from super().run([job])
            assert self.left == 0


def end_program(server: ForkServer) -> None:
    program = psutil.Process(server._program.process.pid)
    program.suspend()  # At this moment it may not have tied its children to itself yet.
    inside = program.children(recursive=True)
    for process in [*inside, program]:
        with suppress(
            psutil.NoSuchProcess
        ):  # The process ended with the first one of its namespace.
            process.kill()
    psutil.wait_procs(inside, timeout=30)
    server._program.process.wait()


@pytest.mark.full
def test_terminating_the_sandbox_costs_no_marks(school, alone, monkeypatch):
    with Grader(Course(school), KEY) as grader:
        workers = LosesSandbox(grader, monkeypatch, [1] * len(alone))
        assert outcomes(school, workers) == alone


@pytest.mark.full
def test_a_submission_whose_sandbox_ends_twice_does_not_stop_the_class(school, alone, monkeypatch):
    with (
        Grader(Course(school), KEY) as grader,
        Classroom(Course(school), OneProcess(grader), force=True) as room,
    ):
        workers = LosesSandbox(grader, monkeypatch, [0, 2, 0, 2, 1, 0, 0, 0])
        jobs = [room.job("value", student) for student in alone]
        graded = {job.student: seen for done in workers.run(jobs) for job, seen in done}
    lost = [list(alone)[1], list(alone)[3]]
    for student, seen in graded.items():
        if student in lost:
            assert seen.report is None
            assert "the sandbox was lost" in seen.error
            assert student in seen.error
            assert "grade again" in seen.error
        else:
            assert seen.report.as_json() == alone[student]["report"]


@pytest.fixture
def lose_at_start(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of a number: so many sandboxes are killed as soon as they are launched."""
    launch, left = ForkServer._launch, [0]

    def launch_and_lose(servers):
        launch(servers)
        if left[0]:
            left[0] -= 1
            end_program(servers[0])

    monkeypatch.setattr(ForkServer, "_launch", staticmethod(launch_and_lose))
    return left


@pytest.mark.full
@pytest.mark.parametrize("losses", [1, 3])
def test_a_sandbox_killed_at_its_start_is_started_again(school, losses, lose_at_start):
    lose_at_start[0] = losses
    with (
        Grader(Course(school), KEY) as grader,
        Classroom(Course(school), OneProcess(grader)) as room,
    ):
        graded = grade_job(grader, room.job("value", "student_0"))

    assert lose_at_start == [0]
    assert graded.report.score == 16


@pytest.mark.full
def test_a_sandbox_that_never_starts_ends_the_class(school, lose_at_start):
    lose_at_start[0] = 100
    with (
        Grader(Course(school), KEY) as grader,
        Classroom(Course(school), OneProcess(grader)) as room,
    ):
        job = room.job("value", "student_0")
        with pytest.raises(SandboxUnavailable, match="did not start"):
            grade_job(grader, job)


@pytest.mark.full
def test_a_sandbox_that_is_lost_while_assignments_are_loaded_ends_no_worker(school, monkeypatch):
    def lose(*_: object) -> None:
        raise SandboxDied("the sandbox did not start")

    monkeypatch.setattr(Grader, "prepare", lose)
    prepare(Grader(Course(school), KEY), ["value"])


class KillsOne:
    """Workers, one of whose processes is killed as soon as there is work for it."""

    def __init__(self, many: ManyProcesses) -> None:
        self._many = many

    def run(self, jobs: Iterator[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        done = self._many.run(jobs)
        yield next(done)
        victim = next(iter(self._many._pool._processes))
        os.kill(victim, signal.SIGKILL)
        yield from done


@pytest.mark.full
def test_killing_a_process_during_grading_costs_no_marks(school, alone):
    with ManyProcesses(Course(school), KEY, 2) as many:
        assert outcomes(school, KillsOne(many)) == alone


class Deadly(bytes):
    """The content of a file that ends every process that reads it."""

    def __reduce__(self):
        return os._exit, (9,)


def error_of_one(school: Path, alone: dict[str, dict], content: bytes) -> str:
    """Return the error of a student with this file; the others must be graded as without it."""
    with (
        ManyProcesses(Course(school), KEY, 2, names=["value"]) as many,
        Classroom(Course(school), many, force=True) as room,
    ):
        jobs = {student: room.job("value", student) for student in room.submissions("value")}
        jobs["student_1"] = replace(jobs["student_1"], content=content)
        graded = {job.student: seen for done in many.run(jobs.values()) for job, seen in done}
    assert graded.keys() == alone.keys()
    one = graded.pop("student_1")
    assert one.report is None
    assert jobs["student_1"].where in one.error
    for student, seen in graded.items():
        assert (seen.report and seen.report.as_json()) == alone[student]["report"]
    return one.error


@pytest.mark.full
def test_a_file_that_ends_every_grader_is_named_and_costs_its_own_student_only(school, alone):
    assert error_of_one(school, alone, Deadly())


class Hanging(bytes):
    """The content of a file that keeps the grader busy for ever, so that no other thread can
    run."""

    def __reduce__(self):
        return Hanging, (bytes(self),)

    def decode(self, *_: str) -> str:
        return "" if re.match("(x+x+)+y", 100 * "x") else "never"


@pytest.fixture
def three_seconds(school: Path) -> Iterator[None]:
    """Have course.toml allow three seconds for a submission."""
    path = school / "course.toml"
    text = path.read_text()
    path.write_text(text.replace("submission_seconds = 60", "submission_seconds = 3"))
    yield
    path.write_text(text)


@pytest.mark.full
@pytest.mark.usefixtures("three_seconds")
def test_a_file_that_hangs_its_grader_is_named_and_costs_its_own_student_only(school, alone, capfd):
    error = error_of_one(school, alone, Hanging(b"{"))

    assert "held the grader's own process for over 12 seconds, twice" in error
    assert "in decode" in capfd.readouterr().err


@pytest.mark.full
def test_killing_the_command_leaves_no_process_and_the_rest_is_graded_later(school, alone):
    (school / ".autograder_key").write_text(KEY.hex() + "\n")
    command = [sys.executable, "-m", "autograder", "grade", "value", "--force", "--workers", "2"]
    started = subprocess.Popen(
        [*command, "--json"], cwd=school, stdout=subprocess.PIPE, start_new_session=True
    )
    first = json.loads(started.stdout.readline())
    started.kill()
    started.wait()
    wait_for(lambda: is_gone(started.pid))
    command.remove("--force")
    again = subprocess.run([*command, "--json"], cwd=school, capture_output=True, check=False)

    assert again.returncode in (0, 1), again.stderr  # 1 if the file that is cut off comes now

    seen = {line["student"]: line for line in map(json.loads, again.stdout.splitlines())}
    assert seen[first["student"]]["skipped"]
    assert seen.keys() == alone.keys()

    for student, before in alone.items():
        assert stored(school, student) == before["marks"]


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def printed_by(line: str) -> str:
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_package_autograder_imports_no_other_module():
    line = "import sys; known = {*sys.modules}; import autograder; print({*sys.modules} - known)"
    assert printed_by(line) == "{'autograder'}"


def test_a_command_does_not_import_the_grammar_parser_lark():
    line = (
        "import sys; from autograder.__main__ import leave_out_address_grammar as leave_out;"
        "leave_out(); import nbformat; print('lark' in sys.modules)"
    )
    assert printed_by(line) == "False"


def test_a_command_does_not_import_jupyter_server():
    """nbgrader's server extensions take longer to import than all the rest that a command needs."""
    line = (
        "import sys; from autograder.__main__ import leave_out_server_extensions as leave_out;"
        "leave_out(); import autograder.pipeline.classroom, nbgrader.preprocessors;"
        "import autograder.gradebook.late_penalties;"
        "print('jupyter_server' in sys.modules)"
    )
    assert printed_by(line) == "False"
