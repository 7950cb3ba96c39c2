"""Finds new submissions, in nbgrader's exchange and by upload, and copies each once."""

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

from ...course_folder.settings import ServiceSettings
from ...errors import UnreadableNotebook
from ...faults import in_words
from ...notebook.intake import (
    RECEIPTS,
    open_folder,
    read_inside,
    refused_id,
    submitted_at,
    time_in,
)
from ...pipeline.classroom import stamp_of
from ...texts import visible
from ..hub.exchange import MOST_FILES, Again, take_in
from .attempts import OVER, Attempts, now_utc
from .policy import admitted

_log = logging.getLogger(__name__)
_TIME, _LAST_FILE = RECEIPTS

_ON_THE_WAY = timedelta(minutes=1)
"""Time that a submission may take to appear after its own time."""

MOST_BYTES = 100_000_000
"""Greatest total size in bytes of a submission's files."""

MOST_WAITING_OF_ONE = 50
"""Greatest number of one student's attempts in the queue; more stay in the exchange meanwhile."""

MOST_OVER = 20
"""Greatest number of one student's attempts beyond the limit that are kept; more stay where they
are."""


class Inbound:
    """The places where submissions arrive.

    Args:
        config: the course's nbgrader configuration, which names the exchange.
        course_id: the course's name in it.
        attempts: the table to keep them in.
        rules: how many are admitted.
    """

    def __init__(
        self, config: Config, course_id: str, attempts: Attempts, rules: ServiceSettings
    ) -> None:
        self._attempts = attempts
        self._rules = rules
        root = config.Exchange.get("root") or Exchange.root.default_value
        self.exchange = Path(root or "/usr/local/share/nbgrader/exchange") / course_id
        self._folders = Path(config.CollectFromEach.folder) if config.CollectFromEach else None
        self._check_owner = config.ExchangeCollect.get("check_owner", True)
        self._seen = attempts.keys()
        self._again = Again()
        self._left: set[str] = set()
        self._looked: datetime | None = None
        self._absent: dict[str, datetime | None] = {}
        self._quiet = _log.getChild("news")
        self._quiet.addFilter(self._is_news)

    def _is_news(self, record: logging.LogRecord) -> bool:
        """Return whether a message was not logged before: the same files are looked at again and
        again."""
        text = record.getMessage()
        is_news = text not in self._left
        self._left.add(text)
        return is_news

    def look(self) -> set[str]:
        """Accept new submissions; return their students.

        Each call accepts one of each student, so that a flood of one does not delay the others.
        """
        inbound = self.exchange / "inbound"
        if not inbound.is_dir():
            return set()
        looked = now_utc()
        if self._folders is not None and self._folders.is_dir():
            for own in sorted(self._folders.iterdir()):
                try:
                    take_in(own, inbound, self._quiet, self._again)
                except Exception as error:
                    message = visible(f"{own} was left behind: {in_words(error)}")
                    self._quiet.warning("%s", message)
        taken: set[str] = set()
        new = {*os.listdir(inbound)} - self._seen
        self._absent = {name: self._absent.get(name, self._looked) for name in new}
        self._looked = looked
        for name in sorted(new, key=_time_in_name):
            student, _, _ = name.partition("+")
            if name.startswith(".") or student in taken or not self._again.is_due(name):
                continue
            try:
                if self._take(inbound / name):
                    taken.add(student)
                    continue
            except Exception as error:  # One student's folder; it is looked at again.
                where = visible(str(inbound / name))
                self._quiet.warning("%s was left behind: %s", where, visible(in_words(error)))
            self._again.left(name)
        return taken

    def _take(self, folder: Path) -> bool:
        """Accept a submission; false if that has to wait."""
        parts = folder.name.split("+")
        student, name = parts[0], parts[1] if len(parts) in (3, 4) else ""
        if not (student and name) or refused_id(student) or visible(folder.name) != folder.name:
            raise UnreadableNotebook("it does not bear a student's name, an assignment and a time")
        if self._attempts.waiting(student, OVER) >= MOST_OVER:
            raise UnreadableNotebook(f"{student} has used all attempts, and it is not kept")
        if self._attempts.waiting(student) >= MOST_WAITING_OF_ONE:
            return False
        # Opened once, since the folder stays the student's.
        opened = open_folder(folder, levels=1)
        try:
            if self._check_owner and _account(os.fstat(opened).st_uid) != student:
                raise UnreadableNotebook(f"it is not {student}'s own")
            names = os.listdir(opened)
            if _LAST_FILE not in names:  # It is still being written.
                return False
            files = _read(opened, names, folder)
        finally:
            os.close(opened)
        self._bound(folder.name, files)
        self._keep(folder.name, files, name, student)
        return True

    def _bound(self, key: str, files: dict[str, bytes]) -> None:
        """Correct a submission's claimed time if the folder was seen without it later."""
        claimed = time_in(files.get(_TIME, b"").decode("utf-8", "replace"))
        if (absent := self._absent.get(key)) and claimed and claimed < absent - _ON_THE_WAY:
            files[_TIME] = f"{absent:%Y-%m-%d %H:%M:%S.%f} UTC".encode()

    def has_last(self, name: str, student: str, content: bytes) -> bool:
        """Return whether a file is the same as the last one, which is no new attempt: the button
        was pressed twice, or the answer was lost."""
        for last in self._attempts.of(student, name)[-1:]:
            with suppress(OSError):
                return (self._attempts.files_of(last) / f"{name}.ipynb").read_bytes() == content
        return False

    def upload(self, name: str, student: str, content: bytes) -> None:
        """Accept a student's upload for an assignment."""
        when = f"{now_utc():%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        files = {f"{name}.ipynb": content, _TIME: when}
        self._keep(f"upload {secrets.token_hex(16)}", files, name, student)

    def _keep(self, key: str, files: dict[str, bytes], name: str, student: str) -> None:
        attempts = self._attempts
        folder = attempts.keep(files)
        submitted = submitted_at(attempts.root / "files" / folder)
        # An upload and a submission in the exchange at the same moment are two attempts.
        with attempts.transaction():
            before = attempts.of(student, name)
            state, not_before = admitted(self._rules, before, datetime.now().astimezone())
            attempts.add(key, folder, name, student, submitted, state, not_before)
        self._seen.add(key)
        digest = stamp_of(b"".join(files.values()))
        _log.info("%s of %s: taken in, %s, files %s", name, student, state, digest)


def _time_in_name(name: str) -> tuple[str, str]:
    parts = name.split("+")
    return (parts[2] if len(parts) > 2 else "", name)


def _read(opened: int, names: list[str], folder: Path) -> dict[str, bytes]:
    """Return the plain files of a submission, by name. They are read by the folder's descriptor,
    since another folder may take its path at any moment."""
    files: dict[str, bytes] = {}
    names = sorted(names, key=lambda name: (name not in RECEIPTS, name))
    for name in names[: MOST_FILES + len(RECEIPTS)]:
        try:
            files[name] = read_inside(opened, name, folder / name)
        except UnreadableNotebook as error:
            if name.lower().endswith(".ipynb") or name in RECEIPTS:
                raise
            _log.debug("%s", error)
        if sum(map(len, files.values())) > MOST_BYTES:
            raise UnreadableNotebook("its files are over 100 MB together")
    return files


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""
