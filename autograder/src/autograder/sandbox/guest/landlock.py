"""Confines a student process without namespaces: by Landlock's rules, to a folder of its own.

Landlock (Linux's Documentation/userspace-api/landlock) needs no privilege. Its rules say which
files a process may read and write, and can only become stricter. The rules do not cover sockets,
signals, other processes, and changes of the mode and times of a file: the filter of system calls
does. Neither the rules nor the filter hide whether a file exists, its size and its age (stat).
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
from .processes import ATTEMPTS, ProcessesChanging

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # system calls, the same on all machines
_ASK_VERSION, _PATH_BENEATH = 1, 1

# LANDLOCK_ACCESS_FS_*. The first thirteen exist in every version of Landlock; `_HANDLED` has, by
# version, all that exist in it.
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
"""Greatest number of files and folders that a student process may have, and greatest depth of a
folder."""

_MAPPED_EVERY = 5
"""Mapped files are counted in every fifth check only, since counting them takes as long as the rest
of a check."""


def version() -> int:
    """Return the version of Landlock's interface. Raises `OSError` if this kernel has none."""
    number = int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION))
    if number < 1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return number


def restrict(rules: Iterable[tuple[str, int]]) -> None:
    """Restrict this process, and all that it will start, to the files in these rules.

    Args:
        rules: pairs of a path and the rights `READ` or `WRITE` for the path and everything below
            it. A path that does not exist is left out.

    Raises `OSError` if the kernel refuses.
    """
    interface = version()
    # Only "handled" rights are restricted. A bit that the kernel does not know makes the call fail.
    handled = _HANDLED[max(each for each in _HANDLED if each <= interface)]
    attributes = struct.pack("Q", handled)
    attributes += struct.pack("Q", _NET) if interface >= 4 else b""
    attributes += struct.pack("Q", _SCOPED) if interface >= 6 else b""
    ruleset = int(libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    check(min(ruleset, 0), "landlock_create_ruleset")
    for path, allowed in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed &= handled if os.path.isdir(path) else handled & _OF_FILES
        rule = struct.pack("=Qi", allowed, descriptor)
        check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), "landlock_add_rule")
        os.close(descriptor)
    forbid_new_privileges()
    check(libc.syscall(_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def readable(seen: Path) -> list[tuple[str, int]]:
    """Return the rules for the files that every student process may read.

    Args:
        seen: a folder with symbolic links, at any depth, to the files and folders that may be read.
    """
    paths = {os.path.realpath(link) for link in seen.rglob("*") if link.is_symlink()}
    return [
        *((path, READ) for path in sorted({str(seen), *paths})),
        ("/dev/null", _OF_FILES), ("/dev/random", READ), ("/dev/urandom", READ),
    ]  # fmt: skip


class LandlockBox:
    """Confines a student process by Landlock: it has a private folder, can start no processes, and
    can send no signals to other processes.

    Args:
        limits: `disk_megabytes` limits the private folder, `file_size` (in bytes) each file.
        rules: the rules for the files that every student process may read.
        homes: the folder in which the private folder is created.
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
        """Fork; return the child's pid, or 0 in the child."""
        return os.fork()

    def enter(self) -> None:
        """Confine this forked process. It drops its privileges later, in `run_student`."""
        if os.getppid() != self._server:
            # The server ended before PR_SET_PDEATHSIG was set, so nobody would end this process.
            os._exit(1)
        home, scratch = f"{self._folder}/student", f"{self._folder}/tmp"
        for folder in (home, scratch):
            os.mkdir(folder)
        moved = {"HOME": home, "TMPDIR": scratch, "PWD": home}
        moved |= {"MPLCONFIGDIR": f"{home}/.matplotlib", "IPYTHONDIR": f"{home}/.ipython"}
        os.environ.update(moved)
        tempfile.tempdir = None
        # Libraries of numbers find out from the second file which libraries are loaded.
        restrict([*self._rules, (self._folder, WRITE), ("/proc/self/maps", READ)])

    def kilobytes(self, pid: int) -> int:
        """Return 0: socket buffers are not counted here, since a process with 128 descriptors can
        have only few socket pairs."""
        return 0

    def is_full(self, pid: int) -> bool:
        """Return whether the files of the process exceed the limit. Deleted files that are still
        open or mapped count, too.

        Raises `ProcessesChanging` if the files change too fast to be counted.
        """
        files = _Files()
        top = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            files.add_folder(top)
        finally:
            os.close(top)
        # Named files are counted first, then open ones, then mapped ones. In this order no change
        # hides a file: a named file can become one that is only open, and an open file one that is
        # only mapped, but not the other way round.
        files.add_open(pid)
        if self._looks % _MAPPED_EVERY == 0:
            self._mapped = files.only_mapped(pid)
        self._looks += 1
        # The size of a mapped file is not known: it is counted with the greatest size of a file.
        return bool(files.used + self._largest * self._mapped > self._bytes)

    def remove(self) -> None:
        """Remove the private folder, after the process has ended."""
        remove(self._folder)


class _Files:
    """Sums the disk usage of files, each inode once, while student code may change the files.

    Attributes:
        used: the sum in bytes; infinite if the files cannot be counted.
    """

    def __init__(self) -> None:
        self.used = 0.0
        self._known: set[int] = set()
        self._names = 0

    def add_folder(self, folder: int, depth: int = 0) -> None:
        """Count the files in a folder and below it.

        If a name is gone, or an inode is found under two names, a file was renamed meanwhile, and
        the folder is read again. Raises `ProcessesChanging` if that happens each time.

        Args:
            folder: the descriptor of the folder.
            depth: the number of folders above it, up to the private folder.
        """
        for _ in range(ATTEMPTS):
            inodes: set[int] = set()
            is_steady, names = True, 0
            with os.scandir(folder) as entries:
                for entry in entries:
                    names += 1
                    if self._names + names > _ENTRIES:
                        self.used = math.inf
                        return
                    try:
                        status = self._add_entry(entry, folder, depth)
                    except (FileNotFoundError, NotADirectoryError):
                        is_steady = False
                        continue
                    except OSError:
                        # Such as a path that is too long or a folder without rights: an attack.
                        self.used = math.inf
                        return
                    is_steady &= status.st_ino not in inodes or _may_have_two_names(status)
                    inodes.add(status.st_ino)
            if is_steady:
                self._names += names
                return
        raise ProcessesChanging("names of files change faster than they can be read")

    def _add_entry(self, entry: os.DirEntry[str], folder: int, depth: int) -> os.stat_result:
        status = entry.stat(follow_symlinks=False)
        if status.st_ino in self._known:
            return status
        if not stat.S_ISDIR(status.st_mode):
            self._add(status)
            return status
        # Opened relative to the parent's descriptor, so that a rename meanwhile cannot lead to
        # another folder.
        inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            status = os.fstat(inner)
            if status.st_ino not in self._known:
                self._add(status)
                if depth >= _DEPTH:
                    self.used = math.inf
                else:
                    self.add_folder(inner, depth + 1)
        finally:
            os.close(inner)
        return status

    def _add(self, found: os.stat_result) -> None:
        self._known.add(found.st_ino)
        self.used += 512 * found.st_blocks

    def add_open(self, pid: int) -> None:
        """Count deleted files that a process holds open."""
        for _ in range(ATTEMPTS):
            if (thread := processes.living(pid)) is None:
                return
            # If the thread has ended meanwhile, its list of descriptors may have been empty when
            # it was read, though other threads have the files open.
            if self._add_open_in(thread) and processes.living(pid) == thread:
                return
        raise ProcessesChanging("a process opens files faster than they can be counted")

    def _add_open_in(self, thread: str) -> bool:
        """Count the deleted files that a thread holds open. Return False if a file was closed, or
        the thread ended, while they were read.

        Args:
            thread: the thread's folder in /proc.
        """
        try:
            files = [os.stat(f"{thread}/fd/{name}") for name in os.listdir(f"{thread}/fd")]
        except OSError:
            return False
        for file in files:
            if stat.S_ISREG(file.st_mode) and file.st_nlink == 0 and file.st_ino not in self._known:
                self._add(file)
        return True

    def only_mapped(self, pid: int) -> int:
        """Return the number of deleted files that a process has mapped, but not open. Their sizes
        are not known.

        Files that the server has mapped as well, such as a library that was upgraded, do not count:
        the student process did not write them.
        """
        for _ in range(ATTEMPTS):
            if (thread := processes.living(pid)) is None:
                return 0
            try:
                inodes = _deleted(f"{thread}/maps")
            except OSError:
                continue
            if processes.living(pid) == thread:
                return len(inodes - _deleted("/proc/self/maps") - self._known) if inodes else 0
        raise ProcessesChanging("a process maps files faster than they can be counted")


def _deleted(maps: str) -> set[int]:
    r"""Return the inode numbers of the deleted files in a `/proc/PID/maps`.

    A line has addresses, permissions, offset, device, inode and path; to the path of a deleted file
    the kernel appends ` (deleted)`. A file whose own name ends so is counted as well, so the result
    may be too large, but not too small. The kernel writes a newline in a path as `\012`, so that a
    name cannot forge a line.
    """
    content = processes.read(maps)
    if b" (deleted)\n" not in content:
        return set()
    lines = [line for line in content.split(b"\n") if line.endswith(b" (deleted)")]
    return {int(line.split(maxsplit=5)[4]) for line in lines}


def _may_have_two_names(found: os.stat_result) -> bool:
    return found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode)


def remove(folder: str) -> None:
    """Remove a folder tree of any depth. Inner folders are moved up before they are removed, so
    that no path is too long."""
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
    """Return the reason why Landlock does not work here; "" if it does."""
    try:
        version()
    except OSError as error:
        return {
            errno.ENOSYS: "this kernel has no Landlock, which came with Linux 5.13",
            errno.EOPNOTSUPP: "Landlock is switched off in this kernel",
        }.get(error.errno or 0, f"the kernel refuses Landlock: {error.strerror}")
    return ""
