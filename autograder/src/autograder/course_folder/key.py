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


def course_key(folder: Path) -> bytes:
    """Return the course's key; the first call makes its file, which only the owner can read.

    The hidden tests' numbers follow from the key, the versions and the submission, so that a second
    grading draws the same numbers; without the key nobody can predict them.

    Raises `CourseError` if the file holds no key, or one that is too short.
    """
    path = folder / NAME
    if not path.exists():
        # Making a link is atomic and fails if the name exists: two processes that do this at the
        # same time end up with the same key.
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=NAME) as file:
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
