"""Finds what was handed in, in nbgrader's exchange and by upload, and takes a copy of it once."""

from __future__ import annotations

import logging
import os
import pwd
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from nbgrader.exchange.default.exchange import Exchange
from traitlets.config import Config

from ...course_folder.settings import ServiceSettings
from ...errors import UnreadableNotebook
from ...notebook.intake import RECEIPTS, open_folder, read_inside, refused_id, submitted_at
from ...pipeline.classroom import stamp_of
from ...texts import visible
from ..hub.exchange import MOST_FILES, take_in
from .attempts import Attempts, now_utc
from .policy import admitted

_log = logging.getLogger(__name__)
_TIME, _LAST_FILE = RECEIPTS

MOST_BYTES = 100_000_000
"""Of a submission's files together."""


class Inbound:
    """The places where submissions arrive.

    Args:
        config: the course's nbgrader configuration, which names the exchange.
        course_id: the course's name in it.
        attempts: where they are kept.
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
        self._left: set[str] = set()
        self._quiet = logging.Logger("inbound")
        self._quiet.addFilter(self._is_news)
        self._quiet.addHandler(_Onward())

    def _is_news(self, record: logging.LogRecord) -> bool:
        """Whether a message was not logged before: what lies there is looked at again and again."""
        text = record.getMessage()
        is_news = text not in self._left
        self._left.add(text)
        return is_news

    def look(self) -> int:
        """Take in what has arrived since; returns how many attempts that were."""
        inbound = self.exchange / "inbound"
        if not inbound.is_dir():
            return 0
        if self._folders is not None and self._folders.is_dir():
            for student in sorted(self._folders.iterdir()):
                take_in(student, inbound, self._quiet)
        taken = 0
        for name in sorted({*os.listdir(inbound)} - self._seen, key=_time_in_name):
            if not name.startswith("."):
                try:
                    taken += self._take(inbound / name)
                except (UnreadableNotebook, OSError) as error:
                    where = visible(str(inbound / name))
                    self._quiet.warning("%s was left behind: %s", where, error)
        return taken

    def _take(self, folder: Path) -> bool:
        parts = folder.name.split("+")
        student, name = parts[0], parts[1] if len(parts) in (3, 4) else ""
        if not (student and name) or refused_id(student) or visible(folder.name) != folder.name:
            raise UnreadableNotebook("it does not bear a student's name, an assignment and a time")
        files, owner = _read(folder)
        if self._check_owner and owner != student:
            raise UnreadableNotebook(f"it is not {student}'s own")
        if _LAST_FILE not in files:  # It is still on its way.
            return False
        # Once for all, since the folder stays the student's.
        self._keep(folder.name, files, name, student)
        return True

    def upload(self, name: str, student: str, content: bytes) -> None:
        """Take in what a student uploads for an assignment.

        The same file as the last is no new attempt: somebody pressed twice, or had no answer.
        """
        for last in self._attempts.of(student, name)[-1:]:
            with suppress(OSError):
                if (self._attempts.files_of(last) / f"{name}.ipynb").read_bytes() == content:
                    return
        when = f"{now_utc():%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        files = {f"{name}.ipynb": content, _TIME: when}
        self._keep(f"upload {secrets.token_hex(16)}", files, name, student)

    def _keep(self, key: str, files: dict[str, bytes], name: str, student: str) -> None:
        folder = self._attempts.keep(files)
        submitted = submitted_at(self._attempts.root / "files" / folder)
        before = self._attempts.of(student, name)
        state, not_before = admitted(self._rules, before, datetime.now().astimezone())
        self._attempts.add(key, folder, name, student, submitted, state, not_before)
        self._seen.add(key)
        digest = stamp_of(b"".join(files.values()))
        _log.info("%s of %s: taken in, %s, files %s", name, student, state, digest)


class _Onward(logging.Handler):
    """Hands what is news on to the module's own logger."""

    def emit(self, record: logging.LogRecord) -> None:
        _log.warning("%s", record.getMessage())


def _time_in_name(name: str) -> tuple[str, str]:
    parts = name.split("+")
    return (parts[2] if len(parts) > 2 else "", name)


def _read(folder: Path) -> tuple[dict[str, bytes], str]:
    """The plain files of a submission, by name, and the account that the folder belongs to.

    Both are of one descriptor: at a path, another folder may be at any moment.
    """
    opened = open_folder(folder, levels=1)
    try:
        names = sorted(os.listdir(opened), key=lambda name: (name not in RECEIPTS, name))
        files: dict[str, bytes] = {}
        for name in names[: MOST_FILES + len(RECEIPTS)]:
            try:
                files[name] = read_inside(opened, name, folder / name)
            except UnreadableNotebook as error:
                if name.lower().endswith(".ipynb") or name in RECEIPTS:
                    raise
                _log.debug("%s", error)
            if sum(map(len, files.values())) > MOST_BYTES:
                raise UnreadableNotebook("its files are over 100 MB together")
        return files, _account(os.fstat(opened).st_uid)
    finally:
        os.close(opened)


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""
