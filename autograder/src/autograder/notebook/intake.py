"""Finds and reads submitted files. Only regular files in the student's own folder are accepted.

The folder of a submission is untrusted. A symbolic link in it may lead to the solutions, to the
work of another student or to an endless device, so links are not followed, and the size of a file
is limited.
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

from ..course_folder.course import Course
from ..errors import CourseError, UnreadableNotebook
from ..files import write_atomic
from ..texts import visible

MAX_BYTES = 50_000_000
"""Greatest size of a notebook's file."""
RECEIPTS = ("timestamp.txt", "submission_secret.txt")
"""Files that nbgrader's exchange writes into the folder of a submission."""
_LONGEST_ID = 128
"""Greatest number of characters of a student's id in nbgrader's gradebook."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
SUFFIX = re.compile(r"\.ipynb(?:\.(?:txt|json|download))?(?:[^\w.][^.]*)?$", re.IGNORECASE)
"""The end of a notebook's name. Browsers append `.txt`, and desktops ` (1)` or ` – Kopie`."""
RESEND = "It has to be saved once more in JupyterLab and handed in again."

_ZONE = r"[A-Z]{1,5}|[A-Z][A-Za-z]{0,14}(/[\w+-]{1,20}){1,2}"
_TIME = re.compile(
    rf"[\d:.T+-]{{8,32}}( [\d:.+-]{{4,32}})?( ?({_ZONE}))?( ?[+-]\d{{2}}:?\d{{2}})?", re.ASCII
)


def read_plain_file(path: Path, most: int = MAX_BYTES, levels: int = 0) -> bytes:
    """Return the bytes of a regular file.

    Raises `UnreadableNotebook` for a symbolic link, a folder, a pipe, a device, or a file that is
    too large.

    Args:
        most: the greatest number of bytes.
        levels: the number of folders above the file that must not be symbolic links either. Each
            of these is opened relative to the descriptor of the one above, so that nobody can put a
            link in its place meanwhile.
    """
    if not levels:
        return read_at(None, path, path, most)
    try:
        folder = open_folder(path.parent, levels)
    except OSError as error:
        raise UnreadableNotebook(f"{path}: cannot be read ({error.strerror}). {RESEND}") from error
    try:
        return read_at(folder, path.name, path, most)
    finally:
        os.close(folder)


def open_folder(path: Path, levels: int) -> int:
    """Open a folder and return its file descriptor.

    Raises `OSError` if one of the last `levels` names of its path is a symbolic link.
    """
    if not levels:
        return os.open(path, _FOLDER)
    above = open_folder(path.parent, levels - 1)
    try:
        return open_at(above, path.name)
    finally:
        os.close(above)


def open_at(above: int, name: str) -> int:
    """Open a folder relative to the descriptor of its parent, as openat(2) does.

    Raises `OSError` if it is a symbolic link.
    """
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)


def read_at(folder: int | None, name: str | Path, path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file as `read_plain_file` does, relative to the descriptor of its folder.

    Args:
        folder: the descriptor of the folder; None if `name` is a path.
        name: the file's name in the folder.
        path: the file's path, for messages.
        most: the greatest number of bytes.
    """
    try:
        # O_NOFOLLOW refuses a link. O_NONBLOCK opens a pipe without waiting for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=folder)
    except ValueError as error:  # The name has a null byte.
        raise UnreadableNotebook(f"{path!r}: this is not the name of a file.") from error
    except OSError as error:
        why = "it is a link to something else" if error.errno == errno.ELOOP else error.strerror
        raise UnreadableNotebook(f"{path}: cannot be read ({why}). {RESEND}") from error
    try:
        # The type is that of the opened file: the name may lead to another file by now.
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
            "It has to be handed in again without its outputs."
        )
    return content


def find_notebook(folder: Path, name: str, part_of: Callable[[Path], str] = lambda _: "") -> Path:
    """Return the path of the assignment's notebook NAME in a submission's folder.

    This is NAME.ipynb. Students rename files, so if there is no such file, it is the only file with
    the cells of the notebook NAME, or else the only notebook, or else NAME.py.

    Args:
        folder: `submitted/STUDENT/ASSIGNMENT`.
        part_of: a function that returns of which notebook of the assignment a file is a copy, by
            the file's cells; "" if the cells do not tell.

    Raises `UnreadableNotebook` if no file, or more than one file, may be the notebook.
    """
    path = folder / f"{name}.ipynb"
    try:
        refuse_links(folder)
        opened = open_folder(folder, levels=2)
        try:
            entries = sorted(os.scandir(opened), key=lambda entry: entry.name)
            if any(entry.name == path.name for entry in entries):
                return path
            files = [
                entry.name
                for entry in entries
                if entry.is_file(follow_symlinks=False) and entry.name not in RECEIPTS
            ]
            folders = [f"{entry.name}/" for entry in entries if entry.is_dir(follow_symlinks=False)]
        finally:
            os.close(opened)
    except OSError as error:
        raise UnreadableNotebook(
            f"{folder}: cannot be read ({error.strerror}). Set the rights of the folder, and "
            "grade again."
        ) from error
    notebooks = {file: part_of(folder / file) for file in files if SUFFIX.search(file)}
    scripts = [file for file in files if file == f"{name}.py"]
    # Copies of the other notebooks of the assignment are left out.
    files = [file for file in files if notebooks.get(file, "") in ("", name)]
    copies = [file for file, part in notebooks.items() if part == name]
    for candidates in (copies, [file for file in files if file in notebooks], scripts):
        if len(candidates) == 1:
            return folder / candidates[0]
    what = ", ".join(each[:80] for each in (files + folders)[:10])
    if not what:
        nothing = "nothing else" if entries else "nothing"
        raise UnreadableNotebook(
            f"{path}: there is no such file; the folder holds {nothing}. The file has "
            "to be handed in again."
        )
    raise UnreadableNotebook(
        f"{path}: there is no such file; the folder holds {what}. Unpack or rename what is to be "
        f"graded so that it is called {name}.ipynb."
    )


def students_with(root: Path, name: str) -> list[str]:
    """Return the ids of the students who have a folder for the assignment, readable or not.

    Args:
        root: the folder `submitted`, which has a folder for each student.
        name: the name of the assignment's folder.

    Raises `CourseError` if `root` cannot be read.
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
    """Return the error message for a student id that nbgrader cannot use; "" if it can use the id.

    The id is the name of the student's folder, and the key of the student in the gradebook.
    """
    # Bytes of a file name that are not UTF-8 become lone surrogates in Python.
    if any(unicodedata.category(letter) == "Cs" for letter in student):
        why = "is not in UTF-8"
    elif any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in student):
        why = "holds a line break or another control character"
    elif any(letter in "*?[" for letter in student):
        why = "holds one of * ? [, which nbgrader takes for a pattern"
    elif any(letter in '<>"\\' for letter in student):
        why = "holds one of < > \" \\, which would be script in nbgrader's pages"
    elif len(student) > _LONGEST_ID:
        why = f"has over {_LONGEST_ID} characters"
    else:
        return ""
    return f"the folder's name {why}, so it is not graded. Rename the folder, and grade again."


