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


def missing_extra(error: ImportError) -> str:
    """Return the command that installs a module by an extra of the autograder; "" if none does."""
    module = (error.name or "").partition(".")[0]
    with suppress(PackageNotFoundError):
        for each in requires("oneway-autograder") or ():
            found = re.match(r"([\w.-]+).*extra == .([\w-]+)", each)
            if found and found[1].replace("-", "_") == module:
                return f"pip install ./coursecheck './autograder[{found[2]}]'"
    return ""
