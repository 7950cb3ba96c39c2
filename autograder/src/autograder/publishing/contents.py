"""Copies the files of a course that students get: release notebooks, data, check tables, wheels."""

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
from importlib.metadata import metadata
from pathlib import Path

from ..course_folder.course import Course
from ..course_folder.own_notebooks import parse_notebook, read_cells, release_command
from ..course_folder.release import current_release, files_to_give
from ..errors import CourseError
from ..judging.check_tables import require_current_table
from ..packages import module_folder
from ..texts import command

EXTRA = "extra"
_EPOCH = 315_532_800  # 1980-01-01 in seconds since 1970: the first day that a zip file can hold

_CHECKS = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "coursecheck"
version = "{Version}"
description = "{Summary}"
requires-python = ">=3.11"
license = "MIT"

[tool.setuptools]
packages = ["coursecheck"]
package-data = {{ coursecheck = ["py.typed"] }}
"""
"""The settings by which the wheel of the installed `coursecheck` is built."""


def released(course: Course, names: Sequence[str]) -> list[str]:
    """Return the assignments to publish: `names` or, if that is empty, all released assignments.

    All released assignments are sorted as in course.toml; those that course.toml does not list come
    last, sorted by name.

    Raises `CourseError` if an assignment is not released, or a release cannot be read.
    """
    available = sorted({path.parent.name for path in course.release.glob("*/*.ipynb")})
    ordered = [name for name, _ in course.settings.assignments if name in available]
    chosen = list(names) or list(dict.fromkeys([*ordered, *available]))
    for name in chosen:
        if name not in available:
            raise CourseError(f"{name!r} is not released: run {release_command(name)} first")
        read_cells(*(course.release / name).glob("*.ipynb"))
    return chosen


def copy_assignment(course: Course, name: str, target: Path) -> None:
    """Copy an assignment's release to the folder `target`, with its data and its check table.

    Raises `CourseError` if the release is not the one that its source gives, if it holds hidden
    parts, or if a file is missing or outdated.
    """
    _require_released(course, course.release / name)
    _copy(current_release(course, name), target)
    _copy_beside(course, name, target)
    if course.has_hidden_tests(name):
        require_current_table(course.assignment(name))


def copy_extra(course: Course, chosen: Sequence[str], target: Path) -> list[str]:
    """Copy the extra notebooks if all assignments are chosen; return the copies' paths in `target`.

    Extra notebooks hold answers, so they are only published together with all assignments.

    Args:
        chosen: the assignments that are published.

    Raises `CourseError` if an extra notebook is missing or has outputs.
    """
    if not set(course.assignment_names()) <= set(chosen):
        return []
    copied = []
    for name in course.settings.extra:
        path = course.package_home / name
        if not path.is_file():
            raise CourseError(f"{path} is missing, which course.toml names as an extra notebook")
        if any(
            cell.get("outputs") or cell.get("execution_count")
            for cell in parse_notebook(path).cells
        ):
            raise CourseError(
                f"{path} was run where it lies, and what it shows would go out: undo what was "
                "changed in it, or clear all outputs in JupyterLab and save it"
            )
        _put(path, target / EXTRA / path.name)
        copied.append(f"{EXTRA}/{path.name}")
    return copied


def build_wheels(course: Course, target: Path) -> list[Path]:
    """Build the wheels that students install, in the folder `target`; return their paths.

    These are the wheel of the visible checks (`coursecheck`) and that of the course's package, if
    it has one.

    Raises `CourseError` if a wheel cannot be built, or a file for it is missing.
    """
    wheels = [_checks_wheel(target)]
    if names := course.settings.wheel:
        wheels.append(_wheel(course.package_home, names, target))
    return wheels


def wheel_metadata(wheel: Path) -> Message:
    """Return a wheel's core metadata (`METADATA`): name, version, requirements."""
    with zipfile.ZipFile(wheel) as packed:
        [name] = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(packed.read(name))


def _put(path: Path, target: Path) -> None:
    """Copy a file, readable by everybody, and create its folder if needed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    target.chmod(0o644)


def _copy(source: Path, target: Path) -> None:
    for path in files_to_give(source):
        _put(path, target / path.relative_to(source))


def _copy_beside(course: Course, name: str, target: Path) -> None:
    """Copy the data files and the check table that a notebook needs, to the same places relative to
    its folder. Files that course.toml names by their whole path are left out."""
    settings = course.settings
    data = ((place, Path(path)) for of, place, path in settings.visible.data if of == name)
    files = {place: path for place, path in data if not Path(place).is_absolute()}
    if not settings.tables and course.has_hidden_tests(name):
        table = course.table_of(name)
        files[str(table.relative_to(course.source / name))] = table
    for place, path in files.items():
        if not path.is_file():
            raise CourseError(
                f"{path} is missing, which students need beside the notebook: put it there, or "
                f"make it with {command('autograder', 'tables', name)} if it is the table of the "
                "checks"
            )
        if place.startswith("../../"):
            raise CourseError(
                f"{name} reads {place}, which is too far above its folder to be published: put it "
                "into a folder in source/, and name it by one ../ in the notebook and course.toml"
            )
        _put(path, target / place)


def _require_released(course: Course, folder: Path) -> None:
    """Raise `CourseError` if a release has a delimiter that `nbgrader generate_assignment` removes.

    Args:
        folder: the folder of the release.
    """
    delimiters = course.nbgrader
    removed = (delimiters.solution[0], *delimiters.hidden_tests, *delimiters.mark_scheme)
    for path in files_to_give(folder):
        text = path.read_text("utf-8") if path.suffix == ".ipynb" else ""
        for delimiter in removed:
            if delimiter in text:
                raise CourseError(
                    f"{path} holds {delimiter!r}, which students must not have: run "
                    f"{release_command(folder.name)}. Nothing was published."
                )


def _checks_wheel(target: Path) -> Path:
    """Build the wheel of `coursecheck`, the visible checks of every course, from the package as it
    is installed."""
    about = metadata("coursecheck")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _copy(module_folder("coursecheck"), folder / "coursecheck")
        text = _CHECKS.format(**{key: about[key] for key in ("Version", "Summary")})
        (folder / "pyproject.toml").write_text(text, "utf-8")
        return _wheel(folder, ["pyproject.toml", "coursecheck"], target)


def _wheel(folder: Path, names: Sequence[str], target: Path) -> Path:
    """Build a wheel in the folder `target`; return the wheel's path.

    The build needs no network, since the build backend is installed with the autograder. It is
    reproducible: from the same files it makes the same bytes.

    Args:
        folder: the folder of the package.
        names: the files and folders, in `folder`, from which the wheel is built.
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
