"""Grading in several processes: the same marks as in one, whatever happens to the processes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import Client

from autograder.assignments import CourseError, find_course, load_assignment
from autograder.classroom import Classroom, Outcome
from autograder.cluster import Cluster
from autograder.demo import hand_in, hand_in_unreadable
from autograder.grading import Grader
from autograder.publishing import copy_course, run_nbgrader
from autograder.sandbox import WarmServer
from autograder.workers import Graded, Job, ManyProcesses, OneProcess, Workers

KEY = bytes(range(32))
STUDENTS = 6


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which some did all, some made one mistake, some nothing; one file is cut off."""
    folder = tmp_path_factory.mktemp("school")
    copy_course(find_course(Path(__file__).parent), folder)
    run_nbgrader(folder, "generate_assignment", "value", "--force")
    assignment = load_assignment(folder, "value")
    right = {exercise.id: exercise.solution for exercise in assignment.exercises.values()}
    wrong = {**right, "mul": assignment.exercises["mul"].mistakes[0].source}
    kinds = [right, wrong, {}]
    hand_in(folder, assignment, {f"student_{n}": kinds[n % 3] for n in range(STUDENTS)})
    hand_in_unreadable(folder, assignment)
    return folder


@pytest.fixture(scope="module")
def alone(school: Path) -> dict[str, dict]:
    """What each student gets when one process grades them one after another."""
    with Grader(school, KEY) as grader:
        return outcomes(school, OneProcess(grader))


def outcomes(school: Path, workers: Workers) -> dict[str, dict]:
    """Each student's report, stored marks and graded notebook."""
    with Classroom(school, workers, force=True) as room:
        wanted = [("value", student) for student in room.submissions("value")]
        told = {outcome.student: outcome for outcome in room.grade(wanted)}
    assert len(told) == len(wanted)
    return {student: seen(school, outcome) for student, outcome in told.items()}


def seen(school: Path, outcome: Outcome) -> dict:
    notebook = json.loads(
        (school / "autograded" / outcome.student / "value/value.ipynb").read_text()
    )
    for cell in notebook["cells"]:
        # Cells that a submission lacks are given new ids.
        cell.pop("id")
    report = outcome.report.as_json() if outcome.report else None
    return {"report": report, "error": outcome.error, "cells": notebook["cells"],
            "marks": stored(school, outcome.student)}  # fmt: skip


def stored(school: Path, student: str) -> list[tuple]:
    with sqlite3.connect(school / "gradebook.db") as gradebook:
        return gradebook.execute(
            "select base_cell.name, auto_score, needs_manual_grade from grade"
            " join base_cell on base_cell.id = grade.cell_id"
            " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
            " join submitted_assignment on submitted_assignment.id"
            "   = submitted_notebook.assignment_id"
            " where student_id = ? order by base_cell.name",
            [student],
        ).fetchall()


def test_two_processes_give_the_same_marks_as_one(school, alone):
    with ManyProcesses(school, KEY, 2) as many:
        assert outcomes(school, many) == alone
    assert alone["student_0"]["report"]["score"] == alone["student_0"]["report"]["max_score"]
    assert 0 < alone["student_1"]["report"]["score"] < alone["student_0"]["report"]["score"]
    assert alone["student_2"]["report"]["score"] == 0


def where_it_runs(asked: Path, count: int) -> set[int]:
    """Answered when so many workers have been asked; `asked` is a folder for them to meet in."""
    (asked / str(os.getpid())).touch()
    wait_for(lambda: len([*asked.iterdir()]) == count)
    return os.sched_getaffinity(0)


def test_each_worker_keeps_to_a_processor_where_there_is_one_for_each(school, tmp_path):
    everywhere = os.sched_getaffinity(0)
    count = len(everywhere)
    with ManyProcesses(school, KEY, count, WarmServer.launched(count)) as many:
        where = [many._pool.submit(where_it_runs, tmp_path, count) for _ in range(count)]
        assert sorted([*future.result()] for future in where) == [[each] for each in everywhere]
    count += 1
    with ManyProcesses(school, KEY, count, WarmServer.launched(count)) as many:
        where = [many._pool.submit(os.sched_getaffinity, 0) for _ in range(count)]
        assert [future.result() for future in where] == [everywhere] * count
    assert os.sched_getaffinity(0) == everywhere


def test_what_is_graded_meanwhile_comes_together(school, alone):
    with ManyProcesses(school, KEY, 2) as many, Classroom(school, many, force=True) as room:
        jobs = [room.job("value", student) for student in alone]
        assert sum(map(len, many.run(jobs))) == len(jobs)  # So that both have started.
        coming = many.run(jobs)
        batches = [next(coming)]
        time.sleep(5)
        batches += coming
    assert len(batches) <= 2
    assert sorted(job.student for done in batches for job, _ in done) == sorted(alone)


class Failing(Grader):
    """Has a mistake that one student's cells bring out."""

    def grade(self, name, cells, *more, **others):
        if not any("def add" in cell.source for cell in cells):
            raise ZeroDivisionError
        return super().grade(name, cells, *more, **others)


