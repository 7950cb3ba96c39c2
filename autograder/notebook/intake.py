"""Reads submitted files: only a plain file of the student's own is accepted.

The folder of a submission is untrusted. A link in it may lead to the solutions, to another
student's work or to a device that never ends, so links are not followed, and no more is read than
the largest notebook.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from logging import Logger
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from ..errors import CourseError, UnreadableNotebook
from ..files import write_whole
from ..texts import visible

MAX_BYTES = 50_000_000
RECEIPTS = ("timestamp.txt", "submission_secret.txt")
_LONGEST_ID = 128
"""Greatest number of characters of a student's id in nbgrader's gradebook."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
RESEND = "Ask for the file again, or have it saved once more from JupyterLab."


_ZONE = r"[A-Z]{1,5}|[A-Z][A-Za-z]{0,14}(/[\w+-]{1,20}){1,2}"
_TIME = re.compile(
    rf"[\d:.T+-]{{8,32}}( [\d:.+-]{{4,32}})?( ?({_ZONE}))?( ?[+-]\d{{2}}:?\d{{2}})?", re.ASCII
)


def read_plain_file(path: Path, most: int = MAX_BYTES, levels: int = 0) -> bytes:
    """Return the bytes of a plain file that is not too large.

    Raises `UnreadableNotebook` for anything else: a link, a folder, a pipe, a device.

    Args:
        most: the greatest number of bytes.
        levels: how many of the folders that it lies in must not be links either, even if they are
            replaced while it is read.
    """
    if not levels:
        return read_inside(None, path, path, most)
    try:
        folder = open_folder(path.parent, levels)
    except OSError as error:
        raise UnreadableNotebook(f"{path}: cannot be read ({error.strerror}). {RESEND}") from error
    try:
        return read_inside(folder, path.name, path, most)
    finally:
        os.close(folder)


def open_folder(path: Path, levels: int) -> int:
    """Open a folder and return its descriptor; the last `levels` names of its path are no links.

    Raises `OSError` if one of them is.
    """
    if not levels:
        return os.open(path, _FOLDER)
    above = open_folder(path.parent, levels - 1)
    try:
        return open_inside(above, path.name)
    finally:
        os.close(above)


def open_inside(above: int, name: str) -> int:
    """Open a folder by the descriptor of the folder above it. Raises `OSError` for a link."""
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)


