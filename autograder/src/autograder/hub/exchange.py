"""Collects submissions on a hub, from one inbound folder for each student.

nbgrader's exchange tells students apart by their Unix accounts. On the hub, all students share one
account, and the inbound folder identifies the student: a submission in it with another student's
name is not accepted.

The student's server can change the folder while it is read, and replace any file by a symbolic
link. So each folder is opened once, and its files are opened relative to the folder's file
descriptor (openat).
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

from ..errors import UnreadableNotebook
from ..notebook.intake import RECEIPTS, open_at, open_folder, parse_time, read_at

MOST_FILES = 20
"""Greatest number of files of a submission; further files are not copied."""

MOST_BYTES = 1_000_000_000
"""Greatest total size in bytes of one student's stored submissions."""

_TIME, _NEEDED = RECEIPTS
_SUFFIXES = (".ipynb", ".py", ".txt")


class CollectFromEach(ExchangeCollect):
    """nbgrader's collector for a hub: first copies students' submissions to the exchange.

    It runs at `nbgrader collect` and at the formgrader's button *Collect*.
    """

    folder = Unicode(help="The folder that holds one for each student.").tag(config=True)

    def init_src(self) -> None:
        inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        for student in sorted(Path(self.folder).iterdir()):
            try:
                copy_new_submissions(student, inbound, self.log)
            except Exception as error:
                # After an error in one student's files, the other students' files are collected.
                self.log.warning("%s was left behind: %s", student, error)
        super().init_src()


class RetrySchedule:
    """Exponential backoff, up to a minute, for submissions that could not be copied.

    This keeps a student's many invalid submissions from delaying those of other students.
    """

    def __init__(self) -> None:
        self._due: dict[str, tuple[float, float]] = {}

    def is_due(self, name: str) -> bool:
        return time.monotonic() >= self._due.get(name, (0.0, 0.0))[0]

    def record_failure(self, name: str) -> None:
        """Record that a submission could not be copied, and double the time until the next try."""
        seconds = min(60.0, 2 * self._due.get(name, (0.0, 0.15))[1])
        self._due[name] = time.monotonic() + seconds, seconds


def copy_new_submissions(
    student: Path, inbound: Path, log: Logger, retries: RetrySchedule | None = None
) -> None:
    """Copy a student's new submissions to nbgrader's inbound folder, each atomically.

    Only regular files are copied.

    Args:
        student: the path of the student's folder, whose name is the student's id.
        inbound: the path of nbgrader's folder for submissions.
        log: receives a warning for each submission that could not be copied.
        retries: for a service that calls this function again and again: each call copies at most
            one submission, and this schedule says when a failed one is retried. By default all new
            submissions are copied.
    """
    try:
        descriptor = open_folder(student, levels=1)
    except OSError as error:
        log.warning("%s was left behind: it cannot be read (%s)", student, error.strerror)
        return
    try:
        for name in sorted(os.listdir(descriptor)):
            path, target = student / name, inbound / name
            if not _is_submission_of(student.name, name):
                log.warning("%s does not bear its student's name and a time: left behind", path)
            elif not target.exists() and (retries is None or retries.is_due(name)):
                try:
                    is_copied = _copy(descriptor, path, target)
                except UnreadableNotebook as error:
                    is_copied = False
                    log.warning("%s was left behind: %s", path, error)
                if retries is not None and is_copied:
                    return
                if retries is not None:
                    retries.record_failure(name)
    finally:
        os.close(descriptor)


def _is_submission_of(student: str, name: str) -> bool:
    """Return whether a folder's name has the form `STUDENT+ASSIGNMENT+TIME` with this student.

    nbgrader fails at other names.
    """
    parts = name.split("+")
    return len(parts) in (3, 4) and parts[0] == student and parse_time(parts[2]) is not None


