"""Finds the folders of installed packages."""

from __future__ import annotations

import importlib.util
import re
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from .errors import CourseError


def module_folder(name: str) -> Path:
    """Return the folder of an installed package. Raises `CourseError` if it is not installed."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # For `a.b`, find_spec imports `a`, which may fail.
        spec = None
    if spec is None or spec.origin is None:
        raise not_installed(name)
    return Path(spec.origin).resolve().parent


def not_installed(name: str) -> CourseError:
    """Return the error for a missing package that course.toml names for student code."""
    return CourseError(
        f"the package {name}, which course.toml lets student code import, is not installed "
        f"for {sys.executable}: install it there, or leave it out"
    )


def missing_extra(error: ImportError) -> str:
    """Return the pip command for the optional dependencies ("extra") that a failed import needs.

    Returns "" if the missing module belongs to no extra of this package.
    """
    module = (error.name or "").partition(".")[0]
    with suppress(PackageNotFoundError):
        for requirement in requires("oneway-autograder") or ():
            match = re.match(r"([\w.-]+).*extra == .([\w-]+)", requirement)
            if match and match[1].replace("-", "_") == module:
                return f"pip install ./autograder/coursecheck './autograder[{match[2]}]'"
    return ""
