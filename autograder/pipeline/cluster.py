"""Grades on a Dask cluster: notebooks are sent as data, marks come back to the one writer.

Each worker needs this package and a sandbox, no folder of the course and no shared file system. The
jobs of a terminated worker are graded elsewhere. A worker holds the hidden tests and the key, as
the grader does, and decides the marks; so only trusted machines may be workers.

Dask sends objects as pickles, which are programs. The grader runs none of them: a worker's gradings
come as JSON and are checked, and every other object becomes an empty one.
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
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
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
from ..course_folder.assignments import load_assignment, part_names, place_of
from ..course_folder.nbgrader_settings import NAME as NBGRADER
from ..course_folder.nbgrader_settings import settings_of_steps
from ..course_folder.own_notebooks import exercises_of, source_files
from ..course_folder.settings import NAME as SETTINGS
from ..course_folder.settings import load_settings
from ..course_folder.versions import package_version
from ..errors import CourseError, ForeignObject, SandboxUnavailable
from ..judging.grader import Grader
from ..model import Graded, Job
from ..notebook.restoring import template
from ..terminal import errors, say
from ..texts import fit
from .workers import grade_job

_PATIENCE = 10
"""Seconds that a scheduler and a first worker may take to answer."""

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
    """The course's data for a worker.

    Attributes:
        files: the contents of the course's files, by their path in the course folder.
        key: as for `Grader`.
        version: a digest of this package's files.
        log_level: the grader's level of the log, for its workers too.
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


def handout(course: Path, key: bytes) -> Handout:
    """Return the files and the key that workers need in order to grade for this course."""
    settings = load_settings(course)
    paths = [course / SETTINGS]
    paths += [path for path in (course / "grading_tests").rglob("*") if path.suffix in _SENT]
    paths += [Path(path) for *_, path in settings.visible.data]
    for name in part_names(course):
        place = place_of(course, name)
        paths += source_files(course, place.inside(course / "source"))
        paths += [place.inside(course / "release")]
        paths.append(settings.table_of(course, name))
    # A table may be in a package that each worker has itself.
    files = {
        str(path.relative_to(course)): path.read_bytes()
        for path in paths
        if path.exists() and path.is_relative_to(course)
    }
    if (course / NBGRADER).exists():
        files[NBGRADER] = settings_of_steps(course).encode()
    return Handout(files, key, package_version(), log.level())


