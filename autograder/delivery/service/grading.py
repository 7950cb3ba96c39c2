"""Grades attempts as they arrive: several at a time, stored by this one thread.

The results of a grading are stored in an order in which each step can be repeated: the page, the
submission and its marks, the page in the exchange, and the attempt's own row at last. A service
that was killed in between repeats the steps after the last row, and the record of gradings gets no
second line.
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

from ...course_folder.key import course_key
from ...course_folder.settings import load_settings
from ...errors import CourseError, SandboxUnavailable, UnreadableNotebook
from ...faults import concerns_all, in_words
from ...files import one_at_a_time, replace_folder, write_whole
from ...model import Graded, Job
from ...notebook.intake import read_plain_file
from ...pipeline.classroom import Classroom, course_directory
from ...pipeline.workers import ManyProcesses
from ...texts import fit
from .attempts import Attempt, Attempts, now_utc
from .changes import Changes, given_before
from .feedback import page_shown, release, whole_page
from .health import Health, Metrics
from .inbound import Inbound
from .policy import counts, shown_now

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""Poll interval in seconds for new attempts."""

_DUE_SECONDS = 5.0
"""Poll interval in seconds for due dates that have passed."""

_QUEUE_SECONDS = 1.0
"""Interval in seconds at which waiting students see their place in the queue."""

MUCH_SECONDS = 60.0
"""Seconds of gradings in a day after which a student waits if the others would have no worker
left."""

_CHANGES_SECONDS = 4.0
"""Poll interval in seconds for changed tests or settings; a change counts after two equal
readings."""

_OLDER_SECONDS = 60.0
"""Interval in seconds at which marks from before a change are counted."""

GIVEN_BEFORE = (
    "{name}: {number} marks were given before hidden tests or settings changed. `autograder "
    "regrade {name}` shows which of them change."
)

_FAILED = "The grader failed. Ask the instructor."

AGAIN_SECONDS = 20.0
"""Seconds after which an attempt that could not be graded or stored is tried again."""


