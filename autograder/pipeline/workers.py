"""Grades many submissions: in this process, or in several that share the work.

A submission is sent as data, a `Job`, and comes back as data, a `Graded`. A process that runs jobs
needs no folder with submissions and writes no file; marks and files are stored by one process.
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
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Protocol

from .. import log
from ..course_folder.settings import load_settings
from ..errors import CourseError, SandboxLost, SandboxUnavailable, UnreadableNotebook
from ..faults import kind_and_place
from ..gradebook.marks_of_notebook import marks_of
from ..judging.grader import Grader
from ..model import Graded, Job
from ..notebook.restoring import blank, template
from ..texts import fit
from ..wall import WarmServer, die_with_parent
from .one_submission import grade_content, grade_restored

_log = logging.getLogger(__name__)

_LOST = (
    "the grading of this submission ended the grader's own process, twice. Nothing was stored; "
    "the other submissions were graded. Grade it alone with `autograder check` to see more."
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

_MOST = 2.0
"""Time limit of a process for one job, as a multiple of a submission's time."""

_AHEAD = 8
"""Number of submissions that are queued for each process, to be graded or to be stored.

So a slow moment of the disk delays no process, and memory stays bounded for any size of class.
"""

_AHEAD_BYTES = 32 << 20
"""Greatest total size in bytes of the queued submissions; then reading pauses."""

_MOMENT = 0.05
"""Seconds that a graded submission waits for others, to be stored together."""


class Workers(Protocol):
    """Runs jobs, a bounded number at a time, and yields them soon after they are graded.

    Those that are graded by then come together: storing several at once takes less time.
    """

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]: ...


def grade_job(grader: Grader, job: Job, is_alone: bool = True) -> Graded:
    """Grade one submission. An unreadable file is graded as a notebook without answers.

    An error of the grader itself concerns this submission alone.

    Args:
        is_alone: whether this is the only grading on this machine meanwhile.
    """
    grader.is_alone = is_alone
    _log.info("%s of %s: taken up, file %s", job.assignment, job.student, job.stamp)
    try:
        return _grade(grader, job)
    except SandboxLost as error:
        return Graded(error=fit(f"{job.where}: {error}"), is_disturbed=True)
    except (CourseError, SandboxUnavailable):  # these concern every submission
        raise
    except Exception as error:
        _log.debug("the grader failed at %s", job.where, exc_info=True)
        return Graded(error=fit(f"{job.where}: {_FAILED.format(kind=kind_and_place(error))}"))


def _grade(grader: Grader, job: Job) -> Graded:
    graded = Graded()
    about: dict[str, Any] = {"graded": job.stamp, "versions": job.versions}
    try:
        if job.content is None:
            raise UnreadableNotebook(job.refused)
        notebook, report = grade_content(grader, job.content, job.where, job.assignment)
    except UnreadableNotebook as error:
        # No more than its text is kept: the error's frames hold all of the file.
        graded.error = str(error)
        _log.info("%s of %s: nothing can be graded", job.assignment, job.student)
    if graded.error is not None:
        # Students read this, to whom the folders of the grading machine mean nothing.
        reason = graded.error.replace(fit(job.where), fit(Path(job.where).name))
        about["unreadable"] = reason
        restored = blank(template(grader.course, job.assignment), reason)
        report = grade_restored(grader, restored, job.assignment)
        notebook = restored.notebook
    notebook.metadata["autograder"] = {**about, "report": report.as_json()}
    graded.report, graded.marks = report, marks_of(notebook)
    # Without indentation the standard library's fast encoder does it, and fastest in ASCII.
    graded.text = json.dumps(notebook) + "\n"
    return graded