def leave_out_broken_names(submissions: dict[str, Any], log: Logger) -> None:
    """Remove folders whose name has a line break from nbgrader's list of submissions, and log an
    error for each.

    nbgrader's pattern for a folder does not match a line break, and nbgrader would end with an
    error.

    Args:
        submissions: nbgrader's list: a dict whose keys are the paths of folders.
    """
    for folder in [path for path in submissions if "\n" in path]:
        del submissions[folder]
        log.error("%s: %s", visible(folder), refused_id(Path(folder).parent.name))


def hidden_with(root: Path, name: str) -> list[Path]:
    """Return the assignment's folders of students whose folder has a name that begins with a dot:
    nbgrader does not read these."""
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
    """Return paths that look like a submission for the assignment but are not read.

    These are notebooks with the assignment's name that lie beside the folders of students, beside
    the assignment's folder of a student, or beside the assignment's notebook. They are also folders
    whose name differs from that of the assignment only in case.

    Args:
        root: the folder `submitted`.
        name: the name of the assignment's folder.
        notebook: the name of the assignment's notebook, without its suffix.
    """
    beside = [*root.glob("*.ipynb")]
    for path in root.glob(f"*/{name}/{notebook}.ipynb"):
        beside += [other for other in path.parent.glob("*.ipynb") if other != path]
    paths = [path for path in beside if name.lower() in path.name.lower()]
    for path in root.glob("*/*"):
        stem = path.name.lower().removesuffix(".ipynb")
        if stem == name.lower() and path.name != name:
            paths.append(path)
    return sorted(paths)


def refuse_links(folder: Path) -> None:
    """Raise `UnreadableNotebook` if the folder of a submission, or that of its student, is a
    symbolic link."""
    for path in (folder, folder.parent):
        if path.is_symlink():
            raise UnreadableNotebook(
                f"{path}: this is a link to another folder. Put the submitted files themselves "
                "there."
            )


def refuse_shared_file(path: Path, course: Course) -> None:
    """Raise `UnreadableNotebook` if the file is a hard link to one of the course's own notebooks.

    A hard link to the file of another student is accepted. If it were refused, a student could make
    such a link to have the other submission refused.
    """
    try:
        status = path.lstat()
    except OSError:
        return
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return
    for folder in ("source", "solutions", "autograded"):
        for other in (course.root / folder).rglob("*.ipynb"):
            other_status = other.lstat()
            if (other_status.st_dev, other_status.st_ino) == (status.st_dev, status.st_ino):
                raise UnreadableNotebook(
                    f"{path}: this is the same file as {other} (a hard link). Put a file of the "
                    "student's own there."
                )


def copy_receipts(submitted: Path, target: Path) -> None:
    """Copy the exchange's receipts to the folder in which nbgrader looks for them when it releases
    feedback. A receipt that the submission does not have is removed from that folder.

    Args:
        submitted: the submission's folder.
        target: the folder with the graded notebook.

    Raises `CourseError` if the disk is full.
    """
    for name in RECEIPTS:
        try:
            content = read_plain_file(submitted / name, most=1000, levels=2)
        except UnreadableNotebook:
            with suppress(OSError):
                (target / name).unlink(missing_ok=True)
            continue
        write_atomic(target / name, content, 0o644)


def submitted_at(folder: Path) -> datetime | None:
    """Return the time in a submission's `timestamp.txt`, in UTC; None if there is none."""
    try:
        return parse_time(read_plain_file(folder / "timestamp.txt", most=1000, levels=2).decode())
    except (UnreadableNotebook, ValueError):
        return None


def parse_time(text: str) -> datetime | None:
    """Return the time in a text, in UTC; None if nbgrader's parser does not read it as a time.

    nbgrader's parser opens files by the names of time zones, and may raise any error. So it gets
    only texts that match `_TIME`: digits, and the name of a time zone without a dot.
    """
    # The parser would read an offset that follows a space as seconds.
    text = re.sub(r" (?=[+-]\d\d:?\d\d$)", "", text.strip())
    try:
        when: datetime | None = parse_utc(text) if _TIME.fullmatch(text) else None
    except (ValueError, ArithmeticError, LookupError, TypeError, OSError, Warning):
        return None
    return when
