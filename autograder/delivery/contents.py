"""Copies the students' part of a course: its release notebooks and its wheels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from ..course_folder.assignments import assignment_names, has_hidden_tests
from ..course_folder.nbgrader_settings import nbgrader_settings
from ..course_folder.own_notebooks import read_cells, release_command
from ..course_folder.settings import Settings, load_settings
from ..errors import CourseError
from ..packages import module_folder
from ..texts import command

EXTRA = "extra"
_EPOCH = 315_532_800  # 1980-01-01, the first day that a zip file can hold


def released(course: Path, names: Sequence[str]) -> list[str]:
    """Return the assignments to give out: those named, or all that are released.

    The latter are in the order of the tables in course.toml; others come last, by name.

    Raises `CourseError` if one of them is not released, or its release cannot be read.
    """
    folders = {path.parent.name for path in (course / "release").glob("*/*.ipynb")}
    there = sorted(folders - {EXTRA})
    ordered = [name for name, _ in load_settings(course).assignments if name in there]
    chosen = list(names) or list(dict.fromkeys([*ordered, *there]))
    for name in chosen:
        if name not in there:
            raise CourseError(f"{name!r} is not released: run {release_command(name)} first")
        for path in (course / "release" / name).glob("*.ipynb"):
            read_cells(path, path.stat().st_mtime_ns)
    return chosen


def copy_assignment(course: Path, settings: Settings, name: str, target: Path) -> None:
    """Copy a release to `target`, with its data and its table of checks.

    Raises `CourseError` if a file is missing, or the release holds hidden parts.
    """
    _copy(course / "release" / name, target)
    _copy_beside(course, settings, name, target)
    _require_released(course, target)


def copy_extra(course: Path, settings: Settings, chosen: Sequence[str], target: Path) -> list[str]:
    """Copy the extra notebooks, and return their paths in `target`.

    They build on all assignments and give their answers away, so they come out with the last one.

    Raises `CourseError` if one is missing.
    """
    if not set(assignment_names(course)) <= set(chosen):
        return []
    copied = []
    for name in settings.extra:
        path = settings.package_home(course) / name
        if not path.is_file():
            raise CourseError(f"{path} is missing, which course.toml names as an extra notebook")
        _put(path, target / EXTRA / path.name)
        copied.append(f"{EXTRA}/{path.name}")
    return copied


def build_wheels(course: Path, settings: Settings, target: Path) -> list[Path]:
    """Build the wheels for students in `target`: the visible checks, and the course's package.

    Raises `CourseError` if a wheel cannot be built, or a file that it is made of is missing.
    """
    wheels = [_checks_wheel(target)]
    if settings.wheel:
        wheels.append(_wheel(settings.package_home(course), settings.wheel, target))
    return wheels


def wheel_metadata(wheel: Path) -> Message:
    """Return a wheel's metadata: its name, its version, its requirements."""
    with zipfile.ZipFile(wheel) as packed:
        [name] = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(packed.read(name))


def _put(path: Path, target: Path) -> None:
    """Copy a file, readable by everybody, into a folder that is made if it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    target.chmod(0o644)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder without the files of editors and Python, and without links' targets."""
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
            continue
        if path.is_file() and not path.is_symlink():
            _put(path, target / inside)


def _copy_beside(course: Path, settings: Settings, name: str, target: Path) -> None:
    """Copy the files that a notebook needs beside it, data and table, also if the release lacks
    them."""
    files = [Path(path) for of, _, path in settings.visible.data if of == name]
    if not settings.tables and has_hidden_tests(course, name):
        files.append(settings.table_of(course, name))
    for path in files:
        if not path.is_file():
            raise CourseError(
                f"{path} is missing, which students need beside the notebook: put it there, or "
                f"make it with {command('autograder', 'tables', name)} if it is the table of the "
                "checks"
            )
        _put(path, target / path.relative_to(course / "source" / name))


def _require_released(course: Path, folder: Path) -> None:
    """Raise `CourseError` for a mark that `nbgrader generate_assignment` removes."""
    marks = nbgrader_settings(course)
    removed = (marks.solution[0], *marks.hidden_tests, *marks.mark_scheme)
    for path in folder.rglob("*.ipynb"):
        text = path.read_text("utf-8")
        for mark in removed:
            if mark in text:
                raise CourseError(
                    f"release/{path.parent.name}/{path.name} holds {mark!r}, which students must "
                    f"not have: run {release_command(path.parent.name)}. "
                    "Nothing was published."
                )


def _checks_wheel(target: Path) -> Path:
    """Build the wheel of the visible checks, which every course's students need."""
    folder = module_folder("coursecheck")
    if not (folder / "pyproject.toml").is_file():
        raise CourseError(
            "`coursecheck` was not installed from a clone, so that its wheel cannot be built: "
            "publish from the environment that `make install` makes in a clone"
        )
    names = sorted(
        path.name for path in folder.iterdir() if path.suffix in (".py", ".toml", ".typed")
    )
    return _wheel(folder, names, target)


def _wheel(folder: Path, names: Sequence[str], target: Path) -> Path:
    """Build a wheel of these files and folders in `folder`.

    No file is fetched: the tools that build it are installed with the autograder.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "source"
        for name in names:
            path = folder / name
            if path.is_dir():
                _copy(path, copy / name)
            elif path.is_file():
                _put(path, copy / name)
            else:
                raise CourseError(f"{path} is missing, which course.toml names for the wheel")
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", scratch]
        done = subprocess.run(
            [*command, str(copy)],
            capture_output=True,
            text=True,
            cwd=scratch,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(_EPOCH)},
        )
        if done.returncode != 0:
            raise CourseError(
                f"the wheel of {folder} could not be built:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        [wheel] = Path(scratch).glob("*.whl")
        return Path(shutil.copyfile(wheel, target / wheel.name))
