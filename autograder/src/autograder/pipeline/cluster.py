"""Grades on a Dask cluster: workers receive notebooks and return gradings as data.

A worker needs this package and a sandbox, but no course folder and no shared file system. If a
worker dies, another one takes over its jobs. Workers hold the hidden tests and the key and decide
the marks, so only trusted machines may be workers.

Dask sends pickles, and loading a pickle can run code. This process, the client, loads no objects
from pickles: a grading arrives as JSON and is validated, and every object other than plain data is
replaced by an empty `ForeignObject`.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import pickle
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any

import distributed.client
import distributed.protocol.pickle
from distributed import Client, Future, Security, get_worker
from distributed.client import ClosedClientError
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.protocol.serialize import dask_deserialize
from nbgrader.utils import is_grade, is_solution
from pydantic import TypeAdapter

from .. import log
from ..course_folder.course import Course
from ..course_folder.nbgrader_settings import NAME as NBGRADER
from ..course_folder.nbgrader_settings import settings_of_steps
from ..course_folder.own_notebooks import exercises_of
from ..course_folder.settings import NAME as SETTINGS
from ..course_folder.versions import package_version
from ..errors import CourseError, ForeignObject, SandboxUnavailable
from ..judging.grader import Grader
from ..notebook.restoring import load_template
from ..records import GradedNotebook, Job
from ..terminal import echo, errors
from ..texts import fit
from .workers import grade_job

_CONNECT_TIMEOUT = 60
"""Timeout in seconds for an answer of the scheduler or a worker."""

_LOST = (
    "every worker that graded this submission was lost. Nothing was stored; the other submissions "
    "were graded. Grade it alone with `autograder check` to see more."
)

_NO_GRADING = (
    "what a worker sent back is no grading of this submission. Nothing was stored. Install the "
    "same version of the autograder on all workers, and see who may join the cluster."
)


_SENT = (".py", ".toml")


@dataclass(frozen=True)
class Handout:
    """The data that a worker needs to grade for a course.

    Attributes:
        files: the contents of the course's files, by path relative to the course folder.
        key: the course's key, as for `Grader`.
        version: a digest of this package's files.
        log_level: the level of the client's log, which workers use as well.
    """

    files: dict[str, bytes]
    key: bytes
    version: str
    log_level: str = "warning"

    @property
    def name(self) -> str:
        digest = blake2b(self.key, key=self.version.encode(), digest_size=16)
        digest.update(self.log_level.encode())
        for path, content in sorted(self.files.items()):
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


def handout(course: Course, key: bytes) -> Handout:
    """Return the handout for the workers of a course.

    Args:
        key: the course's key.
    """
    paths = [course.root / SETTINGS]
    paths += [path for path in course.grading_tests.rglob("*") if path.suffix in _SENT]
    paths += [Path(path) for *_, path in course.settings.visible.data]
    for name in course.part_names():
        paths += course.source_files(name)
        paths += [course.release_of(name), course.table_of(name)]
    # A check table outside of the course folder is in a package that each worker has installed.
    files = {
        str(path.relative_to(course.root)): path.read_bytes()
        for path in paths
        if path.exists() and path.is_relative_to(course.root)
    }
    if (course.root / NBGRADER).exists():
        files[NBGRADER] = settings_of_steps(course.root).encode()
    return Handout(files, key, package_version(), log.level())


class Cluster:
    """Grades on the workers of a Dask scheduler. A context manager.

    Creating a `Cluster` changes Dask in this process for good: it loads no objects from pickles.

    Args:
        course: the course folder.
        key: the course's key, as for `Grader`.
        address: the scheduler's address, such as `tls://10.0.0.1:8786`.
        insecure: whether connections to other computers may be unencrypted.

    Raises `CourseError` if no scheduler answers, if the scheduler has no workers, or if a
    connection lacks encryption.
    """

    def __init__(self, course: Course, key: bytes, address: str, insecure: bool = False) -> None:
        self._course = course
        self._address = address
        self._insecure = insecure
        _run_no_pickles()
        # Silence Dask's log of errors that this module raises with messages of its own.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            # Validate the address before creating a Client, which for an invalid address raises a
            # second error when it is deleted.
            parse_host_port(parse_address(address)[1])
            self._require_privacy([address])
            self._client = Client(
                address, security=_security(address), timeout=_CONNECT_TIMEOUT, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise CourseError(
                f"no Dask scheduler answers at {address} ({error}). "
                "`dask scheduler` starts one and prints its address."
            ) from error
        try:
            with self._connection():
                for topic in ("print", "warn"):
                    # Do not print the workers' log on this terminal.
                    self._client.unsubscribe_topic(topic)
                with suppress(TimeoutError):
                    self._client.wait_for_workers(1, timeout=_CONNECT_TIMEOUT)
            if not self._workers():
                raise CourseError(
                    f"the Dask scheduler at {address} has no workers. "
                    f"Start some: `dask worker {address} --nthreads 1`."
                )
        except CourseError:
            self._client.close()
            raise
        self._handout = handout(course, key)
        self._are_missing = False

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        coming = iter(jobs)
        running: dict[Future[str], Job] = {}
        worker_failures: list[Job] = []
        done: SimpleQueue[Future[str]] = SimpleQueue()
        # The handout is the result of a Dask task, so that Dask computes it again if all workers
        # that held it have died.
        with self._connection():
            sent = self._client.submit(_keep, self._handout, key=f"course-{self._handout.name}")
        while True:
            room = 2 * max(1, len(self._workers()))
            while len(running) < room and (job := next(coming, None)):
                running[self._submitted(sent, job, done)] = job
            if not running:
                break
            future = self._first(done)
            job = running.pop(future)
            graded = self._graded(future, job)
            if graded.is_worker_failure:
                worker_failures.append(job)
            else:
                yield [(job, graded)]
        for job in worker_failures:
            self._submitted(sent, job, done, is_alone=True)
            yield [(job, self._graded(self._first(done), job))]

    def check_solutions(self, names: Sequence[str]) -> dict[str, Callable[[], list[str]]]:
        return {name: partial(self._check_solution, name) for name in names}

    def _check_solution(self, name: str) -> list[str]:
        # In this process, which has the course folder with the record of what has passed.
        with Grader(self._course, self._course.key) as grader:
            return grader.check_solution(name)

    def _submitted(
        self,
        sent: Future[Handout],
        job: Job,
        done: SimpleQueue[Future[str]],
        is_alone: bool = False,
    ) -> Future[str]:
        """Submit a job; return its future, which is put into a queue when it completes.

        Args:
            sent: the handout, as a future.
            done: the queue.
            is_alone: whether no other job of this client runs at the same time.
        """
        with self._connection():
            future = self._client.submit(_grade_there, sent, job, is_alone, pure=False)
            future.add_done_callback(done.put)
        return future

    def _first(self, done: SimpleQueue[Future[str]]) -> Future[str]:
        """Return the next completed future."""
        while True:
            try:
                return done.get(timeout=_CONNECT_TIMEOUT)
            except Empty:
                self._report_missing_workers()

    def _graded(self, future: Future[str], job: Job) -> GradedNotebook:
        with self._connection():
            error = self._fetch(future.exception)
            answer = self._fetch(future.result) if error is None else None
        if error is None:
            return self._checked(answer, job)
        if isinstance(error, ForeignObject) and error.kind == "KilledWorker":
            return GradedNotebook(error=f"{job.where}: {_LOST}")
        raise CourseError(
            f"a Dask worker failed ({fit(_in_words(error))[:300]}). Install the same version of "
            "the autograder there as here; the worker's own log says more."
        )

    def _fetch(self, attribute: Callable[..., Any]) -> Any:
        """Return the result or the exception of a completed future.

        If its worker is gone by now, Dask runs the job again as soon as there is another.
        """
        while True:
            with suppress(TimeoutError):
                return attribute(timeout=_CONNECT_TIMEOUT)
            self._report_missing_workers()

    def _report_missing_workers(self) -> None:
        """Print once that the cluster has no workers, until it has some again."""
        are_missing = not self._workers()
        if are_missing and not self._are_missing:
            echo(
                f"autograder: waiting for workers: the Dask scheduler at {self._address} "
                f"has none. Start some: `dask worker {self._address} --nthreads 1`.",
                "yellow",
                errors,
            )
        self._are_missing = are_missing

    def _checked(self, answer: object, job: Job) -> GradedNotebook:
        """Return the grading in a worker's reply; if it is invalid for this job, one with an error.

        Args:
            answer: the reply, which should be JSON.

        Raises `CourseError` if the worker replied that it cannot grade anything.
        """
        try:
            reply = json.loads(answer) if isinstance(answer, str) else None
            if isinstance(reply, dict) and isinstance(reply.get("refused"), str):
                raise CourseError(fit(reply["refused"]))
            graded = _GRADED.validate_python(reply)
            if graded.error is not None:
                graded.error = fit(graded.error)
            if self._is_of(job, graded):
                return graded
        except (ValueError, TypeError, KeyError, RecursionError):
            # Errors of pydantic are ValueErrors.
            pass
        return GradedNotebook(error=f"{job.where}: {_NO_GRADING}")

    def _is_of(self, job: Job, graded: GradedNotebook) -> bool:
        """Return whether a grading's report, marks and notebook are possible for the job.

        They must belong to the job's assignment and file, with points within the maximum.
        """
        report, marks = graded.report, graded.marks
        if report is None or marks is None:
            return report is None and marks is None and bool(graded.error) and not graded.text
        exercises = self._course.assignment(job.assignment).exercises
        if report.assignment != job.assignment or not _fit_within(
            {result.id: result.points for result in report.exercises},
            {exercise.id: exercise.max_points for exercise in exercises.values()},
        ):
            return False
        cells = load_template(self._course, job.assignment).cells
        graded_cells = [cell.metadata.nbgrader.grade_id for cell in cells if is_grade(cell)]
        # A bonus exercise has a maximum of 0 in nbgrader, but can earn points.
        ids = exercises_of(cells)
        worth = {each: exercises[ids[each]].max_points for each in graded_cells}
        answers = {cell.metadata.nbgrader.grade_id for cell in cells if is_solution(cell)}
        about = json.loads(graded.text)["metadata"]["autograder"]
        return (
            _fit_within(marks.points, worth)
            and marks.unanswered.keys() <= answers
            and about["graded"] == job.stamp
            and about["versions"] == job.versions
        )

    def _workers(self) -> list[str]:
        """Return the addresses of the cluster's workers.

        Raises `CourseError` if a connection lacks encryption.
        """
        with self._connection():
            known = self._client.scheduler_info(n_workers=-1)
        self._require_privacy([known["address"], *known["workers"]])
        return list(known["workers"])

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise `CourseError` if the connection to the scheduler ends during the block."""
        try:
            yield
        except (ClosedClientError, CancelledError, OSError) as error:
            raise CourseError(
                f"the Dask scheduler at {self._address} was lost. Marks so far are stored. "
                "Start the scheduler and its workers again; then the same command does the rest."
            ) from error

    def _require_privacy(self, addresses: Iterable[str]) -> None:
        for address in addresses:
            scheme, place = parse_address(address)
            if scheme == "tls" or self._insecure or _is_this_machine(parse_host_port(place)[0]):
                continue
            raise CourseError(
                f"{address} is reached without encryption: who is on that network could read the "
                "hidden tests and the key, and give marks. Use TLS, as docs/large-classes.md "
                "shows; or, where the network is yours alone, --insecure."
            )


