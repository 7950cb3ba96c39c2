"""Computes the versions on which a mark depends: digests of files, and Python's version."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ..packages import module_folder
from .assignments import test_files
from .course import Course
from .settings import NAME as SETTINGS

_PACKAGE = Path(__file__).parents[1]


@cache
def package_version() -> str:
    """Return a digest of the autograder's Python files."""
    return _digest(_PACKAGE, _PACKAGE.rglob("*.py"))


@cache
def _modules_version(names: tuple[str, ...]) -> str:
    """Return a digest of the course's packages for student code."""
    digests = []
    for name in names:
        folder = module_folder(name)
        digests.append(_digest(folder, [*folder.rglob("*.py"), *folder.rglob("*.json")]))
    return blake2b(" ".join(digests).encode(), digest_size=8).hexdigest()


def versions(course: Course, key: bytes, name: str) -> dict[str, str]:
    """Return the versions on which the marks for the assignment `name` depend.

    They are digests of files, the kind of tests, and Python's version, by their names in the record
    of gradings.

    Args:
        key: the course's key. The versions contain a digest of 4 bytes, too short to find the key.
    """
    settings = course.settings
    tests = course.tests_of(name)
    files = test_files(tests) if tests.exists() else []
    files += [*course.source_files(name), course.release_of(name)]
    files += [*course.misconception_files(name), course.root / SETTINGS]
    folder = name.partition("/")[0]
    files += [Path(path) for assignment, _, path in settings.visible.data if assignment == folder]
    return {
        "grader": package_version(),
        "course": _modules_version(settings.visible.modules),
        "tests": settings.of(name).tests,
        "assignment": _digest(course.root, [path for path in files if path.exists()]),
        "python": platform.python_version(),
        "key": blake2b(b"which key", key=key[:64], digest_size=4).hexdigest(),
    }


def _digest(folder: Path, paths: Iterable[Path]) -> str:
    """Return a digest of the files' contents and of their paths relative to the folder."""
    digest = blake2b(digest_size=8)
    for path in sorted(paths):
        content = path.read_bytes()
        # Without the length, a content that looks like the next file's path could go unnoticed.
        digest.update(f"{os.path.relpath(path, folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
