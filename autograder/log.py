"""Sends what the package's modules log to stderr, a line each, so that one mark can be followed.

A line names submissions, exercises, tests, misconceptions and processes, and says how long things
took. It never holds a number that a hidden test draws, nor a student's text.
"""

from __future__ import annotations

import logging
import sys

from .texts import visible

LEVELS = ("debug", "info", "warning")
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class _OneLine(logging.Formatter):
    """The name of a file or a folder may hold line breaks and what a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class _Stderr(logging.Handler):
    """Writes to what `sys.stderr` is at the moment: a progress bar replaces it meanwhile."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


def _logger() -> logging.Logger:
    """The one above those of all modules of this package."""
    return logging.getLogger(__package__)


def set_level(level: str) -> None:
    """Log from this level on, one of `LEVELS`."""
    logger = _logger()
    logger.setLevel(level.upper())
    if not any(isinstance(handler, _Stderr) for handler in logger.handlers):
        handler = _Stderr()
        handler.setFormatter(_OneLine(_LINE))
        logger.addHandler(handler)


def level() -> str:
    """The level from which on is logged here, for a process that is to do the same."""
    return logging.getLevelName(_logger().getEffectiveLevel()).lower()
