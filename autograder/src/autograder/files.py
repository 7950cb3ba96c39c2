"""Writes files and folders atomically, and locks a course against concurrent writers."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import CourseError

LOCK = ".autograder_lock"
_LOCK_TIMEOUT = 180.0
"""Longest time in seconds to wait while another program holds the lock."""


@contextmanager
def course_lock(folder: Path) -> Iterator[None]:
    """Hold a course folder's lock in the `with` block, so that one program at a time stores marks
    and files.

    The kernel releases the lock if the process dies.

    Raises `CourseError` if another program holds it for over three minutes.
    """
    until = time.monotonic() + _LOCK_TIMEOUT
    try:
        opened = _open_lock(folder / LOCK)
    except OSError as error:
        raise CourseError(f"{folder / LOCK} could not be made ({error.strerror}).") from error
    with opened as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise CourseError(
                        f"another program has been storing marks in {folder} for minutes. End it, "
                        "and grade again."
                    ) from error
                time.sleep(0.01)
        yield


def _open_lock(path: Path) -> BinaryIO:
    try:
        return path.open("ab")
    except PermissionError:
        # Another instructor created it. flock(2) needs no permission to write.
        return path.open("rb")


def write_atomic(path: Path, content: bytes, mode: int) -> None:
    """Replace a file's content atomically: at any time, and after a power failure, readers see
    either the old content or the new.

    The temporary file has a fixed name, so that one left by a killed program is overwritten.
    Therefore call this function only under `course_lock`.

    Args:
        mode: the file's permission bits.

    Raises `CourseError` if the file cannot be written, as on a full disk.
    """
    aside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            # Without fsync, a power failure could leave an empty file under the final name.
            os.fsync(file.fileno())
        aside.chmod(mode)
        os.replace(aside, path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise CourseError(
            f"{path} could not be written ({error.strerror}). What was graded before is stored; "
            "make room or set the rights, and grade again."
        ) from error


def replace_folder(folder: Path, files: dict[str, bytes], aside: Path | None) -> None:
    """Replace a folder by one with these files. Call this function only under `course_lock`.

    A folder cannot be replaced atomically: between two renames neither the old nor the new folder
    is at its path. If the program is killed then, the old folder is at `aside`; no data is lost.

    Args:
        files: contents by path relative to the folder.
        aside: the path to which the old folder is moved; None to remove the old folder.

    Raises `CourseError` if the files cannot be written, as on a full disk.
    """
    fresh = folder.with_name(f".{folder.name}.new")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for name, content in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if os.path.lexists(folder):
            old = aside or folder.with_name(f".{folder.name}.old")
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
        fresh.rename(folder)
        if aside is None:
            shutil.rmtree(folder.with_name(f".{folder.name}.old"), ignore_errors=True)
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise CourseError(
            f"{folder} could not be written ({error.strerror}). Make room or set the rights, and "
            "run the same command again."
        ) from error
