"""Grades attempts as they arrive: several workers grade, and one thread stores the results.

Storing is idempotent: submission, marks and page come first, the attempt's row last. A service that
was killed before the last step grades the attempt again and repeats all steps; the record of
gradings gets no second entry.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path

from ..course_folder.course import Course
from ..errors import CourseError, SandboxUnavailable, UnreadableNotebook
from ..files import replace_folder, write_atomic
from ..hub.exchange import MOST_BYTES
from ..isolation import concerns_all, in_words
from ..notebook.intake import read_plain_file
from ..pipeline.classroom import Classroom, course_directory
from ..pipeline.workers import ManyProcesses
from ..records import GradedNotebook, Job
from ..texts import fit
from .attempts import REFUSED, Attempt, Attempts, now_utc
from .changes import Changes, outdated_marks
from .feedback import CountingPages, marked, release, visible_page, whole_page
from .health import Health, Metrics
from .inbound import Inbound
from .rules import counts, visible_level

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""Poll interval in seconds for new attempts."""

_DUE_SECONDS = 5.0
"""Interval in seconds at which feedback is published whose due date has passed."""

_MARKS_SECONDS = 5.0
"""Poll interval in seconds for changed marks and comments in the gradebook.

The interval is longer if reading takes long: at least 20 times the duration of reading.
"""

_MAKE_SECONDS = 1.0
"""Seconds after which rendering outdated pages is interrupted, so that attempts are graded."""

_QUEUE_SECONDS = 1.0
"""Least interval in seconds at which waiting students' pages show a new position in the queue."""

MUCH_SECONDS = 60.0
"""Seconds of grading in the last day after which a student's attempts do not get the last free
worker."""

_CHANGES_SECONDS = 4.0
"""Poll interval in seconds for changed tests or settings; a change counts after two equal
readings."""

_OUTDATED_SECONDS = 60.0
"""Interval in seconds at which outdated marks are counted."""

OUTDATED_MARKS = (
    "{name}: {number} marks were given before hidden tests or settings changed. `autograder "
    "regrade {name}` shows which of them change."
)

_FAILED = "The grader failed. Ask the instructor."

RETRY_SECONDS = 20.0
"""Seconds after which an attempt that could not be graded or stored is retried."""


@dataclass
class _RunningGrading:
    """A grading in progress.

    Attributes:
        attempt: the attempt that is being graded.
        workers: the process that grades the attempt.
        used: seconds that earlier gradings of the same student took in the last day.
        started: when the grading began, in seconds of `time.monotonic`.
    """

    attempt: Attempt
    workers: ManyProcesses
    used: float
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


