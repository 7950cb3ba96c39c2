"""Accepts new submissions, from nbgrader's exchange and by upload, each exactly once."""

from __future__ import annotations

import logging
import os
import pwd
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.exchange.default.exchange import Exchange
from traitlets.config import Config

from ..course_folder.course import Course
from ..course_folder.settings import ServiceSettings
from ..errors import CourseError, UnreadableNotebook
from ..hub.exchange import RetrySchedule, copy_new_submissions, read_files, room
from ..isolation import in_words
from ..notebook.intake import (
    RECEIPTS,
    find_notebook,
    open_folder,
    parse_time,
    read_plain_file,
    refused_id,
    submitted_at,
)
from ..pipeline.classroom import stamp_of
from ..pipeline.one_submission import read_submission
from ..texts import visible
from .attempts import MOST_RECENT, OVER, REFUSED, Attempts, now_utc
from .rules import admitted

_log = logging.getLogger(__name__)
_TIME, _LAST_FILE = RECEIPTS

_ON_THE_WAY = timedelta(minutes=1)
"""Greatest accepted delay between the time that a submission claims and its arrival."""

MOST_OVER = 20
"""Greatest number of one student's attempts over the limit that are stored; further ones stay in
the exchange."""


class Inbound:
    """Accepts submissions into the table of attempts.

    Args:
        course: the course, whose assignments tell whether a file can be graded.
        config: its nbgrader configuration, with the exchange's path.
        course_id: the course's name in the exchange.
        attempts: the table of attempts.
        rules: the service's settings: how many attempts are graded.

    Attributes:
        exchange: the course's folder in nbgrader's exchange.
    """

    def __init__(
        self,
        course: Course,
        config: Config,
        course_id: str,
        attempts: Attempts,
        rules: ServiceSettings,
    ) -> None:
        self._course = course
        self._attempts = attempts
        self._rules = rules
        root = config.Exchange.get("root") or Exchange.root.default_value
        self.exchange = Path(root or "/usr/local/share/nbgrader/exchange") / course_id
        self._folders = Path(config.CollectFromEach.folder) if config.CollectFromEach else None
        self._check_owner = config.ExchangeCollect.get("check_owner", True)
        self._known_keys = attempts.keys()
        self._retries = RetrySchedule()
        self._logged: set[str] = set()
        self._last_poll: datetime | None = None
        # By name of a new folder: the time of the last poll that did not find it, which is the
        # earliest time at which it can have been handed in.
        self._absent: dict[str, datetime | None] = {}
        self._news_log = _log.getChild("news")
        self._news_log.addFilter(self._is_news)

    def _is_news(self, record: logging.LogRecord) -> bool:
        """Return whether a message has not been logged yet: each poll finds the same bad files."""
        text = record.getMessage()
        is_news = text not in self._logged
        self._logged.add(text)
        return is_news

    def poll(self) -> set[str]:
        """Accept new submissions from the exchange; return the ids of their students.

        Each call accepts at most one submission of each student, so that a student's many
        submissions do not delay those of others.
        """
        inbound = self.exchange / "inbound"
        if not inbound.is_dir():
            return set()
        now = now_utc()
        if self._folders is not None and self._folders.is_dir():
            for student_folder in sorted(self._folders.iterdir()):
                try:
                    copy_new_submissions(student_folder, inbound, self._news_log, self._retries)
                except Exception as error:
                    message = visible(f"{student_folder} was left behind: {in_words(error)}")
                    self._news_log.warning("%s", message)
        accepted: set[str] = set()
        new = {*os.listdir(inbound)} - self._known_keys
        self._absent = {name: self._absent.get(name, self._last_poll) for name in new}
        self._last_poll = now
        for name in sorted(new, key=_time_in_name):
            student, _, _ = name.partition("+")
            if name.startswith(".") or student in accepted or not self._retries.is_due(name):
                continue
            try:
                if self._accept(inbound / name):
                    accepted.add(student)
                    continue
            except Exception as error:  # Only this folder is affected, and it is retried.
                where = visible(str(inbound / name))
                self._news_log.warning("%s was left behind: %s", where, visible(in_words(error)))
            self._retries.record_failure(name)
        return accepted

    def _accept(self, folder: Path) -> bool:
        """Accept a submission.

        Return False if the submission is to be retried later: its last file is missing, or the
        student handed in too many times recently. Raises `UnreadableNotebook` if the folder is not
        a valid submission, or `MOST_OVER` of the student's attempts are over the limit.
        """
        parts = folder.name.split("+")
        student, name = parts[0], parts[1] if len(parts) in (3, 4) else ""
        if not (student and name) or refused_id(student) or visible(folder.name) != folder.name:
            raise UnreadableNotebook("it does not bear a student's name, an assignment and a time")
        if self._attempts.waiting(student, OVER) >= MOST_OVER:
            raise UnreadableNotebook(f"{student} has used all attempts, and it is not kept")
        if self._attempts.recent(student) >= MOST_RECENT:
            return False
        # The student owns the folder and may replace it by a symbolic link at any moment. So it is
        # opened once, then checked and read by its file descriptor.
        descriptor = open_folder(folder, levels=1)
        try:
            if self._check_owner and _account(os.fstat(descriptor).st_uid) != student:
                raise UnreadableNotebook(f"it is not {student}'s own")
            names = os.listdir(descriptor)
            if _LAST_FILE not in names:  # nbgrader is still writing the submission.
                return False
            files = read_files(descriptor, names, folder, self.room(student))
        finally:
            os.close(descriptor)
        self._correct_time(folder.name, files)
        self._keep(folder.name, files, name, student)
        return True

    def _correct_time(self, key: str, files: dict[str, bytes]) -> None:
        """Replace the time of submission in `files` if it is earlier than possible.

        The new time is that of the last poll that did not find the submission.

        Args:
            key: the name of the submission's folder.
            files: the contents of its files, by name.
        """
        claimed = parse_time(files.get(_TIME, b"").decode("utf-8", "replace"))
        if (absent := self._absent.get(key)) and claimed and claimed < absent - _ON_THE_WAY:
            files[_TIME] = f"{absent:%Y-%m-%d %H:%M:%S.%f} UTC".encode()

    def has_last(self, name: str, student: str, content: bytes) -> bool:
        """Return whether an uploaded notebook equals the student's last attempt at the assignment.

        A double click, or a retry after a lost response, makes no new attempt.

        Args:
            name: the assignment.
            content: the notebook file's bytes.
        """
        for last in self._attempts.of(student, name)[-1:]:
            with suppress(OSError):
                return (self._attempts.files_of(last) / f"{name}.ipynb").read_bytes() == content
        return False

    def room(self, student: str) -> int:
        """Return the greatest size in bytes of a student's next attempt."""
        return room(self._attempts.size(student))

    def upload(self, name: str, student: str, content: bytes) -> None:
        """Accept an uploaded notebook as a student's attempt at an assignment."""
        when = f"{now_utc():%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        files = {f"{name}.ipynb": content, _TIME: when}
        self._keep(f"upload {secrets.token_hex(16)}", files, name, student)

    def _keep(self, key: str, files: dict[str, bytes], name: str, student: str) -> None:
        attempts = self._attempts
        folder = attempts.keep(files)
        error = self._refusal(attempts.root / "files" / folder, name)
        submitted = submitted_at(attempts.root / "files" / folder)
        # One transaction: of two attempts that arrive at once, the second counts the first for the
        # limit.
        with attempts.transaction():
            before = attempts.of(student, name)
            state, not_before = admitted(self._rules, before, datetime.now().astimezone())
            if error is not None:
                state, not_before = REFUSED, 0.0
            attempts.add(key, folder, name, student, submitted, state, not_before, error)
        self._known_keys.add(key)
        digest = stamp_of(b"".join(files.values()))
        _log.info("%s of %s: taken in, %s, files %s", name, student, state, digest)

    def _refusal(self, folder: Path, name: str) -> str | None:
        """Return why nothing in an attempt's files can be graded; None if something can."""
        try:
            path = find_notebook(folder, self._course.notebook_path(name).notebook)
            read_submission(self._course, read_plain_file(path), path.name, name)
        except UnreadableNotebook as error:
            return str(error).replace(f"{folder}/", "")
        except CourseError:  # For example, the release is being made anew: grading tells.
            return None
        return None


def _time_in_name(name: str) -> tuple[str, str]:
    """Return the key that sorts submissions in the exchange by time.

    Args:
        name: the folder's name, `STUDENT+ASSIGNMENT+TIME`.
    """
    parts = name.split("+")
    return (parts[2] if len(parts) > 2 else "", name)


def _account(uid: int) -> str:
    """Return the name of the account with a user id on this machine; "" if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""
