"""Collects what students handed in, on a hub where each has a folder of their own to do so.

nbgrader's exchange tells students apart by their accounts on the machine. Here, where they have
none, the folder does it: what lies in it was handed in by its student, whatever name it bears.

The folder stays the student's while it is read, whose server may put a link in the place of
anything at any moment. So folders are opened once, and what is in them is opened by their
descriptors.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import UTC, datetime
from logging import Logger
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from traitlets import Unicode

from ...errors import UnreadableNotebook
from ...notebook.intake import open_folder, open_inside, read_inside, time_in

MOST_FILES = 20
"""Of a submission; the rest is left behind."""

_NEEDED = "submission_secret.txt"
_TIME = "timestamp.txt"
_SUFFIXES = (".ipynb", ".py", ".txt")


class CollectFromEach(ExchangeCollect):
    """The collecting step of `nbgrader collect` and of the formgrader's button."""

    folder = Unicode(help="The folder that holds one for each student.").tag(config=True)

    def init_src(self) -> None:
        inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        for student in sorted(Path(self.folder).iterdir()):
            try:
                take_in(student, inbound, self.log)
            except Exception as error:  # One student's files end nobody else's collecting.
                self.log.warning("%s was left behind: %s", student, error)
        super().init_src()


class Again:
    """When what was left behind is looked at again: after twice as long each time, up to a minute.

    So whoever leaves much that cannot be taken costs nobody else anything.
    """

    def __init__(self) -> None:
        self._due: dict[str, tuple[float, float]] = {}

    def is_due(self, name: str) -> bool:
        return time.monotonic() >= self._due.get(name, (0.0, 0.0))[0]

    def left(self, name: str) -> None:
        """Say that it was looked at in vain."""
        seconds = min(60.0, 2 * self._due.get(name, (0.0, 0.15))[1])
        self._due[name] = time.monotonic() + seconds, seconds


def take_in(student: Path, inbound: Path, log: Logger, again: Again | None = None) -> None:
    """Copy a student's new submissions: plain files alone, each submission whole or not at all.

    Args:
        student: the student's folder, named like the student.
        inbound: nbgrader's folder for submissions.
        log: gets a warning for what was left behind.
        again: for whoever looks again and again: one submission is taken each time, and what has
            to be left waits.
    """
    try:
        home = open_folder(student, levels=1)
    except OSError as error:
        log.warning("%s was left behind: it cannot be read (%s)", student, error.strerror)
        return
    try:
        for name in sorted(os.listdir(home)):
            path, target = student / name, inbound / name
            if not _is_submission_of(student.name, name):
                log.warning("%s does not bear its student's name and a time: left behind", path)
            elif not target.exists() and (again is None or again.is_due(name)):
                try:
                    is_taken = _copy(home, path, target)
                except UnreadableNotebook as error:
                    is_taken = False
                    log.warning("%s was left behind: %s", path, error)
                if again is not None and is_taken:
                    return
                if again is not None:
                    again.left(name)
    finally:
        os.close(home)


def _is_submission_of(student: str, name: str) -> bool:
    """Whether a folder bears a name as nbgrader gives it: at others, collecting would stop."""
    parts = name.split("+")
    return len(parts) in (3, 4) and parts[0] == student and time_in(parts[2]) is not None


def _copy(home: int, path: Path, target: Path) -> bool:
    """Copy a submission; false where it is still on its way.

    Args:
        home: the descriptor of the student's folder.
        path: of the submission, for messages.
    """
    try:
        files = _read(home, path)
    except OSError as error:
        raise UnreadableNotebook(f"it cannot be read ({error.strerror})") from error
    if _NEEDED not in files:
        return False
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as scratch:
        made = Path(scratch) / "submission"
        made.mkdir()
        for name, content in files.items():
            (made / name).write_bytes(content)
        made.rename(target)
    return True


def _read(home: int, path: Path) -> dict[str, bytes]:
    """What a submission's files hold, by name; nothing as long as its last file is missing.

    The time of submission is the student's claim, or when something in the folder was last
    changed where that is later. The kernel keeps that time, and nobody can set it.
    """
    submission = open_inside(home, path.name)
    try:
        names = [name for name in sorted(os.listdir(submission)) if name.endswith(_SUFFIXES)]
        if _NEEDED not in names:
            return {}
        kept = {_NEEDED, *names[:MOST_FILES]}
        files = {name: read_inside(submission, name, path / name) for name in kept}
        # What was read is older than what is asked now. Names that change hands change the folder.
        states = [os.stat(name, dir_fd=submission, follow_symlinks=False) for name in kept]
        changed = max(state.st_ctime for state in [*states, os.fstat(submission)])
    finally:
        os.close(submission)
    when = datetime.fromtimestamp(changed, UTC).replace(tzinfo=None)
    claimed = time_in(files.get(_TIME, b"").decode("utf-8", "replace"))
    files[_TIME] = f"{max(when, claimed or when):%Y-%m-%d %H:%M:%S.%f} UTC".encode()
    return files
