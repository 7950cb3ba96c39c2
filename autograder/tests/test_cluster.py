"""Grading on a Dask cluster with a scheduler and workers on the loopback interface."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import pytest
from clusters import scheduling, start_grading, worker
from distributed import Client, get_worker
from small_school import KEY, alone, outcomes, school, stored, wait_for

from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.cluster import Cluster, ForeignObject, _loads
from autograder.pipeline.workers import grade_job
from autograder.records import GradedNotebook, Job

pytestmark = pytest.mark.external


assert alone and school  # fixtures of tests here


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a Dask scheduler with two workers in processes of their own."""
    folder = tmp_path_factory.mktemp("dask")
    with (
        scheduling(folder) as (address, _),
        worker(folder, address),
        worker(folder, address),
    ):
        yield address


def test_a_cluster_gives_the_same_marks_as_one_process(school, alone, scheduler):
    with Cluster(Course(school), KEY, scheduler) as cluster:
        assert outcomes(school, cluster) == alone


class Loses:
    """Workers of which one is killed as soon as the first marks arrive."""

    def __init__(self, cluster: Cluster, lost: subprocess.Popen) -> None:
        self._cluster = cluster
        self._lost = lost

    def run(self, jobs: Iterator[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        done = self._cluster.run(jobs)
        yield next(done)
        self._lost.kill()
        yield from done


def test_jobs_of_a_terminated_worker_are_graded_by_another_worker(
    school, alone, scheduler, tmp_path
):
    with worker(tmp_path, scheduler) as third, Cluster(Course(school), KEY, scheduler) as cluster:
        wait_for(lambda: len(cluster._workers()) == 3)
        assert outcomes(school, Loses(cluster, third)) == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_the_address_of_a_scheduler_that_does_not_answer_is_reported(school, address, monkeypatch):
    monkeypatch.setattr("autograder.pipeline.cluster._CONNECT_TIMEOUT", 1)
    with pytest.raises(CourseError, match=f"no Dask scheduler answers at {address} "):
        Cluster(Course(school), KEY, address)


def test_a_worker_with_another_version_of_the_grader_is_refused(school, scheduler, monkeypatch):
    monkeypatch.setattr("autograder.pipeline.cluster.package_version", lambda: "another")
    with (
        Cluster(Course(school), KEY, scheduler) as cluster,
        pytest.raises(CourseError, match="version"),
    ):
        outcomes(school, cluster)


# Failures of a cluster.


def test_if_the_scheduler_ends_the_command_reports_it_and_the_next_run_grades_the_rest(
    school, alone, tmp_path
):
    (school / ".autograder_key").write_text(KEY.hex() + "\n")
    with scheduling(tmp_path) as (address, process), worker(tmp_path, address):
        command = start_grading(school, "--force", "--scheduler", address)
        first = json.loads(command.stdout.readline())
        process.kill()
        rest, complaints = command.communicate(timeout=300)

    assert command.returncode == 2

    [line] = [line for line in complaints.splitlines() if "autograder:" in line]
    assert f"the Dask scheduler at {address} was lost" in line
    assert "Traceback" not in complaints
    assert "Error" not in complaints

    seen = [first["student"], *(json.loads(line)["student"] for line in rest.splitlines())]
    for student in seen:
        assert stored(school, student) == alone[student]["marks"]
    again = start_grading(school)
    lines = [json.loads(line) for line in again.communicate(timeout=300)[0].splitlines()]

    assert {line["student"] for line in lines if line["skipped"]} >= set(seen)
    assert {line["student"] for line in lines} == alone.keys()


def test_if_no_worker_is_left_the_command_reports_it_and_waits_for_another(
    school, alone, tmp_path, monkeypatch
):
    seen = []
    with (
        scheduling(tmp_path) as (address, _),
        worker(tmp_path, address) as only,
        Cluster(Course(school), KEY, address) as cluster,
        ExitStack() as more,
    ):
        monkeypatch.setattr("autograder.pipeline.cluster._CONNECT_TIMEOUT", 0.2)

        def tell(text: str, **_: object) -> None:
            seen.append(text)
            more.enter_context(worker(tmp_path, address))

        monkeypatch.setattr("autograder.pipeline.cluster.errors.print", tell)
        graded = outcomes(school, Loses(cluster, only))

    assert graded == alone

    [text] = seen
    assert f"waiting for workers: the Dask scheduler at {address} has none" in text


def test_the_next_worker_removes_the_hidden_tests_that_a_killed_worker_left(
    school, alone, tmp_path
):
    place = tmp_path / "local"
    with scheduling(tmp_path) as (address, _):
        options = ("--local-directory", str(place))
        with worker(tmp_path, address, *options) as killed:
            with (
                Cluster(Course(school), KEY, address) as cluster,
                Classroom(Course(school), cluster) as room,
            ):
                [[_]] = cluster.run([room.job("value", "student_0")])
            [copied] = place.rglob("test_value.py")
            assert not {part.stat().st_mode & 0o077 for part in copied.parents} <= {0o055}
            killed.kill()
            killed.wait()
        assert copied.exists()
        with worker(tmp_path, address, *options):
            wait_for(lambda: not copied.exists())
        assert not [*place.rglob("test_value.py")]

    assert not [*tmp_path.rglob("test_*.py")]


class Planted:
    """An object whose pickle, when it is loaded, records the process that loads it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self):
        return planted, (str(self.folder),)


def planted(folder: str) -> str:
    (Path(folder) / str(os.getpid())).touch()
    return "{}"


class Room:
    """An object whose pickle asks for a large number of bytes when it is loaded."""

    def __reduce__(self):
        return bytes, (1 << 28,)


def test_a_pickle_that_asks_for_more_memory_than_its_size_is_not_loaded():
    assert isinstance(_loads(pickle.dumps(Room())), ForeignObject)


def answers(graded: object, job: Job, is_alone: bool) -> object:
    return Planted(job.versions["folder"])


def raises(graded: object, job: Job, is_alone: bool) -> object:
    raise ValueError(Planted(job.versions["folder"]))


def warns(graded: object, job: Job, is_alone: bool) -> object:
    get_worker().log_event("warn", {"message": pickle.dumps(Planted(job.versions["folder"]))})
    get_worker().log_event("print", {"args": ["a line of the worker's"]})
    return "{}"


def ends(graded: object, job: Job, is_alone: bool) -> object:
    os._exit(9)


def test_a_submission_that_ends_every_worker_is_named(school, tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    job = Job("value", "ada", "ada's value.ipynb", b"{}")
    with scheduling(tmp_path) as (address, _), worker(tmp_path, address):
        monkeypatch.setattr("autograder.pipeline.cluster._grade_there", ends)
        with Cluster(Course(school), KEY, address) as cluster:
            [[(_, graded)]] = cluster.run([job])

    assert graded.report is None
    assert graded.error.startswith("ada's value.ipynb: every worker that graded this submission")


@pytest.mark.parametrize("hostile", [answers, raises, warns])
def test_no_object_of_a_worker_runs_in_the_grader(
    school, scheduler, tmp_path, monkeypatch, capsys, hostile
):
    monkeypatch.setattr("autograder.pipeline.cluster._grade_there", hostile)
    job = Job("value", "ada", "value.ipynb", b"{}", versions={"folder": str(tmp_path)})
    with Cluster(Course(school), KEY, scheduler) as cluster:
        if hostile is raises:
            with pytest.raises(CourseError, match="a Dask worker failed \\(ValueError"):
                [*cluster.run([job])]
        else:
            [[(_, graded)]] = cluster.run([job])
            assert graded.report is None
            assert "no grading of this submission" in graded.error

    assert str(os.getpid()) not in os.listdir(tmp_path)
    assert "a line of the worker's" not in capsys.readouterr().out


def changes(graded: dict) -> Iterator[dict]:
    """Yield replies in place of a grading, most of them with one wrong value."""
    yield from ([], {}, {"report": None}, {"error": 1}, {**graded, "marks": None})
    yield {**graded, "text": "{}"}
    yield {**graded, "text": graded["text"].replace(graded["stamp"], "0" * 32)}
    for points in (6.0, -1, float("nan"), "1e3", [1]):
        exercises = [{**each, "points": points} for each in graded["report"]["exercises"]]
        yield {**graded, "report": {**graded["report"], "exercises": exercises}}
        given = dict.fromkeys(graded["marks"]["points"], points)
        yield {**graded, "marks": {**graded["marks"], "points": given}}
    yield {**graded, "report": {**graded["report"], "assignment": "mlp"}}
    yield {**graded, "marks": {**graded["marks"], "points": {"another": 1.0}}}


def test_replies_that_are_no_grading_of_the_submission_are_refused(school, scheduler):
    with (
        Cluster(Course(school), KEY, scheduler) as cluster,
        Classroom(Course(school), cluster) as room,
    ):
        job = room.job("value", "student_0")
        with Grader(Course(school), KEY) as grader:
            right = asdict(grade_job(grader, job))
        for result in right["report"]["exercises"]:
            result["example"] = None
        assert cluster._checked(json.dumps(right), job).report is not None
        for change in changes({**right, "stamp": job.stamp}):
            assert cluster._checked(json.dumps(change), job).report is None, change
        for answer in ("", "{", "9" * 10_000, "[" * 100_000, None, b"{}", right):
            assert "no grading" in cluster._checked(answer, job).error


# Members of a cluster.


@pytest.mark.parametrize(
    "address", ["tcp://192.0.2.1:8786", "192.0.2.1:8786", "ws://192.0.2.1:8786", "tcp://[2001:db8::1]:1",
                "tcp://localhost.example.org:8786"]
)  # fmt: skip
def test_a_cluster_without_encryption_is_refused(school, address):
    with pytest.raises(CourseError, match=r"without encryption.*--insecure"):
        Cluster(Course(school), KEY, address)


@pytest.mark.parametrize("whose", ["address", "worker"])
def test_a_cluster_reached_without_encryption_at_another_host_is_refused(
    school, scheduler, monkeypatch, whose
):
    elsewhere = "tcp://192.0.2.1:4000"
    known = {"address": scheduler, "workers": {scheduler: {}}}
    known |= {"address": elsewhere} if whose == "address" else {"workers": {elsewhere: {}}}
    monkeypatch.setattr(Client, "scheduler_info", lambda *_, **__: known)
    with pytest.raises(CourseError, match=f"{elsewhere} is reached without encryption"):
        Cluster(Course(school), KEY, scheduler)
    with Cluster(Course(school), KEY, scheduler, insecure=True) as cluster:
        assert cluster._workers() == list(known["workers"])
