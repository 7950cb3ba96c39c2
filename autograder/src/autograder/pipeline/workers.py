"""Grades many submissions, in this process or in a pool of worker processes.

A worker receives a `Job` and returns a `GradedNotebook`, both plain data. Workers neither read nor
write files of submissions; the process that owns the pool reads files, and stores files and marks.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

from .. import log
from ..course_folder.course import Course
from ..errors import CourseError, SandboxDied, SandboxUnavailable, UnreadableNotebook
from ..gradebook.marks_of_notebook import marks_of
from ..isolation import kind_and_place
from ..judging.grader import Grader
from ..notebook.restoring import blank_notebook, load_template
from ..records import GradedNotebook, Job
from ..sandbox import ForkServer, die_with_parent
from ..sandbox.time_budget import SLOWEST
from ..texts import fit
from .one_submission import grade_content, grade_restored

_log = logging.getLogger(__name__)

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_LOST = (
    "the grading of this submission ended the grader's own process, twice. Nothing was stored; "
    "the other submissions were graded. Grade it alone with `autograder check` to see more."
)

_SOLUTION_LOST = (
    "the grading of the course's own solution ended the grader's own process. Make room in memory "
    "or try fewer --workers, and grade again."
)

_HELD = (
    "the grading of this submission held the grader's own process for over {seconds:g} seconds, "
    "twice. Nothing was stored; the other submissions were graded. What is printed above says "
    "where it hung."
)

_FAILED = (
    "the grader itself failed at this submission ({kind}). Nothing was stored; the other "
    "submissions were graded. Report it; `autograder --log-level debug` shows more."
)

_MOST = SLOWEST + 1.0
"""Wall-clock limit of a worker for one job, as a multiple of a submission's time limit."""

_QUEUED = 8
"""Greatest number of submissions in work, for each worker.

A submission is in work from its reading until its result is yielded to be stored. The number is
large enough that no worker waits for a slow disk, and bounds the memory for any size of class.
"""

_QUEUED_BYTES = 32 << 20
"""Total size in bytes of the submissions in work from which on no further one is read."""

_BATCH_DELAY = 0.05
"""Seconds that a graded submission waits for others that can be stored in the same transaction."""


class Workers(Protocol):
    """Runs jobs, a bounded number at a time, and yields each with its result soon after grading.

    Jobs are yielded in batches, since storing a batch takes less time than storing its submissions
    one by one.
    """

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]: ...


def grade_job(grader: Grader, job: Job, is_alone: bool = True) -> GradedNotebook:
    """Grade one submission; an unreadable file is graded as a notebook without answers.

    An error of the grader itself is returned as the submission's error. `CourseError` and
    `SandboxUnavailable` are raised, since they would occur with every submission.

    Args:
        is_alone: whether no other grading runs on this machine at the same time.
    """
    grader.is_alone = is_alone
    _log.info("%s of %s: taken up, file %s", job.assignment, job.student, job.stamp)
    try:
        return _grade(grader, job)
    except SandboxDied as error:
        return GradedNotebook(error=fit(f"{job.where}: {error}"), is_worker_failure=True)
    except (CourseError, SandboxUnavailable):  # The same error would occur with each submission.
        raise
    except Exception as error:
        _log.debug("the grader failed at %s", job.where, exc_info=True)
        return GradedNotebook(
            error=fit(f"{job.where}: {_FAILED.format(kind=kind_and_place(error))}")
        )


def _grade(grader: Grader, job: Job) -> GradedNotebook:
    graded = GradedNotebook()
    metadata: dict[str, Any] = {"graded": job.stamp, "versions": job.versions}
    try:
        if job.content is None:
            raise UnreadableNotebook(job.refused)
        notebook, report = grade_content(grader, job.content, job.where, job.assignment)
    except UnreadableNotebook as error:
        # Keep only the message: the traceback's frames would keep the whole file in memory.
        graded.error = str(error)
        _log.info("%s of %s: nothing can be graded", job.assignment, job.student)
    if graded.error is not None:
        # Students read this reason, so it must not show the folders of this machine.
        reason = graded.error.replace(fit(job.where), fit(Path(job.where).name))
        metadata["unreadable"] = reason
        restored = blank_notebook(load_template(grader.course, job.assignment), reason)
        report = grade_restored(grader, restored, job.assignment)
        notebook = restored.notebook
    notebook.metadata["autograder"] = {**metadata, "report": report.as_json()}
    graded.report, graded.marks = report, marks_of(notebook)
    # The module json uses its C encoder only without indentation, and is fastest for ASCII output.
    graded.text = json.dumps(notebook) + "\n"
    return graded


