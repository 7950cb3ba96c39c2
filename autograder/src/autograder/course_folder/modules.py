"""Imports Python modules from a course's `grading_tests/`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import CourseError
from .course import Course


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Make the modules in a folder of a course importable inside the `with` block only.

    At the end these modules are removed from `sys.modules`, and modules of the same names that were
    there before are put back: one process grades several courses, and each may have, for example, a
    `conftest`.
    """
    names = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            paths = [getattr(sys.modules[name], "__file__", None)]
            # A namespace package has no file.
            paths += getattr(sys.modules[name], "__path__", ())
            if any(path and Path(path).is_relative_to(folder) for path in paths):
                del sys.modules[name]
        sys.modules.update(others)


def course_object(course: Course, reference: str) -> Any:
    """Return the object in `grading_tests/` that a reference names, such as "drawing:draw": module
    and name.

    Raises `CourseError` if the module cannot be imported, or has no such name.
    """
    folder = course.grading_tests.resolve()
    module, _, name = reference.partition(":")
    paths = sorted([*folder.glob("*.py"), *folder.glob("*/*.py")])
    stamps = tuple(path.stat().st_mtime_ns for path in paths)
    try:
        return getattr(_module(folder, module, stamps), name)
    except Exception as error:
        raise CourseError(
            f"{folder}: course.toml names {reference}, which cannot be had "
            f"({type(error).__name__}: {error}). Correct it there, or write it."
        ) from error


@lru_cache(maxsize=32)
def _module(folder: Path, name: str, stamps: tuple[int, ...]) -> Any:
    with importable(folder):
        return importlib.import_module(name)