def _fit_within(points: dict[str, float | None], most: dict[str, float]) -> bool:
    return all(
        name in most and (value is None or 0 <= value <= most[name])
        for name, value in points.items()
    )


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _security(address: str) -> Security:
    """Return Dask's security settings for an address; for TLS, with the configured certificates.

    Raises `CourseError` if certificates are missing or cannot be used.
    """
    security = Security()
    if parse_address(address)[0] == "tls":
        try:
            context = security.get_connection_args("client")["ssl_context"]
        except (OSError, ssl.SSLError) as error:
            raise CourseError(
                f"the certificates that Dask's configuration names cannot be used ({error}). "
                "docs/large-classes.md shows how to make them."
            ) from error
        if context is None:
            raise CourseError(
                f"{address} needs certificates, and Dask's configuration names none: set "
                "DASK_CONFIG to the folder with its file, as docs/large-classes.md shows."
            )
    return security


# The schema of a worker's reply.

_GRADED = TypeAdapter(GradedNotebook)


def _in_words(error: BaseException) -> str:
    """Return an error's class name and message."""
    if not isinstance(error, ForeignObject):
        return f"{type(error).__name__}: {error}"
    kind, says = error.kind, error.args
    if kind.startswith("unpickle_exception") and len(says) > 1:
        # Dask pickles an error together with its traceback. The first argument then stands for the
        # error's class, the second holds the error's arguments or attributes.
        kind = getattr(says[0], "kind", kind)
        says = says[1].get("args", ()) if isinstance(says[1], dict) else says[1]
    return f"{kind}: {says[0]}" if isinstance(says, tuple) and len(says) == 1 else f"{kind}: {says}"


