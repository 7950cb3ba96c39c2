"""Builds the bundle for students: a folder, and a reproducible zip of the folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from ...course_folder.course import Course
from ...errors import CourseError
from ...pages.templates import templates
from ..contents import build_wheels, copy_assignment, copy_extra, released, wheel_metadata
from ..self_study import SOLUTIONS, add_self_study, start_of_self_study

LESSON = "lesson"  # the lesson's folder; notebooks link to ../lesson/
_LAB = "lab"  # the extra of a course's package that requires JupyterLab


@dataclass(frozen=True)
class Bundle:
    """The paths of a bundle: its folder, and the zip of the folder."""

    folder: Path
    archive: Path


def publish(
    course: Course,
    names: Sequence[str],
    output: Path,
    link: str | None = None,
    self_study: bool = False,
) -> Bundle:
    """Build the bundle; it replaces an earlier one in the folder `output`.

    Args:
        course: the course folder, with the release notebooks in it.
        names: the assignments in the bundle; all released ones if empty.
        output: the folder for the bundle's folder and zip.
        link: the URL of the course on a hub, for the start page; None for no link.
        self_study: whether the bundle includes solutions and answers, for people who learn alone.

    Raises `CourseError` if an assignment is not released, a release is incomplete or holds hidden
    parts, a wheel cannot be built, or `output` has another kind of folder with the bundle's name.
    """
    chosen = released(course, names)
    settings = course.settings
    # A self-study edition has another name, so that nobody gives it to a class by mistake.
    name_of_folder = f"{settings.id}-{'self-study' if self_study else 'course'}"
    folder = output / name_of_folder
    if folder.exists() and not (folder / "START.html").is_file():
        raise CourseError(f"{folder} is there and is not a bundle: name another --output")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".bundle-") as scratch:
        bundle = Path(scratch) / name_of_folder
        bundle.mkdir()
        for name in chosen:
            copy_assignment(course, name, bundle / name)
        if self_study:
            add_self_study(course, chosen, bundle)
        extra = copy_extra(course, chosen, bundle)
        wheels = build_wheels(course, bundle)
        if settings.lesson.folder:
            from ..lesson.site import build

            build(course, bundle / LESSON, chosen)
        lines = [_requirement(wheel) for wheel in wheels]
        if not settings.wheel:
            lines += ["jupyterlab\n", *(f"{each}\n" for each in settings.visible.packages)]
        (bundle / "requirements.txt").write_text("".join(lines), "utf-8")
        # Services such as Binder read the version of Python from this file.
        (bundle / "runtime.txt").write_text("python-3.11\n", "utf-8")
        starter = Path(__file__).with_name("start.py").read_text("utf-8")
        first = min((bundle / chosen[0]).glob("*.ipynb")).relative_to(bundle).as_posix()
        starter = starter.replace('FIRST = ""', f'FIRST = "{quote(first)}"')
        (bundle / "start.py").write_text(starter, "utf-8")
        start = templates(__package__).get_template("START.html")
        page = start.render(
            settings=settings,
            folder=name_of_folder,
            names=chosen,
            extra=extra,
            link=link,
            self_study=start_of_self_study(chosen, SOLUTIONS) if self_study else "",
        )
        (bundle / "START.html").write_text(page, "utf-8")
        archive = Path(scratch) / f"{name_of_folder}.zip"
        _zip(bundle, archive)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(bundle, folder)
        os.replace(archive, output / archive.name)
    return Bundle(folder, output / f"{name_of_folder}.zip")


def nbgitpuller_link(hub: str, repository: str, branch: str, names: Sequence[str]) -> str:
    """Return the link that pulls the bundle from a repository into a student's account on a hub.

    Args:
        hub: the hub's address, such as https://hub.example.org.
        repository: the address of a Git repository that holds the files of the bundle's folder.
        branch: the branch of the repository.
        names: the assignments in the bundle. If there is one, the link opens its notebook,
            otherwise the bundle's folder.
    """
    # nbgitpuller clones into a folder named after the last part of the repository's path.
    cloned = urlsplit(repository).path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    opened = f"lab/tree/{cloned}"
    if len(names) == 1:
        opened += f"/{names[0]}/{names[0]}.ipynb"
    query = urlencode({"repo": repository, "branch": branch, "urlpath": opened})
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


def _requirement(wheel: Path) -> str:
    """Return the line of requirements.txt for a wheel, with the extra `lab` if the wheel has it."""
    extras = wheel_metadata(wheel).get_all("Provides-Extra", [])
    return f"./{wheel.name}[{_LAB}]\n" if _LAB in extras else f"./{wheel.name}\n"


def _zip(folder: Path, archive: Path) -> None:
    """Zip a folder reproducibly: sorted, with a fixed date and fixed modes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder.parent).as_posix()
                entry = zipfile.ZipInfo(name)
                entry.create_system = 3  # Unix, whatever system this runs on.
                entry.external_attr = 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, path.read_bytes())
