"""Writes the package's log to stderr, one line for each record.

Records name submissions, exercises, tests, misconceptions and processes, and the time that a step
took, so that one can find out how a mark came about. They contain no number that a hidden test
draws, and no text by a student.
"""

from __future__ import annotations

import logging
import sys

from .texts import visible

LEVELS = ("debug", "info", "warning")
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class _OneLine(logging.Formatter):
    """Formats a record in one line: a file name may contain line breaks and ANSI escapes, so they
    are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class _Stderr(logging.Handler):
    """Writes each record to what `sys.stderr` is at that time: a progress bar replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


def _logger() -> logging.Logger:
    """Return the parent logger of the package's modules."""
    return logging.getLogger(__package__)


def set_level(level: str) -> None:
    """Set the least level that is logged, one of `LEVELS`."""
    logger = _logger()
    logger.setLevel(level.upper())
    if not any(isinstance(handler, _Stderr) for handler in logger.handlers):
        handler = _Stderr()
        handler.setFormatter(_OneLine(_LINE))
        logger.addHandler(handler)


def level() -> str:
    """Return this process's level, which a process that it starts passes to `set_level`."""
    return logging.getLevelName(_logger().getEffectiveLevel()).lower()