def room(kept: int) -> int:
    """Return the greatest size in bytes of a student's next submission.

    That is a tenth of `MOST_BYTES`, or half of what is left of `MOST_BYTES` if that is less. So
    room for a small notebook is always left.

    Args:
        kept: the total size in bytes of the student's stored submissions.
    """
    return min(MOST_BYTES // 10, max(0, MOST_BYTES - kept) // 2)


def read_files(descriptor: int, names: list[str], folder: Path, most: int) -> dict[str, bytes]:
    """Return the contents of a submission's regular files, by name.

    Files other than notebooks and nbgrader's receipts are left out if they cannot be read or exceed
    the size.

    Args:
        descriptor: the file descriptor of the submission's folder. Files are opened relative to it,
            since the folder's path may lead elsewhere at any moment.
        names: the names of the files in the folder.
        folder: the folder's path, for messages.
        most: the greatest total size of the files in bytes.

    Raises `UnreadableNotebook` if a notebook or a receipt cannot be read or exceeds the size.
    """
    needed = [name for name in names if name in RECEIPTS or name.lower().endswith(".ipynb")]
    needed.sort(key=lambda name: (name not in RECEIPTS, name))
    others = sorted({*names} - {*needed})
    files: dict[str, bytes] = {}
    for name in [*needed, *others][: MOST_FILES + len(RECEIPTS)]:
        try:
            content = read_at(descriptor, name, folder / name)
            if len(content) > most:
                raise UnreadableNotebook(
                    "there is no room for it beside the student's earlier submissions: its outputs "
                    "can be cleared, and it can be handed in again"
                )
            files[name] = content
            most -= len(content)
        except UnreadableNotebook:
            if name in needed:
                raise
    return files


def _copy(home: int, path: Path, target: Path) -> bool:
    """Copy a submission to `target`; return False if its last file has not been written yet.

    Args:
        home: the file descriptor of the student's folder.
        path: the submission's path, for the student's id, the submission's name and messages.
        target: the path of the copy in nbgrader's inbound folder.
    """
    try:
        files = _read(home, path, room(_kept(path.parent.name, target.parent)))
    except OSError as error:
        raise UnreadableNotebook(f"it cannot be read ({error.strerror})") from error
    if _NEEDED not in files:
        return False
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as scratch:
        copy = Path(scratch) / "submission"
        copy.mkdir()
        for name, content in files.items():
            (copy / name).write_bytes(content)
        copy.rename(target)
    return True


def _kept(student: str, inbound: Path) -> int:
    """Return the total size in bytes of a student's submissions in the inbound folder."""
    earlier = [each for each in inbound.iterdir() if each.name.startswith(f"{student}+")]
    return sum(path.stat().st_size for each in earlier for path in each.iterdir())


def _read(home: int, path: Path, most: int) -> dict[str, bytes]:
    """Return the contents of a submission's files, by name; {} until the last file is written.

    The content of `timestamp.txt` is replaced by the later one of two times: the one in the file,
    and the latest ctime of the folder and its files. Unlike mtime, a program cannot set ctime.

    Args:
        home: the file descriptor of the student's folder.
        path: the submission's path, for its name and for messages.
        most: the greatest total size of the files in bytes.
    """
    submission = open_at(home, path.name)
    try:
        names = [name for name in sorted(os.listdir(submission)) if name.endswith(_SUFFIXES)]
        if _NEEDED not in names:
            return {}
        files = read_files(submission, names, path, most)
        # Stat after reading, so that a change during the reading counts. Replacing a file changes
        # the folder's ctime.
        states = [os.stat(name, dir_fd=submission, follow_symlinks=False) for name in files]
        changed = max(state.st_ctime for state in [*states, os.fstat(submission)])
    finally:
        os.close(submission)
    when = datetime.fromtimestamp(changed, UTC).replace(tzinfo=None)
    claimed = parse_time(files.get(_TIME, b"").decode("utf-8", "replace"))
    files[_TIME] = f"{max(when, claimed or when):%Y-%m-%d %H:%M:%S.%f} UTC".encode()
    return files