def read_inside(folder: int | None, name: str | Path, path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file as `read_plain_file` does, by the descriptor of its folder.

    Args:
        name: of the file in the folder.
        path: of the file, for messages.
    """
    try:
        # A pipe is opened without waiting for a writer, and a link not at all.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=folder)
    except ValueError as error:
        raise UnreadableNotebook(f"{path!r}: this is not the name of a file.") from error
    except OSError as error:
        why = "it is a link to something else" if error.errno == errno.ELOOP else error.strerror
        raise UnreadableNotebook(f"{path}: cannot be read ({why}). {RESEND}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableNotebook(f"{path}: this is not a plain file. {RESEND}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UnreadableNotebook(f"{path}: cannot be read ({error.strerror}). {RESEND}") from error
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise UnreadableNotebook(
            f"{path}: the file is over {most // 1_000_000} MB. "
            "Have its outputs cleared and the file saved again."
        )
    return content


def find_notebook(folder: Path, name: str, part_of: Callable[[Path], str] = lambda _: "") -> Path:
    """Return the assignment's notebook in a submission's folder.

    That is NAME.ipynb or, if there is none, the only other notebook that can be it: students rename
    files.

    Args:
        folder: `submitted/STUDENT/ASSIGNMENT`.
        part_of: returns the name of the assignment's notebook that a file is; "" if it may be any.

    Raises `UnreadableNotebook` if there is none, or there are several.
    """
    path = folder / f"{name}.ipynb"
    try:
        refuse_links(folder)
        opened = open_folder(folder, levels=2)
        try:
            inside = sorted(os.scandir(opened), key=lambda each: each.name)
            if any(each.name == path.name for each in inside):
                return path
            files = [
                each.name
                for each in inside
                if each.is_file(follow_symlinks=False) and each.name not in RECEIPTS
            ]
            is_empty = not inside
            folders = [f"{each.name}/" for each in inside if each.is_dir(follow_symlinks=False)]
        finally:
            os.close(opened)
    except OSError as error:
        raise UnreadableNotebook(
            f"{folder}: cannot be read ({error.strerror}). Set the rights of the folder, and "
            "grade again."
        ) from error
    notebooks = {
        each: part_of(folder / each)
        for each in files
        if each.lower().endswith((".ipynb", ".ipynb.txt"))
    }
    scripts = [each for each in files if each == f"{name}.py"]
    files = [each for each in files if notebooks.get(each, "") in ("", name)]
    own = [each for each, part in notebooks.items() if part == name]
    for found in (own, [each for each in files if each in notebooks], scripts):
        if len(found) == 1:
            return folder / found[0]
    what = ", ".join(each[:80] for each in (files + folders)[:10])
    if not what:
        nothing = "nothing" if is_empty else "nothing else"
        raise UnreadableNotebook(
            f"{path}: there is no such file; the folder holds {nothing}. Ask for the file."
        )
    raise UnreadableNotebook(
        f"{path}: there is no such file; the folder holds {what}. Unpack or rename what is to be "
        f"graded so that it is called {name}.ipynb."
    )


def students_with(root: Path, name: str) -> list[str]:
    """Return the students who have a folder for the assignment, readable or not.

    Args:
        root: the folder with a folder for each student.

    Raises `CourseError` if it cannot be read.
    """
    try:
        students = [path for path in root.iterdir() if not path.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CourseError(
            f"{root} cannot be read ({error.strerror}). Set its rights, and grade again."
        ) from error
    return sorted(path.name for path in students if _may_be_folder(path / name))


def refused_id(student: str) -> str:
    """Return why a student's folder cannot have this name, in words; "" if it can.

    The name is the student's id in nbgrader, which has to find the folder and its row by it.
    """
    if any(unicodedata.category(each) == "Cs" for each in student):
        why = "is not in UTF-8"
    elif any(unicodedata.category(each) in ("Cc", "Zl", "Zp") for each in student):
        why = "holds a line break or another control character"
    elif any(each in "*?[" for each in student):
        why = "holds one of * ? [, which nbgrader takes for a pattern"
    elif len(student) > _LONGEST_ID:
        why = f"has over {_LONGEST_ID} characters"
    else:
        return ""
    return f"the folder's name {why}, so it is not graded. Rename the folder, and grade again."


def leave_out_broken_names(found: dict[str, Any], log: Logger) -> None:
    """Remove folders from nbgrader's list of submissions at which nbgrader would stop.

    Its own pattern for their names does not match a line break.
    """
    for folder in [each for each in found if "\n" in each]:
        del found[folder]
        log.error("%s: %s", visible(folder), refused_id(Path(folder).parent.name))


def hidden_with(root: Path, name: str) -> list[Path]:
    """Return folders for the assignment of students whose folder's name begins with a dot."""
    with suppress(OSError):
        hidden = [path for path in root.iterdir() if path.name.startswith(".")]
        return sorted(path / name for path in hidden if _may_be_folder(path / name))
    return []


def _may_be_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:
        return True


def misplaced(root: Path, name: str, notebook: str) -> list[Path]:
    """Return paths that look like a submission for the assignment in places that are not read.

    A notebook beside the students' folders, beside the assignment's folder in one of them, or
    beside the assignment's notebook in that; or such a folder whose name is in other letters.
    """
    beside = [*root.glob("*.ipynb")]
    for path in root.glob(f"*/{name}/{notebook}.ipynb"):
        beside += [other for other in path.parent.glob("*.ipynb") if other != path]
    lost = [path for path in beside if name.lower() in path.name.lower()]
    for path in root.glob("*/*"):
        meant = path.name.lower().removesuffix(".ipynb")
        if meant == name.lower() and path.name != name:
            lost.append(path)
    return sorted(lost)


def refuse_links(folder: Path) -> None:
    """Raise `UnreadableNotebook` if a submission's folder, or its student's, is a link."""
    for each in (folder, folder.parent):
        if each.is_symlink():
            raise UnreadableNotebook(
                f"{each}: this is a link to another folder. Put the submitted files themselves "
                "there."
            )


def refuse_shared_file(path: Path, course: Path) -> None:
    """Raise `UnreadableNotebook` if the file is, by a hard link, one of the course's own.

    A file that two students share is accepted: neither's marks may depend on a link that the other
    made.
    """
    try:
        status = path.lstat()
    except OSError:
        return
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return
    for folder in ("source", "solutions", "autograded"):
        for other in (course / folder).rglob("*.ipynb"):
            about = other.lstat()
            if (about.st_dev, about.st_ino) == (status.st_dev, status.st_ino):
                raise UnreadableNotebook(
                    f"{path}: this is the same file as {other} (a hard link). Put a file of the "
                    "student's own there."
                )


def copy_receipts(submitted: Path, target: Path) -> None:
    """Copy the files that the exchange wrote beside a submission; feedback is returned by them.

    A copy whose original is gone is removed.

    Args:
        submitted: the submission's folder.
        target: the folder made from it.

    Raises `CourseError` if the disk is full.
    """
    for name in RECEIPTS:
        try:
            content = read_plain_file(submitted / name, most=1000, levels=2)
        except UnreadableNotebook:
            with suppress(OSError):
                (target / name).unlink(missing_ok=True)
            continue
        write_whole(target / name, content, 0o644)


def submitted_at(folder: Path) -> datetime | None:
    """Return when a submission was handed in, by its `timestamp.txt`, in UTC; None if unknown."""
    try:
        return time_in(read_plain_file(folder / "timestamp.txt", most=1000, levels=2).decode())
    except (UnreadableNotebook, ValueError):
        return None


def time_in(text: str) -> datetime | None:
    """Return the time in UTC of a text in nbgrader's format; None if it holds none.

    nbgrader's parser looks for files by the names of time zones, and may raise any error, so it
    gets only digits, and a zone without a dot. It reads an offset after a space as seconds.
    """
    text = re.sub(r" (?=[+-]\d\d:?\d\d$)", "", text.strip())
    try:
        when: datetime | None = parse_utc(text) if _TIME.fullmatch(text) else None
    except (ValueError, ArithmeticError, LookupError, TypeError, OSError, Warning):
        return None
    return when
