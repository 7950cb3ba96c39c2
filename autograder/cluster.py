"""Grades on a Dask cluster: notebooks travel there as data, marks come back to the one writer.

Each worker needs this package and bubblewrap, no folder of the course and no shared file system.
What a lost worker was at is graded elsewhere. A worker holds the hidden tests and the key, as the
grader does; give it to nobody else.
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from distributed import Client, Future, KilledWorker, as_completed
from distributed.comm.addressing import parse_address, parse_host_port

from .assignments import CourseError, assignment_names
from .grading import Grader
from .versions import package_version
from .workers import Graded, Job, grade_job

_PATIENCE = 10
"""How many seconds a scheduler and a first worker may take to answer."""

_LOST = (
    "every worker that graded this submission was lost. Nothing was stored; the other submissions "
    "were graded. Grade it alone with `autograder check` to see more."
)


@dataclass(frozen=True)
class Handout:
    """What a worker needs to know about the course.

    Attributes:
        files: what the course's files hold, by their path in the course folder.
        key: as for `Grader`.
        version: of this package, by what is in its files.
    """

    files: dict[str, bytes]
    key: bytes
    version: str

    @property
    def name(self) -> str:
        digest = blake2b(self.key, key=self.version.encode(), digest_size=16)
        for path, content in sorted(self.files.items()):
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


def handout(course: Path, key: bytes) -> Handout:
    """What workers must be told in order to grade for this course."""
    paths = [course / "nbgrader_config.py", *(course / "grading_tests").glob("*.py")]
    for name in assignment_names(course):
        paths += [course / step / name / f"{name}.ipynb" for step in ("source", "release")]
    files = {str(path.relative_to(course)): path.read_bytes() for path in paths if path.exists()}
    return Handout(files, key, package_version())


class Cluster:
    """Grades on the workers of a Dask scheduler. Use as a context manager.

    Args:
        course: the course folder.
        key: as for `Grader`.
        address: the scheduler's, such as `tcp://10.0.0.1:8786`.

    Raises `CourseError` where no scheduler answers or it has no workers.
    """

    def __init__(self, course: Path, key: bytes, address: str) -> None:
        try:
            # A client of half an address complains again, and late, when it is let go.
            parse_host_port(parse_address(address)[1])
            self._client = Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CourseError(
                f"no Dask scheduler answers at {address} ({error}). "
                "`dask scheduler` starts one and prints its address."
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            self._client.close()
            raise CourseError(
                f"the Dask scheduler at {address} has no workers. "
                f"Start some: `dask worker {address} --nthreads 1`."
            ) from error
        self._handout = handout(course, key)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _slots(self) -> int:
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        # As a task, the handout is made again where all who held it are lost.
        name = f"course-{self._handout.name}"
        told = self._client.submit(_keep, self._handout, key=name)
        coming = iter(jobs)
        running: dict[Future[Graded], Job] = {}
        finished = as_completed(loop=self._client.loop)
        while True:
            while len(running) < 2 * max(1, self._slots()) and (job := next(coming, None)):
                future = self._client.submit(_grade_there, told, job, pure=False)
                running[future] = job
                finished.add(future)
            if not running:
                return
            future = next(finished)
            job = running.pop(future)
            try:
                graded = future.result()
            except KilledWorker:
                graded = Graded(error=f"{job.where}: {_LOST}")
            yield [(job, graded)]


# What runs on the workers.

_one_at_a_time = threading.Lock()
_courses: dict[str, Handout] = {}


def _keep(told: Handout) -> Handout:
    return told


def _grade_there(told: Handout, job: Job) -> Graded:
    if told.version != package_version():
        raise CourseError(
            f"a worker has another version of the autograder ({package_version()}) than the "
            f"grader ({told.version}): install the same on both"
        )
    with _one_at_a_time:
        _courses[told.name] = told
        return grade_job(_grader(told.name), job)


@cache
def _grader(name: str) -> Grader:
    """The grader for a course that this worker was told of, kept warm."""
    told = _courses[name]
    folder = tempfile.TemporaryDirectory(prefix="autograder-course-")
    for path, content in told.files.items():
        target = Path(folder.name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    grader = Grader(Path(folder.name), told.key)
    atexit.register(folder.cleanup)
    atexit.register(grader.close)
    return grader
