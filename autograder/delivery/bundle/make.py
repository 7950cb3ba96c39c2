"""Makes the student's bundle: a folder and a zip of it, the same bytes from the same course."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from ...course_folder.assignments import is_ordinary, read_cells
from ...course_folder.settings import Settings, load_settings
from ...errors import CourseError
from ...packages import module_folder
from ...pages.templates import templates
from ..lesson.site import build

LESSON = "lesson"  # notebooks lead to ../lesson/

# What `nbgrader generate_assignment` takes out. Where it is left, the release is not one.
_INSTRUCTORS_ONLY = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
_EPOCH = 315_532_800  # 1980-01-01, the first day that a zip file can tell


@dataclass(frozen=True)
class Bundle:
    """Where the bundle is."""

    folder: Path
    archive: Path


def publish(course: Path, names: Sequence[str], output: Path, link: str | None = None) -> Bundle:
    """Make the bundle, in place of an earlier one.

    Args:
        course: the course folder, with the release notebooks in it.
        names: the assignments to put in; all that are released if empty.
        output: the folder to put the bundle's folder and zip into.
        link: a link to the course on a hub, for the start page.

    Raises:
        CourseError: an assignment is not released, a release is not whole or holds what students
            must not have, the wheel cannot be built, or `output` holds something else under the
            bundle's name.
    """
    released = sorted(path.parent.name for path in (course / "release").glob("*/*.ipynb"))
    chosen = list(names) or released
    for name in chosen:
        if name not in released:
            raise CourseError(
                f"{name!r} is not released: run `nbgrader generate_assignment {name} --force` first"
            )
        for path in (course / "release" / name).glob("*.ipynb"):
            read_cells(path, path.stat().st_mtime_ns)
    settings = load_settings(course)
    name_of_folder = f"{settings.id}-course"
    folder = output / name_of_folder
    if folder.exists() and not (folder / "START.html").is_file():
        raise CourseError(f"{folder} is there and is not a bundle: name another --output")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".bundle-") as scratch:
        made = Path(scratch) / name_of_folder
        made.mkdir()
        for name in chosen:
            _copy(course / "release" / name, made / name)
            _copy_beside(course, settings, name, made / name)
            _require_released(made / name)
        wheels = [_checks_wheel(made)]
        if settings.wheel:
            wheels.append(_wheel(settings.package_home(course), settings.wheel, made))
        if settings.lesson.folder:
            build(course, made / LESSON, chosen)
        lines = [f"./{wheel}\n" for wheel in wheels]
        if not settings.wheel:
            lines += ["jupyterlab\n", *(f"{each}\n" for each in settings.visible.packages)]
        (made / "requirements.txt").write_text("".join(lines), "utf-8")
        # What services such as Binder read beside requirements.txt.
        (made / "runtime.txt").write_text("python-3.11\n", "utf-8")
        shutil.copyfile(Path(__file__).with_name("start.py"), made / "start.py")
        start = templates(__package__).get_template("START.html")
        page = start.render(settings=settings, folder=name_of_folder, names=chosen, link=link)
        (made / "START.html").write_text(page, "utf-8")
        archive = Path(scratch) / f"{name_of_folder}.zip"
        _zip(made, archive)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(made, folder)
        os.replace(archive, output / archive.name)
    return Bundle(folder, output / f"{name_of_folder}.zip")


def nbgitpuller_link(hub: str, repository: str, branch: str, names: Sequence[str]) -> str:
    """The link that pulls the bundle from a repository into a student's account on a hub.

    Args:
        hub: the hub's address, such as https://hub.example.org.
        repository: the address of a Git repository that holds what is in the bundle's folder.
        branch: of the repository.
        names: what is in it; a single notebook is opened, otherwise the folder.
    """
    # nbgitpuller clones into a folder that is named as the repository's last part.
    cloned = urlsplit(repository).path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    opened = f"lab/tree/{cloned}"
    if len(names) == 1:
        opened += f"/{names[0]}/{names[0]}.ipynb"
    query = urlencode({"repo": repository, "branch": branch, "urlpath": opened})
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


def _copy(source: Path, target: Path) -> None:
    """Copy a folder without what editors and Python leave in it, and without what links show."""
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
            continue
        if path.is_file() and not path.is_symlink():
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inside)
            (target / inside).chmod(0o644)


def _copy_beside(course: Path, settings: Settings, name: str, target: Path) -> None:
    """Copy what a notebook needs beside it, data and table, also where the release has it not."""
    files = [course / "source" / name / file for file in settings.of(name).data]
    if not settings.tables and not is_ordinary(course, name):
        files.append(settings.table_of(course, name))
    for path in files:
        if not path.is_file():
            raise CourseError(
                f"{path} is missing, which students need beside the notebook: put it there, or "
                f"make it with `autograder tables {name}` if it is the table of the checks"
            )
        copy = target / path.relative_to(course / "source" / name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o644)


def _require_released(folder: Path) -> None:
    for path in folder.rglob("*.ipynb"):
        text = path.read_text("utf-8")
        for mark in _INSTRUCTORS_ONLY:
            if mark in text:
                raise CourseError(
                    f"release/{path.parent.name}/{path.name} holds {mark!r}, which students must "
                    f"not have: run `nbgrader generate_assignment {path.parent.name} --force`. "
                    "Nothing was published."
                )


def _checks_wheel(target: Path) -> str:
    """Build the wheel of the visible checks, which every course's students need; its name."""
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


def _wheel(folder: Path, names: Sequence[str], target: Path) -> str:
    """Build a wheel of what these files and folders in `folder` hold; returns its name.

    Nothing is fetched: the tools that build it are installed with the autograder.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "source"
        for name in names:
            path = folder / name
            if path.is_dir():
                _copy(path, copy / name)
            elif path.is_file():
                copy.mkdir(exist_ok=True)
                shutil.copyfile(path, copy / name)
                (copy / name).chmod(0o644)
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
        shutil.copyfile(wheel, target / wheel.name)
        return wheel.name


def _zip(folder: Path, archive: Path) -> None:
    """Pack a folder: sorted, with one date and one mode for everything."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder.parent).as_posix()
                entry = zipfile.ZipInfo(name)
                entry.create_system = 3
                entry.external_attr = 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, path.read_bytes())
