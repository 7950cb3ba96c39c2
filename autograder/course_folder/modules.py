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

FOLDER = "grading_tests"


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Make modules importable from a course's folder; remove them afterwards, for the next
    course."""
    names = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            places = [getattr(sys.modules[name], "__file__", None)]
            places += getattr(sys.modules[name], "__path__", ())
            if any(place and Path(place).is_relative_to(folder) for place in places):
                del sys.modules[name]
        sys.modules.update(others)


def course_object(course: Path, place: str) -> Any:
    """Return the object at `place`, such as "drawing:draw", in the course's `grading_tests/`.

    Raises `CourseError` if there is no such module, or no such name in it.
    """
    folder = (course / FOLDER).resolve()
    module, _, name = place.partition(":")
    paths = sorted([*folder.glob("*.py"), *folder.glob("*/*.py")])
    stamps = tuple(path.stat().st_mtime_ns for path in paths)
    try:
        return getattr(_module(folder, module, stamps), name)
    except Exception as error:
        raise CourseError(
            f"{folder}: course.toml names {place}, which cannot be had "
            f"({type(error).__name__}: {error}). Correct it there, or write it."
        ) from error


@lru_cache(maxsize=32)
def _module(folder: Path, name: str, stamps: tuple[int, ...]) -> Any:
    with importable(folder):
        return importlib.import_module(name)
