"""Finds the folders of installed packages."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from .errors import CourseError


def module_folder(name: str) -> Path:
    """Return the folder of an installed package. Raises `CourseError` if it is missing."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the part of a name before a dot is imported
        found = None
    if found is None or found.origin is None:
        raise not_installed(name)
    return Path(found.origin).resolve().parent


def not_installed(name: str) -> CourseError:
    """Return the error for a package that a course lets student code import and that is missing."""
    return CourseError(
        f"the package {name}, which course.toml lets student code import, is not installed "
        f"for {sys.executable}: install it there, or leave it out"
    )