def test_a_mistake_of_the_grader_costs_nobody_else_a_mark(school, alone, capsys):
    with Failing(school, KEY) as grader:
        graded = outcomes(school, OneProcess(grader))
    failed = [student for student, told in graded.items() if told["report"] is None]
    assert failed and len(failed) < len(alone)
    for student, told in graded.items():
        if student in failed:
            assert "the grader itself failed" in told["error"] and "value.ipynb" in told["error"]
        else:
            assert told == alone[student]
    assert "ZeroDivisionError" in capsys.readouterr().err


class KillsOne:
    """Workers, one of whose processes is killed as soon as there is work for it."""

    def __init__(self, many: ManyProcesses) -> None:
        self._many = many

    def run(self, jobs: Iterator[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        done = self._many.run(jobs)
        yield next(done)
        victim = next(iter(self._many._pool._processes))
        os.kill(victim, signal.SIGKILL)
        yield from done


def test_a_killed_process_costs_nobody_a_mark(school, alone):
    with ManyProcesses(school, KEY, 2) as many:
        assert outcomes(school, KillsOne(many)) == alone


class Deadly(bytes):
    """What a file holds that ends whichever process is to grade it."""

    def __reduce__(self):
        return os._exit, (9,)


def test_a_file_that_ends_every_grader_is_named_and_costs_nobody_else_a_mark(school, alone):
    with ManyProcesses(school, KEY, 2) as many, Classroom(school, many, force=True) as room:
        jobs = {student: room.job("value", student) for student in room.submissions("value")}
        deadly = replace(jobs["student_1"], content=Deadly())
        graded = {
            job.student: told
            for done in many.run((jobs | {"student_1": deadly}).values())
            for job, told in done
        }
    assert graded.keys() == alone.keys()
    assert deadly.where in graded.pop("student_1").error
    for student, told in graded.items():
        assert (told.report and told.report.as_json()) == alone[student]["report"]


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
    assert again.returncode in (0, 1), again.stderr  # 1 where the file that is cut off comes now
    told = {line["student"]: line for line in map(json.loads, again.stdout.splitlines())}
    assert told[first["student"]]["skipped"]
    assert told.keys() == alone.keys()
    for student, before in alone.items():
        assert stored(school, student) == before["marks"]


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


# On a cluster: a real scheduler and real workers, on the loopback.


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dask scheduler with two workers in processes of their own."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    command = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    with running(folder, *command, "--no-dashboard", "--scheduler-file", str(file)):
        wait_for(lambda: file.exists() and file.read_text().endswith("\n}"))  # It is complete.
        address = json.loads(file.read_text())["address"]
        with worker(folder, address), worker(folder, address), Client(address) as client:
            client.wait_for_workers(2, timeout=60)
            yield address


@contextmanager
def worker(folder: Path, address: str) -> Iterator[subprocess.Popen]:
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    with running(folder, "distributed.cli.dask_worker", address, *options) as started:
        yield started


@contextmanager
def running(folder: Path, module: str, *arguments: str) -> Iterator[subprocess.Popen]:
    # Away from the course: a worker must not need its folder.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield started
    finally:
        started.terminate()
        started.wait(30)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "this took too long"
        time.sleep(0.05)


def test_a_cluster_gives_the_same_marks(school, alone, scheduler):
    with Cluster(school, KEY, scheduler) as cluster:
        assert outcomes(school, cluster) == alone


class Loses:
    """Workers, one of whom is lost as soon as there are first marks."""

    def __init__(self, cluster: Cluster, lost: subprocess.Popen) -> None:
        self._cluster = cluster
        self._lost = lost

    def run(self, jobs: Iterator[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        done = self._cluster.run(jobs)
        yield next(done)
        self._lost.kill()
        yield from done


def test_what_a_lost_worker_was_at_is_graded_elsewhere(school, alone, scheduler, tmp_path):
    with worker(tmp_path, scheduler) as third, Cluster(school, KEY, scheduler) as cluster:
        wait_for(lambda: cluster._slots() == 3)
        assert outcomes(school, Loses(cluster, third)) == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_a_cluster_that_does_not_answer_is_named(school, address):
    with pytest.raises(CourseError, match=f"no Dask scheduler answers at {address} "):
        Cluster(school, KEY, address)


def test_another_version_is_refused(school, scheduler, monkeypatch):
    monkeypatch.setattr("autograder.cluster.package_version", lambda: "another")
    with Cluster(school, KEY, scheduler) as cluster, pytest.raises(CourseError, match="version"):
        outcomes(school, cluster)


def test_a_command_does_without_nbgraders_web_server():
    """Its server extensions take longer to import than all else that a command needs of it."""
    line = (
        "import sys; from autograder.__main__ import leave_out_server_extensions as leave_out;"
        "leave_out(); import autograder.classroom, autograder.penalties, nbgrader.preprocessors;"
        "print('jupyter_server' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
