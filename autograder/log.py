"""Sends the log of the package's modules to stderr, a line each, so that one mark can be followed.

A line names submissions, exercises, tests, misconceptions and processes, and how long each step
took. It never holds a number that a hidden test draws, nor a student's text.
"""

from __future__ import annotations

import logging
import sys

from .texts import visible

LEVELS = ("debug", "info", "warning")
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class _OneLine(logging.Formatter):
    """Escapes line breaks and terminal commands, which the name of a file may hold."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class _Stderr(logging.Handler):
    """Writes to the current `sys.stderr`: a progress bar replaces it meanwhile."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


def _logger() -> logging.Logger:
    """Return the logger above those of all modules of this package."""
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
    """Return the level of the log here, for another process."""
    return logging.getLevelName(_logger().getEffectiveLevel()).lower()
