"""The secret key from which the hidden tests' numbers are drawn."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from ..errors import CourseError

NAME = ".autograder_key"
_LEAST = 16  # bytes: with fewer, the hidden tests' numbers could be guessed


def course_key(course: Path) -> bytes:
    """Return the course's key, made on first use and readable by its owner alone.

    With the key, the versions and a submission, every number of a grading can be drawn again;
    without it none can be predicted.

    Raises `CourseError` if the file holds no key.
    """
    path = course / NAME
    if not path.exists():
        # Written aside and linked into place: another process sees no key or the whole key.
        with tempfile.NamedTemporaryFile("w", dir=course, prefix=NAME) as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            with suppress(FileExistsError):
                os.link(file.name, path)
    try:
        key = bytes.fromhex(path.read_text().strip())
    except ValueError:
        key = b""
    if len(key) < _LEAST:
        raise CourseError(
            f"{path} holds no key. Put back the file that was kept with the gradebook; or delete "
            "it, and a new one is made, with other hidden numbers."
        )
    return key
