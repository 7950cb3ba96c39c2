"""Isolates errors: one student's or assignment's error does not end the run over all of them."""

from __future__ import annotations

import errno
import logging
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import CourseError, SandboxDied, SandboxUnavailable, UnreadableNotebook
from .packages import missing_extra
from .texts import fit

_log = logging.getLogger(__name__)

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MACHINE_ERRORS = (*_FULL, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
_DATABASE_ERRORS = ("OperationalError", "DatabaseError", "InterfaceError", "InternalError")


@dataclass
class IsolatedError:
    """Result of a block in which errors are isolated.

    Attributes:
        reason: the message of the error in the block, "" if it raised none.
    """

    reason: str = ""


@contextmanager
def isolated_errors(where: str) -> Iterator[IsolatedError]:
    """Catch an error in the `with` block, unless the error concerns every student.

    Yields an `IsolatedError`, whose `reason` is set at the end of the block.

    Args:
        where: the student or the assignment, for the log.
    """
    fault = IsolatedError()
    try:
        yield fault
    except Exception as error:
        if concerns_all(error):
            raise
        _log.debug("error at %s", where, exc_info=True)
        fault.reason = in_words(error)


def concerns_all(error: BaseException | None) -> bool:
    """Return whether an error concerns every student, such as a full disk, an error of the
    gradebook's database, or a missing sandbox."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _MACHINE_ERRORS:
            return True
        if isinstance(error, SandboxUnavailable) and not isinstance(error, SandboxDied):
            return True
        # Compared by name, since importing SQLAlchemy takes long and most commands do not need it.
        kind = type(error)
        if kind.__module__.startswith("sqlalchemy.") and kind.__name__ in _DATABASE_ERRORS:
            return True
        error = error.__cause__
    return False


def in_words(error: BaseException) -> str:
    """Return the message for an error: what happened, where, and what to do next.

    The text of an unforeseen error is left out, since it may be a student's.
    """
    if isinstance(error, (CourseError, SandboxUnavailable, UnreadableNotebook)):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        return fit(_system_message(error))
    if isinstance(error, ImportError) and (command := missing_extra(error)):
        return f"this needs {error.name}: run `{command}` in the clone"
    return (
        f"the autograder itself failed ({kind_and_place(error)}). Report it; with "
        "`autograder --log-level debug` the same command shows more."
    )


def kind_and_place(error: BaseException) -> str:
    """Return the error's class and the line that raised it, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _system_message(error: OSError) -> str:
    """Return the message for an error of the operating system."""
    where = f"{error.filename}: " if error.filename is not None else ""
    failed = f"{where}cannot be read or written ({error.strerror})."
    if error.errno in _FULL:
        temporary = "" if where else f", in {tempfile.gettempdir()} as well"
        return f"{failed} Make room on its disk{temporary}, and run the same command again."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{failed} Allow more open files (`ulimit -n 4096`), and run the same command again."
    return f"{failed} Set its rights or put it aside, and run the same command again."
