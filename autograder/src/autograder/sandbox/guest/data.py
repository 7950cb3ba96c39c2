"""Lays out the working folder of a student process, with copies of an assignment's data files."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator

# The folder with the subfolders `packages`, which holds this package, and `data`.
SANDBOX = os.path.abspath(f"{__file__}/../../..")

_DATA = f"{SANDBOX}/data"
_MOST = 500
"""Greatest number of files in a folder that is copied."""
_ROUNDED = 4096
"""Bytes by which a file may take more room than its size, since it takes whole blocks."""


class DataFiles:
    """The data files of all assignments. The home folder of a student process stands for the course
    folder, so that a path to shared data, such as `../common/words.txt`, is the author's path.

    A student process may change its copies. A file that is too large to be copied, and a folder of
    too many files, is a link to the original, which can only be read.

    Args:
        most: the greatest number of bytes that are copied for an assignment.
        largest: the greatest size in bytes of a file.

    Attributes:
        megabytes: the room that the copies take, for the assignment that needs most.
    """

    def __init__(self, most: int, largest: int) -> None:
        self._plans: dict[str, list[tuple[str, bool]]] = {}
        self.megabytes = 0
        for name in os.listdir(_DATA) if os.path.isdir(_DATA) else ():
            used = 0.0
            plan = self._plans[name] = []
            for path, size in _entries(f"{_DATA}/{name}", "", _working_folder(name)):
                is_copied = size <= largest and used + size + _ROUNDED <= most
                used += size + _ROUNDED if is_copied else 0
                plan.append((path, is_copied))
            self.megabytes = max(self.megabytes, math.ceil(used / (1 << 20)))

    def lay_out(self, assignment: str) -> None:
        """Put an assignment's data into the home folder, which is the current one, and go to the
        working folder in it.

        Args:
            assignment: the assignment's name; "" to stay in an empty home folder.
        """
        working = _working_folder(assignment)
        os.makedirs(working, exist_ok=True)
        for path, is_copied in self._plans.get(assignment, ()):
            original = f"{_DATA}/{assignment}/{path}"
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            if is_copied:
                shutil.copyfile(original, path)
            else:
                os.symlink(original, path)
        os.chdir(working)


def _working_folder(assignment: str) -> str:
    return f"source/{assignment}" if assignment else "."


def _entries(top: str, inner: str, working: str) -> Iterator[tuple[str, float]]:
    """Yield the files below a folder with their sizes; in place of the files of a large folder, the
    folder itself with an infinite size.

    Args:
        inner: the folder, relative to `top`; "" or a path that ends in "/".
        working: the working folder, relative to `top`. It is no link, nor are those around it.
    """
    for name in sorted(os.listdir(f"{top}/{inner}")):
        path = f"{inner}{name}"
        if not os.path.isdir(f"{top}/{path}"):
            yield path, os.path.getsize(f"{top}/{path}")
            continue
        below = [*_entries(top, f"{path}/", working)]
        is_around = f"{working}/".startswith(f"{path}/")
        yield from below if is_around or len(below) <= _MOST else [(path, math.inf)]