class _Unpickler(pickle.Unpickler):
    """Unpickler that loads plain data, and replaces every other object by a `ForeignObject`."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "bytes"):  # Dask pickles an error twice: as bytes.
            return _Bytes
        return type("ForeignObject", (ForeignObject,), {"kind": name})


class _Bytes(bytes):
    """`bytes` that accepts only bytes: `bytes(10**12)` in a pickle would fill the memory."""

    def __new__(cls, content: bytes | bytearray = b"") -> _Bytes:
        return super().__new__(cls, memoryview(content))


def _loads(content: Any, *, buffers: Iterable[Any] = ()) -> Any:
    try:
        read = _Unpickler(io.BytesIO(content), buffers=buffers).load()
        # Dask accepts only a traceback or None together with an error.
        is_traceback = isinstance(read, ForeignObject) and read.kind == "unpickle_traceback"
        return None if is_traceback else read
    except Exception:  # A pickle can raise anything; an error here would end Dask's connection.
        return ForeignObject()


def _run_no_pickles() -> None:
    """Replace, in this process, the functions by which Dask unpickles.

    Dask has no setting for this. The two modules patched here do all of Dask's unpickling.
    """
    dask_deserialize.register(ForeignObject)(lambda header, frames: ForeignObject())
    harmless = SimpleNamespace(**{**vars(pickle), "loads": _loads})
    for module in (distributed.client, distributed.protocol.pickle):
        vars(module)["pickle"] = harmless


# These functions run on the workers.

_one_at_a_time = threading.Lock()
_courses: dict[str, Handout] = {}


def _keep(handout: Handout) -> Handout:
    return handout


def _grade_there(handout: Handout, job: Job, is_alone: bool = False) -> str:
    """Grade a job on this worker; return the `GradedNotebook` as JSON.

    If this worker cannot grade anything, the JSON is an object with the reason under `refused`.

    Args:
        is_alone: whether no other job of the client runs at the same time.
    """
    try:
        if handout.version != package_version():
            raise CourseError(
                f"a worker has another version of the autograder ({package_version()}) than the "
                f"grader ({handout.version}): install the same on both"
            )
        log.set_level(handout.log_level)
        with _one_at_a_time:
            _courses[handout.name] = handout
            graded = grade_job(_grader(handout.name), job, is_alone)
    except (CourseError, SandboxUnavailable) as error:
        return json.dumps({"refused": str(error)})
    if graded.report is not None:
        # The notebook shows the failed examples, so they are not sent in the report.
        short = [replace(result, failed_example=None) for result in graded.report.exercises]
        graded = replace(graded, report=replace(graded.report, exercises=short))
    return json.dumps(asdict(graded))


@cache
def _grader(name: str) -> Grader:
    """Return this worker's grader for a course, created at the first call.

    The course's files are written to the worker's folder. Dask deletes the folder when the worker
    ends or, if the worker was killed, when the next one starts on the machine.

    Args:
        name: the `name` of the course's `Handout`.
    """
    handout = _courses[name]
    folder = tempfile.TemporaryDirectory(
        prefix="autograder-course-", dir=get_worker().local_directory
    )
    for path, content in handout.files.items():
        target = Path(folder.name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    grader = Grader(Course(Path(folder.name)), handout.key)
    atexit.register(folder.cleanup)
    atexit.register(grader.close)
    return grader
