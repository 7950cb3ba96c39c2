"""Builds wheels of folders that contain people's data, and reads the wheels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from autograder.publishing.contents import wheel_metadata

SECRETS = (".autograder_key", "gradebook.db", "solved.ipynb")
UNPACKED = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")


def build_wheel(project: Path, target: Path, *folders: str) -> Path:
    """Put secret files into a project's folders, build its wheel, and return the wheel's path.

    If the environment variable DIST is set, as by `make dist`, the wheel is written there.
    """
    for folder in (project, *(project / each for each in folders)):
        for secret in SECRETS:
            (folder / secret).write_text("secret")
    target = Path(os.environ.get("DIST") or target).absolute() / project.name
    shutil.rmtree(target, ignore_errors=True)
    line = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target, project]
    subprocess.run(line, check=True)
    [wheel] = target.glob("*.whl")
    return wheel


def files_in(wheel: Path) -> set[str]:
    """Return the names of a wheel's files, except its metadata and Jupyter's settings."""
    with zipfile.ZipFile(wheel) as packed:
        apart = (".dist-info/", ".data/data/etc/jupyter")
        return {name for name in packed.namelist() if not any(each in name for each in apart)}


def files_of(package: Path) -> set[str]:
    """Return the names that the files of a package have in its wheel."""
    return {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def assert_metadata(wheel: Path, project: Path) -> None:
    about = wheel_metadata(wheel)
    stated = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    named = (stated["name"], stated["version"], stated["description"], ">=3.11", "MIT")
    keys = ("Name", "Version", "Summary", "Requires-Python", "License-Expression")
    assert named == tuple(about[key] for key in keys)
