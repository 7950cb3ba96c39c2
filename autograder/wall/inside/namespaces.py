"""The box of a student process that has namespaces of its own: users, processes, files, network."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import processes, system_calls
from .confine import HOME, PR_GET_TID_ADDRESS, check, libc

# CLONE_NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
_FLAGS = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID, _SIGCHLD = 0x00200000, 0x01000000, 17
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 0x20, 0x1000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_SOCKET_KILOBYTES = 512
"""Memory that the kernel may hold for a socket: unread messages and filters."""

# Forking must keep the interpreter's lock: the child would wait for it for ever.
_fork_call = ctypes.PyDLL(None, use_errno=True).syscall
_fork_call.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 5
_fork_call.restype = ctypes.c_long

# In a new user namespace without users, the ids cannot be read any more.
_UID, _GID = os.getuid(), os.getgid()


class NamespaceBox:
    """A student process is pid 1 of its own namespace: when it ends, so does all it started."""

    has_namespaces = True

    def __init__(self, limits: dict[str, Any]) -> None:
        self._limits = limits

    def fork(self) -> int:
        """Fork into the box. Returns the process's number, or 0 in it."""
        return _fork_into_namespaces()

    def enter(self) -> None:
        """Confine the forked process, which keeps its privileges until it drops them."""
        _map_user()
        _private_file_systems(self._limits["disk_megabytes"])

    def kilobytes(self, pid: int) -> int:
        """Return the memory that the kernel may hold for its sockets, unread messages included."""
        if (place := processes.living(pid)) is None:
            return 0
        try:
            counted = processes.read(f"{place}/net/sockstat")
        except OSError:  # It has ended meanwhile.
            return 0
        return _SOCKET_KILOBYTES * processes.amount(counted, b"sockets: used")

    def is_full(self, pid: int) -> bool:
        """Return False: the process writes to folders in memory, whose sizes are limited."""
        return False

    def remove(self) -> None:
        """Do nothing: its files are gone with its process."""


def _fork_into_namespaces() -> int:
    """Fork; the child is pid 1 of namespaces of its own. Returns its pid, or 0 in the child.

    This does what `os.fork` and libc's `fork` do, with flags for the namespaces: with `unshare(2)`
    a second fork would be needed, and forking this program is most of the cost of a student
    process. The program must have one thread, as a forking server should.

    Raises `OSError` if the kernel refuses.
    """
    # Address of the thread's id in libc; fork(2) makes the kernel renew it in the child.
    place = ctypes.c_ulong()
    check(libc.prctl(PR_GET_TID_ADDRESS, ctypes.addressof(place), 0, 0, 0), "prctl")
    flags = _FLAGS | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | _SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    # The address is the fourth argument or, on some machines, the fifth. The other one is for
    # thread storage, which the kernel ignores without its flag.
    pid = int(_fork_call(system_calls.number("clone"), flags, 0, 0, place.value, place.value))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return pid


def _map_user() -> None:
    """Let the process be the same user and group in its user namespace as outside."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_UID} {_UID} 1"),
        ("gid_map", f"{_GID} {_GID} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)


def _private_file_systems(megabytes: int) -> None:
    """Hide /proc and give the process empty home, temporary and shared-memory folders.

    Args:
        megabytes: the size of each folder, in MB.
    """
    check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount /")
    flags = _MS_NOSUID | _MS_NODEV
    for path, options in (
        ("/proc", "size=4k,mode=555"),
        ("/tmp", f"size={megabytes}m,nr_inodes=4k,mode=1777"),
        ("/dev/shm", f"size={megabytes}m,nr_inodes=1k,mode=1777"),
        (HOME, f"size={megabytes}m,nr_inodes=4k,mode=700"),
    ):
        more = _MS_NOEXEC if path == "/proc" else 0
        mounted = libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags | more, options.encode())
        check(mounted, f"mount {path}")
    # /dev/full gives zeros, too, and cannot be mapped; /dev/zero would be uncounted shared memory.
    mounted = libc.mount(b"/dev/full", b"/dev/zero", None, _MS_BIND, None)
    check(mounted, "mount /dev/zero")
    # Each device is a mount of the machine's own node, whose times would carry messages. A device
    # that is mounted read-only can still be read and written.
    flags = _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        mounted = libc.mount(b"none", f"/dev/{name}".encode(), None, flags, None)
        check(mounted, f"mount /dev/{name}")
    # Terminals of its own: the server's would be shared by all.
    terminals = b"newinstance,ptmxmode=0666,mode=620,max=16"
    mounted = libc.mount(b"devpts", b"/dev/pts", b"devpts", _MS_NOSUID | _MS_NOEXEC, terminals)
    check(mounted, "mount /dev/pts")