class OneProcess:
    """Grades in this process, one submission after another."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        for job in jobs:
            yield [(job, grade_job(self._grader, job))]

    def check_solutions(self, names: Sequence[str]) -> dict[str, Callable[[], list[str]]]:
        return {name: partial(self._grader.check_solution, name) for name in names}


class ManyProcesses:
    """Grades in a pool of worker processes. A context manager.

    If a worker dies or hangs at a job, all jobs in work are graded again, one at a time.

    Args:
        course: the course folder.
        key: the course's key, as for `Grader`.
        count: the number of workers.
        servers: a fork server for each worker, started in advance; by default each worker starts
            its own.
        names: the assignments to load in advance.
    """

    def __init__(
        self,
        course: Course,
        key: bytes,
        count: int,
        servers: list[ForkServer] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self._course = course
        self._key = key
        self._count = count
        self._servers = servers or []
        self._names = names
        self._seconds = course.settings.submission_seconds

    def __enter__(self) -> ManyProcesses:
        with Grader(self._course, self._key) as grader:
            # Fork if there is one thread, which makes it safe: workers inherit all imported modules
            # and what is loaded.
            if threading.active_count() == 1:
                context = multiprocessing.get_context("fork")
                if self._count > 1:
                    prepare(grader, self._names)
                    grader.end_sandbox()
                shared = self._servers, context.Value("i"), grader
                self._pool = self._new_pool(self._count, context, *shared)
            else:
                self._pool = self._new_pool(self._count)
            # The first task, whatever it is, makes the pool start its workers.
            self._pool.submit(os.getpid)
        for server in self._servers:
            server.detach()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for server in self._servers:
            server.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        coming = iter(jobs)
        running: dict[Future[GradedNotebook], Job] = {}
        worker_failures: list[Job] = []
        while True:
            while self._has_room(running) and (job := next(coming, None)):
                running[self._submit(_grade_here, job)] = job
            if not running:
                yield from ([each] for each in self._one_by_one(worker_failures))
                return
            wait(running, return_when=FIRST_COMPLETED)
            # Wait a moment for more jobs to be done, which are then stored in the same batch.
            if not all(future.done() for future in running):
                time.sleep(_BATCH_DELAY)
            done = [future for future in running if future.done()]
            is_broken = any(isinstance(each.exception(), BrokenProcessPool) for each in done)
            if is_broken:
                # When one worker dies, all unfinished futures of the pool fail.
                _end_broken(self._pool)
                done = [each for each in running if each.done() and not each.exception()]
            graded = [(running.pop(future), future.result()) for future in done]
            worker_failures += [job for job, each in graded if each.is_worker_failure]
            if batch := [(job, each) for job, each in graded if not each.is_worker_failure]:
                yield batch
            if is_broken:
                lost, running = [*running.values()], {}
                yield from ([each] for each in self._one_by_one(lost))
                self._pool = self._new_pool(self._count)

    def check_solutions(self, names: Sequence[str]) -> dict[str, Callable[[], list[str]]]:
        """Return by assignment: a function that returns what `Grader.check_solution` returns."""
        found = {name: self._submit(_check_here, name) for name in names}
        return {name: partial(_checked, future) for name, future in found.items()}

    def _has_room(self, running: dict[Future[GradedNotebook], Job]) -> bool:
        size = sum(len(job.content or b"") for job in running.values())
        return len(running) < _QUEUED * self._count and size < _QUEUED_BYTES

    def _submit(self, work: Callable[[_Given], _Made], given: _Given) -> Future[_Made]:
        """Submit work to the pool; if the pool is broken, return a future that has failed."""
        try:
            return self._pool.submit(work, given)
        except BrokenProcessPool as error:
            lost: Future[_Made] = Future()
            lost.set_exception(error)
            return lost

    def _one_by_one(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, GradedNotebook]]:
        """Grade jobs again, one at a time, after a worker died or the sandbox failed.

        One new worker grades all of them. If this worker dies at a job, a fresh worker retries the
        job. If a fresh worker dies as well, the job is the cause, and gets an error.
        """
        alone: ProcessPoolExecutor | None = None
        try:
            for job in jobs:
                graded = None
                while graded is None:
                    is_fresh = alone is None
                    alone = alone or self._new_pool(1)
                    started = time.monotonic()
                    try:
                        graded = alone.submit(_grade_here, job, True).result()
                    except BrokenProcessPool:
                        _end_broken(alone)
                        alone = None
                        most = _MOST * self._seconds
                        if time.monotonic() - started >= most:
                            graded = GradedNotebook(
                                error=f"{job.where}: {_HELD.format(seconds=most)}"
                            )
                        elif is_fresh:
                            graded = GradedNotebook(error=f"{job.where}: {_LOST}")
                yield job, graded
        finally:
            if alone is not None:
                alone.shutdown()

    def _new_pool(
        self, count: int, context: BaseContext | None = None, *shared: Any
    ) -> ProcessPoolExecutor:
        # By default spawn: a forked worker would inherit open files, such as the gradebook.
        context = context or spawning()
        arguments = (self._course, self._key, self._names, log.level(), os.getpid(), *shared)
        return ProcessPoolExecutor(count, context, _begin, arguments)


class _SafePathProcess(SpawnProcess):
    @staticmethod
    def _Popen(process: BaseProcess) -> Any:
        with patch.dict(os.environ, PYTHONSAFEPATH="1"):
            return SpawnProcess._Popen(process)


class _SafePathContext(SpawnContext):
    Process = _SafePathProcess


def spawning() -> BaseContext:
    """Return a multiprocessing context that spawns processes without the current folder on
    `sys.path`.

    If the current folder is a submission's, files in it could shadow modules.
    """
    with patch.dict(os.environ, PYTHONSAFEPATH="1"):
        resource_tracker.ensure_running()
    return _SafePathContext()


def _end_broken(pool: ProcessPoolExecutor) -> None:
    """Shut down a pool after one of its workers died."""
    if sys.version_info < (3, 11, 5):
        # In these versions, `shutdown` waits forever if queued data fills the pipe to the workers,
        # which nobody reads any more (https://github.com/python/cpython/issues/94777).
        vars(pool)["_call_queue"]._reader.close()
    pool.shutdown()


_grader: Grader | None = None


def _begin(
    course: Course,
    key: bytes,
    names: Sequence[str],
    log_level: str,
    parent: int,
    servers: list[ForkServer] | None = None,
    turn: Any = None,
    grader: Grader | None = None,
) -> None:
    """Initialize a worker process.

    Args:
        course: the course folder.
        key: the course's key, as for `Grader`.
        names: the assignments to load in advance.
        log_level: the level of the worker's log.
        parent: the process id of the pool's owner.
        servers: the fork servers of all workers, one of which this worker takes; None to start one.
        turn: a `multiprocessing.Value` that counts the workers which have taken a fork server.
        grader: a grader, of which each worker has a copy; None for a new one.
    """
    global _grader
    # Ctrl-C is to interrupt only the pool's owner, which stores marks; workers die with the owner.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    # The parent may have died before `die_with_parent` was called, which then has no effect.
    if os.getppid() != parent:
        os._exit(1)
    log.set_level(log_level)
    _grader = grader or Grader(course, key)
    prepare(_grader, names)
    if servers:
        with turn.get_lock():
            number = turn.value
            turn.value += 1
        for server in servers[:number] + servers[number + 1 :]:
            server.detach()
        _grader.use(servers[number])
        _keep_to_one_processor(number, len(servers))
    with suppress(SandboxUnavailable):  # Grading the first submission raises it again.
        _grader.start()
    collect_seldom()


def _keep_to_one_processor(number: int, count: int) -> None:
    """Pin this worker and its student processes to one processor, if each worker can have one.

    So their memory stays in that processor's caches, and no two workers share a processor while
    another processor is idle.

    Args:
        number: the index of this worker.
        count: the number of workers.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) == count:
        os.sched_setaffinity(0, {processors[number]})


def prepare(grader: Grader, names: Iterable[str]) -> None:
    """Load assignments in advance; an error is raised only when an assignment is graded."""
    for name in names:
        with suppress(CourseError, SandboxUnavailable):
            grader.prepare(name)
            load_template(grader.course, name)


def collect_seldom() -> None:
    """Make garbage collection rare, and exclude the present objects, such as modules, from it.

    Call this in a process that only grades, after all imports: gradings make few reference cycles.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _check_here(name: str) -> list[str]:
    """Check an assignment's solution in this worker."""
    assert _grader is not None
    return _grader.check_solution(name)


def _checked(future: Future[list[str]]) -> list[str]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise CourseError(_SOLUTION_LOST) from error


def _grade_here(job: Job, is_alone: bool = False) -> GradedNotebook:
    """Grade a job in this worker.

    If that takes longer than `_MOST` times the submission's time limit, a watchdog prints a
    traceback and ends the worker. The watchdog is a C thread, which works even while another thread
    holds the GIL.
    """
    assert _grader is not None
    faulthandler.dump_traceback_later(_MOST * _grader.submission_seconds, exit=True, file=2)
    try:
        return grade_job(_grader, job, is_alone)
    finally:
        faulthandler.cancel_dump_traceback_later()