class Grading(threading.Thread):
    """The thread that accepts, grades and stores attempts.

    Args:
        names: the assignments that may be handed in.
        count: the number of attempts that are graded at the same time.
        changed: called in this thread with the ids of students whose pages have changed.
        stopped: called in this thread when it ends, for any reason.

    Attributes:
        running: the ids of the attempts that are being graded.
        has_changed: whether the thread has ended because the course's files have changed.
        outdated_marks: by assignment: the number of students whose mark is from before a change of
            tests or settings.
        health: whether the service can grade at the moment.
        metrics: the service's Prometheus metrics.
    """

    def __init__(
        self,
        course: Course,
        names: list[str],
        count: int,
        changed: Callable[[Iterable[str]], None],
        stopped: Callable[[], None],
    ) -> None:
        super().__init__(name="grading")
        self._course = course
        self._names = names
        self._count = count
        self._changed = changed
        self._stopped = stopped
        self._end = threading.Event()
        self._rules = course.settings.service
        self._running: dict[Future[list[tuple[Job, GradedNotebook]]], _RunningGrading] = {}
        self._idle: list[ManyProcesses] = []
        self._last_due = self._next_marks = self._queue_sent = 0.0
        self._queue_moved = False
        self.running: frozenset[int] = frozenset()
        self._last_changes = self._last_outdated = 0.0
        self._is_held = self.has_changed = False
        self.outdated_marks: dict[str, int] = {}
        self.health = Health()
        self.metrics = Metrics()

    def prepare(self, stack: ExitStack) -> None:
        """Start the workers. Call this before any other thread starts, since the workers fork.

        Args:
            stack: ends the workers when it is closed.
        """
        attempts = Attempts(self._course)
        attempts.remove_unfinished()
        attempts.close()
        self._changes = Changes(self._course, self._names)
        key = self._course.key
        for _ in range(self._count):
            # Each attempt in progress has a pool of its own, with one process.
            workers = ManyProcesses(self._course, key, 1, names=self._names)
            self._idle.append(stack.enter_context(workers))

    def end(self) -> None:
        """Ask the thread to end after the current pass."""
        self._end.set()

    def run(self) -> None:
        try:
            with (
                Classroom(self._course, _NoWorkers()) as self._classroom,
                ThreadPoolExecutor(self._count) as self._threads,
            ):
                folders = course_directory(self._course)
                self.attempts = Attempts(self._course)
                self._counting_pages = CountingPages(self._course, folders)
                self._inbound = Inbound(
                    self._course, folders.config, folders.course_id, self.attempts, self._rules
                )
                while not self._end.is_set():
                    self._poll()
        except Exception:
            _log.exception("the service cannot go on")
        finally:
            self._stopped()

    def _poll(self) -> None:
        """Run one pass: accept, start and store attempts; publish feedback that is visible now."""
        news = self._inbound.poll()
        self._queue_moved |= bool(news)
        if time.time() > self._last_changes + _CHANGES_SECONDS:
            self._last_changes = time.time()
            self._check_course()
        if not self._is_held:
            self._start_next()
        if time.time() > self._last_due + _DUE_SECONDS:
            self._last_due = time.time()
            self._publish_due_feedback()
        if time.monotonic() > self._next_marks:
            self._refresh_pages()
        self.health.last_poll = time.time()
        self.metrics.waiting.set(self.attempts.waiting() - len(self._running))
        self.metrics.running.set(len(self._running))
        if self._queue_moved and time.time() > self._queue_sent + _QUEUE_SECONDS:
            self._queue_moved, self._queue_sent = False, time.time()
            news |= self.attempts.in_queue()
        if news:
            self._changed(news)
        if not self._running:
            self._end.wait(LOOK_SECONDS)
            return
        done, _ = wait(self._running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            running = self._running.pop(future)
            self._idle.append(running.workers)
            self._finish(running, future)
            self._update_running()
            self._changed([running.attempt.student])

    def _check_course(self) -> None:
        """End the thread if the course's files have changed and no file is changing any more.

        From the first sign of a change on, no attempt is started: it would be unknown which version
        of the tests gives its mark.
        """
        try:
            changed = self._changes.poll()
            if changed:
                for name in self._names:
                    self._classroom.require(name)
        except CourseError as error:
            self._is_held, self.health.trouble = True, f"The course has changed: {error}"
            _log.error("%s", self.health.trouble)
            self._changed(self.attempts.in_queue())
            return
        if self._is_held and changed is False:  # The change was taken back.
            self.health.trouble = ""
        self._is_held = changed is not False
        if changed and not self._running:
            self.has_changed = True
            self._end.set()
        if time.time() > self._last_outdated + _OUTDATED_SECONDS and not self._is_held:
            self._last_outdated = time.time()
            outdated = outdated_marks(self._course, self._classroom.gradebook, self._names)
            if outdated != self.outdated_marks:
                self.outdated_marks = outdated
                for name, number in outdated.items():
                    _log.warning(OUTDATED_MARKS.format(number=number, name=name))
                self._changed([])

    def _update_running(self) -> None:
        self.running = frozenset(each.attempt.id for each in self._running.values())
        self._queue_moved = True

    def _start_next(self) -> None:
        """Start the next attempts in the queue on the idle workers."""
        while self._idle:
            running = self._running.values()
            slow = sum(each.used + each.seconds > MUCH_SECONDS for each in running)
            # Of several workers, one is always left for students who did not use much time.
            most = inf if slow < max(1, self._count - 1) else MUCH_SECONDS
            attempt = self.attempts.next([each.attempt.student for each in running], most)
            if attempt is None:
                return
            folder = self.attempts.files_of(attempt)
            try:
                self._classroom.require(attempt.assignment)
                job = self._classroom.job(attempt.assignment, attempt.student, folder)
            except Exception as error:
                if concerns_all(error):
                    self.health.trouble = in_words(error)
                    self.attempts.postpone(attempt, RETRY_SECONDS)
                    return
                # For example, the assignment was removed. Retrying would block the queue.
                _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
                self.attempts.set_graded(attempt, {}, "It cannot be graded. Ask the instructor.")
                continue
            workers = self._idle.pop()
            future = self._threads.submit(_graded, workers, job)
            used = self.attempts.seconds_used(attempt.student)
            self._running[future] = _RunningGrading(attempt, workers, used)
            self._update_running()

    def _finish(
        self, running: _RunningGrading, future: Future[list[tuple[Job, GradedNotebook]]]
    ) -> None:
        """Store the results of a grading. If grading or storing failed, decide whether to retry."""
        attempt, seconds = running.attempt, running.seconds
        try:
            [(job, graded)] = future.result()
            if not self._changes.is_as_before(attempt.assignment):
                # The course's files may have changed during the grading. The attempt's state is
                # still `WAITING`, so that it is graded again.
                self._is_held = True
                return
            if graded.report is None:
                # The grader itself failed at this submission, and a retry would fail as well.
                self.metrics.failed.inc()
                _log.error("%s", graded.error)
                self.attempts.set_graded(attempt, {}, _FAILED, seconds)
                return
            self._store(attempt, job, graded, seconds)
        except Exception as error:
            self.metrics.failed.inc()
            if concerns_all(error) or isinstance(error, (CourseError, SandboxUnavailable)):
                # The cause, such as a full disk or a lock, may go away: retry later.
                self.health.trouble = in_words(error)
                _log.error("%s", in_words(error))
                self.attempts.postpone(attempt, RETRY_SECONDS)
                return
            # A retry would fail as well, and would delay the other attempts.
            _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
            _log.debug("at %s", attempt.student, exc_info=True)
            self.attempts.set_graded(attempt, {}, _FAILED, seconds)
            return
        self.health.trouble = ""
        self.metrics.graded.inc()
        self.metrics.seconds.observe(time.time() - max(attempt.arrived, attempt.not_before))

    def _store(self, attempt: Attempt, job: Job, graded: GradedNotebook, seconds: float) -> None:
        """Store the results of a grading. Each step is idempotent; the attempt's row comes last."""
        name, student = attempt.assignment, attempt.student
        assert graded.report is not None
        points = graded.report.score
        others = [each for each in self.attempts.of(student, name) if each.id != attempt.id]

        def penalty(points: float, when: datetime | None) -> float:
            return self._classroom.would_lose(name, student, points, when)

        counting = counts(self._rules, attempt, points, others, penalty)
        if counting:
            with self._course.lock():
                self._replace_submission(attempt, job)
            self._classroom.store([(job, graded)])
            self._classroom.penalties.settle(student)
            page = self._counting_pages.make(attempt)
        else:
            taken_off = penalty(points, attempt.submitted)
            page = whole_page(self._course, attempt, graded, taken_off).encode()
        write_atomic(self.attempts.page_of(attempt), page, 0o600)
        if counting:
            self.attempts.set_counts(attempt)
        self.attempts.drop_old_pages(student, MOST_BYTES)
        # The traceback of a defective hidden test is for the instructor: log it, and remove it from
        # the report, which students see.
        report = graded.report.as_json()
        for exercise in report["exercises"]:
            if defect := exercise.pop("defect", None):
                _log.error("%s: %s", name, defect)
        # Students read the message: replace the file's path on this machine by its name.
        error = graded.error and graded.error.replace(fit(job.where), fit(Path(job.where).name))
        self.attempts.set_graded(attempt, report, error, seconds)
        stored = self.attempts.get(attempt.id)
        assert stored is not None
        self._publish(
            stored, visible_level(self._rules, self._classroom.due(name, student), now_utc())
        )

    def _replace_submission(self, attempt: Attempt, job: Job) -> None:
        """Copy an attempt's files to the course folder as the student's submission."""
        target = self._classroom.folder(attempt.assignment, attempt.student)
        source = self.attempts.files_of(attempt)
        notebook = Path(job.where).name
        name = self._classroom.notebook_path(attempt.assignment).notebook
        files = {
            f"{name}.ipynb" if path.name == notebook else path.name: read_plain_file(path)
            for path in source.iterdir()
        }
        # Back up the replaced submission, unless `attempts/` has a copy of it.
        others = self.attempts.of(attempt.student, attempt.assignment)
        is_stored = any(each.counts for each in others)
        backup = None if is_stored else self.attempts.root / "replaced" / source.name
        replace_folder(target, files, backup)

    def _publish_due_feedback(self) -> None:
        """Publish feedback again on attempts whose visible level has changed: a due date passed."""
        for attempt in self.attempts.not_wholly_shown():
            level = visible_level(
                self._rules, self._classroom.due(attempt.assignment, attempt.student), now_utc()
            )
            if level == attempt.shown:
                continue
            try:
                self._publish(attempt, level)
            except Exception as error:
                _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
            else:
                self._changed([attempt.student])

    def _refresh_pages(self) -> None:
        """Render feedback pages again whose marks or comments have changed in the gradebook."""
        started = time.monotonic()
        try:
            outdated = [each for name in self._names for each in self._outdated_pages(name)]
        except Exception as error:  # For example, another program has locked the gradebook.
            _log.error("%s", in_words(error))
            outdated = []
        read = time.monotonic()
        self._next_marks = read + max(_MARKS_SECONDS, 20 * (read - started))
        for attempt in outdated:
            if time.monotonic() > read + _MAKE_SECONDS:
                self._next_marks = 0.0  # The next pass goes on.
                return
            try:
                self._classroom.penalties.settle(attempt.student)
                page = self._counting_pages.make(attempt)
                write_atomic(self.attempts.page_of(attempt), page, 0o600)
                self._publish(attempt, attempt.shown)
            except Exception as error:
                _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
            else:
                self._changed([attempt.student])

    def _outdated_pages(self, name: str) -> list[Attempt]:
        """Return the attempts at an assignment whose pages do not show the gradebook's marks."""
        pages, stored = self._counting_pages, self._counting_pages.stored(name)
        return [
            each
            for each in self.attempts.counting(name)
            if not pages.is_current(each, self.attempts.page_of(each), stored.get(each.student))
        ]

    def _publish(self, attempt: Attempt, level: str) -> None:
        """Write the visible feedback on an attempt into the exchange, and record the level.

        Args:
            level: how much the student may see, one of `settings.SHOWN`.
        """
        full_page = self.attempts.page_of(attempt)
        if attempt.state == REFUSED:
            level = "mistakes"  # What the file is does not depend on any result.
        if attempt.state == REFUSED or (level != "nothing" and full_page.exists()):
            [attempt] = marked(self._classroom.gradebook, [attempt])
            page = visible_page(attempt, level, full_page.read_bytes)
            files = self.attempts.files_of(attempt)
            try:
                release(attempt, page, files, self._inbound.exchange)
            except (CourseError, UnreadableNotebook) as error:
                _log.warning("%s", error)
        self.attempts.set_shown(attempt, level)


class _NoWorkers:
    """Workers that cannot run jobs, for a `Classroom` that only stores results."""

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, GradedNotebook]]]:
        raise NotImplementedError


def _graded(workers: ManyProcesses, job: Job) -> list[tuple[Job, GradedNotebook]]:
    return [each for several in workers.run([job]) for each in several]