class Cluster:
    """Grades on the workers of a Dask scheduler. A context manager.

    Once one is made, no pickle that Dask receives runs code in this process.

    Args:
        key: as for `Grader`.
        address: the scheduler's, such as `tls://10.0.0.1:8786`.
        insecure: whether connections to other computers may be without encryption.

    Raises `CourseError` if no scheduler answers, if it has no workers, or if a connection is not
    encrypted that should be.
    """

    def __init__(self, course: Path, key: bytes, address: str, insecure: bool = False) -> None:
        self._course = course
        self._address = address
        self._insecure = insecure
        _run_no_pickles()
        # Dask would log errors that this module raises in its own words.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            # Validated first: a Client of an invalid address raises once more, when it is deleted.
            parse_host_port(parse_address(address)[1])
            self._require_privacy([address])
            self._client = Client(
                address, security=_security(address), timeout=_PATIENCE, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise CourseError(
                f"no Dask scheduler answers at {address} ({error}). "
                "`dask scheduler` starts one and prints its address."
            ) from error
        try:
            with self._connection():
                for topic in ("print", "warn"):
                    # Workers' log does not belong on this terminal.
                    self._client.unsubscribe_topic(topic)
                with suppress(TimeoutError):
                    self._client.wait_for_workers(1, timeout=_PATIENCE)
            if not self._workers():
                raise CourseError(
                    f"the Dask scheduler at {address} has no workers. "
                    f"Start some: `dask worker {address} --nthreads 1`."
                )
        except CourseError:
            self._client.close()
            raise
        self._handout = handout(course, key)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        coming = iter(jobs)
        running: dict[Future[str], Job] = {}
        disturbed: list[Job] = []
        done: SimpleQueue[Future[str]] = SimpleQueue()
        # As a task, the handout is made again if all workers that held it have ended.
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
            if graded.is_disturbed:
                disturbed.append(job)
            else:
                yield [(job, graded)]
        for job in disturbed:
            self._submitted(sent, job, done, is_alone=True)
            yield [(job, self._graded(self._first(done), job))]

    def _submitted(
        self,
        sent: Future[Handout],
        job: Job,
        done: SimpleQueue[Future[str]],
        is_alone: bool = False,
    ) -> Future[str]:
        """Submit a job; return its future, which is put into `done` once it has a result."""
        with self._connection():
            future = self._client.submit(_grade_there, sent, job, is_alone, pure=False)
            future.add_done_callback(done.put)
        return future

    def _first(self, done: SimpleQueue[Future[str]]) -> Future[str]:
        """Return the next future with a result. Print once that there are no workers, if so."""
        is_printed = False
        while True:
            try:
                return done.get(timeout=_PATIENCE)
            except Empty:
                if not self._workers() and not is_printed:
                    say(
                        f"autograder: waiting for workers: the Dask scheduler at {self._address} "
                        f"has none. Start some: `dask worker {self._address} --nthreads 1`.",
                        "yellow",
                        errors,
                    )
                    is_printed = True

    def _graded(self, future: Future[str], job: Job) -> Graded:
        with self._connection():
            error = future.exception()
            if error is None:
                answer = future.result()
        if error is None:
            return self._checked(answer, job)
        if isinstance(error, ForeignObject) and error.kind == "KilledWorker":
            return Graded(error=f"{job.where}: {_LOST}")
        raise CourseError(
            f"a Dask worker failed ({fit(_in_words(error))[:300]}). Install the same version of "
            "the autograder there as here; the worker's own log says more."
        )

    def _checked(self, answer: object, job: Job) -> Graded:
        """Return a worker's reply as a grading, if its form is one of this job's.

        Raises `CourseError` if the worker replied that it cannot grade at all.
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
            # pydantic's errors are ValueErrors
            pass
        return Graded(error=f"{job.where}: {_NO_GRADING}")

    def _is_of(self, job: Job, graded: Graded) -> bool:
        """Return whether report, marks and notebook belong to the job's assignment and file."""
        report, marks = graded.report, graded.marks
        if report is None or marks is None:
            return report is None and marks is None and bool(graded.error) and not graded.text
        exercises = load_assignment(self._course, job.assignment).exercises
        if report.assignment != job.assignment or not _fit_within(
            {result.id: result.points for result in report.exercises},
            {exercise.id: exercise.max_points for exercise in exercises.values()},
        ):
            return False
        cells = template(self._course, job.assignment).cells
        graded_cells = [cell.metadata.nbgrader.grade_id for cell in cells if is_grade(cell)]
        # The cell of a bonus has 0 points in nbgrader, and earns points all the same.
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
        """Return the addresses of the workers."""
        with self._connection():
            known = self._client.scheduler_info(n_workers=-1)
        self._require_privacy([known["address"], *known["workers"]])
        return list(known["workers"])

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise `CourseError` if the connection to the scheduler ends inside the block."""
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
    """Return the certificates that Dask's configuration names."""
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

_GRADED = TypeAdapter(Graded)


def _in_words(error: BaseException) -> str:
    """Return the kind of an error, and its message."""
    if not isinstance(error, ForeignObject):
        return f"{type(error).__name__}: {error}"
    kind, says = error.kind, error.args
    if kind.startswith("unpickle_exception") and len(says) > 1:
        # Dask pickles an error with its traceback: its class, and its arguments or attributes.
        kind = getattr(says[0], "kind", kind)
        says = says[1].get("args", ()) if isinstance(says[1], dict) else says[1]
    return f"{kind}: {says[0]}" if isinstance(says, tuple) and len(says) == 1 else f"{kind}: {says}"


class _Unpickler(pickle.Unpickler):
    """Reads plain data as it is, and every other object as an empty `ForeignObject`."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "bytes"):  # Errors come as bytes, pickled once more.
            return _Bytes
        return type("ForeignObject", (ForeignObject,), {"kind": name})


class _Bytes(bytes):
    """Makes bytes of other bytes alone; `bytes` itself makes as many as a number says."""

    def __new__(cls, content: bytes | bytearray = b"") -> _Bytes:
        return super().__new__(cls, memoryview(content))


def _loads(content: Any, *, buffers: Iterable[Any] = ()) -> Any:
    try:
        read = _Unpickler(io.BytesIO(content), buffers=buffers).load()
        # Dask accepts only a traceback or None beside an error.
        is_traceback = isinstance(read, ForeignObject) and read.kind == "unpickle_traceback"
        return None if is_traceback else read
    except Exception:  # A pickle can raise anything; an error here would end Dask's connection.
        return ForeignObject()


def _run_no_pickles() -> None:
    """Keep Dask's client in this process from running received pickles.

    Dask has no setting for that. These two modules do all its unpickling.
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
    """Grade a job; return its `Graded` as JSON, or why this worker can grade no job."""
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
        # The notebook shows the examples; the report need not hold them.
        short = [replace(result, example=None) for result in graded.report.exercises]
        graded = replace(graded, report=replace(graded.report, exercises=short))
    return json.dumps(asdict(graded))


@cache
def _grader(name: str) -> Grader:
    """Return the grader for a course whose handout this worker has, kept warm.

    The course's files lie in the worker's own folder. Dask removes it when the worker ends; if the
    worker was killed, the next one that starts on the machine does.
    """
    handout = _courses[name]
    folder = tempfile.TemporaryDirectory(
        prefix="autograder-course-", dir=get_worker().local_directory
    )
    for path, content in handout.files.items():
        target = Path(folder.name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    grader = Grader(Path(folder.name), handout.key)
    atexit.register(folder.cleanup)
    atexit.register(grader.close)
    return grader
