"""Writes files whole or not at all, by one program at a time."""

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
_PATIENCE = 180.0
"""Seconds that another program may take to store its marks."""


@contextmanager
def one_at_a_time(course: Path) -> Iterator[None]:
    """Keep other programs from storing in this course meanwhile. The lock ends with the process.

    Raises `CourseError` if another program keeps it for over three minutes.
    """
    until = time.monotonic() + _PATIENCE
    try:
        opened = _opened(course / LOCK)
    except OSError as error:
        raise CourseError(f"{course / LOCK} could not be made ({error.strerror}).") from error
    with opened as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise CourseError(
                        f"another program has been storing marks in {course} for minutes. End it, "
                        "and grade again."
                    ) from error
                time.sleep(0.01)
        yield


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("ab")
    except PermissionError:
        # Another instructor made it. A lock does not need the right to write.
        return path.open("rb")


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """Write a file so that others see the old content or the new, also after a power failure.

    After such a failure, the reader has to find out which of the two it is. The temporary file of a
    killed program is overwritten: call this under `one_at_a_time`.

    Raises `CourseError` if the disk is full.
    """
    aside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
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
    """Replace a folder by one with these files. Call this under `one_at_a_time`.

    If the program is killed meanwhile, all data is still there: at one moment alone there is
    neither the old folder nor the new one, and then the old one is at `aside`.

    Args:
        files: contents by names in the folder, with `/` between parts.
        aside: the path to move the old folder to; None to remove it.

    Raises `CourseError` if the disk is full.
    """
    fresh = folder.with_name(f".{folder.name}.new")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for inner, content in files.items():
            path = fresh / inner
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
        raise CourseError(
            f"{folder} could not be written ({error.strerror}). Make room or set the rights, and "
            "run the same command again."
        ) from error
