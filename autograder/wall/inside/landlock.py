"""The box of a student process without namespaces: Landlock's rules, and a folder of its own.

Landlock (Linux's Documentation/userspace-api/landlock) needs no privilege. Its rules say which
files a process may read and write, and only grow stricter. They do not cover sockets, signals,
other processes, and modes and times of files, which the filter of system calls covers. Neither
keeps a process from reading whether a file of some name exists, its size and its age.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import stat
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import processes
from .confine import check, forbid_new_privileges, libc
from .processes import TRIES, Unsteady

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # system calls, the same on all machines
_ASK_VERSION, _PATH_BENEATH = 1, 1

# LANDLOCK_ACCESS_FS_*. The first thirteen came with the first version.
_WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 4,
    1 << 5,
)
_MAKE_DIR, _MAKE_FILE, _MAKE_LINK, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE
READ = _READ_FILE | _READ_DIR
WRITE = _OF_FILES | READ | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _MAKE_LINK | _REFER

_NET = 0b11  # binding and connecting TCP
_SCOPED = 0b11  # abstract unix sockets and signals

_ENTRIES, _DEPTH = 4000, 60
"""Greatest number of files and folders of a student process, and their greatest depth."""

_MAPPED_EVERY = 5
"""Mapped files are counted at each fifth look alone, since that takes as long as all else."""


def version() -> int:
    """Return the version of Landlock's interface. Raises `OSError` if this kernel has none."""
    found = int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION))
    if found < 1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def restrict(rules: Iterable[tuple[str, int]]) -> None:
    """Let this process, and all that it will start, use files by these rules alone.

    Args:
        rules: paths, each with the rights on all that lies there, `READ` or `WRITE`. A path that
            does not exist is left out.

    Raises `OSError` if the kernel refuses.
    """
    known = version()
    handled = _HANDLED[max(each for each in _HANDLED if each <= known)]
    about = struct.pack("Q", handled)
    about += struct.pack("Q", _NET) if known >= 4 else b""
    about += struct.pack("Q", _SCOPED) if known >= 6 else b""
    ruleset = int(libc.syscall(_CREATE, about, ctypes.c_size_t(len(about)), 0))
    check(min(ruleset, 0), "landlock_create_ruleset")
    for path, allowed in rules:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed &= handled if os.path.isdir(path) else handled & _OF_FILES
        rule = struct.pack("=Qi", allowed, place)
        check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), "landlock_add_rule")
        os.close(place)
    forbid_new_privileges()
    check(libc.syscall(_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def readable(seen: Path) -> list[tuple[str, int]]:
    """Return the rules for the files that every student process may read.

    Args:
        seen: a folder of links, at any depth, to all that may be read.
    """
    paths = {os.path.realpath(link) for link in seen.rglob("*") if link.is_symlink()}
    return [
        *((path, READ) for path in sorted({str(seen), *paths})),
        ("/dev/null", _OF_FILES), ("/dev/random", READ), ("/dev/urandom", READ),
    ]  # fmt: skip


class LandlockBox:
    """A student process has a folder for itself, starts no process and signals none.

    Args:
        limits: `disk_megabytes` bounds its folder, `file_size` each file.
        rules: the files that it may read.
        homes: the folder in which its own folder is made.
    """

    has_namespaces = False

    def __init__(self, limits: dict[str, Any], rules: list[tuple[str, int]], homes: Path) -> None:
        self._bytes = limits["disk_megabytes"] << 20
        self._largest = limits["file_size"]
        self._looks = self._mapped = 0
        self._rules = rules
        self._folder = tempfile.mkdtemp(dir=homes)
        self._server = os.getpid()

    def fork(self) -> int:
        """Fork. Returns the process's number, or 0 in it."""
        return os.fork()

    def enter(self) -> None:
        """Confine the forked process, which keeps its privileges until it drops them."""
        if os.getppid() != self._server:
            # The server, whose end would end this process, has ended already.
            os._exit(1)
        home, scratch = f"{self._folder}/student", f"{self._folder}/tmp"
        for folder in (home, scratch):
            os.mkdir(folder)
        moved = {"HOME": home, "TMPDIR": scratch, "PWD": home}
        moved |= {"MPLCONFIGDIR": f"{home}/.matplotlib", "IPYTHONDIR": f"{home}/.ipython"}
        os.environ.update(moved)
        tempfile.tempdir = None
        restrict([*self._rules, (self._folder, WRITE)])

    def kilobytes(self, pid: int) -> int:
        """Return 0: its sockets are in pairs, as few as its descriptors, and not counted."""
        return 0

    def is_full(self, pid: int) -> bool:
        """Return whether the process has written more than it may, deleted files included.

        Raises `Unsteady` if its files change too fast to be counted.
        """
        files = _Files()
        top = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            files.add_folder(top)
        finally:
            os.close(top)
        # Looked for in this order, no file is missed: a file with a name can become one that is
        # only open, and then one that is only mapped.
        files.add_open(pid)
        if self._looks % _MAPPED_EVERY == 0:
            self._mapped = files.only_mapped(pid)
        self._looks += 1
        # The size of a mapped file is unknown, but at most the limit of a file.
        return bool(files.used + self._largest * self._mapped > self._bytes)

    def remove(self) -> None:
        """Remove its folder, once its process has ended."""
        remove(self._folder)


class _Files:
    """Counts the bytes of files, each file once, under any name and while they change.

    Attributes:
        used: bytes.
    """

    def __init__(self) -> None:
        self.used = 0.0
        self._known: set[int] = set()
        self._names = 0

    def add_folder(self, folder: int, depth: int = 0) -> None:
        """Count the files in an open folder and below it.

        The folder is read again if something was renamed meanwhile: if a name was gone, or one file
        was found under two. Raises `Unsteady` if that happens each time.
        """
        for _ in range(TRIES):
            met: set[int] = set()
            is_steady, names = True, 0
            with os.scandir(folder) as entries:
                for entry in entries:
                    names += 1
                    if self._names + names > _ENTRIES:
                        self.used = math.inf
                        return
                    try:
                        found = self._add_entry(entry, folder, depth)
                    except (FileNotFoundError, NotADirectoryError):
                        is_steady = False
                        continue
                    except OSError:
                        # Its name or rights prevent counting, as only an attack does.
                        self.used = math.inf
                        return
                    is_steady &= found.st_ino not in met or _may_have_two_names(found)
                    met.add(found.st_ino)
            if is_steady:
                self._names += names
                return
        raise Unsteady("names of files change faster than they can be read")

    def _add_entry(self, entry: os.DirEntry[str], folder: int, depth: int) -> os.stat_result:
        found = entry.stat(follow_symlinks=False)
        if found.st_ino in self._known:
            return found
        if not stat.S_ISDIR(found.st_mode):
            self._add(found)
            return found
        # An open folder stays the same one, however often it is renamed.
        inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            found = os.fstat(inner)
            if found.st_ino not in self._known:
                self._add(found)
                if depth >= _DEPTH:
                    self.used = math.inf
                else:
                    self.add_folder(inner, depth + 1)
        finally:
            os.close(inner)
        return found

    def _add(self, found: os.stat_result) -> None:
        self._known.add(found.st_ino)
        self.used += 512 * found.st_blocks

    def add_open(self, pid: int) -> None:
        """Count the files without a name that a process holds open."""
        for _ in range(TRIES):
            if (place := processes.living(pid)) is None:
                return
            if self._add_open_in(place) and processes.living(pid) == place:
                return
        raise Unsteady("a process opens files faster than they can be counted")

    def _add_open_in(self, place: str) -> bool:
        """Count the files that one of its threads holds open; false if one was closed meanwhile."""
        try:
            held = [os.stat(f"{place}/fd/{each}") for each in os.listdir(f"{place}/fd")]
        except OSError:
            return False
        for each in held:
            if stat.S_ISREG(each.st_mode) and each.st_nlink == 0 and each.st_ino not in self._known:
                self._add(each)
        return True

    def only_mapped(self, pid: int) -> int:
        """Return the number of files without a name that a process has mapped and does not hold
        open.

        Their sizes are unknown. Files that the server has mapped as well are not the process's own:
        a library that was replaced meanwhile, for one.
        """
        for _ in range(TRIES):
            if (place := processes.living(pid)) is None:
                return 0
            try:
                found = _deleted(f"{place}/maps")
            except OSError:
                continue
            if processes.living(pid) == place:
                return len(found - _deleted("/proc/self/maps") - self._known) if found else 0
        raise Unsteady("a process maps files faster than they can be counted")


def _deleted(maps: str) -> set[int]:
    """Return the inode numbers of the files without a name in a list of mappings.

    The list gives places, rights, offset, device, number and name. Line ends in a name are written
    as `\012`. The kernel adds its word at the end of a name, which a name may have itself.
    """
    content = processes.read(maps)
    if b" (deleted)\n" not in content:
        return set()
    lines = [line for line in content.split(b"\n") if line.endswith(b" (deleted)")]
    return {int(line.split(maxsplit=5)[4]) for line in lines}


def _may_have_two_names(found: os.stat_result) -> bool:
    return found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode)


def remove(folder: str) -> None:
    """Remove a folder with all that is in it, at any depth: deep folders are moved up first."""
    if not os.path.isdir(folder):
        return
    count, mark = 0, os.urandom(8).hex()
    while names := os.listdir(folder):
        for name in names:
            path = f"{folder}/{name}"
            if not _is_folder(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            for inner in os.listdir(path):
                count += 1
                if _is_folder(f"{path}/{inner}"):
                    os.chmod(f"{path}/{inner}", 0o700)
                os.rename(f"{path}/{inner}", f"{folder}/{mark}-{count}")
            os.rmdir(path)
    os.rmdir(folder)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def why_not() -> str:
    """Return why Landlock can confine no process here; "" if it can."""
    try:
        version()
    except OSError as error:
        return {
            errno.ENOSYS: "this kernel has no Landlock, which came with Linux 5.13",
            errno.EOPNOTSUPP: "Landlock is switched off in this kernel",
        }.get(error.errno or 0, f"the kernel refuses Landlock: {error.strerror}")
    return ""
