"""Copies all files that students get into a folder in which an author can try the course.

The author's work in the folder is kept: a file of a newer release replaces the older file only if
the author did not change the older one. Otherwise the newer file is copied under another name.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from hashlib import blake2b
from pathlib import Path

from ..course_folder.course import Course
from ..course_folder.release import files_to_give
from .bundle.make import LESSON
from .contents import copy_assignment, copy_extra, released

_RECORD = ".given.json"
"""Name of the file, in the folder, with the digest of each file at the time when it was copied."""


def update_lab(course: Course, folder: Path) -> list[Path]:
    """Copy the release of all assignments into `folder`, with the lesson and the extra notebooks.

    Returns:
        The paths of files that were copied under another name, since the author had changed the
        older file.

    Raises `CourseError` if a release is not the one that its source gives.
    """
    settings, names = course.settings, released(course, ())
    record = folder / _RECORD
    copied: dict[str, str] = json.loads(record.read_text("utf-8")) if record.is_file() else {}
    beside = []
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        for name in names:
            copy_assignment(course, name, fresh / name)
        copy_extra(course, names, fresh)
        if settings.lesson.folder:
            from .lesson.site import build

            build(course, fresh / LESSON, names)
        for path in files_to_give(fresh):
            first, new = path.relative_to(fresh), _digest(path)
            inner = _free_path(folder, first, new, copied)
            target = folder / inner
            now = _digest(target) if target.exists() else None
            # Copy only if the author did not change the target since it was last copied.
            if now in (None, new, copied.get(str(inner))):
                copied[str(inner)] = new
                if now != new:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
                    beside += [target] if inner != first else []
    folder.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(copied, indent=1) + "\n", "utf-8")
    return beside


def _free_path(folder: Path, first: Path, new: str, copied: dict[str, str]) -> Path:
    """Return the path, relative to `folder`, to which a file is copied.

    The path is the file's own or has a number added. It is the first at which there is no file, an
    older file that the author did not change, or a copy of this very file, changed since or not.

    Args:
        first: the file's own path, relative to `folder`.
        new: the file's digest.
        copied: by relative path: the digest of the file that was last copied there.
    """
    inner, number = first, 1
    while (folder / inner).exists():
        before = copied.get(str(inner))
        if before == new or _digest(folder / inner) in (before, new):
            break
        number += 1
        inner = first.with_stem(f"{first.stem} ({number})")
    return inner


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()
