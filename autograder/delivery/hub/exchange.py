"""Collects submissions on a hub where each student has a folder of their own for them.

nbgrader's exchange distinguishes students by their accounts on the machine. Here, without accounts,
the folder does it: a submission in it is its student's, whatever name it has.

The folder stays the student's while it is read, whose server may put a link in the place of any
file at any moment. So folders are opened once, and the files in them are opened by their
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
"""Greatest number of files of a submission; the rest is left behind."""

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
            except Exception as error:
                # An error in one student's files must not end collecting from the others.
                self.log.warning("%s was left behind: %s", student, error)
        super().init_src()


class Again:
    """Schedules the next try of each submission that could not be taken.

    The wait doubles after each try, up to a minute. This way, a student's many invalid
    submissions do not delay the other students'.
    """

    def __init__(self) -> None:
        self._due: dict[str, tuple[float, float]] = {}

    def is_due(self, name: str) -> bool:
        return time.monotonic() >= self._due.get(name, (0.0, 0.0))[0]

    def left(self, name: str) -> None:
        """Record that a submission could not be taken."""
        seconds = min(60.0, 2 * self._due.get(name, (0.0, 0.15))[1])
        self._due[name] = time.monotonic() + seconds, seconds


def take_in(student: Path, inbound: Path, log: Logger, again: Again | None = None) -> None:
    """Copy a student's new submissions: plain files alone, each submission whole or not at all.

    Args:
        student: the student's folder, named like the student.
        inbound: nbgrader's folder for submissions.
        log: gets a warning for each submission that could not be taken.
        again: for repeated calls: each call takes one submission, and tries one that could not be
            taken again after a wait.
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
    """Return whether a folder has a name in nbgrader's form: nbgrader stops at any other."""
    parts = name.split("+")
    return len(parts) in (3, 4) and parts[0] == student and time_in(parts[2]) is not None


def _copy(home: int, path: Path, target: Path) -> bool:
    """Copy a submission; false if it is still being written.

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
    """Return the contents of a submission's files, by name; empty until its last file is there.

    The time of submission is the student's claim, or the last change of a file in the folder if
    that is later. The kernel keeps that time, and it cannot be set.
    """
    submission = open_inside(home, path.name)
    try:
        names = [name for name in sorted(os.listdir(submission)) if name.endswith(_SUFFIXES)]
        if _NEEDED not in names:
            return {}
        kept = {_NEEDED, *names[:MOST_FILES]}
        files = {name: read_inside(submission, name, path / name) for name in kept}
        # The files were read before their times. Replaced files change the folder's time.
        states = [os.stat(name, dir_fd=submission, follow_symlinks=False) for name in kept]
        changed = max(state.st_ctime for state in [*states, os.fstat(submission)])
    finally:
        os.close(submission)
    when = datetime.fromtimestamp(changed, UTC).replace(tzinfo=None)
    claimed = time_in(files.get(_TIME, b"").decode("utf-8", "replace"))
    files[_TIME] = f"{max(when, claimed or when):%Y-%m-%d %H:%M:%S.%f} UTC".encode()
    return files
