"""Computes the versions that a mark depends on, each a short digest or a version number."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ..packages import module_folder
from .assignments import misconception_files, place_of, test_files
from .own_notebooks import source_files
from .settings import NAME as SETTINGS
from .settings import load_settings

_PACKAGE = Path(__file__).parents[1]


@cache
def package_version() -> str:
    """Return a digest of this package's Python files: equal digests give equal marks."""
    return _digest(_PACKAGE, _PACKAGE.rglob("*.py"))


@cache
def _modules_version(names: tuple[str, ...]) -> str:
    """Return a digest of the packages for student code."""
    digests = []
    for name in names:
        folder = module_folder(name)
        digests.append(_digest(folder, [*folder.rglob("*.py"), *folder.rglob("*.json")]))
    return blake2b(" ".join(digests).encode(), digest_size=8).hexdigest()


def versions(course: Path, key: bytes, name: str) -> dict[str, str]:
    """Return the versions that the marks for the assignment `name` depend on.

    Args:
        key: the course's key, of which the result holds a digest that does not give it away.
    """
    settings = load_settings(course)
    tests = course / "grading_tests" / f"test_{name}.py"
    files = test_files(tests) if tests.exists() else []
    place = place_of(course, name)
    files += [*source_files(course, place.inside(course / "source"))]
    files += [place.inside(course / "release")]
    files += [*misconception_files(course, name), course / SETTINGS]
    files += [Path(path) for of, _, path in settings.visible.data if of == name.partition("/")[0]]
    return {
        "grader": package_version(),
        "course": _modules_version(settings.visible.modules),
        "tests": settings.of(name).tests,
        "assignment": _digest(course, [path for path in files if path.exists()]),
        "python": platform.python_version(),
        "key": blake2b(b"which key", key=key[:64], digest_size=4).hexdigest(),
    }


def _digest(folder: Path, paths: Iterable[Path]) -> str:
    digest = blake2b(digest_size=8)
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{os.path.relpath(path, folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
