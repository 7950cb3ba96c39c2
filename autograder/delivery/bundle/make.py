"""Makes the student's bundle: a folder and a zip of it, the same bytes from the same course."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from ...course_folder.settings import load_settings
from ...errors import CourseError
from ...pages.templates import templates
from ..contents import build_wheels, copy_assignment, copy_extra, released, wheel_metadata
from ..self_study import SOLUTIONS, add_self_study, start_of_self_study

LESSON = "lesson"  # notebooks lead to ../lesson/
_LAB = "lab"  # the extra of a course's package that brings JupyterLab


@dataclass(frozen=True)
class Bundle:
    """The paths of the bundle."""

    folder: Path
    archive: Path


def publish(
    course: Path,
    names: Sequence[str],
    output: Path,
    link: str | None = None,
    self_study: bool = False,
) -> Bundle:
    """Make the bundle, in place of an earlier one.

    Args:
        course: the course folder, with the release notebooks in it.
        names: the assignments to put in; all that are released if empty.
        output: the folder to put the bundle's folder and zip into.
        link: a link to the course on a hub, for the start page.
        self_study: whether solutions and right answers are in it, for people who learn alone.

    Raises `CourseError` if an assignment is not released, a release is not whole or holds hidden
    parts, the wheel cannot be built, or `output` holds another file under the bundle's name.
    """
    chosen = released(course, names)
    settings = load_settings(course)
    # Another name, so that it is not given to a class by mistake.
    name_of_folder = f"{settings.id}-{'self-study' if self_study else 'course'}"
    folder = output / name_of_folder
    if folder.exists() and not (folder / "START.html").is_file():
        raise CourseError(f"{folder} is there and is not a bundle: name another --output")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".bundle-") as scratch:
        made = Path(scratch) / name_of_folder
        made.mkdir()
        for name in chosen:
            copy_assignment(course, settings, name, made / name)
        if self_study:
            add_self_study(course, chosen, made)
        extra = copy_extra(course, settings, chosen, made)
        wheels = build_wheels(course, settings, made)
        if settings.lesson.folder:
            from ..lesson.site import build

            build(course, made / LESSON, chosen)
        lines = [_requirement(wheel) for wheel in wheels]
        if not settings.wheel:
            lines += ["jupyterlab\n", *(f"{each}\n" for each in settings.visible.packages)]
        (made / "requirements.txt").write_text("".join(lines), "utf-8")
        # Services such as Binder read this beside requirements.txt.
        (made / "runtime.txt").write_text("python-3.11\n", "utf-8")
        starter = Path(__file__).with_name("start.py").read_text("utf-8")
        first = min((made / chosen[0]).glob("*.ipynb")).relative_to(made).as_posix()
        starter = starter.replace('FIRST = ""', f'FIRST = "{quote(first)}"')
        (made / "start.py").write_text(starter, "utf-8")
        start = templates(__package__).get_template("START.html")
        page = start.render(
            settings=settings,
            folder=name_of_folder,
            names=chosen,
            extra=extra,
            link=link,
            self_study=start_of_self_study(chosen, SOLUTIONS) if self_study else "",
        )
        (made / "START.html").write_text(page, "utf-8")
        archive = Path(scratch) / f"{name_of_folder}.zip"
        _zip(made, archive)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(made, folder)
        os.replace(archive, output / archive.name)
    return Bundle(folder, output / f"{name_of_folder}.zip")


def nbgitpuller_link(hub: str, repository: str, branch: str, names: Sequence[str]) -> str:
    """Return the link that pulls the bundle from a repository into a student's account on a hub.

    Args:
        hub: the hub's address, such as https://hub.example.org.
        repository: the address of a Git repository that holds the files of the bundle's folder.
        branch: of the repository.
        names: the assignments in it; a single notebook is opened, otherwise the folder.
    """
    # nbgitpuller clones into a folder that is named as the repository's last part.
    cloned = urlsplit(repository).path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    opened = f"lab/tree/{cloned}"
    if len(names) == 1:
        opened += f"/{names[0]}/{names[0]}.ipynb"
    query = urlencode({"repo": repository, "branch": branch, "urlpath": opened})
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


def _requirement(wheel: Path) -> str:
    """Return the line that installs a wheel beside it, with JupyterLab if the wheel offers that."""
    extras = wheel_metadata(wheel).get_all("Provides-Extra", [])
    return f"./{wheel.name}[{_LAB}]\n" if _LAB in extras else f"./{wheel.name}\n"


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
