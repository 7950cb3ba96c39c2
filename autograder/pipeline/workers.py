"""Grades many submissions: in this process, or in several that share the work.

A submission travels as data, a `Job`, and comes back as data, a `Graded`. Whoever runs the jobs
needs no folder with submissions and writes nothing; marks and files are stored by one process.
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
"""For how many times a submission's time a process may be at one job, whatever it does there."""

_AHEAD = 8
"""How many submissions are queued for each process, to be graded or to be stored.

A disk that is slow for a moment keeps nobody waiting then; and memory stays bounded, however large
the class is.
"""

_AHEAD_BYTES = 32 << 20
"""How many bytes these submissions may have together before no more are read."""

_MOMENT = 0.05
"""For how many seconds what is graded waits for what else is, to be stored with it."""


class Workers(Protocol):
    """Runs jobs, a bounded number at a time, and gives them back soon after they are graded.

    Those that are graded by then come together: to store several at once takes less.
    """

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]: ...


def grade_job(grader: Grader, job: Job, is_alone: bool = True) -> Graded:
    """Grade one submission. What cannot be read is graded as a notebook without answers.

    Where the grader itself fails, this costs nobody else anything.

    Args:
        is_alone: whether nothing else is graded on this machine meanwhile.
    """
    grader.is_alone = is_alone
    _log.info("%s of %s: taken up, file %s", job.assignment, job.student, job.stamp)
    try:
        return _grade(grader, job)
    except SandboxLost as error:
        return Graded(error=fit(f"{job.where}: {error}"), is_disturbed=True)
    except (CourseError, SandboxUnavailable):  # These concern every submission.
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
    """Grades in several processes of this machine.

    A process that is lost, by whatever is beyond the sandbox, costs nothing: what it was at is
    graded again, alone. One that hangs at a job is ended, and is lost like that. Use as a context
    manager.

    Args:
        course: the course folder.
        key: as for `Grader`.
        count: how many processes.
        servers: one for each, launched ahead; by default each launches its own.
        names: the assignments that will come, as far as they are known.
        submission_seconds: as for `Grader`.
    """

    def __init__(
        self,
        course: Path,
        key: bytes,
        count: int,
        servers: list[WarmServer] | None = None,
        names: Sequence[str] = (),
        submission_seconds: float = 300.0,
    ) -> None:
        self._course = course
        self._key = key
        self._count = count
        self._servers = servers or []
        self._names = names
        self._seconds = submission_seconds

    def __enter__(self) -> ManyProcesses:
        # As long as nothing is open and no thread runs, a fork is safe; it need import nothing.
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
        """The job's outcome to be; where a process was lost this very moment, the job is, too."""
        try:
            return self._pool.submit(_grade_here, job)
        except BrokenProcessPool as error:
            lost: Future[Graded] = Future()
            lost.set_exception(error)
            return lost

    def _one_by_one(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Graded]]:
        """The outcomes of jobs that were under way when a process was lost, or were disturbed.

        Another process grades them one after another. Where it is lost as well, a fresh one shows
        whether this very job was why.
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
        about = (self._course, self._key, self._seconds, self._names, log.level())
        begin = (*about, os.getpid(), *shared)
        return ProcessPoolExecutor(count, context, _begin, begin)


def _end_broken(pool: ProcessPoolExecutor) -> None:
    """Shut a pool down one of whose processes was lost."""
    if sys.version_info < (3, 11, 5):
        # Python waits for ever there, where what is on its way fills the pipe that nobody reads any
        # more (https://github.com/python/cpython/issues/94777).
        vars(pool)["_call_queue"]._reader.close()
    pool.shutdown()


_grader: Grader | None = None


def _begin(
    course: Path,
    key: bytes,
    seconds: float,
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
    _grader = Grader(course, key, submission_seconds=seconds)
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

    What it and its students use stays in that processor's caches, and no processor is idle while
    two workers are on another.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) == count:
        os.sched_setaffinity(0, {processors[number]})


def prepare(grader: Grader, names: Iterable[str]) -> None:
    """Load what these assignments need. An error in one is raised when it is graded."""
    for name in names:
        with suppress(CourseError):
            grader.prepare(name)
            template(grader.course, name)


def collect_seldom() -> None:
    """Look for garbage seldom, and never among the modules: a grader makes little of it.

    For a process that does nothing but grade, from when all is imported.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _grade_here(job: Job, is_alone: bool = False) -> Graded:
    """Grade a job in this worker, which ends itself where that takes far too long.

    A thread without Python sees to it, whatever holds the interpreter, and prints what it is at.
    """
    assert _grader is not None
    faulthandler.dump_traceback_later(_MOST * _grader.submission_seconds, exit=True, file=2)
    try:
        return grade_job(_grader, job, is_alone)
    finally:
        faulthandler.cancel_dump_traceback_later()