@dataclass
class _Running:
    """A grading in progress.

    Attributes:
        used: seconds that earlier gradings of its student have taken.
        started: when it began, by the monotonic clock.
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
        count: how many are graded at the same time.
        changed: called with the students whose pages have changed.
        stopped: called when the thread ends, for any reason.

    Attributes:
        running: the numbers of the attempts that are being graded.
        has_changed: whether the thread has ended because the course has changed.
        given_before: the number of students with a mark from before such a change, by assignment.
    """

    def __init__(
        self,
        course: Path,
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
        self._rules = load_settings(course).service
        self._running: dict[Future[list[tuple[Job, Graded]]], _Running] = {}
        self._idle: list[ManyProcesses] = []
        self._due_looked = self._queue_sent = 0.0
        self._queue_moved = False
        self.running: frozenset[int] = frozenset()
        self._changes_looked = self._older_looked = 0.0
        self._is_held = self.has_changed = False
        self.given_before: dict[str, int] = {}
        self.health = Health()
        self.metrics = Metrics()

    def prepare(self, stack: ExitStack) -> None:
        """Start the workers, before any other thread starts and any attempt is accepted."""
        attempts = Attempts(self._course)
        attempts.remove_unfinished()
        attempts.close()
        self._changes = Changes(self._course, self._names)
        key = course_key(self._course)
        for _ in range(self._count):
            one = ManyProcesses(self._course, key, 1, names=self._names)
            self._idle.append(stack.enter_context(one))

    def end(self) -> None:
        self._end.set()

    def run(self) -> None:
        try:
            with (
                Classroom(self._course, _Nobody()) as self._room,
                ThreadPoolExecutor(self._count) as self._threads,
            ):
                folders = course_directory(self._course)
                self.attempts = Attempts(self._course)
                self._inbound = Inbound(
                    folders.config, folders.course_id, self.attempts, self._rules
                )
                while not self._end.is_set():
                    self._come_round()
        except Exception:
            _log.exception("the service cannot go on")
        finally:
            self._stopped()

    def _come_round(self) -> None:
        news = self._inbound.look()
        self._queue_moved |= bool(news)
        if time.time() > self._changes_looked + _CHANGES_SECONDS:
            self._changes_looked = time.time()
            self._look_for_changes()
        if not self._is_held:
            self._start_those_whose_turn_it_is()
        if time.time() > self._due_looked + _DUE_SECONDS:
            self._due_looked = time.time()
            self._show_what_may_be_shown()
        self.health.looked = time.time()
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
            self._publish_running()
            self._changed([running.attempt.student])

    def _look_for_changes(self) -> None:
        """End the thread if tests or settings have changed and no file is changing any more. Grade
        no attempt until then, since the version of its mark would be unknown."""
        try:
            changed = self._changes.look()
            if changed:
                for name in self._names:
                    self._room.require(name)
        except CourseError as error:
            self._is_held, self.health.trouble = True, f"The course has changed: {error}"
            _log.error("%s", self.health.trouble)
            self._changed(self.attempts.in_queue())
            return
        if self._is_held and changed is False:
            self.health.trouble = ""
        self._is_held = changed is not False
        if changed and not self._running:
            self.has_changed = True
            self._end.set()
        if time.time() > self._older_looked + _OLDER_SECONDS and not self._is_held:
            self._older_looked = time.time()
            older = given_before(self._course, self._room.gradebook, self._names)
            if older != self.given_before:
                self.given_before = older
                for name, number in older.items():
                    _log.warning(GIVEN_BEFORE.format(number=number, name=name))
                self._changed([])

    def _publish_running(self) -> None:
        self.running = frozenset(each.attempt.id for each in self._running.values())
        self._queue_moved = True

    def _start_those_whose_turn_it_is(self) -> None:
        while self._idle:
            running = self._running.values()
            slow = sum(each.used + each.seconds > MUCH_SECONDS for each in running)
            # Slow students never have all the workers, if there are several.
            most = inf if slow < max(1, self._count - 1) else MUCH_SECONDS
            attempt = self.attempts.next([each.attempt.student for each in running], most)
            if attempt is None:
                return
            folder = self.attempts.files_of(attempt)
            try:
                self._room.require(attempt.assignment)
                job = self._room.job(attempt.assignment, attempt.student, folder)
            except Exception as error:
                if concerns_all(error):
                    self.health.trouble = in_words(error)
                    self.attempts.put_off(attempt, AGAIN_SECONDS)
                    return
                # An attempt of another course, or at an assignment that is not released any more.
                _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
                self.attempts.set_graded(attempt, {}, "It cannot be graded. Ask the instructor.")
                continue
            workers = self._idle.pop()
            future = self._threads.submit(_graded, workers, job)
            used = self.attempts.seconds_used(attempt.student)
            self._running[future] = _Running(attempt, workers, used)
            self._publish_running()

    def _finish(self, running: _Running, future: Future[list[tuple[Job, Graded]]]) -> None:
        attempt, seconds = running.attempt, running.seconds
        try:
            [(job, graded)] = future.result()
            if not self._changes.is_as_before(attempt.assignment):
                # Perhaps graded by files from before and after a change: it waits to be graded
                # again.
                self._is_held = True
                return
            if graded.report is None:
                # The grader itself failed at it. To repeat it at once would fail as well.
                self.metrics.failed.inc()
                _log.error("%s", graded.error)
                self.attempts.set_graded(attempt, {}, _FAILED, seconds)
                return
            self._store(attempt, job, graded, seconds)
        except Exception as error:
            self.metrics.failed.inc()
            if concerns_all(error) or isinstance(error, (CourseError, SandboxUnavailable)):
                # The cause may go away by itself: a full disk, a lock.
                self.health.trouble = in_words(error)
                _log.error("%s", in_words(error))
                self.attempts.put_off(attempt, AGAIN_SECONDS)
                return
            # To repeat it would fail as well, and the others must not wait for it.
            _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
            _log.debug("at %s", attempt.student, exc_info=True)
            self.attempts.set_graded(attempt, {}, _FAILED, seconds)
            return
        self.health.trouble = ""
        self.metrics.graded.inc()
        self.metrics.seconds.observe(time.time() - max(attempt.arrived, attempt.not_before))

    def _store(self, attempt: Attempt, job: Job, graded: Graded, seconds: float) -> None:
        name, student = attempt.assignment, attempt.student
        assert graded.report is not None
        points = graded.report.score
        others = [each for each in self.attempts.of(student, name) if each.id != attempt.id]

        def penalty(points: float, when: datetime | None) -> float:
            return self._room.would_lose(name, student, points, when)

        counting = counts(self._rules, attempt, points, others, penalty)
        if counting:
            with one_at_a_time(self._course):
                self._put_in_place(attempt, job)
            self._room.store([(job, graded)])
            taken_off = self._room.penalties.settle(student).get(name, 0.0)
        else:
            taken_off = penalty(points, attempt.submitted)
        page = whole_page(self._course, attempt, graded, taken_off)
        write_whole(self.attempts.page_of(attempt), page.encode(), 0o600)
        if counting:
            self.attempts.set_counts(attempt)
        # The traceback of a broken test is in the report; only the instructor may see it.
        report = graded.report.as_json()
        for exercise in report["exercises"]:
            if flaw := exercise.pop("flaw", None):
                _log.error("%s: %s", name, flaw)
        # Students read this, to whom the folders of this machine mean nothing.
        error = graded.error and graded.error.replace(fit(job.where), fit(Path(job.where).name))
        self.attempts.set_graded(attempt, report, error, seconds)
        stored = self.attempts.get(attempt.id)
        assert stored is not None
        self._show(stored, shown_now(self._rules, self._room.due(name, student), now_utc()))

    def _put_in_place(self, attempt: Attempt, job: Job) -> None:
        """Make an attempt the student's submission."""
        target = self._room.folder(attempt.assignment, attempt.student)
        source = self.attempts.files_of(attempt)
        notebook, name = Path(job.where).name, self._room.place(attempt.assignment).notebook
        files = {
            f"{name}.ipynb" if path.name == notebook else path.name: read_plain_file(path)
            for path in source.iterdir()
        }
        # The old submission is among the attempts, or came before them or by another way.
        others = self.attempts.of(attempt.student, attempt.assignment)
        is_kept = any(each.counts for each in others)
        aside = None if is_kept else self.attempts.root / "replaced" / source.name
        replace_folder(target, files, aside)

    def _show_what_may_be_shown(self) -> None:
        """Show more of attempts whose due date has passed."""
        for attempt in self.attempts.not_wholly_shown():
            level = shown_now(
                self._rules, self._room.due(attempt.assignment, attempt.student), now_utc()
            )
            if level == attempt.shown:
                continue
            try:
                self._show(attempt, level)
            except Exception as error:
                _log.error("%s of %s: %s", attempt.assignment, attempt.student, in_words(error))
            else:
                self._changed([attempt.student])

    def _show(self, attempt: Attempt, level: str) -> None:
        whole = self.attempts.page_of(attempt)
        if level != "nothing" and whole.exists():
            page = page_shown(attempt, level, whole)
            files = self.attempts.files_of(attempt)
            try:
                release(attempt, page, files, self._inbound.exchange)
            except (CourseError, UnreadableNotebook) as error:
                _log.warning("%s", error)
        self.attempts.set_shown(attempt, level)


class _Nobody:
    """Placeholder for the workers of a classroom that stores results and grades nothing."""

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        raise NotImplementedError


def _graded(workers: ManyProcesses, job: Job) -> list[tuple[Job, Graded]]:
    return [each for several in workers.run([job]) for each in several]