class OneProcess:
    """Grades in this process, one submission after another."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        for job in jobs:
            yield [(job, grade_job(self._grader, job))]


class ManyProcesses:
    """Grades in several processes of this machine. A context manager.

    The job of a process that ends unexpectedly is graded again, alone. A process that hangs at a
    job is killed, and its job is graded again in the same way.

    Args:
        key: as for `Grader`.
        count: how many processes.
        servers: one for each, launched ahead; by default each launches its own.
        names: the assignments that will come, as far as they are known.
    """

    def __init__(
        self,
        course: Path,
        key: bytes,
        count: int,
        servers: list[WarmServer] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self._course = course
        self._key = key
        self._count = count
        self._servers = servers or []
        self._names = names
        self._seconds = load_settings(course).submission_seconds

    def __enter__(self) -> ManyProcesses:
        # A fork is safe while no other thread runs, and the child need import no module.
        if threading.active_count() == 1:
            context = multiprocessing.get_context("fork")
            self._pool = self._new_pool(self._count, context, self._servers, context.Value("i"))
        else:
            self._pool = self._new_pool(self._count)
        self._pool.submit(os.getpid)  # Forked at once, they warm up meanwhile.
        for server in self._servers:
            server.hand_over()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for server in self._servers:
            server.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        coming = iter(jobs)
        running: dict[Future[Graded], Job] = {}
        disturbed: list[Job] = []
        while True:
            while self._has_room(running) and (job := next(coming, None)):
                running[self._submitted(job)] = job
            if not running:
                yield from ([each] for each in self._one_by_one(disturbed))
                return
            wait(running, return_when=FIRST_COMPLETED)
            if not all(future.done() for future in running):
                time.sleep(_MOMENT)
            done = [future for future in running if future.done()]
            is_broken = any(isinstance(each.exception(), BrokenProcessPool) for each in done)
            if is_broken:
                _end_broken(self._pool)
                done = [each for each in running if each.done() and not each.exception()]
            graded = [(running.pop(future), future.result()) for future in done]
            disturbed += [job for job, each in graded if each.is_disturbed]
            if whole := [(job, each) for job, each in graded if not each.is_disturbed]:
                yield whole
            if is_broken:
                lost, running = [*running.values()], {}
                yield from ([each] for each in self._one_by_one(lost))
                self._pool = self._new_pool(self._count)

    def _has_room(self, running: dict[Future[Graded], Job]) -> bool:
        held = sum(len(job.content or b"") for job in running.values())
        return len(running) < _AHEAD * self._count and held < _AHEAD_BYTES

    def _submitted(self, job: Job) -> Future[Graded]:
        """Submit a job; if a process ended this very moment, return a future with that error."""
        try:
            return self._pool.submit(_grade_here, job)
        except BrokenProcessPool as error:
            lost: Future[Graded] = Future()
            lost.set_exception(error)
            return lost

    def _one_by_one(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Graded]]:
        """Grade jobs again that ran when a process ended unexpectedly, or that were disturbed.

        Another process grades them one after another. If that process ends as well, a new one shows
        whether the same job was the cause.
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
                            graded = Graded(error=f"{job.where}: {_HELD.format(seconds=most)}")
                        elif is_fresh:
                            graded = Graded(error=f"{job.where}: {_LOST}")
                yield job, graded
        finally:
            if alone is not None:
                alone.shutdown()

    def _new_pool(
        self, count: int, context: BaseContext | None = None, *shared: Any
    ) -> ProcessPoolExecutor:
        # Later on a fork would share open files, the gradebook's too.
        context = context or multiprocessing.get_context("spawn")
        about = (self._course, self._key, self._names, log.level())
        begin = (*about, os.getpid(), *shared)
        return ProcessPoolExecutor(count, context, _begin, begin)


def _end_broken(pool: ProcessPoolExecutor) -> None:
    """Shut down a pool after one of its processes ended unexpectedly."""
    if sys.version_info < (3, 11, 5):
        # Python waits for ever there if queued data fills the pipe, which has no reader any more
        # (https://github.com/python/cpython/issues/94777).
        vars(pool)["_call_queue"]._reader.close()
    pool.shutdown()


_grader: Grader | None = None


def _begin(
    course: Path,
    key: bytes,
    names: Sequence[str],
    log_level: str,
    parent: int,
    servers: list[WarmServer] | None = None,
    turn: Any = None,
) -> None:
    global _grader
    # Ctrl-C is for the process that stores the marks; the others end with it, however it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    log.set_level(log_level)
    _grader = Grader(course, key)
    prepare(_grader, names)
    if servers:
        with turn.get_lock():
            number = turn.value
            turn.value += 1
        for server in servers[:number] + servers[number + 1 :]:
            server.hand_over()
        _grader.use(servers[number])
        _keep_to_one_processor(number, len(servers))
    with suppress(SandboxUnavailable):  # The first submission raises it again.
        _grader.start()
    collect_seldom()


def _keep_to_one_processor(number: int, count: int) -> None:
    """Keep this worker to its own processor, if there is one for each of the `count` workers.

    The memory of the worker and its students stays in that processor's caches, and no processor is
    idle while two workers share another.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) == count:
        os.sched_setaffinity(0, {processors[number]})


def prepare(grader: Grader, names: Iterable[str]) -> None:
    """Load these assignments. An error in one is raised when it is graded."""
    for name in names:
        with suppress(CourseError):
            grader.prepare(name)
            template(grader.course, name)


def collect_seldom() -> None:
    """Collect garbage seldom, and never among the modules: a grader makes little of it.

    For a process that only grades, called once all is imported.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _grade_here(job: Job, is_alone: bool = False) -> Graded:
    """Grade a job in this worker; a watchdog ends the worker if that takes far too long.

    The watchdog is a thread without Python, which works even if the interpreter's lock is held, and
    prints a traceback.
    """
    assert _grader is not None
    faulthandler.dump_traceback_later(_MOST * _grader.submission_seconds, exit=True, file=2)
    try:
        return grade_job(_grader, job, is_alone)
    finally:
        faulthandler.cancel_dump_traceback_later()
