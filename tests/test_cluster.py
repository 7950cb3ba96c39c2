"""Grading on a cluster: a real scheduler and real workers, on the loopback."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

import dask
import pytest
from distributed import Client, Security, get_worker
from small_school import KEY, alone, outcomes, school, stored, wait_for

from autograder.course_folder.assignments import find_course
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.model import Graded, Job
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.cluster import Cluster, ForeignObject, _loads
from autograder.pipeline.workers import grade_job

pytestmark = pytest.mark.slow


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
        with Client(address) as client:
            client.wait_for_workers(2, timeout=60)
        yield address


@contextmanager
def scheduling(folder: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    """Return a scheduler's address and process."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file]
    with running(folder, "distributed.cli.dask_scheduler", *map(str, options)) as started:
        # The line is complete.
        wait_for(lambda: file.exists() and file.read_text().endswith("\n}"))
        yield json.loads(file.read_text())["address"], started


@contextmanager
def worker(folder: Path, address: str, *more: str) -> Iterator[subprocess.Popen]:
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", *more]
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


def test_a_cluster_gives_the_same_marks(school, alone, scheduler):
    with Cluster(school, KEY, scheduler) as cluster:
        assert outcomes(school, cluster) == alone


class Loses:
    """Workers, one of which is killed as soon as there are first marks."""

    def __init__(self, cluster: Cluster, lost: subprocess.Popen) -> None:
        self._cluster = cluster
        self._lost = lost

    def run(self, jobs: Iterator[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        done = self._cluster.run(jobs)
        yield next(done)
        self._lost.kill()
        yield from done


def test_jobs_of_a_terminated_worker_are_graded_elsewhere(school, alone, scheduler, tmp_path):
    with worker(tmp_path, scheduler) as third, Cluster(school, KEY, scheduler) as cluster:
        wait_for(lambda: len(cluster._workers()) == 3)
        assert outcomes(school, Loses(cluster, third)) == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_a_cluster_that_does_not_answer_is_named(school, address):
    with pytest.raises(CourseError, match=f"no Dask scheduler answers at {address} "):
        Cluster(school, KEY, address)


def test_another_version_is_refused(school, scheduler, monkeypatch):
    monkeypatch.setattr("autograder.pipeline.cluster.package_version", lambda: "another")
    with Cluster(school, KEY, scheduler) as cluster, pytest.raises(CourseError, match="version"):
        outcomes(school, cluster)


# Failures of a cluster.


def grade(school: Path, *options: str, folder: Path | None = None) -> subprocess.Popen:
    """Start the command on all submissions for `value`."""
    environment = dict(os.environ)
    if folder is not None:
        environment["DASK_CONFIG"] = str(folder)
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", "value", "--json", *options],
        cwd=school, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_terminated_scheduler_is_reported_in_a_line_and_the_next_run_does_the_rest(
    school, alone, tmp_path
):
    (school / ".autograder_key").write_text(KEY.hex() + "\n")
    with scheduling(tmp_path) as (address, process), worker(tmp_path, address):
        command = grade(school, "--force", "--scheduler", address)
        first = json.loads(command.stdout.readline())
        process.kill()
        rest, complaints = command.communicate(timeout=120)
    assert command.returncode == 2
    [line] = [line for line in complaints.splitlines() if "autograder:" in line]
    assert f"the Dask scheduler at {address} was lost" in line
    assert "Traceback" not in complaints and "Error" not in complaints
    seen = [first["student"], *(json.loads(line)["student"] for line in rest.splitlines())]
    for student in seen:
        assert stored(school, student) == alone[student]["marks"]
    again = grade(school)
    lines = [json.loads(line) for line in again.communicate(timeout=300)[0].splitlines()]
    assert {line["student"] for line in lines if line["skipped"]} >= set(seen)
    assert {line["student"] for line in lines} == alone.keys()


def test_missing_workers_are_reported_and_waited_for(school, alone, tmp_path, monkeypatch):
    seen = []
    with (
        scheduling(tmp_path) as (address, _),
        worker(tmp_path, address) as only,
        Cluster(school, KEY, address) as cluster,
        ExitStack() as more,
    ):
        monkeypatch.setattr("autograder.pipeline.cluster._PATIENCE", 0.2)

        def tell(text: str, **_: object) -> None:
            seen.append(text)
            more.enter_context(worker(tmp_path, address))

        monkeypatch.setattr("autograder.pipeline.cluster.errors.print", tell)
        graded = outcomes(school, Loses(cluster, only))
    assert graded == alone
    [text] = seen
    assert f"waiting for workers: the Dask scheduler at {address} has none" in text


def test_the_tests_that_a_killed_worker_leaves_are_removed_by_the_next(school, alone, tmp_path):
    place = tmp_path / "local"
    with scheduling(tmp_path) as (address, _):
        options = ("--local-directory", str(place))
        with worker(tmp_path, address, *options) as killed:
            with Cluster(school, KEY, address) as cluster, Classroom(school, cluster) as room:
                [[_]] = cluster.run([room.job("value", "student_0")])
            [copied] = place.rglob("test_value.py")
            assert not {part.stat().st_mode & 0o077 for part in copied.parents} <= {0o055}
            killed.kill()
            killed.wait()
        assert copied.exists()
        with worker(tmp_path, address, *options), Client(address) as client:
            client.wait_for_workers(1, timeout=60)
            wait_for(lambda: not copied.exists())
        assert not [*place.rglob("test_value.py")]
    assert not [*tmp_path.rglob("test_*.py")]


class Planted:
    """An object whose pickle records in which process it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self):
        return planted, (str(self.folder),)


def planted(folder: str) -> str:
    (Path(folder) / str(os.getpid())).touch()
    return "{}"


class Room:
    """An object whose pickle asks for as many bytes as a number says."""

    def __reduce__(self):
        return bytes, (1 << 28,)


def test_a_pickle_gets_no_more_memory_than_its_size():
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
        with Cluster(school, KEY, address) as cluster:
            [[(_, graded)]] = cluster.run([job])
    assert graded.report is None
    assert graded.error.startswith("ada's value.ipynb: every worker that graded this submission")


@pytest.mark.parametrize("hostile", [answers, raises, warns])
def test_no_object_of_a_worker_runs_in_the_grader(
    school, scheduler, tmp_path, monkeypatch, capsys, hostile
):
    monkeypatch.setattr("autograder.pipeline.cluster._grade_there", hostile)
    job = Job("value", "ada", "value.ipynb", b"{}", versions={"folder": str(tmp_path)})
    with Cluster(school, KEY, scheduler) as cluster:
        if hostile is raises:
            with pytest.raises(CourseError, match="a Dask worker failed \\(ValueError"):
                [*cluster.run([job])]
        else:
            [[(_, graded)]] = cluster.run([job])
            assert graded.report is None and "no grading of this submission" in graded.error
    assert str(os.getpid()) not in os.listdir(tmp_path)
    assert "a line of the worker's" not in capsys.readouterr().out


def changes(graded: dict) -> Iterator[dict]:
    """Yield replies in the place of a grading, most of them a little wrong."""
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
    with Cluster(school, KEY, scheduler) as cluster, Classroom(school, cluster) as room:
        job = room.job("value", "student_0")
        with Grader(school, KEY) as grader:
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
        Cluster(school, KEY, address)


@pytest.mark.parametrize("whose", ["address", "worker"])
def test_an_open_scheduler_behind_a_tunnel_is_refused_and_so_is_an_open_worker(
    school, scheduler, monkeypatch, whose
):
    elsewhere = "tcp://192.0.2.1:4000"
    known = {"address": scheduler, "workers": {scheduler: {}}}
    known |= {"address": elsewhere} if whose == "address" else {"workers": {elsewhere: {}}}
    monkeypatch.setattr(Client, "scheduler_info", lambda *_, **__: known)
    with pytest.raises(CourseError, match=f"{elsewhere} is reached without encryption"):
        Cluster(school, KEY, scheduler)
    with Cluster(school, KEY, scheduler, insecure=True) as cluster:
        assert cluster._workers() == list(known["workers"])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the certificate that the guide makes."""
    home = tmp_path_factory.mktemp("home")
    guide = (find_course(Path(__file__).parent) / "docs" / "large-classes.md").read_text()
    start, end = "    mkdir -m 700 ~/autograder-cluster", "    rm key.pem cert.pem\n"
    recipe = textwrap.dedent(guide[guide.index(start) : guide.index(end) + len(end)])
    subprocess.run(["sh", "-ec", recipe], env={**os.environ, "HOME": str(home)}, check=True)
    [file] = (home / "autograder-cluster").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    return file.parent


def test_a_cluster_with_a_certificate_grades_and_lets_no_stranger_in(
    school, alone, tmp_path, certificate, monkeypatch
):
    monkeypatch.setenv("DASK_CONFIG", str(certificate))
    (school / ".autograder_key").write_text(KEY.hex() + "\n")
    with scheduling(tmp_path) as (address, _), worker(tmp_path, address):
        assert address.startswith("tls://")
        command = grade(school, "--force", "--scheduler", address, folder=certificate)
        lines, complaints = command.communicate(timeout=300)
        assert command.returncode == 1, complaints  # One file is cut off.
        assert {json.loads(line)["student"] for line in lines.splitlines()} == alone.keys()
        for student, before in alone.items():
            assert stored(school, student) == before["marks"]
        with pytest.raises(CourseError, match="needs certificates"):
            Cluster(school, KEY, address)
        with pytest.raises(CourseError, match="no Dask scheduler answers"):
            Cluster(school, KEY, address.replace("tls:", "tcp:"))
        with dask.config.set(stranger()), pytest.raises(CourseError, match="no Dask scheduler"):
            Cluster(school, KEY, address)


def stranger() -> dict[str, str]:
    """Return Dask's settings with an unknown certificate."""
    own = Security.temporary()
    names = {"ca-file": own.tls_ca_file, "client.cert": own.tls_client_cert,
             "client.key": own.tls_client_key}  # fmt: skip
    return {f"distributed.comm.tls.{name}": value for name, value in names.items()}
